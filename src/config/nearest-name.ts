/** Finds the known name that a mistyped one most likely means. Pure. */

/** `undefined` when none is near: more than a third of the letters would have to change. */
export function nearestName(typed: string, known: readonly string[]): string | undefined {
  const wanted = typed.toLowerCase()
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1
  for (const name of known) {
    const distance = editDistance(wanted, name.toLowerCase())
    if (distance < bestDistance) {
      best = name
      bestDistance = distance
    }
  }
  return best
}

/** The number of insertions, removals, replacements and swaps of neighbours that turn `a` into `b`. */
export function editDistance(a: string, b: string): number {
  const columns = b.length + 1
  const cells = new Array<number>((a.length + 1) * columns).fill(0)
  const at = (row: number, column: number): number => cells[row * columns + column] ?? 0
  for (let row = 0; row <= a.length; row++) {
    for (let column = 0; column < columns; column++) {
      if (row === 0 || column === 0) {
        cells[row * columns + column] = row + column
        continue
      }
      const same = a[row - 1] === b[column - 1]
      let least = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (same ? 0 : 1),
      )
      const swapped =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (swapped) least = Math.min(least, at(row - 2, column - 2) + 1)
      cells[row * columns + column] = least
    }
  }
  return at(a.length, b.length)
}

/** The end of a message about an unknown name: `; did you mean …?`, or nothing. */
export function didYouMean(typed: string, known: readonly string[]): string {
  const nearest = nearestName(typed, known)
  return nearest === undefined ? '' : `; did you mean \`${nearest}\`?`
}
