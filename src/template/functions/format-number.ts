/** Numbers as text by a standard format (`D5`, `X`, `F2`, `N0`, `E3`, `P`, `C`, `G`) or a custom one (`000.0#`). */
import { withoutTrailing } from '#kernel/trailing.ts'
import { EvaluationError } from '../scope.ts'

const standardPattern = /^([A-Za-z])([0-9]{0,2})$/

export function formatNumber(given: number | bigint, format: string): string {
  const value = typeof given === 'bigint' ? Number(given) : given
  const standard = standardPattern.exec(format)
  if (standard === null) {
    if (/^[A-Za-z][0-9]*$/.test(format)) {
      throw new EvaluationError(
        `a number's format has at most two digits of precision: '${format}'`,
      )
    }
    return customNumber(value, format)
  }
  const [, letter = '', digits = ''] = standard
  const precision = digits === '' ? undefined : Number(digits)
  const made =
    (typeof given === 'bigint' ? exactNumber(given, letter, precision) : undefined) ??
    standardNumber(value, letter, precision)
  if (made === undefined) throw new EvaluationError(`'${format}' is no format of this number`)
  return made
}

/** For formats that show every digit; undefined for the others, which round. */
function exactNumber(
  value: bigint,
  letter: string,
  precision: number | undefined,
): string | undefined {
  const sign = value < 0n ? '-' : ''
  const digits = String(value < 0n ? -value : value)
  const whole = (places: number): string => (places === 0 ? '' : `.${'0'.repeat(places)}`)
  switch (letter.toUpperCase()) {
    case 'B':
      return BigInt.asUintN(64, value)
        .toString(2)
        .padStart(precision ?? 0, '0')
    case 'D':
      return `${sign}${digits.padStart(precision ?? 0, '0')}`
    case 'F':
      return `${sign}${digits}${whole(precision ?? 2)}`
    case 'G':
      return precision === undefined || precision >= digits.length ? `${sign}${digits}` : undefined
    case 'N':
      return `${sign}${grouped(digits)}${whole(precision ?? 2)}`
    case 'R':
      return `${sign}${digits}`
    case 'X': {
      const text = BigInt.asUintN(64, value)
        .toString(16)
        .padStart(precision ?? 0, '0')
      return letter === 'X' ? text.toUpperCase() : text
    }
    default:
      return undefined
  }
}

/** Undefined when there is no such format, or it is not for numbers with a fraction. */
function standardNumber(
  value: number,
  letter: string,
  precision: number | undefined,
): string | undefined {
  switch (letter.toUpperCase()) {
    case 'B':
      return bits(value)
        ?.toString(2)
        .padStart(precision ?? 0, '0')
    case 'C':
      return signed(value, (size) => `¤${grouped(fixed(size, precision ?? 2))}`, bracketed)
    case 'D':
      if (!Number.isInteger(value)) return undefined
      return signed(value, (size) => String(size).padStart(precision ?? 0, '0'))
    case 'E':
      return exponential(value, precision ?? 6, letter)
    case 'F':
      return signed(value, (size) => fixed(size, precision ?? 2))
    case 'G':
      return general(value, precision ?? 0, letter)
    case 'N':
      return signed(value, (size) => grouped(fixed(size, precision ?? 2)))
    case 'P':
      return signed(value, (size) => `${grouped(fixed(shifted(size, 2), precision ?? 2))} %`)
    case 'R':
      return String(value)
    case 'X': {
      const text = bits(value)
        ?.toString(16)
        .padStart(precision ?? 0, '0')
      return letter === 'X' ? text?.toUpperCase() : text
    }
    default:
      return undefined
  }
}

/** Integers as 64 bits, negative ones as two's complement. */
function bits(value: number): bigint | undefined {
  return Number.isInteger(value) ? BigInt.asUintN(64, BigInt(value)) : undefined
}

function bracketed(text: string): string {
  return `(${text})`
}

/** A result of zero has no sign. */
function signed(
  value: number,
  format: (size: number) => string,
  negative: (text: string) => string = (text) => `-${text}`,
): string {
  const text = format(Math.abs(value))
  return value < 0 && /[1-9]/.test(text) ? negative(text) : text
}

function fixed(size: number, digits: number): string {
  if (size < 1e21) return size.toFixed(digits)
  if (!Number.isFinite(size)) throw new EvaluationError('the number is too large for its format')
  const whole = BigInt(size).toString()
  return digits === 0 ? whole : `${whole}.${'0'.repeat(digits)}`
}

/** Moves the decimal point without the errors of multiplication. */
function shifted(size: number, places: number): number {
  const [digits = '0', exponent = '0'] = size.toExponential().split('e')
  return Number(`${digits}e${Number(exponent) + places}`)
}

function grouped(text: string): string {
  const [whole = '', fraction] = text.split('.')
  const made = whole.replace(/\B(?=(?:[0-9]{3})+$)/g, ',')
  return fraction === undefined ? made : `${made}.${fraction}`
}

function exponential(value: number, digits: number, letter: string): string {
  const [mantissa = '', exponent = '0'] = value.toExponential(digits).split('e')
  const power = Number(exponent)
  const sign = power < 0 ? '-' : '+'
  return `${mantissa}${letter}${sign}${String(Math.abs(power)).padStart(3, '0')}`
}

