/**
 * The query options of a request after they were checked against the entity: which rows, in which order, with which
 * fields and which expanded rows. Types only. `read-options.ts` makes the values.
 */

import type { Expression, OrderExpression } from '../compile/expression.ts'
import type { Entity, Field, Navigation, Period, Version } from '../entity.ts'
import { type AnswerFormat, usualFormat } from './answer-format.ts'

export interface QueryOptions {
  /** A condition on the rows. Undefined if the request has none. */
  readonly filter: Expression | undefined
  /** The days that computed values are of, where the filter names them. */
  readonly period?: Period
  /** The order of the request, without the terms that make it total. */
  readonly orderBy: readonly OrderExpression[]
  /** The fields to show, in wire order. A complex field that was narrowed holds only the selected members. */
  readonly fields: readonly Field[]
  /** The text of `$select` for the context address. Undefined if all fields are shown. */
  readonly selected: string | undefined
  readonly expand: readonly ExpandOption[]
  readonly top: number | undefined
  readonly skip: number
  readonly count: boolean
  /** The end of the previous page, as sent. */
  readonly skipToken: string | undefined
  readonly format: AnswerFormat
}

export interface ExpandOption {
  readonly navigation: Navigation
  readonly entity: Entity
  readonly options: QueryOptions
  /** The options inside the parentheses as sent. Next links of lists that were cut use them. */
  readonly text: string
}

/** The options of a request that states none: every field. */
export function plainOptions({ shown }: Entity, version: Version): QueryOptions {
  const { fields } = shown[version]
  let options = plain.get(fields)
  if (options === undefined) {
    const none = { filter: undefined, orderBy: [], selected: undefined, expand: [], top: undefined }
    const rest = { skip: 0, count: false, skipToken: undefined, format: usualFormat }
    options = Object.freeze({ ...none, fields, ...rest })
    plain.set(fields, options)
  }
  return options
}

/** Made once for the fields of an entity in a version: nearly every request for one row has them. */
const plain = new WeakMap<readonly Field[], QueryOptions>()
