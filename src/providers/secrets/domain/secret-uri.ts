/**
 * References to secrets: `armature://{vault}/secrets/{name}[/{version}]`, or the same with `https://` and any
 * domain behind the vault's name, as files written for another installation have it. Nothing is fetched.
 */

export const vaultType = 'Secrets/vaults'
export const secretType = 'Secrets/vaults/secrets'

interface SecretUri {
  /** In lower case. */
  readonly vault: string
  readonly name: string
  /** The newest when left out. */
  readonly version: string | undefined
}

const path = /^\/secrets\/([a-zA-Z0-9-]{1,127})(?:\/([0-9a-f]{32}))?\/?$/i

/** What a URI names; undefined for another form. */
export function parseSecretUri(text: string): SecretUri | undefined {
  const url = URL.parse(text)
  if (url === null || !['armature:', 'https:'].includes(url.protocol)) return undefined
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    return undefined
  }
  const [vault = ''] = url.hostname.toLowerCase().split('.')
  const [, name, version] = path.exec(url.pathname) ?? []
  return vault === '' || name === undefined
    ? undefined
    : { vault, name, version: version?.toLowerCase() }
}

export function formatSecretUri(vault: string, name: string, version?: string): string {
  const newest = `armature://${vault.toLowerCase()}/secrets/${name}`
  return version === undefined ? newest : `${newest}/${version}`
}
