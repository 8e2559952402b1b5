/**
 * A filter after its check against the entity: what each name stands for in the tables, and every constant in the
 * form its column has. Plain frozen values between `check.ts`, which makes them, and `sql.ts`, which writes them.
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

/** Rows an expression looks at: those asked for (number 0), or those of a navigation from another source. */
export interface Source {
  /** Unique within one filter; names the table in SQL. */
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
  /** May be null for some row: comparing then needs the careful forms. */
  readonly nullable: boolean
}

export interface ColumnExpression extends Typed {
  readonly form: 'column'
  readonly source: Source
  readonly column: string
  readonly join: string | undefined
  /** Null when one of these holds: the object the field stands in is absent, or its text is empty. */
  readonly absent: readonly ColumnIs[]
  /** Enumerations: every value there is. */
  readonly values: readonly string[] | undefined
}

export interface ConstantExpression extends Typed {
  readonly form: 'constant'
  readonly value: string | number | boolean | null
}

/** A value of the one row a navigation leads to; null when there is none. */
interface RelatedExpression extends Typed {
  readonly form: 'related'
  readonly source: Source
  readonly value: Expression
}

/** How many rows a navigation leads to. */
interface CountExpression extends Typed {
  readonly form: 'count'
  readonly source: Source
}

/** Some row of the source meets the predicate, or every one does. Never null. */
interface QuantifiedExpression extends Typed {
  readonly form: 'any' | 'all'
  readonly source: Source
  readonly predicate: Expression | undefined
}

export interface CompareExpression extends Typed {
  readonly form: 'compare'
  readonly operator: CompareOperator
  /** Of one kind, or one of them null; numbers of different kinds are brought to `real` before. */
  readonly left: Expression
  readonly right: Expression
}

export interface InExpression extends Typed {
  readonly form: 'in'
  readonly operand: Expression
  /** In the operand's form, null left out and noted apart. */
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

/** Names as in `check.ts`; `real` turns a number of any kind into a double. */
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

/** One term of an order: a field of the rows asked for, or of the one row a navigation leads to. */
export interface OrderExpression {
  readonly expression: Expression
  readonly descending: boolean
}
