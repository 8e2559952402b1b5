/**
 * Parses dates, times and durations in filters to milliseconds, without any clock or local zone. Text without a
 * zone is UTC.
 */

const datePattern = /^(\d{4})-(\d{2})-(\d{2})$/
const usDatePattern = /^(\d{1,2})[/-](\d{1,2})[/-](\d{4})$/
const timePattern = /^(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,12}))?)?$/
const zonePattern = /^([+-])(\d{2}):(\d{2})$/
const durationPattern =
  /^([+-])?P(?:(\d{1,9})D)?(T(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})(?:\.(\d{1,12}))?S)?)?$/

/** `2026-11-20` to its midnight UTC; `undefined` for a day that does not exist. */
export function parseDate(text: string): number | undefined {
  const match = datePattern.exec(text)
  return match === null ? undefined : day(Number(match[1]), Number(match[2]), Number(match[3]))
}

/** `11/20/2026` or `11-20-2026`: month, day, year (facts 7.2, 5.1). */
export function parseUsDate(text: string): number | undefined {
  const match = usDatePattern.exec(text)
  return match === null ? undefined : day(Number(match[3]), Number(match[1]), Number(match[2]))
}

function day(year: number, month: number, dayOfMonth: number): number | undefined {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, dayOfMonth)
  // JavaScript turns 30 February into a day in March; a filter must refuse it.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== dayOfMonth) return undefined
  return date.getTime()
}

/** `10:30`, `10:30:15.250` to milliseconds since midnight. Finer fractions are cut off. */
export function parseTime(text: string): number | undefined {
  const match = timePattern.exec(text)
  if (match === null) return undefined
  const [hour, minute, second] = [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)]
  if (hour > 23 || minute > 59 || second > 59) return undefined
  return ((hour * 60 + minute) * 60 + second) * 1000 + milliseconds(match[4])
}

function milliseconds(fraction: string | undefined): number {
  return fraction === undefined ? 0 : Number(fraction.slice(0, 3).padEnd(3, '0'))
}

/** `2026-11-20T10:30:00Z`, also with an offset. `zone` says whether a zone is required or UTC is assumed. */
export function parseDateTime(text: string, zone: 'required' | 'optional'): number | undefined {
  const split = text.search(/[Tt]/)
  const date = split < 0 ? undefined : parseDate(text.slice(0, split))
  if (date === undefined) return undefined
  const rest = text.slice(split + 1)
  const at = rest.search(/[Zz+-]/)
  if (at < 0 && zone === 'required') return undefined
  const time = parseTime(at < 0 ? rest : rest.slice(0, at))
  const offset = at < 0 ? 0 : parseZone(rest.slice(at))
  return time === undefined || offset === undefined ? undefined : date + time - offset
}

function parseZone(text: string): number | undefined {
  if (text === 'Z' || text === 'z') return 0
  const match = zonePattern.exec(text)
  if (match === null) return undefined
  const [hour, minute] = [Number(match[2]), Number(match[3])]
  if (hour > 14 || minute > 59) return undefined
  return (match[1] === '-' ? -1 : 1) * (hour * 60 + minute) * 60_000
}

/** Ten thousand years: added to or taken from any moment of our time, it is a moment too. */
const durationMax = 3_652_500 * 24 * 3_600_000

/** `P1DT2H30M` to milliseconds. Years and months have no fixed length and are refused, as are more than 10,000 years. */
export function parseDuration(text: string): number | undefined {
  const match = durationPattern.exec(text)
  if (match === null) return undefined
  const [, sign, days, time, hours, minutes, seconds, fraction] = match
  if (days === undefined && time === undefined) return undefined
  if (time === 'T') return undefined
  const whole =
    ((Number(days ?? 0) * 24 + Number(hours ?? 0)) * 60 + Number(minutes ?? 0)) * 60 +
    Number(seconds ?? 0)
  const length = whole * 1000 + milliseconds(fraction)
  return length > durationMax ? undefined : (sign === '-' ? -1 : 1) * length
}

/**
 * Parses every form in which people and clients write a moment: ISO date, ISO date-time with or without zone, US
 * date, also with a time.
 */
export function parseAnyMoment(text: string): number | undefined {
  return parseDate(text) ?? parseDateTime(text, 'optional') ?? parseUsMoment(text)
}

function parseUsMoment(text: string): number | undefined {
  const [, date = text, time] = /^(\S+) (\S+)$/.exec(text) ?? []
  const midnight = parseUsDate(date)
  const passed = time === undefined ? 0 : parseTime(time)
  return midnight === undefined || passed === undefined ? undefined : midnight + passed
}
