/** Reads and formats moments in the forms that templates use. Only UTC; there is no clock. */
import { withoutTrailing } from '#kernel/trailing.ts'
import { EvaluationError } from '../scope.ts'

/** A moment of the years 1 to 9999. */
interface Moment {
  /** Seconds since 1970. */
  readonly seconds: number
  /** Ticks of the second: 0 to 9,999,999. */
  readonly ticks: number
}

const ticksPerSecond = 10_000_000
const earliest = -62_135_596_800
const latest = 253_402_300_799

/** A date out of bounds is refused, since no format can hold it. */
export function momentOf(seconds: number, ticks = 0): Moment {
  const carried = Math.floor(ticks / ticksPerSecond)
  const whole = seconds + carried
  if (!(whole >= earliest && whole <= latest)) {
    throw new EvaluationError('a date lies in the years 1 to 9999')
  }
  return { seconds: whole, ticks: ticks - carried * ticksPerSecond }
}

const extended =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:([T ])([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?)?\s*(Z|GMT|[+-][0-9]{2}:?[0-9]{2})?$/i
const compact = /^([0-9]{4})([0-9]{2})([0-9]{2})T([0-9]{2})([0-9]{2})([0-9]{2})(Z)?$/i
const american =
  /^([0-9]{1,2})\/([0-9]{1,2})\/([0-9]{4})(?: ([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?: ?([AP]M))?)?$/i

export interface ReadMoment {
  readonly moment: Moment
  /** The custom format that writes a moment in the form it was read in. */
  readonly format: string
}

/** Undefined when the text is no date in one of the forms. Without a zone UTC is meant. */
export function readMoment(text: string): ReadMoment | undefined {
  const trimmed = text.trim()
  const parts = compact.exec(trimmed)
  if (parts !== null) {
    const [, year, month, day, hour, minute, second] = parts
    return made([year, month, day, hour, minute, second], '', undefined, "yyyyMMdd'T'HHmmss'Z'")
  }
  const usual = extended.exec(trimmed)
  if (usual !== null) {
    const [, year, month, day, separator, hour, minute, second, fraction = '', zone] = usual
    const format = formOf(separator, fraction, zone)
    return made([year, month, day, hour, minute, second], fraction, zone, format)
  }
  const slashed = american.exec(trimmed)
  if (slashed === null) return undefined
  const [, month, day, year, hour, minute, second, half] = slashed
  const of12 = half === undefined ? hour : String((Number(hour) % 12) + (/p/i.test(half) ? 12 : 0))
  return made([year, month, day, of12, minute, second], '', undefined, cultureFormat)
}

/** How a date and time look in the culture that templates were first written for. */
const cultureFormat = 'M/d/yyyy h:mm:ss tt'

function formOf(separator: string | undefined, fraction: string, zone: string | undefined): string {
  if (separator === undefined) return 'yyyy-MM-dd'
  // The universal form with a space is written out as a culture's date and time.
  if (separator === ' ') return cultureFormat
  const digits = fraction === '' ? '' : `.${'f'.repeat(Math.min(7, fraction.length))}`
  return `yyyy-MM-dd'T'HH:mm:ss${digits}${zone === undefined ? '' : "'Z'"}`
}

function made(
  parts: readonly (string | undefined)[],
  fraction: string,
  zone: string | undefined,
  format: string,
): ReadMoment | undefined {
  const [year = 1, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts.map((one) =>
    one === undefined ? undefined : Number(one),
  )
  if (hour > 23 || minute > 59 || second > 59 || year < 1) return undefined
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  const seconds = date.getTime() / 1000 + hour * 3600 + minute * 60 + second - offsetOf(zone)
  return { moment: momentOf(seconds, Number(fraction.slice(0, 7).padEnd(7, '0'))), format }
}

function offsetOf(zone: string | undefined): number {
  if (zone === undefined || /[a-z]/i.test(zone)) return 0
  const [, sign, hours, minutes] = /^([+-])([0-9]{2}):?([0-9]{2})$/.exec(zone) ?? []
  const size = Number(hours) * 3600 + Number(minutes) * 60
  return sign === '-' ? -size : size
}

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]

/** The standard formats of the invariant culture, as custom ones. */
const standard: ReadonlyMap<string, string> = new Map([
  ['d', 'MM/dd/yyyy'],
  ['D', 'dddd, dd MMMM yyyy'],
  ['f', 'dddd, dd MMMM yyyy HH:mm'],
  ['F', 'dddd, dd MMMM yyyy HH:mm:ss'],
  ['g', 'MM/dd/yyyy HH:mm'],
  ['G', 'MM/dd/yyyy HH:mm:ss'],
  ['m', 'MMMM dd'],
  ['M', 'MMMM dd'],
  ['o', "yyyy-MM-dd'T'HH:mm:ss.fffffffK"],
  ['O', "yyyy-MM-dd'T'HH:mm:ss.fffffffK"],
  ['r', "ddd, dd MMM yyyy HH:mm:ss 'GMT'"],
  ['R', "ddd, dd MMM yyyy HH:mm:ss 'GMT'"],
  ['s', "yyyy-MM-dd'T'HH:mm:ss"],
  ['t', 'HH:mm'],
  ['T', 'HH:mm:ss'],
  ['u', "yyyy-MM-dd HH:mm:ss'Z'"],
  ['U', 'dddd, dd MMMM yyyy HH:mm:ss'],
  ['y', 'yyyy MMMM'],
  ['Y', 'yyyy MMMM'],
])

const formatMax = 1_000
const tokenPattern = /([dfFghHKmMstyz])\1*|'[^']*'?|"[^"]*"?|\\[\s\S]?|%[\s\S]?|[\s\S]/g

/** By a standard format of one letter, or a custom one. */
export function formatMoment(moment: Moment, format: string): string {
  if (format.length > formatMax) {
    throw new EvaluationError(`the format of a date has at most ${formatMax} characters`)
  }
  const known = format.length === 1 ? standard.get(format) : format
  if (known === undefined) throw new EvaluationError(`'${format}' is no format of a date`)
  const date = new Date(moment.seconds * 1000)
  const parts: string[] = []
  for (const token of known.match(tokenPattern) ?? []) {
    const before = parts.at(-1)
    const text = written(token, date, moment, format)
    // A fraction that is left out takes its point with it.
    if (text === '' && token.startsWith('F') && before === '.') parts.pop()
    parts.push(text)
  }
  return parts.join('')
}

function written(token: string, date: Date, moment: Moment, format: string): string {
  const quote = token.charAt(0)
  if (quote === "'" || quote === '"') {
    if (token.length < 2 || !token.endsWith(quote)) {
      throw new EvaluationError(`the format '${format}' has an open quote`)
    }
    return token.slice(1, -1)
  }
  if (quote === '\\') return token.slice(1)
  if (quote === '%') return token.length === 1 ? '%' : written(token.slice(1), date, moment, format)
  const { length } = token
  const padded = (value: number): string => String(value).padStart(Math.min(2, length), '0')
  const hour = date.getUTCHours()
  switch (quote) {
    case 'd':
      if (length <= 2) return padded(date.getUTCDate())
      return (days[date.getUTCDay()] ?? '').slice(0, length === 3 ? 3 : undefined)
    case 'M':
      if (length <= 2) return padded(date.getUTCMonth() + 1)
      return (months[date.getUTCMonth()] ?? '').slice(0, length === 3 ? 3 : undefined)
    case 'y':
      return yearText(date.getUTCFullYear(), length)
    case 'h':
      return padded(hour % 12 === 0 ? 12 : hour % 12)
    case 'H':
      return padded(hour)
    case 'm':
      return padded(date.getUTCMinutes())
    case 's':
      return padded(date.getUTCSeconds())
    case 't':
      return (hour < 12 ? 'AM' : 'PM').slice(0, length === 1 ? 1 : 2)
    case 'f':
    case 'F':
      return fractionText(moment.ticks, token, format)
    case 'g':
      return 'A.D.'
    case 'K':
      return 'Z'.repeat(length)
    case 'z':
      return length === 1 ? '+0' : length === 2 ? '+00' : '+00:00'
    default:
      return token
  }
}

function yearText(year: number, length: number): string {
  if (length > 2) return String(year).padStart(length, '0')
  return String(year % 100).padStart(length, '0')
}

function fractionText(ticks: number, token: string, format: string): string {
  if (token.length > 7) {
    throw new EvaluationError(`the format '${format}' asks for more than seven digits of a second`)
  }
  const digits = String(ticks).padStart(7, '0').slice(0, token.length)
  return token.startsWith('F') ? withoutTrailing(digits, '0') : digits
}

const durationPattern =
  /^(-)?P(?:([0-9]{1,9})Y)?(?:([0-9]{1,9})M)?(?:([0-9]{1,9})W)?(?:([0-9]{1,9})D)?(?:T(?:([0-9]{1,12})H)?(?:([0-9]{1,12})M)?(?:([0-9]{1,12})(?:\.([0-9]{1,9}))?S)?)?$/

/** An ISO 8601 duration. A year is 365 days in it and a month 30. Undefined when it is none. */
export function readDuration(
  text: string,
): { readonly seconds: number; readonly ticks: number } | undefined {
  const found = durationPattern.exec(text.trim())
  if (found === null || /(?:P|T)$/.test(text.trim())) return undefined
  const [, sign, ...rest] = found
  const [years = 0, months_ = 0, weeks = 0, wholeDays = 0, hours = 0, minutes = 0, seconds = 0] =
    rest.slice(0, 7).map((one) => (one === undefined ? undefined : Number(one)))
  const fraction = Number((rest[7] ?? '').slice(0, 7).padEnd(7, '0'))
  const allDays = years * 365 + months_ * 30 + weeks * 7 + wholeDays
  const size = allDays * 86_400 + hours * 3600 + minutes * 60 + seconds
  return sign === '-' ? { seconds: -size, ticks: -fraction } : { seconds: size, ticks: fraction }
}
