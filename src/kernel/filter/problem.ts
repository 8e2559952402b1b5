/** Why a filter was refused. A value, never thrown: the area that asked decides what answer it becomes. */

export interface FilterProblem {
  readonly ok: false
  /** Offset into the text as given, in UTF-16 units; at most the text's length. */
  readonly position: number
  /** What would have been right there: `a value`, `")"`. */
  readonly expected: string
  /** What stands there instead, shortened. */
  readonly found: string
  /** The whole of it in one sentence without a full stop, fit to be shown to the caller. */
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

/** Text out of a filter, made fit to be shown: one line, short, well-formed. */
export function quoted(text: string): string {
  return JSON.stringify(clip(text))
}

function clip(text: string, max = shownMax): string {
  // A cut may split a surrogate pair; what is shown must stay well-formed.
  const cut = text.length > max ? `${text.slice(0, max)}…` : text
  return cut.toWellFormed()
}
