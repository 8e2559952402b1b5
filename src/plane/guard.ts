/**
 * The port of guards: parts that may refuse a write, a delete or an action although the caller may do it
 * (locks). Asked after the permission, inside the transaction, before anything is written.
 */

import type { ResourceId } from '#kernel/resource-id.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { Reader } from './declare/resource.ts'

export interface GuardRequest {
  /** What would be changed. For an action on a collection: the scope it is below. */
  readonly id: ResourceId
  /** Without the vendor word: `Authorization/locks`. */
  readonly type: string
  /** `action`: a POST. A GET is never asked about. */
  readonly effect: 'write' | 'delete' | 'action'
  readonly words: VendorWords
  /** Of the transaction, where there is one. */
  readonly reader: Reader
}

export interface Guard {
  /** Throws its refusal. Reads only. */
  check(question: GuardRequest): Promise<void>
}

/** Asks all guards, in order. */
export async function askGuards(guards: readonly Guard[], question: GuardRequest): Promise<void> {
  for (const guard of guards) await guard.check(question)
}
