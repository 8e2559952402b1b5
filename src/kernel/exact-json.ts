/**
 * JSON whose whole numbers of 64 bits stay exact: one that no number holds is a bigint. For templates and what they
 * make. Elsewhere JSON is what the runtime makes of it, which rounds them.
 */

/** Of a number: digits in a text are none, whatever comes before them. */
const longDigits = /(?:^|[:,[])\s*-?[0-9]{16}/
/** 64 bits have no more digits, and more of them would take their time: a sender chooses how many. */
const wholeNumber = /^-?[0-9]{1,19}$/

export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  // Nearly no text has so many digits, and asking for the source of each number takes several times as long.
  return longDigits.test(text) ? JSON.parse(text, exactly as typeof plainly) : value
}

declare function plainly(this: unknown, name: string, value: unknown): unknown

function exactly(
  this: unknown,
  _name: string,
  value: unknown,
  { source }: { readonly source?: string } = {},
): unknown {
  return typeof value === 'number' && source !== undefined ? exactNumber(source, value) : value
}

/** The number that is written so. It is a bigint only where a number would be rounded, and 64 bits hold it. */
export function exactNumber(source: string, number = Number(source)): number | bigint {
  if (Number.isSafeInteger(number) || !wholeNumber.test(source)) return number
  const exact = BigInt(source)
  return BigInt.asIntN(64, exact) === exact ? exact : number
}

/** The declarations that come with the compiler lack it. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }

export function exactJsonText(value: unknown): string {
  return JSON.stringify(value, (_name, one: unknown) =>
    typeof one === 'bigint' ? rawJSON(String(one)) : one,
  )
}

/** From here on `JSON.stringify` writes bigints with all their digits, in the whole thread; before it throws. */
export function writeExactIntegers(): void {
  Object.defineProperty(BigInt.prototype, 'toJSON', {
    configurable: true,
    writable: true,
    value(this: bigint) {
      return rawJSON(String(this))
    },
  })
}
