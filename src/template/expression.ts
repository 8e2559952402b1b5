/**
 * Parses the text of one expression into nodes with positions. It knows no functions, and refuses texts that are
 * too long or nested too deeply before they cost anything.
 */

/** The start of a node, as an offset in the given text, counted from 0 in UTF-16 units. */
interface At {
  readonly at: number
}

export type Expression =
  | (At & { readonly kind: 'string'; readonly value: string })
  | (At & { readonly kind: 'integer'; readonly value: bigint })
  /** `name(…)`, or `namespace.name(…)` for a user function. Names as written. */
  | (At & {
      readonly kind: 'call'
      readonly namespace?: string
      readonly name: string
      readonly arguments: readonly Expression[]
    })
  /** `.name`, `[index]`. When `safe`, an absent member is null instead of a failure. */
  | (At & {
      readonly kind: 'member'
      readonly of: Expression
      readonly index: Expression
      readonly safe: boolean
    })

/** A call that stands in no text. */
export function callOf(at: number, name: string, ...given: readonly Expression[]): Expression {
  return { kind: 'call', name, arguments: given, at }
}

/** A string of a template: literal text, or an expression. */
export type TemplateString =
  | { readonly kind: 'literal'; readonly value: string }
  | { readonly kind: 'expression'; readonly expression: Expression }

/** The text is not an expression. `at` is the offset of the unexpected character. */
export class ExpressionError extends Error {
  readonly at: number

  constructor(at: number, message: string) {
    super(message)
    this.name = 'ExpressionError'
    this.at = at
  }
}

export const expressionLimits = { characters: 24_576, depth: 128 } as const

/** Parses a string of a template: `[…]` is an expression, `[[…` a literal that begins with one `[`. */
export function parseTemplateString(text: string): TemplateString {
  if (!text.startsWith('[') || !text.endsWith(']') || text.length < 2) {
    return { kind: 'literal', value: text }
  }
  if (text.startsWith('[[')) return { kind: 'literal', value: text.slice(1) }
  return { kind: 'expression', expression: read(text, 1, text.length - 1) }
}

/** Parses the text inside the brackets. Throws `ExpressionError` when it is no expression. */
export function parseExpression(text: string): Expression {
  return read(text, 0, text.length)
}

function read(text: string, start: number, end: number): Expression {
  if (text.length > expressionLimits.characters) {
    throw new ExpressionError(
      start,
      `an expression has at most ${expressionLimits.characters} characters; this has ${text.length}`,
    )
  }
  const reader = new Reader(text, start, end)
  const expression = reader.expression(0)
  reader.expectEnd()
  return expression
}

const wordPattern = /[A-Za-z_][A-Za-z0-9_]*/y
const propertyPattern = /[A-Za-z_$][A-Za-z0-9_$]*/y
const integerPattern = /-?[0-9]+/y
const spacePattern = /[ \t\r\n]*/y

const quote = 0x27
const minus = 0x2d
const blank = 0x20

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

const smallest = -(2n ** 63n)
const largest = 2n ** 63n - 1n

/** A cursor over the text. Every method moves it behind what it read. */
class Reader {
  readonly #text: string
  #at: number

  constructor(text: string, start: number, end: number) {
    this.#text = text.slice(0, end)
    this.#at = start
  }

  expression(depth: number): Expression {
    if (depth > expressionLimits.depth) {
      throw new ExpressionError(this.#at, `expressions nest at most ${expressionLimits.depth} deep`)
    }
    let node = this.#primary(depth)
    // A long chain nests the tree as deeply as brackets do, so its links count as depth too.
    for (let links = 1; ; links += 1) {
      const at = this.#space()
      if (this.#take('.')) {
        const safe = this.#take('?')
        this.#space()
        const nameAt = this.#at
        const name = this.#match(propertyPattern)
        if (name === undefined) throw this.#unexpected("a property's name")
        node = {
          kind: 'member',
          of: node,
          index: { kind: 'string', value: name, at: nameAt },
          safe,
          at,
        }
      } else if (this.#take('[')) {
        const safe = this.#take('?')
        const index = this.expression(depth + 1)
        this.#space()
        if (!this.#take(']')) throw this.#unexpected("']'")
        node = { kind: 'member', of: node, index, safe, at }
      } else {
        return node
      }
      if (depth + links > expressionLimits.depth) {
        throw new ExpressionError(at, `expressions nest at most ${expressionLimits.depth} deep`)
      }
    }
  }

  expectEnd(): void {
    this.#space()
    if (this.#at < this.#text.length) throw this.#unexpected('the end of the expression')
  }

  #primary(depth: number): Expression {
    const at = this.#space()
    const code = this.#text.charCodeAt(at)
    if (code === quote) return { kind: 'string', value: this.#string(at), at }
    if (code === minus || isDigit(code)) {
      const digits = this.#match(integerPattern)
      if (digits !== undefined) return { kind: 'integer', value: integer(digits, at), at }
    }
    const first = this.#match(wordPattern)
    if (first === undefined) throw this.#unexpected('a string, an integer or a function')
    this.#space()
    if (!this.#take('.')) return this.#call(at, undefined, first, depth)
    this.#space()
    const second = this.#match(wordPattern)
    if (second === undefined) throw this.#unexpected("a function's name")
    this.#space()
    return this.#call(at, first, second, depth)
  }

  #call(at: number, namespace: string | undefined, name: string, depth: number): Expression {
    if (!this.#take('(')) throw this.#unexpected(`'(' after '${name}'`)
    const values: Expression[] = []
    this.#space()
    if (!this.#take(')')) {
      do {
        values.push(this.expression(depth + 1))
        this.#space()
      } while (this.#take(','))
      if (!this.#take(')')) throw this.#unexpected("',' or ')'")
    }
    const call = { kind: 'call', name, arguments: values, at } as const
    return namespace === undefined ? call : { ...call, namespace }
  }

  #string(at: number): string {
    for (let end = at + 1; ; end += 2) {
      end = this.#text.indexOf("'", end)
      if (end < 0) throw new ExpressionError(at, 'the string has no closing quote')
      if (this.#text.charCodeAt(end + 1) === quote) continue
      this.#at = end + 1
      const inside = this.#text.slice(at + 1, end)
      return inside.includes("'") ? inside.replaceAll("''", "'") : inside
    }
  }

  /** Usually there is no space, so the first character is checked before the pattern. */
  #space(): number {
    if (this.#text.charCodeAt(this.#at) <= blank) this.#match(spacePattern)
    return this.#at
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at += 1
    return true
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }

  #unexpected(wanted: string): ExpressionError {
    const character = this.#text[this.#at]
    const found = character === undefined ? 'the end' : `'${character}'`
    return new ExpressionError(this.#at, `expected ${wanted}, found ${found}`)
  }
}

function integer(digits: string, at: number): bigint {
  const value = BigInt(digits)
  if (value < smallest || value > largest) {
    throw new ExpressionError(at, `the integer ${digits.slice(0, 24)} does not fit in 64 bits`)
  }
  return value
}
