/**
 * Date formulas, such as `30D`, `1M+8D`, `CM+1M` or `<D15>`: terms applied to a day one after the other. A number
 * with a unit moves the day, `C` with a unit goes to the end of the current one, a unit with a number to the next
 * such day.
 */

interface Term {
  readonly sign: 1 | -1
  readonly kind: 'move' | 'current' | 'next'
  readonly unit: string
  readonly count: number
}

const oneTerm = /([+-]?)(?:(\d{1,4})(D|W|M|Q|Y)|C(D|W|M|Q|Y)|(D|WD)(\d{1,2}))/y
/** The range of date columns. */
const [firstDay, lastDay] = [Date.parse('0001-01-01'), Date.parse('9999-12-31')] as const
const dayLength = 86_400_000

/** The terms of a formula, in any case; undefined for text that is none. */
function termsOf(formula: string): readonly Term[] | undefined {
  const text = formula.replace(/^<(.*)>$/, '$1').toUpperCase()
  const terms: Term[] = []
  for (let at = 0; at < text.length; ) {
    oneTerm.lastIndex = at
    const found = oneTerm.exec(text)
    if (found === null || (at > 0 && found[1] === '')) return undefined
    const [all, sign, moved, moveUnit, current, next, day] = found
    const unit = moveUnit ?? current ?? next ?? ''
    const count = Number(moved ?? day ?? 0)
    const daysMax = unit === 'WD' ? 7 : 31
    if (next !== undefined && (count < 1 || count > daysMax)) return undefined
    terms.push({
      sign: sign === '-' ? -1 : 1,
      kind: moved !== undefined ? 'move' : current !== undefined ? 'current' : 'next',
      unit,
      count,
    })
    at += all.length
  }
  return terms
}

export function isDateFormula(formula: string): boolean {
  return termsOf(formula) !== undefined
}

/** The day, as `YYYY-MM-DD`, that results from the formula; the same day for an empty one. */
export function addFormula(day: string, formula: string): string {
  let at = new Date(`${day}T00:00:00Z`)
  for (const term of termsOf(formula) ?? []) at = addTerm(at, term)
  const within = Math.min(Math.max(at.getTime(), firstDay), lastDay)
  return Number.isNaN(within) ? day : new Date(within).toISOString().slice(0, 10)
}

function addTerm(day: Date, { sign, kind, unit, count }: Term): Date {
  if (kind === 'move') return moved(day, unit, sign * count)
  if (kind === 'current') return endOf(day, unit, sign)
  return nextDay(day, unit, sign, count)
}

const months: Readonly<Record<string, number>> = { M: 1, Q: 3, Y: 12 }

function moved(day: Date, unit: string, count: number): Date {
  const by = months[unit]
  if (by === undefined) return new Date(day.getTime() + count * dayLength * (unit === 'W' ? 7 : 1))
  // In a shorter month, the 31st becomes its last day.
  const month = day.getUTCMonth() + by * count
  const last = dayOf(day.getUTCFullYear(), month + 1, 0).getUTCDate()
  return dayOf(day.getUTCFullYear(), month, Math.min(day.getUTCDate(), last))
}

/** `Date.UTC` takes years below 100 for those of the last century. */
function dayOf(year: number, month: number, day: number): Date {
  return new Date(new Date(0).setUTCFullYear(year, month, day))
}

/** The last day of the week, month, quarter or year; with a minus, the first. */
function endOf(day: Date, unit: string, sign: 1 | -1): Date {
  const [year, month] = [day.getUTCFullYear(), day.getUTCMonth()]
  const weekday = (day.getUTCDay() + 6) % 7
  if (unit === 'D') return day
  if (unit === 'W') return moved(day, 'D', sign > 0 ? 6 - weekday : -weekday)
  const length = months[unit] ?? 1
  const first = month - (month % length)
  return sign > 0 ? dayOf(year, first + length, 0) : dayOf(year, first, 1)
}

/** The next, or with a minus the previous, day of the month or of the week (1 is Monday) with this number. */
function nextDay(day: Date, unit: string, sign: 1 | -1, count: number): Date {
  if (unit === 'WD') {
    const ahead = (count - ((day.getUTCDay() + 6) % 7) - 1) * sign
    return moved(day, 'D', sign * (ahead <= 0 ? ahead + 7 : ahead))
  }
  const isBehind = (day.getUTCDate() - count) * sign < 0
  const first = dayOf(day.getUTCFullYear(), day.getUTCMonth() + (isBehind ? 0 : sign), 1)
  const last = endOf(first, 'M', 1).getUTCDate()
  return moved(first, 'D', Math.min(count, last) - 1)
}
