/**
 * Finds many secrets in a text in one pass (Aho and Corasick), however many there are and whatever they share: the
 * caller writes both.
 */

import { positionIn } from '#kernel/text-search.ts'

export const mask = '*****'

/** A text of this length that equals a secret is no coincidence. */
export const longLength = 8

const fewMax = 16
const placesMax = 10_000

interface Node {
  readonly next: Map<number, Node>
  /** The longest suffix of this that is a prefix of a secret. */
  fallback: Node | undefined
  /** The longest long secret that ends here, and all short ones, the longest first. */
  long: number
  short: readonly number[]
}

const newNode = (): Node => ({ next: new Map(), fallback: undefined, long: 0, short: [] })

export class SecretFinder {
  readonly #root = newNode()
  /** When there are few, they are searched one by one first: most texts contain none. */
  readonly #few: readonly string[] | undefined

  /**
   * `asWords`: secrets shorter than `longLength` count only as words of their own, with no letter or digit beside
   * them.
   */
  constructor(secrets: readonly string[], asWords: boolean) {
    this.#few = secrets.length > fewMax ? undefined : secrets
    for (const secret of secrets) {
      let at = this.#root
      for (let index = 0; index < secret.length; index++) at = follow(at, secret.charCodeAt(index))
      if (asWords && secret.length < longLength) at.short = [secret.length]
      else at.long = secret.length
    }
    this.#link()
  }

  #link(): void {
    const waiting: Node[] = [this.#root]
    for (const node of waiting) {
      for (const [code, child] of node.next) {
        let shorter = node.fallback
        while (shorter !== undefined && !shorter.next.has(code)) shorter = shorter.fallback
        const fallback = shorter?.next.get(code) ?? this.#root
        child.fallback = fallback
        child.long = Math.max(child.long, fallback.long)
        child.short = [...child.short, ...fallback.short]
        waiting.push(child)
      }
    }
  }

  /** The text with every occurrence masked; overlapping ones become one mask. */
  masked(text: string): string {
    if (this.#few?.every((secret) => positionIn(text, secret) < 0) === true) return text
    const found: [from: number, to: number][] = []
    let at = this.#root
    for (let index = 0; index < text.length; index++) {
      at = this.#step(at, text.charCodeAt(index))
      if (at.long > 0) note(found, index + 1 - at.long, index + 1)
      const word = at.short.find((length) => isWord(text, index + 1 - length, index + 1))
      if (word !== undefined) note(found, index + 1 - word, index + 1)
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

  #step(from: Node, code: number): Node {
    for (let at: Node | undefined = from; at !== undefined; at = at.fallback) {
      const next = at.next.get(code)
      if (next !== undefined) return next
    }
    return this.#root
  }
}

function follow(node: Node, code: number): Node {
  let next = node.next.get(code)
  if (next === undefined) {
    next = newNode()
    node.next.set(code, next)
  }
  return next
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
