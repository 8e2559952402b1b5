/** The form of a UUID, in either case. Who or what one names is asked elsewhere. */

export const uuidPattern: RegExp = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function isUuid(text: string): boolean {
  return uuidPattern.test(text)
}

/** The first 32 hexadecimal digits with the hyphens of a UUID between them. */
export function hyphenate(hex: string): string {
  return hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
