/**
 * Parses the text of a `$filter` into nodes by precedence climbing. It checks words, form and bounds. The compilers
 * check whether a field exists and types match.
 */

import { checkText, nextToken, type Token } from './lexer.ts'
import {
  type BinaryOperator,
  bindingPower,
  type FilterNode,
  isInfixOperator,
  type LambdaNode,
  type Literal,
  type LiteralNode,
  type PathNode,
} from './nodes.ts'
import { type FilterProblem, filterProblem, quoted } from './problem.ts'
import type { FilterProfile } from './profile.ts'

export const orderTermsMax = 10

export type ParsedFilter = { readonly ok: true; readonly node: FilterNode } | FilterProblem

/** Never throws, whatever the text. The profile's limits bound time and depth. */
export function parseFilter(text: string, profile: FilterProfile): ParsedFilter {
  const unfit = checkText(text, profile)
  if (unfit !== undefined) return unfit
  const parser = new Parser(text, profile)
  const node = parser.whole()
  if (node !== undefined) return { ok: true, node }
  // The parser returns nothing only after it has noted a problem.
  return parser.problem as FilterProblem
}

/** One term of an order; it may be any expression. */
export interface OrderNode {
  readonly node: FilterNode
  readonly direction: 'asc' | 'desc'
}

type ParsedOrder = { readonly ok: true; readonly terms: readonly OrderNode[] } | FilterProblem

/**
 * Parses `tolower(name) desc, date`, for lists that can be ordered by expressions. Never throws, like
 * `parseFilter`.
 */
export function parseOrder(text: string, profile: FilterProfile): ParsedOrder {
  const unfit = checkText(text, profile)
  if (unfit !== undefined) return unfit
  const parser = new Parser(text, profile)
  const terms = parser.order()
  return terms === undefined ? (parser.problem as FilterProblem) : { ok: true, terms }
}

/** The name of a token in messages. */
export function describeToken(token: Token): string {
  switch (token.kind) {
    case 'end':
      return 'the end of the text'
    case 'word':
    case 'punctuation':
      return quoted(token.text)
    case 'literal':
      return describeLiteral(token.literal)
    case 'bad':
      return token.problem.found
  }
}

function describeLiteral(literal: Literal): string {
  switch (literal.type) {
    case 'null':
      return 'null'
    case 'boolean':
    case 'string':
    case 'enum':
      return `the ${literal.type} ${quoted(String(literal.value))}`
    default:
      return `the ${literal.type} ${quoted(literal.text)}`
  }
}

/** The state of one parse. Once `problem` is set, every method returns `undefined`. */
class Parser {
  problem: FilterProblem | undefined
  readonly #text: string
  readonly #profile: FilterProfile
  #token: Token
  #nodes = 0
  #depth = 0
  #lambdas = 0
  /** The end of the last token if it was a string: a quote that follows at once was not doubled. */
  #stringEnd = -1

  constructor(text: string, profile: FilterProfile) {
    this.#text = text
    this.#profile = profile
    this.#token = nextToken(text, 0, profile)
  }

  whole(): FilterNode | undefined {
    const node = this.#expression(0)
    if (node === undefined) return undefined
    return this.#token.kind === 'end' ? node : this.#refuse('an operator or the end of the text')
  }

  order(): readonly OrderNode[] | undefined {
    const terms: OrderNode[] = []
    for (;;) {
      if (terms.length >= orderTermsMax) {
        return this.#tooMuch(this.#token.position, `at most ${orderTermsMax} terms`)
      }
      const node = this.#expression(0)
      if (node === undefined) return undefined
      const word = this.#token.kind === 'word' ? this.#folded(this.#token.text) : ''
      const direction = word === 'asc' || word === 'desc' ? word : undefined
      if (direction !== undefined) this.#advance()
      terms.push(Object.freeze({ node, direction: direction ?? 'asc' }))
      if (this.#token.kind === 'end') return Object.freeze(terms)
      if (!this.#take(',', '"asc", "desc", "," or the end of the text')) return undefined
    }
  }

  #advance(): void {
    const { kind, end } = this.#token
    const wasString = kind === 'literal' && this.#token.literal.type === 'string'
    this.#stringEnd = wasString ? end : -1
    this.#token = nextToken(this.#text, end, this.#profile)
  }

  /** Notes what is wrong with the current token, or the lexer's problem. */
  #refuse(expected: string, hint?: string): undefined {
    const token = this.#token
    const word = /^[^\s'(),]+/.exec(this.#text.slice(token.position, token.position + 60))
    if (token.position === this.#stringEnd && token.kind !== 'punctuation' && word !== null) {
      const why = 'a quote inside a string is written twice'
      this.problem = filterProblem(token.position, expected, quoted(word[0]), why)
    } else if (token.kind === 'bad') this.problem = token.problem
    else this.problem = filterProblem(token.position, expected, describeToken(token), hint)
    return undefined
  }

  #tooMuch(position: number, expected: string): undefined {
    this.problem = filterProblem(position, expected, 'more')
    return undefined
  }

