/**
 * Rows in the order of a text. Rows that were added at the end are put in their places: sorting all of a long list
 * again for each page that arrives would stop the page while one scrolls.
 */

export interface Order<T> {
  readonly textOf: (row: T) => string
  readonly down: boolean
}

export interface Sorted<T> extends Order<T> {
  /** In the order in which they were read. */
  readonly rows: readonly T[]
  readonly sorted: readonly T[]
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

/** `before` is an earlier result, of which as much as possible is used. */
export function sortRows<T>(
  rows: readonly T[],
  { textOf, down }: Order<T>,
  before: Sorted<T> | undefined,
): Sorted<T> {
  const sign = down ? -1 : 1
  const compare = (a: T, b: T): number => sign * collator.compare(textOf(a), textOf(b))
  const isSame = before?.textOf === textOf && before.down === down
  const kept = isSame && isBeginning(before.rows, rows) ? before : undefined
  const added = rows.slice(kept?.rows.length ?? 0).sort(compare)
  const sorted = kept === undefined ? added : merge(kept.sorted, added, compare)
  return { rows, textOf, down, sorted }
}

/** A page that arrives leaves the rows before it as they are; a list that was read again may have others anywhere. */
function isBeginning<T>(some: readonly T[], all: readonly T[]): boolean {
  return some.length <= all.length && some.every((row, at) => row === all[at])
}

/** Rows of the first list stand before equal ones of the second. */
function merge<T>(
  first: readonly T[],
  second: readonly T[],
  compare: (a: T, b: T) => number,
): readonly T[] {
  const merged: T[] = []
  let from = 0
  for (const row of second) {
    let [low, high] = [from, first.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (compare(first[middle] as T, row) <= 0) low = middle + 1
      else high = middle
    }
    for (; from < low; from += 1) merged.push(first[from] as T)
    merged.push(row)
  }
  for (; from < first.length; from += 1) merged.push(first[from] as T)
  return merged
}
