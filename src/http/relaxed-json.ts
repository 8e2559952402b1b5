/**
 * Relaxed JSON, for the few bodies that may be written so: comments, names without quotes, a comma after the last
 * member, line breaks and tabs inside strings. It only rewrites such a text into strict JSON of the same values;
 * single quotes, hexadecimal numbers and the rest of JSON5 stay refused.
 */

/** Errors thrown for a text that cannot be read. Positions refer to the given text. */
interface Refusals {
  expected(what: string, at: number): Error
  tooDeep(at: number): Error
}

const namePattern = /[A-Za-z_$][A-Za-z0-9_$-]*/y
const wordPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const hexPattern = /[0-9a-fA-F]{4}/y
/** The engine runs through millions of spaces faster by a pattern than by a loop. */
const spacesPattern = /[ \t\n\r]+/y
const rawPattern = /[\n\r\t]/g
const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Templates contain some hundreds of comments; each costs more than the text between them. */
const editsMax = 50_000
const tooMany = `at most ${editsMax} comments, names without quotes and line breaks in strings`

const tab = 0x09
const lineFeed = 0x0a
const carriageReturn = 0x0d
const space = 0x20
const quote = 0x22
const backslash = 0x5c
const letterU = 0x75
/** Characters allowed after a backslash, besides `u`. */
const escaped = new Set([...'"\\/bfnrt'].map((letter) => letter.charCodeAt(0)))

/**
 * One pass over the text: its cost is that of its length, and its depth is bounded. Yields after each slice of the text,
 * so that a server can do other work in between.
 */
export function* relaxJson(
  text: string,
  depthMax: number,
  refusals: Refusals,
): Generator<void, string> {
  const reader = new RelaxedReader(text, depthMax, refusals)
  while (!reader.readSome()) yield
  return reader.made()
}

/** Names, values and commas between two pauses: some milliseconds of work. */
const tokensAtOnce = 10_000
/** Characters between two pauses. */
const charactersAtOnce = 256 * 1024

/** A replacement for a part of the given text. */
interface Edit {
  readonly from: number
  readonly to: number
  readonly by: string
}

class RelaxedReader {
  readonly #text: string
  readonly #depthMax: number
  readonly #refusals: Refusals
  /** In the order of the text. */
  readonly #edits: Edit[] = []
  /** Line breaks and tabs in strings so far. */
  #raw = 0
  #at = 0
  /** How the open objects and lists close, outermost first. */
  readonly #open: ('}' | ']')[] = []
  /** Where the string that is being read began, and whether it holds line breaks or tabs. */
  #string = { from: 0, isRaw: false }
  #state: 'start' | 'value' | 'string' | 'member' | 'behind' | 'end' = 'start'

  constructor(text: string, depthMax: number, refusals: Refusals) {
    this.#text = text
    this.#depthMax = depthMax
    this.#refusals = refusals
  }

