/** GUIDs as names and references. Judges the form alone; who or what a GUID names is asked elsewhere. */

/** A GUID in its usual form, for name rules. */
export const guidPattern: RegExp = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function isGuid(text: string): boolean {
  return guidPattern.test(text)
}
