/** Types whose items are computed and not stored. */

import type { TSchema } from 'typebox'
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
}

/** A type whose items are computed, not stored. Items are whole wire objects. */
export interface Source {
  get?(context: GetContext): Promise<object | undefined>
  list?(context: ListContext): Promise<ListPage<object>>
  /** What of a computed item may be changed. The item as it is then, or undefined where there is none (404). */
  readonly patch?: {
    readonly body: TSchema
    apply(context: GetContext, body: never): Promise<object | undefined>
  }
}

export interface ComputedType extends EveryType {
  readonly kind: 'computed'
  readonly apiVersions: readonly string[] | 'any'
  readonly source: Source
  /** Any signed-in caller may list; the list shows only what the caller may see (`may`). */
  readonly openList?: true
  readonly actions?: Readonly<Record<string, Action<unknown>>>
  /** The type in action names, where it is not `type`. */
  readonly permission?: string
  /** The type on the wire, where it is not `type`. */
  readonly wireType?: string
}

export function defineComputed(type: Omit<ComputedType, 'kind'>): ComputedType {
  return { ...type, kind: 'computed' }
}
