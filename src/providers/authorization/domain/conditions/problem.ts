/** Why a condition was refused, and where. It is returned, never thrown; the rules turn it into a refusal. */

export interface ConditionProblem {
  readonly ok: false
  /** Offset in the given text, in UTF-16 units; at most the text's length. */
  readonly position: number
  /** From 1; a line ends with a line feed. */
  readonly line: number
  /** From 1, in UTF-16 units. */
  readonly column: number
  /** What would have been valid here. */
  readonly expected: string
  /** What is there instead, shortened. */
  readonly found: string
  /** One sentence without a full stop, to be shown to the caller. */
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

/** Text from a condition in a form to be shown: one line, short, well-formed. */
export function quoted(text: string): string {
  const cut = text.length > shownMax ? `${text.slice(0, shownMax)}…` : text
  // The cut may split a surrogate pair; the result must stay well-formed.
  return JSON.stringify(cut.toWellFormed())
}