  /** Reads a slice. True at the end of the text. */
  readSome(): boolean {
    const until = this.#at + charactersAtOnce
    for (let tokens = 0; tokens < tokensAtOnce && this.#at <= until; tokens++) {
      if (this.#state === 'end') return true
      this.#token()
    }
    return this.#state === 'end'
  }

  made(): string {
    if (this.#edits.length === 0) return this.#text
    const made: string[] = []
    let copied = 0
    for (const { from, to, by } of this.#edits) {
      made.push(this.#text.slice(copied, from), by)
      copied = to
    }
    made.push(this.#text.slice(copied))
    return made.join('')
  }

  #token(): void {
    switch (this.#state) {
      case 'start':
        this.#space()
        this.#state = 'value'
        return
      case 'value':
        this.#value()
        return
      case 'string':
        if (!this.#readString()) return
        this.#state = 'behind'
        this.#space()
        return
      case 'member':
        this.#member()
        return
      case 'behind':
        this.#behind()
        return
      case 'end':
    }
  }

  #value(): void {
    const first = this.#text[this.#at]
    if (first === '{' || first === '[') {
      if (this.#open.length >= this.#depthMax) throw this.#refusals.tooDeep(this.#at)
      this.#open.push(first === '{' ? '}' : ']')
      this.#at += 1
      this.#state = 'member'
    } else if (first === '"') {
      this.#beginString()
      this.#state = 'string'
      return
    } else {
      if (!this.#match(wordPattern)) throw this.#expected('a value')
      this.#state = 'behind'
    }
    this.#space()
  }

  /** At the first member or after a comma: another member, or the end of the object or list. */
  #member(): void {
    const close = this.#open.at(-1)
    if (this.#text[this.#at] === close) {
      this.#open.pop()
      this.#at += 1
      this.#space()
      this.#state = 'behind'
      return
    }
    if (close === '}') this.#name()
    this.#state = 'value'
  }

  /** After a value. */
  #behind(): void {
    const close = this.#open.at(-1)
    if (close === undefined) {
      if (this.#at < this.#text.length) throw this.#expected('the end of the text')
      this.#state = 'end'
      return
    }
    this.#state = 'member'
    const comma = this.#at
    if (this.#text[comma] === ',') {
      // Edits of comments after the comma come after the edit that removes the comma.
      const before = this.#edits.length
      this.#at += 1
      this.#space()
      if (this.#text[this.#at] === close) this.#edit({ from: comma, to: comma + 1, by: '' }, before)
    } else if (this.#text[comma] !== close) throw this.#expected(`"," or "${close}"`)
  }

  /** A name, up to its value. */
  #name(): void {
    if (this.#text[this.#at] === '"') {
      this.#beginString()
      while (!this.#readString());
    } else {
      const from = this.#at
      if (!this.#match(namePattern)) throw this.#expected('a name')
      const name = this.#text.slice(from, this.#at)
      this.#edit({ from, to: this.#at, by: `"${name}"` })
    }
    this.#space()
    if (this.#text[this.#at] !== ':') throw this.#expected('":"')
    this.#at += 1
    this.#space()
  }

  #beginString(): void {
    this.#at += 1
    this.#string = { from: this.#at, isRaw: false }
  }

  /** Reads a slice of a string. True behind its end. */
  #readString(): boolean {
    const until = this.#at + charactersAtOnce
    let at = this.#at
    for (;;) {
      if (at > until) {
        this.#at = at
        return false
      }
      const code = this.#text.charCodeAt(at)
      if (code === quote) break
      if (code === backslash) {
        at = this.#behindEscape(at)
        continue
      }
      // After the end of the text there is no code.
      if (!(code >= space)) {
        this.#at = Math.min(at, this.#text.length)
        if (Number.isNaN(code)) throw this.#expected('the quote that ends the text')
        if (!isSpace(code)) throw this.#expected('an escape instead of a control character')
        this.#string.isRaw = true
        this.#raw += 1
        if (this.#raw > editsMax) throw this.#expected(tooMany)
      }
      at += 1
    }
    this.#at = at + 1
    const { from, isRaw } = this.#string
    if (isRaw) {
      const by = this.#text.slice(from, at).replace(rawPattern, (raw) => escapes[raw] ?? raw)
      this.#edit({ from, to: at, by })
    }
    return true
  }

  #behindEscape(at: number): number {
    const code = this.#text.charCodeAt(at + 1)
    if (escaped.has(code)) return at + 2
    this.#at = at + 2
    if (code === letterU && this.#match(hexPattern)) return this.#at
    this.#at = at
    throw this.#expected('a valid escape')
  }

  /** Skips spaces and comments. A comment becomes one space. */
  #space(): void {
    for (;;) {
      if (isSpace(this.#text.charCodeAt(this.#at))) this.#match(spacesPattern)
      if (this.#text[this.#at] !== '/') return
      const from = this.#at
      const next = this.#text[from + 1]
      if (next !== '/' && next !== '*') return
      const close = next === '/' ? '\n' : '*/'
      const end = this.#text.indexOf(close, from + 2)
      if (end < 0 && next === '*') throw this.#expected('the end of the comment')
      this.#at = end < 0 ? this.#text.length : end + close.length
      this.#edit({ from, to: this.#at, by: ' ' })
    }
  }

  #edit(edit: Edit, index = this.#edits.length): void {
    if (this.#edits.length >= editsMax) {
      throw this.#expected(tooMany)
    }
    this.#edits.splice(index, 0, edit)
  }

  #match(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at
    if (!pattern.test(this.#text)) return false
    this.#at = pattern.lastIndex
    return true
  }

  #expected(what: string): Error {
    return this.#refusals.expected(what, this.#at)
  }
}

function isSpace(code: number): boolean {
  return code === space || code === lineFeed || code === carriageReturn || code === tab
}
