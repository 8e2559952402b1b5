/** Words of others, as they may be shown or logged. */

import { splitBy } from './text-search.ts'

/** Shortens foreign text to one line. It is cut first, because cleaning takes time for each character. */
export function shortWords(text: string, charactersMax: number): string {
  return text
    .slice(0, 2 * charactersMax)
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, charactersMax)
}

/** Shorter ones are in words that have nothing to do with them. */
const hiddenFrom = 6

/** A server may repeat what it was given; what it says is shown to whoever may read it, or logged. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter(({ length }) => length >= hiddenFrom)
    .reduce((left, secret) => splitBy(left, secret).join('*****'), text)
}
