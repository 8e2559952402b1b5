/**
 * The syntax tree of a filter: frozen values with their positions. It knows no fields, no types and no data; the
 * compilers (to a predicate, to SQL) add those.
 */

/** A constant. `text` is what was written, where several spellings have the same value. */
export type Literal =
  | { readonly type: 'null' }
  | { readonly type: 'boolean'; readonly value: boolean }
  | { readonly type: 'string'; readonly value: string }
  /** `text` keeps the decimal exactly; `value` is the nearest double. */
  | { readonly type: 'number'; readonly text: string; readonly value: number }
  | { readonly type: 'guid'; readonly text: string }
  /** `value` is in milliseconds since 1970 UTC; a date's is its midnight. */
  | { readonly type: 'date' | 'dateTime'; readonly text: string; readonly value: number }
  /** `value` is in milliseconds: since midnight for a time, the length for a duration. */
  | { readonly type: 'time' | 'duration'; readonly text: string; readonly value: number }
  /** `Sales.Status'Open'`. */
  | { readonly type: 'enum'; readonly typeName: string; readonly value: string }

type LogicOperator = 'or' | 'and'
export type CompareOperator = 'eq' | 'ne' | 'gt' | 'ge' | 'lt' | 'le'
export type ArithmeticOperator = 'add' | 'sub' | 'mul' | 'div' | 'divby' | 'mod'
export type BinaryOperator = LogicOperator | CompareOperator | ArithmeticOperator | 'has'

interface Placed {
  /** The start of the node; of a binary node, the position of its operator. */
  readonly position: number
}

export interface LiteralNode extends Placed {
  readonly kind: 'literal'
  readonly literal: Literal
}

export interface PathNode extends Placed {
  readonly kind: 'path'
  /** At least one name, as written. */
  readonly segments: readonly string[]
}

interface UnaryNode extends Placed {
  readonly kind: 'unary'
  readonly operator: 'not' | 'negate'
  readonly operand: FilterNode
}

export interface BinaryNode extends Placed {
  readonly kind: 'binary'
  readonly operator: BinaryOperator
  readonly left: FilterNode
  readonly right: FilterNode
}

export interface InNode extends Placed {
  readonly kind: 'in'
  readonly operand: FilterNode
  /** At least one. */
  readonly list: readonly LiteralNode[]
}

export interface CallNode extends Placed {
  readonly kind: 'call'
  /** The spelling of the profile's declaration. */
  readonly name: string
  readonly arguments: readonly FilterNode[]
}

/** `path/any(v: predicate)`. Only `any()` may have no predicate. */
export interface LambdaNode extends Placed {
  readonly kind: 'lambda'
  readonly operator: 'any' | 'all'
  readonly path: PathNode
  readonly variable: string | undefined
  readonly predicate: FilterNode | undefined
}

export type FilterNode =
  | LiteralNode
  | PathNode
  | UnaryNode
  | BinaryNode
  | InNode
  | CallNode
  | LambdaNode

/**
 * The precedence of operators, loosest first (OData 4.01, URL conventions, operator precedence). Parser and printer
 * share it, so that printed text without parentheses is parsed back to the same tree.
 */
export const bindingPower: Readonly<Record<BinaryOperator | 'not' | 'negate' | 'in', number>> =
  Object.freeze({
    or: 1,
    and: 2,
    eq: 3,
    ne: 3,
    gt: 4,
    ge: 4,
    lt: 4,
    le: 4,
    add: 5,
    sub: 5,
    mul: 6,
    div: 6,
    divby: 6,
    mod: 6,
    not: 7,
    negate: 7,
    has: 8,
    in: 8,
  })

/** Whether the word is a binary operator. */
export function isInfixOperator(word: string): word is BinaryOperator | 'in' {
  return word !== 'not' && word !== 'negate' && Object.hasOwn(bindingPower, word)
}
