/**
 * Texts that go to servers and client programs whose protocols end each text with a NUL: one inside would end it
 * and begin another. Pure.
 */

/** What is wrong with a name or a password, or undefined. */
export function serverTextProblem(text: string): string | undefined {
  if (text.includes('\0')) return 'it has a NUL character'
  return text.isWellFormed() ? undefined : 'it is not well-formed Unicode'
}
