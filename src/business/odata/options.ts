/**
 * What the query options of a request say, checked against the entity: which rows, in which order, which fields
 * and which rows beside them. Shapes only; `read-options.ts` makes them.
 */

import type { Expression, OrderExpression } from '../compile/expression.ts'
import type { Entity, Field, Navigation, Version } from '../entity.ts'
import { type AnswerFormat, usualFormat } from './answer-format.ts'

export interface QueryOptions {
  /** A condition on the rows; `undefined` where nothing was asked. */
  readonly filter: Expression | undefined
  /** As asked, without what makes it total. */
  readonly orderBy: readonly OrderExpression[]
  /** The fields to show, in wire order; those of an object that was narrowed hold only what was named. */
  readonly fields: readonly Field[]
  /** The text of `$select` for the context address, or `undefined` where all fields are shown. */
  readonly selected: string | undefined
  readonly expand: readonly ExpandOption[]
  readonly top: number | undefined
  readonly skip: number
  readonly count: boolean
  /** As sent: where the page before this one ended. */
  readonly skipToken: string | undefined
  readonly format: AnswerFormat
}

export interface ExpandOption {
  readonly navigation: Navigation
  readonly entity: Entity
  readonly options: QueryOptions
  /** The options inside the parentheses as sent, for next links of lists that were cut. */
  readonly text: string
}

/** What a request without options asks for: every field. */
export function plainOptions(entity: Entity, version: Version): QueryOptions {
  const fields: readonly Field[] = entity.fields.filter((one) => one.versions.includes(version))
  const none = { filter: undefined, orderBy: [], selected: undefined, expand: [], top: undefined }
  return { ...none, fields, skip: 0, count: false, skipToken: undefined, format: usualFormat }
}
