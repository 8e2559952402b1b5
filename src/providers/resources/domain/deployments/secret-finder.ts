/**
 * Finds many secrets in a text in one pass (Aho and Corasick), however many there are and whatever they share: the
 * caller writes both.
 */

import { positionIn } from '#kernel/text-search.ts'
import { States } from './secret-states.ts'

export const mask = '*****'

const fewMax = 16
const placesMax = 10_000

export class SecretFinder {
  readonly #secrets: readonly string[]
  readonly #asWords: boolean
  /** Made when it is needed: most texts contain none of few. */
  #states: States | undefined

  /**
   * `asWords`: secrets shorter than `longLength` count only as words of their own, with no letter or digit beside
   * them.
   */
  constructor(secrets: readonly string[], asWords: boolean) {
    this.#secrets = secrets
    this.#asWords = asWords
  }

  /** The text with every occurrence masked; overlapping ones become one mask. */
  masked(text: string): string {
    // When there are few, they are searched one by one first.
    const isFew = this.#secrets.length <= fewMax
    if (isFew && this.#secrets.every((secret) => positionIn(text, secret) < 0)) return text
    this.#states ??= new States(this.#secrets, this.#asWords)
    const states = this.#states
    const found: [from: number, to: number][] = []
    let at = 0
    for (let index = 0; index < text.length; index++) {
      at = states.after(at, text.charCodeAt(index))
      const long = states.longAt(at)
      if (long > 0) note(found, index + 1 - long, index + 1)
      const word = states.shortAt(at, (length) => isWord(text, index + 1 - length, index + 1))
      if (word > 0) note(found, index + 1 - word, index + 1)
      // Little else would be left of such a text.
      if (found.length > placesMax) return mask
    }
    let made = ''
    let from = 0
    for (const [begin, end] of found) {
      made += text.slice(from, begin) + mask
      from = end
    }
    return from === 0 ? text : made + text.slice(from)
  }
}

/** Ends come in order; everything the new one overlaps is merged with it. */
function note(found: [from: number, to: number][], from: number, to: number): void {
  let begin = from
  for (let last = found.at(-1); last !== undefined && last[1] > begin; last = found.at(-1)) {
    begin = Math.min(begin, last[0])
    found.pop()
  }
  found.push([begin, to])
}

function isWord(text: string, from: number, to: number): boolean {
  const isInside = (at: number): boolean => isLetter(text, at - 1) && isLetter(text, at)
  return !isInside(from) && !isInside(to)
}

function isLetter(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  // Outside the text it is no number.
  if (!(code >= 128)) {
    return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57)
  }
  return /[\p{L}\p{N}]/u.test(text[at] ?? '')
}
