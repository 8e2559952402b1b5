/** API versions: dates with an optional stage, chosen per call (contract, Versioning; facts 9.2). */

export const apiVersionPattern = /^\d{4}-\d{2}-\d{2}(?:-(?:preview|alpha|beta|rc|privatepreview))?$/

/** Checks the form of a version and that its day exists: `2019-13-45` is not valid. */
export function isApiVersion(version: string): boolean {
  if (!apiVersionPattern.test(version)) return false
  const day = version.slice(0, 10)
  const at = Date.parse(day)
  return !Number.isNaN(at) && new Date(at).toISOString().slice(0, 10) === day
}

/**
 * Returns the one of `dates` (newest first) that was in force on the day of a version: the newest that is not
 * younger. A version older than all of them gets the oldest.
 */
export function nearestApiVersion(dates: readonly string[], version: string): string | undefined {
  const day = version.slice(0, 10)
  return dates.find((date) => date.slice(0, 10) <= day) ?? dates.at(-1)
}

/** Newest first; a stable version comes before a preview of the same day. */
export function compareApiVersions(a: string, b: string): number {
  const dayA = a.slice(0, 10)
  const dayB = b.slice(0, 10)
  if (dayA !== dayB) return dayA < dayB ? 1 : -1
  if (a.length !== b.length) return a.length - b.length
  return a < b ? 1 : a > b ? -1 : 0
}
