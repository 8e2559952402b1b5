/**
 * Values of enumerations as names: v2.0 escapes what a name cannot hold (`In_x0020_Review`, business facts 4). Both forms are
 * accepted in what comes in. Knows no enumeration.
 */

const unfit = /[^A-Za-z0-9_]/g
const escaped = /_x([0-9A-Fa-f]{4})_/g

/** `Fixed Asset` → `Fixed_x0020_Asset`; `' '` → `_x0020_`. */
export function enumName(plain: string): string {
  const name = plain.replace(
    unfit,
    (one) => `_x${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
  )
  return /^[0-9]/.test(name)
    ? `_x${name.charCodeAt(0).toString(16).padStart(4, '0')}_${name.slice(1)}`
    : name
}

/** The plain value of either spelling. */
export function plainEnumValue(text: string): string {
  return text.replace(escaped, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}
