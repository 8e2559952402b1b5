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
  /** The id as in the path. It differs from `id` only for types with a `sharedRow`. */
  readonly requested: ResourceId
  readonly query: URLSearchParams
  /** The origin of the request; undefined for requests of the installation itself. */
  readonly from?: RequestFrom
}

export interface ComputedWriteContext extends GetContext {
  /**
   * Throws 412 where the request's preconditions do not hold for the item as it is. They were checked before `apply`; a
   * source that waits for other writes checks them again on what it then finds.
   */
  requirePreconditions(item: object): void
  /**
   * Throws 401 or 403 where the caller has lost the right. It was checked right before `apply`; a source that asks others
   * before it writes checks again.
   */
  authorizeAgain(): Promise<void>
  /**
   * For a source that makes items: to be called right before it makes one, which nothing of its id may be there for any more.
   * Ends rights at the id that one before has left, which ended without a DELETE of ours.
   */
  endEarlierRights(): Promise<void>
}

/** A type whose items are computed, not stored. Items are complete wire objects. */
export interface Source {
  get?(context: GetContext): Promise<object | undefined>
  list?(context: ListContext): Promise<ListPage<object>>
  /** PATCH: what of a computed item may be changed. Returns the new item, or undefined where there is none (404). */
  readonly patch?: ComputedWrite
  /** PUT: replaces an existing item as a whole. It creates one only where `makes` is set. */
  readonly put?: ComputedWrite
  /** DELETE: empties an item, which then still exists; removes it where `makes` is set. */
  readonly delete?: Omit<ComputedWrite, 'body'>
}

export interface ComputedWrite {
  readonly body: TSchema
  /** PUT creates a missing item (201). DELETE removes an item (200) and succeeds without one (204). */
  readonly makes?: true
  apply(context: ComputedWriteContext, body: never): Promise<object | undefined>
  /**
   * What `apply` would return, based on the reader it is given. Writes nothing. Without it a dry run returns the item
   * unchanged.
   */
  preview?(context: GetContext, body: never): Promise<object | undefined>
}

export interface ComputedType extends EveryType {
  readonly kind: 'computed'
  readonly apiVersions: readonly string[] | 'any'
  readonly source: Source
  /** The schema of an item, for OpenAPI. */
  readonly answer?: TSchema
  /** Its items are no resources and have names of their own: no envelope is declared around them. */
  readonly bare?: true
  /** Any signed-in caller may list; the list shows only what the caller may see (`may`). */
  readonly openList?: true
  /**
   * A caller with a role at something below the scope may list, too; the list then shows only what they may read
   * (`may`).
   */
  readonly partlyListed?: true
  readonly actions?: Readonly<Record<string, Action<unknown>>>
  /** The type's word in action names, where it is not `type`. */
  readonly permission?: string
  /** The type on the wire, where it is not `type`. */
  readonly wireType?: string
  /** There are none, and none can be made: who writes one is told the description (501). */
  readonly absent?: true
}

export function defineComputed(type: Omit<ComputedType, 'kind'>): ComputedType {
  return { ...type, kind: 'computed' }
}
