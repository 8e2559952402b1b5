/** Why a condition was refused, and where. A value, never thrown: the rules make a refusal of it. */

export interface ConditionProblem {
  readonly ok: false
  /** Offset into the text as given, in UTF-16 units; at most the text's length. */
  readonly position: number
  /** From 1; a line ends with a line feed. */
  readonly line: number
  /** From 1, in UTF-16 units. */
  readonly column: number
  /** What would have been right there. */
  readonly expected: string
  /** What stands there instead, shortened. */
  readonly found: string
  /** The whole of it in one sentence without a full stop, fit to be shown to the caller. */
  readonly message: string
}

const shownMax = 60

export function conditionProblem(
  text: string,
  position: number,
  expected: string,
  found: string,
): ConditionProblem {
  const before = text.slice(0, position)
  const line = before.split('\n').length
  const column = position - before.lastIndexOf('\n')
  const message = `line ${line}, column ${column}: expected ${expected}, found ${found}`
  return { ok: false, position, line, column, expected, found, message }
}

/** Text out of a condition, made fit to be shown: one line, short, well-formed. */
export function quoted(text: string): string {
  const cut = text.length > shownMax ? `${text.slice(0, shownMax)}…` : text
  // A cut may split a surrogate pair; what is shown must stay well-formed.
  return JSON.stringify(cut.toWellFormed())
}
