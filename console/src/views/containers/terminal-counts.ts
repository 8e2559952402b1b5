/**
 * Sequences that say how often something is to be done. The terminal does it that often, one by one, and a program may
 * write two billion: the page would stand still for hours. What is more than the screen holds is left out.
 */

/** What is needed of the terminal. Its own types bring those of a browser with them. */
interface Counting {
  readonly rows: number
  readonly cols: number
  readonly parser: {
    registerCsiHandler(
      id: { readonly final: string },
      /** Whether the sequence is done with. */
      handle: (counts: readonly (number | number[])[]) => boolean,
    ): unknown
  }
}

/** Lines to scroll up and down, to put in and to take out. */
const ofLines = ['S', 'T', 'L', 'M']
/** How often the last letter is to be repeated, and tabs forward and back. */
const ofCells = ['b', 'I', 'Z']

export function leaveOutGreatCounts(terminal: Counting): void {
  const bounds = [
    [ofLines, () => terminal.rows],
    [ofCells, () => terminal.rows * terminal.cols],
  ] as const
  for (const [finals, most] of bounds) {
    for (const final of finals) {
      terminal.parser.registerCsiHandler({ final }, ([count]) => Number(count) > most())
    }
  }
}
