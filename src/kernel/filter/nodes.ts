/**
 * The tree of a filter: plain frozen values with the position each came from. It knows no fields, no types
 * and no data; what compiles it (to a predicate, to SQL) brings those.
 */

/** A constant. `text` is what was written, where more than one spelling has the same value. */
export type Literal =
  | { readonly type: 'null' }
  | { readonly type: 'boolean'; readonly value: boolean }
  | { readonly type: 'string'; readonly value: string }
  /** `text` keeps the decimal exactly; `value` is the nearest double. */
  | { readonly type: 'number'; readonly text: string; readonly value: number }
  | { readonly type: 'guid'; readonly text: string }
  /** `value` in milliseconds since 1970 UTC; for a date its midnight. */
  | { readonly type: 'date' | 'dateTime'; readonly text: string; readonly value: number }
  /** `value` in milliseconds: since midnight for a time, the length of a duration. */
  | { readonly type: 'time' | 'duration'; readonly text: string; readonly value: number }
  /** `Sales.Status'Open'`. */
  | { readonly type: 'enum'; readonly typeName: string; readonly value: string }

type LogicOperator = 'or' | 'and'
export type CompareOperator = 'eq' | 'ne' | 'gt' | 'ge' | 'lt' | 'le'
export type ArithmeticOperator = 'add' | 'sub' | 'mul' | 'div' | 'divby' | 'mod'
export type BinaryOperator = LogicOperator | CompareOperator | ArithmeticOperator | 'has'

interface Placed {
  /** Where the node begins; for a binary one, where its operator stands. */
  readonly position: number
}

export interface LiteralNode extends Placed {
  readonly kind: 'literal'
  readonly literal: Literal
}

export interface PathNode extends Placed {
  readonly kind: 'path'
  /** At least one. Names as written. */
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
  /** Spelled as the profile declares it. */
  readonly name: string
  readonly arguments: readonly FilterNode[]
}

/** `path/any(v: predicate)`; `any()` alone may go without a predicate. */
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
 * How tightly operators bind, loosest first (OData 4.01, URL conventions, operator precedence). Shared by
 * parser and printer, so that what is printed without parentheses is read back as it was.
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

/** Is the word an operator between two operands? */
export function isInfixOperator(word: string): word is BinaryOperator | 'in' {
  return word !== 'not' && word !== 'negate' && Object.hasOwn(bindingPower, word)
}
