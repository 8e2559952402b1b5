/** Types whose items are computed and not stored. */

import type { TSchema } from 'typebox'
import type { RequestFrom } from '#activity/record.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { Action } from './action.ts'
import type { EveryType } from './every-type.ts'
import type { Context } from './resource.ts'
import type { ListContext, ListPage } from './wire.ts'

export interface GetContext extends Context {
  readonly id: ResourceId
  /** The id as the path has it: `id`, but for types with a `sharedRow`. */
  readonly requested: ResourceId
  readonly query: URLSearchParams
  /** Where the request came from; undefined for requests of the installation itself. */
  readonly from?: RequestFrom
}

/** A type whose items are computed, not stored. Items are whole wire objects. */
export interface Source {
  get?(context: GetContext): Promise<object | undefined>
  list?(context: ListContext): Promise<ListPage<object>>
  /** What of a computed item may be changed. The item as it is then, or undefined where there is none (404). */
  readonly patch?: ComputedWrite
  /** Says the whole of an item that is there: none is made by it, but where it `makes`. */
  readonly put?: ComputedWrite
  /** Empties an item, which is still there then, with nothing in it; or takes it away, where it `makes`. */
  readonly delete?: Omit<ComputedWrite, 'body'>
}

export interface ComputedWrite {
  readonly body: TSchema
  /** PUT makes an item that is not there (201); DELETE takes one away (200), and finds none without a fault (204). */
  readonly makes?: true
  apply(context: GetContext, body: never): Promise<object | undefined>
  /** What `apply` would answer, as of the reader it is given. Writes nothing. Without it a dry run answers the item as it is. */
  preview?(context: GetContext, body: never): Promise<object | undefined>
}

export interface ComputedType extends EveryType {
  readonly kind: 'computed'
  readonly apiVersions: readonly string[] | 'any'
  readonly source: Source
  /** The schema of an item, for OpenAPI. */
  readonly answer?: TSchema
  /** Any signed-in caller may list; the list shows only what the caller may see (`may`). */
  readonly openList?: true
  /** Whoever has a role below may list, too; the list then shows only what they may read (`may`). */
  readonly partlyListed?: true
  readonly actions?: Readonly<Record<string, Action<unknown>>>
  /** The type in action names, where it is not `type`. */
  readonly permission?: string
  /** The type on the wire, where it is not `type`. */
  readonly wireType?: string
}

export function defineComputed(type: Omit<ComputedType, 'kind'>): ComputedType {
  return { ...type, kind: 'computed' }
}
