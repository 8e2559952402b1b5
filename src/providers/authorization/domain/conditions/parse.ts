/**
 * Reads the text of a condition into nodes: recursive descent, one function per rule of the grammar (facts
 * 2.7). NOT binds to the one expression behind it; AND and OR side by side without parentheses are refused,
 * since readers disagree on what they mean. Never throws on any text; depth, nodes and length are bounded.
 */

import type { VendorWords } from '#kernel/vendor.ts'
import { findAttribute } from './attributes.ts'
import { misfitOf, type TypedOperand } from './check.ts'
import { nextToken, type Token } from './lexer.ts'
import {
  type AttributeNode,
  type ConditionNode,
  type LiteralNode,
  type MatchNode,
  type SetNode,
  sources,
} from './nodes.ts'
import { operatorNamed, type PrefixName, prefixNamed } from './operators.ts'
import { type ConditionProblem, conditionProblem, quoted } from './problem.ts'

export interface ConditionLimits {
  /** The length of the text in UTF-16 units. */
  readonly conditionLengthMax: number
  /** The nesting of parentheses. */
  readonly conditionDepthMax: number
  /** Expressions, operands and members of sets together. */
  readonly conditionNodesMax: number
}

type ParsedCondition = { readonly ok: true; readonly node: ConditionNode } | ConditionProblem

export function parseCondition(
  text: string,
  words: VendorWords,
  limits: ConditionLimits,
): ParsedCondition {
  const unfit = unfitText(text, limits)
  if (unfit !== undefined) return unfit
  const parser = new Parser(text, words, limits)
  const node = parser.whole()
  if (node !== undefined) return { ok: true, node }
  // The parser returns nothing only after it has noted a problem.
  return parser.problem as ConditionProblem
}

function unfitText(text: string, limits: ConditionLimits): ConditionProblem | undefined {
  const max = limits.conditionLengthMax
  if (text.length > max) {
    return conditionProblem(text, max, `at most ${max} characters`, `${text.length}`)
  }
  const nul = text.indexOf('\0')
  if (nul >= 0) return conditionProblem(text, nul, 'text', 'a NUL character')
  const mended = text.toWellFormed()
  if (mended === text) return undefined
  let at = 0
  while (text[at] === mended[at]) at++
  return conditionProblem(text, at, 'text', 'half of a surrogate pair')
}

type Joint = 'and' | 'or'

/** The state of one parse. Once `problem` is set, every method returns `undefined`. */
class Parser {
  problem: ConditionProblem | undefined
  readonly #text: string
  readonly #words: VendorWords
  readonly #limits: ConditionLimits
  #token: Token
  #nodes = 0
  #depth = 0

  constructor(text: string, words: VendorWords, limits: ConditionLimits) {
    this.#text = text
    this.#words = words
    this.#limits = limits
    this.#token = nextToken(text, 0)
  }

  whole(): ConditionNode | undefined {
    const node = this.#condition()
    if (node === undefined) return undefined
    return this.#token.kind === 'end' ? node : this.#refuse('AND, OR or the end of the condition')
  }

