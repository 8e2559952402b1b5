/**
 * Rows in the order of a text. Rows that were added at the end are put in their places: sorting all of a long list
 * again for each page that arrives would stop the page while one scrolls. For the same reason a long list is sorted in
 * steps, between which the page answers.
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

/** Rows that are put in their places in one step: some ten milliseconds of a slow machine. */
export const stepRows = 1_000

/** The same for a part of the rows: those of the earlier result, and one step more. */
export function sortStep<T>(
  rows: readonly T[],
  order: Order<T>,
  before: Sorted<T> | undefined,
): Sorted<T> {
  const isSame = before?.textOf === order.textOf && before.down === order.down
  const known = isSame && isBeginning(before.rows, rows) ? before.rows.length : 0
  return sortRows(rows.slice(0, known + stepRows), order, before)
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
