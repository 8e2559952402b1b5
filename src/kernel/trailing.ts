/** The ends of texts, without an expression: `/\/+$/` looks from each slash to the end, which is quadratic in their number. */

/** The text without any of these characters at its end. */
export function withoutTrailing(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}
