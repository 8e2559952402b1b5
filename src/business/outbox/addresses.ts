/** Parses mail addresses that people write into one property. */

const addressesMax = 20
const addressForm = /^[^\s@<>()[\]\\,;:"]{1,64}@[^\s@<>()[\]\\,;:"]{1,255}$/

/** One address, or several separated by commas or semicolons. Undefined if one of them is not valid. */
export function addressesIn(text: string): readonly string[] | undefined {
  const all = text.split(/[;,]/).map((one) => one.trim())
  return all.length <= addressesMax && all.every((one) => addressForm.test(one)) ? all : undefined
}