  /** `not { AND not }` or `not { OR not }`. */
  #condition(): ConditionNode | undefined {
    const { position } = this.#token
    const first = this.#not()
    if (first === undefined) return undefined
    const joint = this.#joint()
    if (joint === undefined) return first
    const parts = [first]
    for (let next: Joint | undefined = joint; next !== undefined; next = this.#joint()) {
      if (next !== joint) {
        return this.#refuse(
          'parentheses that say what belongs together, as in (a AND b) OR c: AND and OR stand side by side here',
        )
      }
      this.#advance()
      const part = this.#not()
      if (part === undefined) return undefined
      parts.push(part)
    }
    return this.#made({ kind: joint, position, parts: Object.freeze(parts) })
  }

  #joint(): Joint | undefined {
    const token = this.#token
    if (this.#isWord('and') || (token.kind === 'mark' && token.text === '&&')) return 'and'
    return this.#isWord('or') || (token.kind === 'mark' && token.text === '||') ? 'or' : undefined
  }

  #not(): ConditionNode | undefined {
    const { position } = this.#token
    if (!this.#isMark('!') && !this.#isWord('not')) return this.#primary()
    this.#advance()
    const part = this.#primary()
    return part === undefined ? undefined : this.#made({ kind: 'not', position, part })
  }

  #primary(): ConditionNode | undefined {
    if (this.#isMark('(')) return this.#parenthesized()
    if (this.#isWord('actionmatches')) return this.#matches('action')
    if (this.#isWord('suboperationmatches')) return this.#matches('sub-operation')
    if (this.#isWord('exists')) return this.#exists()
    return this.#comparison()
  }

  #parenthesized(): ConditionNode | undefined {
    const { position } = this.#token
    if (this.#depth >= this.#limits.conditionDepthMax) {
      const max = this.#limits.conditionDepthMax
      return this.#problemAt(position, `at most ${max} parentheses within another`, 'one more')
    }
    this.#depth += 1
    this.#advance()
    const node = this.#condition()
    this.#depth -= 1
    if (node === undefined) return undefined
    if (!this.#isMark(')')) return this.#refuse('AND, OR or ")"')
    this.#advance()
    return node
  }

  #matches(kind: MatchNode['kind']): ConditionNode | undefined {
    const { position } = this.#token
    this.#advance()
    const set = this.#set('an action in quotes')
    if (set === undefined) return undefined
    const patterns: string[] = []
    for (const { literal, position: at } of set.members) {
      if (literal.type !== 'string' || literal.value.trim() === '') {
        return this.#problemAt(at, 'an action in quotes', quoted(String(literal.value)))
      }
      patterns.push(literal.value)
    }
    return this.#made({ kind, position, patterns: Object.freeze(patterns) })
  }

  #exists(): ConditionNode | undefined {
    const { position } = this.#token
    this.#advance()
    if (this.#token.kind !== 'attribute') return this.#refuse('an attribute such as @Resource[…]')
    const found = this.#attribute()
    if (found === undefined) return undefined
    // `#attribute` reads nothing else.
    return this.#made({ kind: 'exists', position, attribute: found.node as AttributeNode })
  }

  #comparison(): ConditionNode | undefined {
    const { position } = this.#token
    const left = this.#operand(
      'an expression: "(", "!", ActionMatches, Exists, an attribute or a value',
    )
    if (left === undefined) return undefined
    const operatorAt = this.#token.position
    let prefix: PrefixName | undefined
    if (this.#token.kind === 'word') {
      prefix = prefixNamed(this.#token.text)
      if (prefix !== undefined) {
        this.#advance()
        if (!this.#isMark(':')) return this.#refuse(`":" behind ${prefix}`)
        this.#advance()
      }
    }
    const operator = this.#token.kind === 'word' ? operatorNamed(this.#token.text) : undefined
    if (operator === undefined) {
      return this.#refuse('an operator such as StringEquals or ForAnyOfAnyValues:GuidEquals')
    }
    this.#advance()
    const right = this.#operand('an attribute, a value or a set of values')
    if (right === undefined) return undefined
    const misfit = misfitOf(operatorAt, operator, prefix, [left, right])
    if (misfit !== undefined) {
      return this.#problemAt(misfit.position, misfit.expected, misfit.found)
    }
    const [l, r] = [left.node, right.node]
    return this.#made({ kind: 'comparison', position, left: l, prefix, operator, right: r })
  }

  #operand(expected: string): TypedOperand | undefined {
    if (this.#token.kind === 'attribute') return this.#attribute()
    const node = this.#isMark('{') ? this.#set('a value') : this.#literal(expected)
    return node === undefined ? undefined : { node, type: undefined }
  }

  #attribute(): TypedOperand | undefined {
    const token = this.#token
    if (token.kind !== 'attribute') return this.#refuse('an attribute')
    const lower = token.source.toLowerCase()
    const source = sources.find((one) => one.toLowerCase() === lower)
    if (source === undefined) {
      return this.#problemAt(token.position, `@${sources.join(', @')}`, `@${token.source}`)
    }
    const found = findAttribute(source, token.text, this.#words)
    if ('expected' in found) {
      const at = token.position + token.source.length + 2
      return this.#problemAt(at, found.expected, quoted(token.text))
    }
    this.#advance()
    const { position, text } = token
    const node = this.#made<AttributeNode>({
      kind: 'attribute',
      position,
      source,
      text,
      key: found.key,
    })
    return node === undefined ? undefined : { node, type: found.type }
  }

  /** `{ literal { "," literal } }`. */
  #set(expected: string): SetNode | undefined {
    const { position } = this.#token
    if (!this.#isMark('{')) return this.#refuse('"{"')
    const members: LiteralNode[] = []
    do {
      this.#advance()
      const member = this.#literal(expected)
      if (member === undefined) return undefined
      members.push(member)
    } while (this.#isMark(','))
    if (!this.#isMark('}')) return this.#refuse('"," or "}"')
    this.#advance()
    return this.#made({ kind: 'set', position, members: Object.freeze(members) })
  }

  #literal(expected: string): LiteralNode | undefined {
    const token = this.#token
    if (token.kind !== 'literal') return this.#refuse(expected)
    this.#advance()
    const literal = Object.freeze(token.literal)
    return this.#made({ kind: 'literal', position: token.position, literal })
  }

  #isMark(text: string): boolean {
    return this.#token.kind === 'mark' && this.#token.text === text
  }

  #isWord(lower: string): boolean {
    return this.#token.kind === 'word' && this.#token.text.toLowerCase() === lower
  }

  #advance(): void {
    this.#token = nextToken(this.#text, this.#token.end)
  }

  /** Counts and freezes a node. */
  #made<N extends ConditionNode | AttributeNode | LiteralNode | SetNode>(node: N): N | undefined {
    this.#nodes += 1
    const max = this.#limits.conditionNodesMax
    if (this.#nodes > max) {
      return this.#problemAt(node.position, `at most ${max} expressions and values`, 'one more')
    }
    return Object.freeze(node)
  }

  /** Notes what is wrong with the current token, or the lexer's problem. */
  #refuse(expected: string): undefined {
    const token = this.#token
    const wanted = token.kind === 'bad' ? token.expected : expected
    return this.#problemAt(token.position, wanted, this.#shown(token))
  }

  #shown(token: Token): string {
    if (token.kind === 'end') return 'the end of the condition'
    const until = token.end > token.position ? token.end : token.position + 20
    return quoted(this.#text.slice(token.position, until))
  }

  #problemAt(position: number, expected: string, found: string): undefined {
    // The first problem in reading order is reported.
    this.problem ??= conditionProblem(this.#text, position, expected, found)
    return undefined
  }
}
