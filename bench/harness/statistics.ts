/** Statistics for the tables. */

/** The median; `undefined` without values. Figures that the machine cannot tell are left out. */
export function median(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined).sort((a, b) => a - b)
  const middle = Math.floor(known.length / 2)
  const upper = known[middle]
  const lower = known.length % 2 === 0 ? known[middle - 1] : upper
  return upper === undefined || lower === undefined ? undefined : (lower + upper) / 2
}

/** The largest distance from the median, as a share of it: how far the rounds disagree. */
export function spread(values: readonly number[]): number | undefined {
  const middle = median(values)
  if (middle === undefined || middle === 0) return undefined
  return Math.max(...values.map((value) => Math.abs(value - middle) / middle))
}
