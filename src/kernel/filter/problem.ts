/** Why a filter was refused. It is returned, never thrown; the calling area decides on the answer. */

export interface FilterProblem {
  readonly ok: false
  /** Offset in the given text, in UTF-16 units; at most the text's length. */
  readonly position: number
  /** What would have been valid here: `a value`, `")"`. */
  readonly expected: string
  /** What is there instead, shortened. */
  readonly found: string
  /** One sentence without a full stop, to be shown to the caller. */
  readonly message: string
}

const shownMax = 40

export function filterProblem(
  position: number,
  expected: string,
  found: string,
  hint?: string,
): FilterProblem {
  const shown = clip(found)
  const message = `at position ${position}: expected ${clip(expected, 400)}, found ${shown}`
  return {
    ok: false,
    position,
    expected,
    found: shown,
    message: hint === undefined ? message : `${message} (${hint})`,
  }
}

/** Text from a filter in a form to be shown: one line, short, well-formed. */
export function quoted(text: string): string {
  return JSON.stringify(clip(text))
}

function clip(text: string, max = shownMax): string {
  // The cut may split a surrogate pair; the result must stay well-formed.
  const cut = text.length > max ? `${text.slice(0, max)}…` : text
  return cut.toWellFormed()
}
