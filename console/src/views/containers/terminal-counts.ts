/**
 * Keeps the page at work while a program writes what takes long to draw. Sequences say how often something is to be done, and
 * the terminal does it that often, one by one: a program may write two billion, and the page would stand still for hours. What
 * is more than the screen holds is left out.
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

/** A chunk is drawn in one go. Whatever stands in it takes a fraction of a second. */
const chunkBytes = 1024

export function drawInChunks(
  terminal: { write(bytes: Uint8Array, drawn?: () => void): void },
  bytes: Uint8Array,
  drawn: () => void,
): void {
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const end = at + chunkBytes
    terminal.write(bytes.subarray(at, end), end < bytes.length ? undefined : drawn)
  }
}
