/**
 * Parses durations as people write them: `90s`, `2h`, `1d12h`, `PT2H`. Months and years are refused: their length
 * varies.
 */

const units: Readonly<Record<string, number>> = {
  w: 7 * 86_400_000,
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
}
/** A century. Later moments do not fit into the store's columns. */
const millisecondsMax = 100 * 366 * 86_400_000

const short = /^(?:\d+(?:\.\d+)?(?:ms|[wdhms]))+$/i
const iso = /^P(?:\d+W|(?:\d+D)?(?:T(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?)$/i

/** Milliseconds; undefined for text that is no duration, or for zero. */
export function parseDuration(text: string): number | undefined {
  if (text.length > 40 || !(short.test(text) || iso.test(text))) return undefined
  let sum = 0
  for (const [, amount, unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[wdhms])/gi)) {
    sum += Number(amount) * (units[unit.toLowerCase()] ?? Number.NaN)
  }
  return sum > 0 && sum <= millisecondsMax ? Math.round(sum) : undefined
}
