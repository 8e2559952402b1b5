/** Addresses of mail as people write them into one property. */

const addressesMax = 20
const addressForm = /^[^\s@<>()[\]\\,;:"]{1,64}@[^\s@<>()[\]\\,;:"]{1,255}$/

/** One address or several, with commas or semicolons between them; undefined where one of them is none. */
export function addressesIn(text: string): readonly string[] | undefined {
  const all = text.split(/[;,]/).map((one) => one.trim())
  return all.length <= addressesMax && all.every((one) => addressForm.test(one)) ? all : undefined
}
