/** The names of locations. Here they are labels: everything runs where the server runs. */

export interface Location {
  /** Lower case, without blanks: `westus`. */
  readonly name: string
  readonly displayName: string
  readonly geography: string
}

/** The server's own location first, then names that published clients and templates use. */
export const defaultLocations: readonly Location[] = Object.freeze(
  [
    ['Local', 'Local'],
    ['East US', 'United States'],
    ['East US 2', 'United States'],
    ['Central US', 'United States'],
    ['West US', 'United States'],
    ['West US 2', 'United States'],
    ['North Europe', 'Europe'],
    ['West Europe', 'Europe'],
    ['UK South', 'United Kingdom'],
    ['France Central', 'France'],
    ['Germany West Central', 'Germany'],
    ['Southeast Asia', 'Asia Pacific'],
    ['Japan East', 'Japan'],
    ['Australia East', 'Australia'],
    ['Brazil South', 'Brazil'],
  ].map(([displayName = '', geography = '']) => ({
    name: plainLocation(displayName),
    displayName,
    geography,
  })),
)

/** Locations are compared without case and blanks (facts 9.2): `West US` and `westus` are the same. */
export function plainLocation(text: string): string {
  return text.replace(/\s/g, '').toLowerCase()
}
