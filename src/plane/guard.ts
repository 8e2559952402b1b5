/**
 * The port of guards (locks): they may refuse a write, a delete or an action that the caller is allowed to do.
 * Checked after the permission, inside the transaction, before anything is written.
 */

import type { ResourceId } from '#kernel/resource-id.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { Reader } from './declare/resource.ts'

export interface GuardRequest {
  /** What would be changed. For an action on a collection: the scope of the collection. */
  readonly id: ResourceId
  /** Without the vendor word: `Authorization/locks`. */
  readonly type: string
  /** `action` is a POST. Guards are not asked about a GET. */
  readonly effect: 'write' | 'delete' | 'action'
  readonly words: VendorWords
  /** The transaction's reader, where there is one. */
  readonly reader: Reader
}

export interface Guard {
  /** Without the vendor word: where no resource of this type exists, it refuses nothing. */
  readonly idleWithout?: string
  /** Throws its refusal. Reads only. */
  check(request: GuardRequest): Promise<void>
}

/** Asks all guards, in order. */
export async function askGuards(guards: readonly Guard[], request: GuardRequest): Promise<void> {
  for (const guard of guards) await guard.check(request)
}
