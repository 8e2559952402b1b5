/** Actions: what a POST or a GET below a resource does, and types that have nothing else. */

import type { TSchema } from 'typebox'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { Permission } from '../access.ts'
import type { EveryType } from './every-type.ts'
import type { Context, Resource } from './resource.ts'

/** What an action may answer. `model` writes intent; with a reconciler that opens an operation. */
export interface ActionOutcome<M> {
  /** 200 with a body, 202 (operation), 204, as the contract or the facts have it. */
  readonly status: number
  readonly body?: object | string | AsyncIterable<Uint8Array>
  readonly headers?: Readonly<Record<string, string>>
  /** Intent to store. The action names what to do; the reconciler does it. */
  readonly model?: M
  /** A list goes on here: the action's own cursor, signed by the plane; `nextLink` is put into the body. */
  readonly next?: string
}

export interface ActionContext<M> extends Context {
  readonly id: ResourceId
  /** Undefined for actions on virtual types and collections. */
  readonly resource: Resource<M> | undefined
  readonly query: URLSearchParams
  readonly version: string
  /** The `next` of the answer that is continued; actions that list go on there. */
  readonly cursor: string | undefined
  /** Items of one page, by `$top` and the limits. */
  readonly pageSize: number
  /** The address by which the caller came, for links in the answer; undefined for requests of the installation itself. */
  readonly publicUrl?: string | undefined
  /** Asked again by what goes on after the answer; undefined for requests of the installation itself. */
  readonly permission: Permission | undefined
}

/** A POST (or GET) below a resource, or on a collection word that is no type. */
export interface Action<M> {
  readonly method: 'POST' | 'GET'
  readonly description: string
  /** What follows the type in the action name; `{name}/action` for POST and `{name}/read` for GET. */
  readonly permission?: string
  /** Any signed-in caller may ask; the action itself says no where it must (`may`). Reads only. */
  readonly open?: boolean
  /** Counted as a read by throttling; facts 9.6 has list-style POSTs so. Such a one leaves no record. */
  readonly countsAsRead?: boolean
  /** Its answer holds a secret: the audit trail has a record of it before it is given, however it is counted. */
  readonly revealsSecret?: true
  readonly body?: TSchema
  readonly bodyOptional?: boolean
  readonly answer?: TSchema
  /** Statuses that it answers besides 200 and 204. For OpenAPI, as `query` is. */
  readonly statuses?: readonly number[]
  /** What a request may say in its query. */
  readonly query?: readonly string[]
  /** Inside a transaction when `writes`: then it reads only, and `model` is what is written. */
  readonly writes?: boolean
  /** Of one that writes: also while an operation runs, which goes on and sees the new intent. */
  readonly whileRunning?: boolean
  /** Of one that only reads: also where nothing is stored at the path; `resource` is then undefined. */
  readonly unstored?: boolean
  run(context: ActionContext<M>, body: never): Promise<ActionOutcome<M>>
}

/** A type that has no resources of its own, only actions. */
export interface ActionType extends EveryType {
  readonly kind: 'action'
  readonly apiVersions: readonly string[] | 'any'
  readonly actions?: Readonly<Record<string, Action<unknown>>>
  /** Its path word below a scope is an action and no collection (`checkAccess`). */
  readonly collectionActions?: { readonly POST?: Action<unknown>; readonly GET?: Action<unknown> }
}

export function defineActions(type: Omit<ActionType, 'kind'>): ActionType {
  return { ...type, kind: 'action' }
}