  /** Counts and freezes a node. */
  #made<N extends FilterNode>(node: N): N | undefined {
    this.#nodes++
    const { nodesMax } = this.#profile.limits
    if (this.#nodes > nodesMax) {
      return this.#tooMuch(node.position, `at most ${nodesMax} operators and operands`)
    }
    return Object.freeze(node)
  }

  /** Runs `read` one level deeper. */
  #deeper<T>(position: number, read: () => T | undefined): T | undefined {
    const { depthMax } = this.#profile.limits
    if (this.#depth >= depthMax) return this.#tooMuch(position, `at most ${depthMax} levels`)
    this.#depth++
    const result = read()
    this.#depth--
    return result
  }

  #isMark(text: string): boolean {
    return this.#token.kind === 'punctuation' && this.#token.text === text
  }

  /** Consumes the token, or refuses the one that is there instead. */
  #take(text: string, expected = `"${text}"`): boolean {
    if (!this.#isMark(text)) {
      this.#refuse(expected)
      return false
    }
    this.#advance()
    return true
  }

  #expression(power: number): FilterNode | undefined {
    let left = this.#operand()
    while (left !== undefined) {
      const operator = this.#infix()
      if (operator === undefined || bindingPower[operator] <= power) return left
      const { position } = this.#token
      this.#advance()
      left = operator === 'in' ? this.#list(left, position) : this.#right(left, operator, position)
    }
    return undefined
  }

  #infix(): BinaryOperator | 'in' | undefined {
    if (this.#token.kind !== 'word') return undefined
    const text = this.#folded(this.#token.text)
    return isInfixOperator(text) ? text : undefined
  }

  #folded(text: string): string {
    return this.#profile.anyCase ? text.toLowerCase() : text
  }

  #right(left: FilterNode, operator: BinaryOperator, position: number): FilterNode | undefined {
    // `has` binds tighter than the unary operators, so none may follow it.
    const right = operator === 'has' ? this.#primary() : this.#expression(bindingPower[operator])
    if (right === undefined) return undefined
    return this.#made({ kind: 'binary', operator, left, right, position })
  }

  #list(operand: FilterNode, position: number): FilterNode | undefined {
    if (!this.#take('(', '"(" and a list of values')) return undefined
    const list: LiteralNode[] = []
    const { listMax } = this.#profile.limits
    for (;;) {
      const literal = this.#constant()
      if (literal === undefined) return this.#refuse('a value')
      if (list.length >= listMax) {
        return this.#tooMuch(this.#token.position, `at most ${listMax} values in a list`)
      }
      list.push(Object.freeze({ kind: 'literal', literal, position: this.#token.position }))
      this.#advance()
      if (!this.#isMark(',')) break
      this.#advance()
    }
    if (!this.#take(')', '"," or ")"')) return undefined
    return this.#made({ kind: 'in', operand, list: Object.freeze(list), position })
  }

  /** The literal of the current token, literal words included. Consumes nothing. */
  #constant(): Literal | undefined {
    if (this.#token.kind === 'literal') return this.#token.literal
    if (this.#token.kind !== 'word') return undefined
    switch (this.#folded(this.#token.text)) {
      case 'true':
        return { type: 'boolean', value: true }
      case 'false':
        return { type: 'boolean', value: false }
      case 'null':
        return { type: 'null' }
    }
    // These two have one spelling; other spellings are names.
    if (this.#token.text === 'INF') return { type: 'number', text: 'INF', value: Infinity }
    if (this.#token.text === 'NaN') return { type: 'number', text: 'NaN', value: Number.NaN }
    return undefined
  }

  #operand(): FilterNode | undefined {
    const { position } = this.#token
    if (this.#isMark('-')) return this.#unary('negate', position)
    if (this.#token.kind === 'word' && this.#folded(this.#token.text) === 'not') {
      return this.#unary('not', position)
    }
    return this.#primary()
  }

  #unary(operator: 'not' | 'negate', position: number): FilterNode | undefined {
    this.#advance()
    const operand = this.#deeper(position, () => this.#expression(bindingPower[operator]))
    if (operand === undefined) return undefined
    return this.#made({ kind: 'unary', operator, operand, position })
  }

  #primary(): FilterNode | undefined {
    const { position } = this.#token
    if (this.#isMark('(')) {
      this.#advance()
      const inner = this.#deeper(position, () => this.#expression(0))
      if (inner === undefined) return undefined
      return this.#take(')', 'an operator or ")"') ? inner : undefined
    }
    const literal = this.#constant()
    if (literal !== undefined) {
      this.#advance()
      return this.#made({ kind: 'literal', literal: Object.freeze(literal), position })
    }
    if (this.#token.kind !== 'word') return this.#refuse('a field, a value or a function')
    const first = this.#token.text
    if (this.#folded(first) === 'not') return this.#refuse('a field, a value or a function')
    this.#advance()
    return this.#isMark('(') ? this.#call(first, position) : this.#path(first, position)
  }

  #call(written: string, position: number): FilterNode | undefined {
    const { functions } = this.#profile
    const name = this.#functionName(written)
    const shape = name === undefined ? undefined : functions[name]
    if (name === undefined || shape === undefined) {
      const known = Object.keys(functions).sort().join(', ')
      this.problem = filterProblem(position, `a known function (${known})`, quoted(written))
      return undefined
    }
    this.#advance()
    const list = this.#deeper(position, () => this.#arguments())
    if (list === undefined) return undefined
    const most = shape.parameters.length
    const least = most - (shape.optional ?? 0)
    if (list.length < least || list.length > most) {
      const count = least === most ? `${most}` : `${least} to ${most}`
      this.problem = filterProblem(
        position,
        `${name} with ${count} ${most === 1 ? 'argument' : 'arguments'}`,
        `${list.length}`,
      )
      return undefined
    }
    return this.#made({ kind: 'call', name, arguments: Object.freeze(list), position })
  }

  #functionName(written: string): string | undefined {
    const { functions } = this.#profile
    if (Object.hasOwn(functions, written)) return written
    if (!this.#profile.anyCase) return undefined
    const lower = written.toLowerCase()
    return Object.keys(functions).find((name) => name.toLowerCase() === lower)
  }

  #arguments(): FilterNode[] | undefined {
    const list: FilterNode[] = []
    if (this.#isMark(')')) {
      this.#advance()
      return list
    }
    for (;;) {
      const one = this.#expression(0)
      if (one === undefined) return undefined
      list.push(one)
      if (!this.#isMark(',')) break
      this.#advance()
    }
    return this.#take(')', '"," or ")"') ? list : undefined
  }

  #path(first: string, position: number): FilterNode | undefined {
    const segments = this.#names(first)
    // With dots instead of slashes a reserved word could come first, and the printed text would be parsed
    // differently.
    if (segments.length > 1 && this.#isReserved(segments[0] as string)) {
      this.problem = filterProblem(position, 'a field', quoted(first))
      return undefined
    }
    while (this.#isMark('/')) {
      this.#advance()
      if (this.#token.kind !== 'word') return this.#refuse('a name after "/"')
      const name = this.#token.text
      const at = this.#token.position
      this.#advance()
      if (this.#isMark('(')) return this.#lambda(segments, name, position, at)
      segments.push(...this.#names(name))
    }
    return this.#made({ kind: 'path', segments: Object.freeze(segments), position })
  }

  #isReserved(word: string): boolean {
    if (word === 'INF' || word === 'NaN') return true
    return ['not', 'true', 'false', 'null'].includes(this.#folded(word))
  }

  #names(written: string): string[] {
    return this.#profile.oldForms ? written.split('.') : [written]
  }

  #lambda(
    segments: string[],
    written: string,
    position: number,
    at: number,
  ): FilterNode | undefined {
    const operator = this.#folded(written)
    if (operator !== 'any' && operator !== 'all') {
      this.problem = filterProblem(at, 'any(…) or all(…) after "/"', quoted(`${written}(`))
      return undefined
    }
    const path = this.#made<PathNode>({
      kind: 'path',
      segments: Object.freeze(segments),
      position,
    })
    if (path === undefined) return undefined
    const { lambdaDepthMax } = this.#profile.limits
    if (this.#lambdas >= lambdaDepthMax) {
      return this.#tooMuch(at, `at most ${lambdaDepthMax} any or all inside each other`)
    }
    this.#advance()
    this.#lambdas++
    const body = this.#deeper(at, () => this.#lambdaBody(operator))
    this.#lambdas--
    if (body === undefined) return undefined
    return this.#made<LambdaNode>({ kind: 'lambda', operator, path, position: at, ...body })
  }

  #lambdaBody(operator: 'any' | 'all'): Pick<LambdaNode, 'variable' | 'predicate'> | undefined {
    if (operator === 'any' && this.#isMark(')')) {
      this.#advance()
      return { variable: undefined, predicate: undefined }
    }
    if (this.#token.kind !== 'word' || /[.$@]/.test(this.#token.text)) {
      return this.#refuse('the name of a variable', `as in ${operator}(x: x/name eq 'a')`)
    }
    const variable = this.#token.text
    this.#advance()
    if (!this.#take(':')) return undefined
    const predicate = this.#expression(0)
    if (predicate === undefined || !this.#take(')', 'an operator or ")"')) return undefined
    return { variable, predicate }
  }
}
