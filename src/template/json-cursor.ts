/**
 * The base of all readers of JSON text: a position in the text, spaces and comments, escapes. The readers decide
 * what a value is and how a fault is handled.
 */

import { exactNumber } from '#kernel/exact-json.ts'
import type { Json } from './plan.ts'

const spacePattern = /[ \t\r\n\ufeff]*/y
const escapes: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
])

const numberPattern = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y

const constants: ReadonlyMap<string, Json> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
])

export abstract class JsonCursor {
  protected readonly text: string
  /** The offset of the next character. */
  protected at = 0

  constructor(text: string) {
    this.text = text
  }

  /** Called at the first fault; nothing after it is read. */
  protected abstract stop(message: string): null

  /** Skips spaces and comments. */
  protected space(): void {
    for (;;) {
      this.match(spacePattern)
      if (this.text[this.at] !== '/') return
      const next = this.text[this.at + 1]
      const close = next === '/' ? '\n' : next === '*' ? '*/' : undefined
      if (close === undefined) return
      const end = this.text.indexOf(close, this.at + 2)
      if (end === -1 && next === '*') {
        this.stop('the comment has no end')
        return
      }
      this.at = end === -1 ? this.text.length : end + close.length
    }
  }

  protected take(character: string): boolean {
    if (this.text[this.at] !== character) return false
    this.at += 1
    return true
  }

  /** What a sticky pattern matches here, or an empty text. */
  protected match(pattern: RegExp): string {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.text)?.[0] ?? ''
    this.at += found.length
    return found
  }

  /** A number or a constant, which is a word; anything else is a fault. */
  protected scalar(wordPattern: RegExp): Json {
    const digits = this.match(numberPattern)
    if (digits !== '') {
      const number = exactNumber(digits)
      return Number.isFinite(Number(number)) ? number : this.stop('the number is too large')
    }
    const at = this.at
    const value = constants.get(this.match(wordPattern))
    if (value !== undefined) return value
    this.at = at
    return this.stop('expected a value')
  }

  /** The character of an escape; `undefined` when JSON has no such escape. */
  protected escape(): string | undefined {
    const letter = this.text[this.at]
    if (letter === undefined) return undefined
    this.at += 1
    if (letter !== 'u') return escapes.get(letter)
    const hex = this.text.slice(this.at, this.at + 4)
    if (!/^[0-9a-fA-F]{4}$/.test(hex)) return undefined
    this.at += 4
    return String.fromCharCode(Number.parseInt(hex, 16))
  }
}
