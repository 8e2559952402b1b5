/**
 * A checked filter: what each name means in the tables, and every constant in its column's form. `check.ts` makes
 * these frozen values and `sql.ts` writes them.
 */

import type { ColumnIs, Entity, Navigation, Version } from '../entity.ts'

/**
 * What an expression gives, by how it stands in SQL: `text`, `guid`, `enum` and `date` are text, `integer` and
 * `moment` (milliseconds) bigint, `decimal` a bigint of 10^-5, `real` a double, `boolean` a condition.
 */
export type Kind =
  | 'text'
  | 'guid'
  | 'enum'
  | 'date'
  | 'integer'
  | 'moment'
  | 'decimal'
  | 'real'
  | 'boolean'
  | 'null'

/** The rows an expression reads: the requested ones (number 0), or those of a navigation from another source. */
export interface Source {
  /** Unique within one filter; it names the table in SQL. */
  readonly number: number
  readonly entity: Entity
  readonly version: Version
  /** How these rows belong to a row of another source; absent for number 0. */
  readonly from?: { readonly source: Source; readonly navigation: Navigation }
}

export type CompareOperator = 'eq' | 'ne' | 'gt' | 'ge' | 'lt' | 'le'
export type ArithmeticOperator = 'add' | 'sub' | 'mul' | 'div' | 'truncdiv' | 'mod'

interface Typed {
  readonly kind: Kind
  /** May be null for some row, so comparisons need special forms. */
  readonly nullable: boolean
}

export interface ColumnExpression extends Typed {
  readonly form: 'column'
  readonly source: Source
  readonly column: string
  readonly join: string | undefined
  /** Null when one of these holds: the field's object is absent, or its text is empty. */
  readonly absent: readonly ColumnIs[]
  /** For enumerations: all values. */
  readonly values: readonly string[] | undefined
}

export interface ConstantExpression extends Typed {
  readonly form: 'constant'
  readonly value: string | number | boolean | null
}

/** A value of a single related row; null when there is none. */
interface RelatedExpression extends Typed {
  readonly form: 'related'
  readonly source: Source
  readonly value: Expression
}

/** The number of rows of a navigation. */
interface CountExpression extends Typed {
  readonly form: 'count'
  readonly source: Source
}

/** Whether some row or every row of the source meets the predicate. Never null. */
interface QuantifiedExpression extends Typed {
  readonly form: 'any' | 'all'
  readonly source: Source
  readonly predicate: Expression | undefined
}

export interface CompareExpression extends Typed {
  readonly form: 'compare'
  readonly operator: CompareOperator
  /** Operands of one kind, or null; numbers of different kinds are converted to `real` before. */
  readonly left: Expression
  readonly right: Expression
}

export interface InExpression extends Typed {
  readonly form: 'in'
  readonly operand: Expression
  /** In the operand's form; null is left out and noted separately. */
  readonly values: readonly (string | number | boolean)[]
  readonly orNull: boolean
}

interface LogicExpression extends Typed {
  readonly form: 'and' | 'or'
  readonly terms: readonly Expression[]
}

interface NotExpression extends Typed {
  readonly form: 'not'
  readonly operand: Expression
}

/** Operands and result are `real`. */
export interface ArithmeticExpression extends Typed {
  readonly form: 'arithmetic'
  readonly operator: ArithmeticOperator
  readonly left: Expression
  readonly right: Expression
  /** The result never has a fraction. */
  readonly whole: boolean
}

/** Names as in `check.ts`; `real` converts a number of any kind to a double. */
export interface CallExpression extends Typed {
  readonly form: 'call'
  readonly name: string
  readonly arguments: readonly Expression[]
}

export type Expression =
  | ColumnExpression
  | ConstantExpression
  | RelatedExpression
  | CountExpression
  | QuantifiedExpression
  | CompareExpression
  | InExpression
  | LogicExpression
  | NotExpression
  | ArithmeticExpression
  | CallExpression

/** One term of an order: a field of the requested rows, or of a single related row. */
export interface OrderExpression {
  readonly expression: Expression
  readonly descending: boolean
}
