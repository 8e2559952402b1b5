/** What every part of a type is given: resources as providers see them, reads of others, and the request. */

import type { Principal } from '#kernel/principal.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { SystemData } from '#kernel/system-data.ts'
import type { VendorWords } from '#kernel/vendor.ts'

/** A stored resource as rules, lists and reconcilers see it. */
export interface Resource<M = unknown> {
  readonly id: ResourceId
  readonly location?: string
  readonly tags?: Readonly<Record<string, string>>
  readonly systemData: SystemData
  /** `provisioningState`; always `Succeeded` for types without a reconciler. */
  readonly state: string
  /** What the user asked for. */
  readonly model: M
  /** What was last seen on the engine; written by the reconciler alone. */
  readonly observed?: unknown
  readonly etag: string
  readonly generation: number
}

/** Reads of committed (or, inside a write, of this transaction's) resources, by any part that may read. */
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
   * As `list`, one after the other: read in pieces that are bounded in bytes, with pauses between them, so that what
   * nobody keeps is never in memory together.
   */
  each(query: {
    readonly type: string
    readonly under: ResourceId | string
    readonly after?: string
    readonly limit?: number
  }): AsyncIterable<Resource>
  /**
   * As `list`, also bounded in bytes. `next` is the key to go on after, absent at the end. `isShort`: the bound in bytes
   * ended it.
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
  /** How many there are, counted up to `limit`. */
  count(query: {
    readonly type: string
    readonly under: ResourceId | string
    readonly limit: number
  }): Promise<number>
}

/** What every part of a type may know of the request it serves. */
export interface Context {
  readonly principal: Principal
  /** Milliseconds; the one moment of this request. */
  readonly now: number
  readonly words: VendorWords
  readonly correlationId: string
  /** Aborted when nobody waits for the answer any more; calls from inside have none. */
  readonly signal?: AbortSignal
  readonly reader: Reader
  /**
   * May the caller do this elsewhere? `action` without the vendor word: `Resources/subscriptions/read`; of a type that no
   * provider serves, as it is: `Contoso.Shop/orders/read`. A fault inside a
   * transaction, whose work may ask nothing beside it.
   */
  may(action: string, scope: ResourceId): boolean | Promise<boolean>
  /** Has the caller a role at something below the scope? What it lets them read there is for `may` to say. */
  hasRoleBelow(scope: ResourceId): Promise<boolean>
}