function general(value: number, digits: number, letter: string): string {
  if (digits === 0 || value === 0) return String(value)
  const [mantissa = '', exponent = '0'] = value.toExponential(digits - 1).split('e')
  const power = Number(exponent)
  const short = mantissa.includes('.')
    ? withoutTrailing(withoutTrailing(mantissa, '0'), '.')
    : mantissa
  if (power > -5 && power < digits) return String(Number(value.toPrecision(digits)))
  const mark = letter === 'g' ? 'e' : 'E'
  return `${short}${mark}${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}

/** A part of a custom format: a digit's place, or literal text. */
type Piece =
  | { readonly kind: 'digit'; readonly isZero: boolean }
  | { readonly kind: 'point' }
  | { readonly kind: 'text'; readonly text: string }

interface Section {
  readonly pieces: readonly Piece[]
  readonly isGrouped: boolean
  /** The powers of 10 that the number is multiplied by: `%`, `‰`, and commas at the end of the whole part. */
  readonly places: number
}

function customNumber(value: number, format: string): string {
  const sections = splitSections(format)
  const [positive = '', negative = '', zero = ''] = sections
  const section = readSection(
    value < 0 && negative !== '' ? negative : value === 0 && zero !== '' ? zero : positive,
  )
  const text = fill(Math.abs(value), section)
  const isZero = !/[1-9]/.test(fixed(shifted(Math.abs(value), section.places), placesOf(section)))
  if (isZero && zero !== '' && value !== 0) return fill(0, readSection(zero))
  return value < 0 && negative === '' && !isZero ? `-${text}` : text
}

function splitSections(format: string): readonly string[] {
  const made = ['']
  for (const token of format.match(/\\[\s\S]?|'[^']*'?|"[^"]*"?|[\s\S]/g) ?? []) {
    if (token === ';') made.push('')
    else made.push(`${made.pop() ?? ''}${token}`)
  }
  return made
}

function readSection(text: string): Section {
  const pieces: Piece[] = []
  let isGrouped = false
  let places = 0
  const tokens = text.match(/\\[\s\S]?|'[^']*'?|"[^"]*"?|,+|[\s\S]/g) ?? []
  const isDigit = (token: string | undefined): boolean => token === '0' || token === '#'
  for (const [index, token] of tokens.entries()) {
    if (isDigit(token)) pieces.push({ kind: 'digit', isZero: token === '0' })
    else if (token === '.') {
      if (!pieces.some((one) => one.kind === 'point')) pieces.push({ kind: 'point' })
    } else if (token.startsWith(',')) {
      const isBetween = isDigit(tokens[index - 1]) && isDigit(tokens[index + 1])
      if (isBetween) isGrouped = true
      else if (isDigit(tokens[index - 1])) places -= 3 * token.length
    } else if (token.startsWith('\\')) {
      pieces.push({ kind: 'text', text: token.slice(1) })
    } else if (token.startsWith("'") || token.startsWith('"')) {
      pieces.push({ kind: 'text', text: token.replaceAll(token.charAt(0), '') })
    } else {
      if (token === '%') places += 2
      if (token === '‰') places += 3
      pieces.push({ kind: 'text', text: token })
    }
  }
  return { pieces, isGrouped, places }
}

/** The digits after the point. */
function placesOf({ pieces }: Section): number {
  const point = pieces.findIndex((one) => one.kind === 'point')
  const behind = point < 0 ? [] : pieces.slice(point)
  return Math.min(99, behind.filter((one) => one.kind === 'digit').length)
}

function fill(size: number, section: Section): string {
  const { pieces, isGrouped, places } = section
  const count = placesOf(section)
  const [whole = '0', fraction = ''] = fixed(shifted(size, places), count).split('.')
  const point = pieces.findIndex((one) => one.kind === 'point')
  const front = point < 0 ? pieces : pieces.slice(0, point)
  const back = point < 0 ? [] : pieces.slice(point + 1)
  return `${fillWhole(whole, front, isGrouped)}${fillFraction(fraction, back)}`
}

/** From the right, since the first place takes all remaining digits. */
function fillWhole(whole: string, pieces: readonly Piece[], isGrouped: boolean): string {
  const digits = whole === '0' ? '' : whole
  const firstPlace = pieces.findIndex((one) => one.kind === 'digit')
  const firstZero = pieces.findIndex((one) => one.kind === 'digit' && one.isZero)
  const written: string[] = []
  let left = digits.length
  let count = 0
  const write = (digit: string): void => {
    if (isGrouped && count > 0 && count % 3 === 0) written.push(',')
    written.push(digit)
    count += 1
  }
  for (let index = pieces.length - 1; index >= 0; index -= 1) {
    const piece = pieces[index]
    if (piece?.kind === 'text') written.push(piece.text)
    if (piece?.kind !== 'digit') continue
    if (left > 0) {
      left -= 1
      write(digits.charAt(left))
    } else if (firstZero >= 0 && index >= firstZero) write('0')
    while (index === firstPlace && left > 0) {
      left -= 1
      write(digits.charAt(left))
    }
  }
  return written.reverse().join('')
}

/** The point is dropped when no digit follows it. */
function fillFraction(fraction: string, pieces: readonly Piece[]): string {
  const digits = pieces.filter((one) => one.kind === 'digit')
  const zeros = digits.findLastIndex((one) => one.kind === 'digit' && one.isZero) + 1
  const kept = Math.max(zeros, withoutTrailing(fraction, '0').length)
  let at = 0
  const text = pieces
    .map((piece) => {
      if (piece.kind === 'text') return piece.text
      at += 1
      return at <= kept ? fraction.charAt(at - 1) : ''
    })
    .join('')
  return kept > 0 ? `.${text}` : text
}
