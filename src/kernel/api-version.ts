/** API versions: dates with an optional stage, chosen per call (contract, Versioning; facts 9.2). */

export const apiVersionPattern = /^\d{4}-\d{2}-\d{2}(?:-(?:preview|alpha|beta|rc|privatepreview))?$/

/** Newest first; a stable version comes before a preview of the same day. */
export function compareApiVersions(a: string, b: string): number {
  const dayA = a.slice(0, 10)
  const dayB = b.slice(0, 10)
  if (dayA !== dayB) return dayA < dayB ? 1 : -1
  if (a.length !== b.length) return a.length - b.length
  return a < b ? 1 : a > b ? -1 : 0
}
