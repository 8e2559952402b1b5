/**
 * Removes characters from the end of texts without an expression. `/\/+$/` takes quadratic time in the number of
 * slashes.
 */

/** The text without any of these characters at its end. */
export function withoutTrailing(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}
