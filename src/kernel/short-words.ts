/** The beginning of what somebody else said, on one line. Cut first: cleaning takes time for each character. */
export function shortWords(text: string, charactersMax: number): string {
  return text
    .slice(0, 2 * charactersMax)
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, charactersMax)
}
