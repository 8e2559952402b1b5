/**
 * What a search for many texts at once has read so far (Aho and Corasick), in lists of numbers: some 25 bytes for each
 * character. The caller wrote the texts, and many deployments may be under way.
 */

/** A text of this length that equals a secret is no coincidence. */
export const longLength = 8

/** Unknown to whoever writes the texts, so that they cannot choose places that are all the same. */
const mixing = [0, 0].map(() => Math.floor(Math.random() * 2 ** 32) | 1) as [number, number]

/** 0 is the state before the first character. All others are numbered by their length. */
export class States {
  #count = 1
  readonly #before: Int32Array
  readonly #code: Uint16Array
  /** The longest suffix of a state that is a state itself. */
  readonly #fallback: Int32Array
  /** The length of the longest long text that ends here, and a bit for the length of each short one. */
  readonly #long: Int32Array
  readonly #short: Uint8Array
  /** States by where they come from: each is at its place, or at the next free one. */
  readonly #places: Int32Array
  readonly #shift: number

  constructor(texts: readonly string[], asWords: boolean) {
    const most = texts.reduce((sum, { length }) => sum + length, 1)
    const bits = Math.ceil(Math.log2(2 * most))
    this.#before = new Int32Array(most)
    this.#code = new Uint16Array(most)
    this.#fallback = new Int32Array(most)
    this.#long = new Int32Array(most)
    this.#short = new Uint8Array(most)
    this.#places = new Int32Array(2 ** bits)
    this.#shift = 32 - bits
    let open = texts.filter((text) => text !== '').map((text) => ({ text, at: 0 }))
    for (let index = 0; open.length > 0; index++) {
      for (const one of open) {
        one.at = this.#follow(one.at, one.text.charCodeAt(index))
        const { length } = one.text
        if (length > index + 1) continue
        if (asWords && length < longLength) this.#short[one.at] = 1 << length
        else this.#long[one.at] = length
      }
      open = open.filter(({ text }) => text.length > index + 1)
    }
    // Shorter ones come first.
    for (let state = 1; state < this.#count; state++) this.#link(state)
  }

  /** The state after one more character. */
  after(state: number, code: number): number {
    for (let at = state; ; at = this.#fallback[at] ?? 0) {
      const next = this.#places[this.#placeOf(at, code)] ?? 0
      if (next !== 0 || at === 0) return next
    }
  }

  longAt(state: number): number {
    return this.#long[state] ?? 0
  }

  /** The length of the longest short text that ends here and fits; 0 for none. */
  shortAt(state: number, fits: (length: number) => boolean): number {
    const lengths = this.#short[state] ?? 0
    if (lengths === 0) return 0
    for (let length = longLength - 1; length > 0; length--) {
      if ((lengths & (1 << length)) !== 0 && fits(length)) return length
    }
    return 0
  }

  #follow(state: number, code: number): number {
    const place = this.#placeOf(state, code)
    const known = this.#places[place] ?? 0
    if (known !== 0) return known
    const next = this.#count++
    this.#before[next] = state
    this.#code[next] = code
    this.#places[place] = next
    return next
  }

  #link(state: number): void {
    const before = this.#before[state] ?? 0
    if (before === 0) return
    const fallback = this.after(this.#fallback[before] ?? 0, this.#code[state] ?? 0)
    this.#fallback[state] = fallback
    this.#long[state] = Math.max(this.longAt(state), this.longAt(fallback))
    this.#short[state] = (this.#short[state] ?? 0) | (this.#short[fallback] ?? 0)
  }

  /** Where the state that comes from this one is, or would be. */
  #placeOf(state: number, code: number): number {
    const mixed = Math.imul(state + 1, mixing[0]) ^ Math.imul(code + 1, mixing[1])
    const most = this.#places.length - 1
    for (let at = Math.imul(mixed, mixing[0]) >>> this.#shift; ; at = (at + 1) & most) {
      const there = this.#places[at] ?? 0
      if (there === 0) return at
      if (this.#before[there] === state && this.#code[there] === code) return at
    }
  }
}
