/** Expressions of the API's `$filter`. */

/** The text as a literal: in quotes, with each quote inside it doubled. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
