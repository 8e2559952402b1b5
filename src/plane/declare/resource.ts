/**
 * What every part of a type is given: resources as providers see them, a reader of other resources, and the request.
 */

import type { Principal } from '#kernel/principal.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { SystemData } from '#kernel/system-data.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { DataUse } from '../access.ts'

/** A stored resource as rules, lists and reconcilers see it. */
export interface Resource<M = unknown> {
  readonly id: ResourceId
  readonly location?: string
  readonly tags?: Readonly<Record<string, string>>
  readonly systemData: SystemData
  /** `provisioningState`; always `Succeeded` for types without a reconciler. */
  readonly state: string
  /** The state that the user asked for. */
  readonly model: M
  /** What the engine reported last; written by the reconciler alone. */
  readonly observed?: unknown
  readonly etag: string
  readonly generation: number
}

/** Reads committed resources or, inside a write, those of its transaction. Every part of a type may use it. */
export interface Reader {
  get(id: ResourceId | string): Promise<Resource | undefined>
  /** Resources of a type (`Authorization/roleAssignments`) at or below a scope, in id order. */
  list(query: {
    readonly type: string
    readonly under: ResourceId | string
    readonly after?: string
    readonly limit: number
  }): Promise<readonly Resource[]>
  /**
   * Like `list`, but one resource at a time. Reads in chunks bounded in bytes and pauses between them, so that the
   * whole list is never in memory.
   */
  each(query: {
    readonly type: string
    readonly under: ResourceId | string
    readonly after?: string
    readonly limit?: number
  }): AsyncIterable<Resource>
  /**
   * Like `list`, but also bounded in bytes. `next` is the key to continue after, absent at the end. `isShort`: the
   * limit of bytes ended the page.
   */
  page(query: {
    readonly type: string
    readonly under: ResourceId | string
    readonly after: string | undefined
    readonly limit: number
  }): Promise<{
    readonly items: readonly Resource[]
    readonly next?: string
    readonly isShort?: true
  }>
  /** Resources of any type whose unique key begins so, in the order of unique keys. */
  byUniqueKey(query: {
    readonly prefix: string
    readonly after?: string
    readonly limit: number
  }): Promise<readonly { readonly uniqueKey: string; readonly id: ResourceId }[]>
  /**
   * Whether there are fewer than `limit` resources. Inside a write it stays so until the write is done: of two who would
   * pass the limit together one waits for the other.
   */
  hasRoom(query: {
    readonly type: string
    readonly under: ResourceId | string
    readonly limit: number
  }): Promise<boolean>
  /** Inside a write, the position of a feed as the write sees it: what was written before it is in it. Else undefined. */
  feedPosition(feed: string): Promise<number | undefined>
  /** The number of resources, counted up to `limit`. For limits there is `hasRoom`. */
  count(query: {
    readonly type: string
    readonly under: ResourceId | string
    readonly limit: number
  }): Promise<number>
}

/** What code inside a transaction may know of the request. It can ask nothing but the transaction. */
export interface InsideContext {
  readonly principal: Principal
  /** Milliseconds since 1970 UTC; the same value for the whole request. */
  readonly now: number
  readonly words: VendorWords
  readonly correlationId: string
  /** Aborted when nobody waits for the answer any more. Internal calls have none. */
  readonly signal?: AbortSignal
  readonly reader: Reader
}

/** What the parts of a type that run outside transactions may know of the request. */
export interface Context extends InsideContext {
  /**
   * Whether the caller may do this at another scope. `action` has no vendor word (`Resources/subscriptions/read`),
   * except for a type that no provider serves (`Contoso.Shop/orders/read`). The use of data may be granted by data
   * actions as well.
   */
  may(action: string | DataUse, scope: ResourceId): boolean | Promise<boolean>
  /** Whether the caller has a role at something below the scope. What the role allows there is for `may` to say. */
  hasRoleBelow(scope: ResourceId): Promise<boolean>
}
