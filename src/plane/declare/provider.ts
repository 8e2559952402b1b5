/** A provider: a namespace and its types. */

import type { ApiError, ErrorEntry, ErrorFamily, Problem } from '#kernel/error.ts'
import type { ActionType } from './action.ts'
import type { ComputedType } from './computed.ts'
import type { ReconciledType } from './reconciled.ts'
import type { StoredType } from './stored.ts'
import type { DeclareUnserved } from './unserved.ts'

/** A resource type: one entry of the table. */
export type ResourceType = StoredType | ReconciledType | ComputedType | ActionType

export interface Provider {
  /** Without the vendor word: `Authorization`. */
  readonly namespace: string
  readonly description: string
  /** Default: `resource-manager`. */
  readonly errorFamily?: ErrorFamily
  /** The provider's own refusals, for the reference. */
  readonly errors?: Readonly<Record<string, ErrorEntry>>
  /** The refusal of a body with these problems (one or more), where the namespace has a code of its own for it. */
  refuseProblems?(problems: readonly Problem[]): ApiError
  readonly types: readonly ResourceType[]
  /**
   * Versions that published clients send and that have no shape of their own here: each is served in the shape that
   * was in force on its day (`nearestApiVersion`).
   */
  readonly compatibleVersions?: readonly string[]
  /** Serves what no provider declares, in any namespace. One provider at the most has it. */
  readonly unserved?: DeclareUnserved
  /**
   * Work of its own beside the reconciler (meters, schedules, sweeps): begun once the installation serves, ended
   * by disposal, which waits for what is under way. Every replica begins it: what may run once only takes a lease.
   */
  start?(): AsyncDisposable
  /** The store has another state: what is remembered of its rows is forgotten, and what nobody owns any more is removed. */
  forget?(): unknown
}

/** The identity function: declarations of types and of providers begin in the same way. */
export function defineProvider(provider: Provider): Provider {
  return provider
}
