/** Facts about the kinds of expressions: which are numbers, and which never have a fraction. */

import type { ColumnIs } from '../entity.ts'
import type { Expression, Kind, Source } from './expression.ts'

/** A field's source, and what makes it null. */
export interface Place {
  readonly source: Source
  readonly absent: readonly ColumnIs[]
}

export function isNumeric(kind: Kind): boolean {
  return kind === 'integer' || kind === 'decimal' || kind === 'real'
}

/** Whether it never has a fraction, so that `div` of two such values drops it. */
export function isWhole(expression: Expression): boolean {
  switch (expression.form) {
    case 'arithmetic':
      return expression.whole
    case 'constant':
      return expression.kind === 'integer' || expression.kind === 'null'
    case 'related':
      return isWhole(expression.value)
    case 'call':
      return expression.name === 'real'
        ? expression.arguments.every(isWhole)
        : expression.kind === 'integer'
    default:
      return expression.kind === 'integer'
  }
}

/** The number as a double, whatever its column's form. */
export function asReal(expression: Expression): Expression {
  if (expression.kind === 'real' || expression.kind === 'null') return expression
  if (expression.form === 'constant' && expression.kind === 'integer') {
    return { ...expression, kind: 'real' }
  }
  const { nullable } = expression
  return { form: 'call', kind: 'real', nullable, name: 'real', arguments: [expression] }
}

export function constant(kind: Kind, value: string | number | boolean | null): Expression {
  const nullable = value === null
  return { form: 'constant', kind: nullable ? 'null' : kind, nullable, value }
}
