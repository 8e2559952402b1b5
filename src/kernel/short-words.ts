/** Shortens foreign text to one line. It is cut first, because cleaning takes time for each character. */
export function shortWords(text: string, charactersMax: number): string {
  return text
    .slice(0, 2 * charactersMax)
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, charactersMax)
}
