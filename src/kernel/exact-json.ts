/**
 * JSON whose whole numbers of 64 bits stay exact: one that no number holds is a bigint. For templates and what they
 * make. Elsewhere JSON is what the runtime makes of it, which rounds them.
 */

/** Of a number: digits in a text are none, whatever comes before them. */
const longDigits = /(?:^|[:,[])\s*-?[0-9]{16}/
const exponentOrDigits = /[0-9]{16}|[0-9.][eE]/
/** 64 bits have no more digits, and more of them would take their time: a sender chooses how many. */
const wholeNumber = /^-?[0-9]{1,19}$/

/** Each takes a microsecond whenever it is read or written, and a document is read and written several times. */
export const longIntegersMax = 10_000

export class TooManyLongIntegers extends Error {
  constructor() {
    super(`it has more than ${longIntegersMax} integers of 16 digits or more.`)
  }
}

/** For what comes from a caller. Throws what the parser throws, and `TooManyLongIntegers`. */
export function parseCallersExactJson(text: string): unknown {
  const value = parseExactJson(text, longIntegersMax)
  // With an exponent or a fraction it is no long integer yet, and is one as soon as it is written again.
  if (exponentOrDigits.test(text) && longIntegersOf(value) > longIntegersMax) {
    throw new TooManyLongIntegers()
  }
  return value
}

function longIntegersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return isLongInteger(value) ? 1 : 0
  let found = 0
  for (const one of Object.values(value)) found += longIntegersOf(one)
  return found
}

/** Of up to 64 bits, and more than a number holds exactly. */
export function isLongInteger(value: unknown): boolean {
  if (typeof value !== 'number') return typeof value === 'bigint'
  return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 2 ** 64
}

export function parseExactJson(text: string, longMax = Number.POSITIVE_INFINITY): unknown {
  const value: unknown = JSON.parse(text)
  if (!longDigits.test(text)) return value
  const { made: quoted, found } = withQuotedIntegers(text, longMax)
  if (found > longMax) throw new TooManyLongIntegers()
  return quoted === text ? value : exactly(value, JSON.parse(quoted))
}

/** How many of them a JSON text has. */
export function longIntegersIn(text: string): number {
  return longDigits.test(text) ? withQuotedIntegers(text, Number.POSITIVE_INFINITY).found : 0
}

/** A whole number that may be longer than a number holds. */
const longInteger = /(?<![0-9.eE+-])-?[0-9]{16,19}(?![0-9.eE])/g

/**
 * The JSON with its long integers as strings. Asking the parser for the source of each number would take ten times
 * as long as reading the text, during which nobody else is served. It ends where more than that many are found.
 */
function withQuotedIntegers(
  text: string,
  longMax: number,
): { readonly made: string; readonly found: number } {
  let made = ''
  let copied = 0
  let found = 0
  const quotedOne = (digits: string): string => {
    found += 1
    return `"${digits}"`
  }
  for (let at = 0; at < text.length; ) {
    const quote = text.indexOf('"', at)
    const end = quote < 0 ? text.length : quote
    const signs = end - at < 16 ? '' : text.slice(at, end)
    const quoted = signs.replace(longInteger, quotedOne)
    if (found > longMax) break
    if (quoted !== signs) {
      made += text.slice(copied, at) + quoted
      copied = end
    }
    at = quote < 0 ? end : stringEnd(text, quote)
  }
  return { made: made + text.slice(copied), found }
}

function stringEnd(text: string, quote: number): number {
  for (let at = quote + 1; ; at++) {
    at = text.indexOf('"', at)
    let before = at
    while (text[before - 1] === '\\') before--
    if ((at - before) % 2 === 0) return at + 1
  }
}

/** The value, where a number is exact if the same JSON has a string in its place. */
function exactly(value: unknown, quoted: unknown): unknown {
  if (typeof value === 'number')
    return typeof quoted === 'string' ? exactNumber(quoted, value) : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    for (const [at, one] of value.entries()) {
      const exact = exactly(one, (quoted as unknown[])[at])
      if (exact !== one) value[at] = exact
    }
    return value
  }
  // Both come from one text, but for the quotes.
  const [all, other] = [value, quoted] as [Record<string, unknown>, Record<string, unknown>]
  for (const name of Object.keys(all)) {
    const exact = exactly(all[name], other[name])
    if (exact !== all[name]) all[name] = exact
  }
  return all
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
