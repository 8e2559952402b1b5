/**
 * Texts for servers and client programs whose protocols end each text with a NUL. A NUL inside would end the text
 * and begin another.
 */

/** What is wrong with a name or a password; undefined when nothing is. */
export function serverTextProblem(text: string): string | undefined {
  if (text.includes('\0')) return 'it has a NUL character'
  return text.isWellFormed() ? undefined : 'it is not well-formed Unicode'
}
