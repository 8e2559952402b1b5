/**
 * Values of enumerations as names: v2.0 escapes characters that a name cannot have (`In_x0020_Review`, business
 * facts 4). Input may use both forms.
 */

const fit = /^[A-Za-z_]\w*$/
const unfit = /[^A-Za-z0-9_]/g
const escaped = /_x([0-9A-Fa-f]{4})_/g

/** `Fixed Asset` → `Fixed_x0020_Asset`; `' '` → `_x0020_`. */
export function enumName(plain: string): string {
  if (fit.test(plain)) return plain
  const name = plain.replace(
    unfit,
    (one) => `_x${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
  )
  return /^[0-9]/.test(name)
    ? `_x${name.charCodeAt(0).toString(16).padStart(4, '0')}_${name.slice(1)}`
    : name
}

/** The unescaped value of either spelling. */
export function plainEnumValue(text: string): string {
  return text.replace(escaped, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}
