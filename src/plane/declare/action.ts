/** Actions: POST or GET below a resource, and types that have only actions. */

import type { TSchema } from 'typebox'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { DataUse, Permission } from '../access.ts'
import type { EveryType } from './every-type.ts'
import type { Context, InsideContext, Resource } from './resource.ts'
import type { RightElsewhere } from './stored.ts'

/** What an action may answer. `model` is the new intent; a reconciler carries it out and opens an operation. */
export interface ActionOutcome<M> {
  /** 200 with a body, 202 with an operation, or 204, as the contract or the facts say. */
  readonly status: number
  readonly body?: object | string | AsyncIterable<Uint8Array>
  readonly headers?: Readonly<Record<string, string>>
  /** The intent to store. The action states what to do; the reconciler does it. */
  readonly model?: M
  /** The cursor of the next page. The plane signs it and adds `nextLink` to the body. */
  readonly next?: string
}

export interface RequestedAction {
  readonly id: ResourceId
  readonly query: URLSearchParams
  readonly version: string
  /** The `next` of the previous page; actions that list continue there. */
  readonly cursor: string | undefined
  /** Items per page, by `$top` and the limits. */
  readonly pageSize: number
  /** The address that the caller used, for links in the answer; undefined for requests of the installation itself. */
  readonly publicUrl?: string | undefined
  /** Work that continues after the answer checks it again; undefined for requests of the installation itself. */
  readonly permission: Permission | undefined
}

export interface ActionContext<M> extends Context, RequestedAction {
  /** Undefined for actions of virtual types and of collections. */
  readonly resource: Resource<M> | undefined
}

export interface WritingContext<M> extends InsideContext, RequestedAction {
  readonly resource: Resource<M>
  /** Answers only for rights that `rights` named: inside a transaction no other right can be checked. */
  may(action: string | DataUse, scope: ResourceId): boolean
}

/** A POST or GET below a resource, or at a collection word that is no type. */
export type Action<M> = ReadingAction<M> | WritingAction<M>

interface ActionMembers {
  readonly method: 'POST' | 'GET'
  readonly description: string
  /** The last part of the action name, followed by `/action` for POST and `/read` for GET. */
  readonly permission?: string
  /** Any signed-in caller may call it; the action itself refuses by `may` where it must. For reads only. */
  readonly open?: boolean
  /** Throttling counts it as a read, and the audit trail has no record of it (facts 9.6, list-style POST). */
  readonly countsAsRead?: boolean
  /**
   * Its answer holds a secret: a record is written to the audit trail before the answer is given, however it is
   * counted.
   */
  readonly revealsSecret?: true
  /**
   * It only ends what runs, or takes access away: it is allowed where a scope above refuses writes, as are actions
   * that count as reads or reveal a secret.
   */
  readonly endsWork?: true
  readonly body?: TSchema
  readonly bodyOptional?: boolean
  /** Where it is not that of the type (`Protocol`). */
  readonly bodySyntax?: 'exact' | 'relaxed'
  readonly answer?: TSchema
  /** It never answers 204, though its 200 has no body. One that declares its answer never does. For OpenAPI. */
  readonly always200?: true
  /** Statuses besides 200 and 204. For OpenAPI, like `query`. */
  readonly statuses?: readonly number[]
  /** Its 202 has the body of its 200. For OpenAPI. */
  readonly acceptedShows?: true
  /** Names of its query parameters. */
  readonly query?: readonly string[]
}

/** Writes no model. It runs outside transactions. */
export interface ReadingAction<M> extends ActionMembers {
  readonly writes?: never
  /** It may run where nothing is stored at the path; `resource` is then undefined. */
  readonly unstored?: boolean
  run(context: ActionContext<M>, body: never): Promise<ActionOutcome<M>>
}

/** Runs inside a transaction, where it only reads. The plane writes the `model` that it returns. */
export interface WritingAction<M> extends ActionMembers {
  readonly writes: true
  /** It may run while an operation runs, which then sees the new intent. */
  readonly whileRunning?: boolean
  /**
   * Rights on other resources that it may need, by the stored model. They are checked before the transaction, again
   * if the resource changes meanwhile; `run` decides, through its `may`, whether one was needed.
   */
  rights?(model: M): readonly RightElsewhere[]
  run(context: WritingContext<M>, body: never): Promise<ActionOutcome<M>>
}

/** A type without resources, only with actions. */
export interface ActionType extends EveryType {
  readonly kind: 'action'
  readonly apiVersions: readonly string[] | 'any'
  readonly actions?: Readonly<Record<string, Action<unknown>>>
  /** Its path word below a scope names an action and not a collection (`checkAccess`). */
  readonly collectionActions?: { readonly POST?: Action<unknown>; readonly GET?: Action<unknown> }
}

export function defineActions(type: Omit<ActionType, 'kind'>): ActionType {
  return { ...type, kind: 'action' }
}
