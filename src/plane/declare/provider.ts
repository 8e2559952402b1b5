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
  /** What people call the service beside the namespace, such as in events about its health. */
  readonly serviceNames?: readonly string[]
  readonly description: string
  /** Default: `resource-manager`. */
  readonly errorFamily?: ErrorFamily
  /** The provider's own errors, for the reference. */
  readonly errors?: Readonly<Record<string, ErrorEntry>>
  /** The refusal of a body with these problems (one or more), where the namespace has its own error code for it. */
  refuseProblems?(problems: readonly Problem[]): ApiError
  readonly types: readonly ResourceType[]
  /**
   * The data actions that uses of its data ask for (`DataUse`), by name, with what the lists of operations say of each.
   */
  readonly dataActions?: Readonly<Record<string, string>>
  /**
   * Versions that published clients send and that have no shape of their own here. Each is served in the shape that
   * was in force on its date (`nearestApiVersion`).
   */
  readonly compatibleVersions?: readonly string[]
  /** Serves types that no provider declares, in any namespace. At most one provider has it. */
  readonly unserved?: DeclareUnserved
  /**
   * Background work beside the reconciler (meters, schedules, sweeps). It starts once the installation serves
   * requests and ends by disposal, which waits for running work. Every replica starts it; work that may run only once
   * takes a lease.
   */
  start?(): AsyncDisposable
  /**
   * Called after the store was replaced by another state: drops what is remembered of its rows and removes what no
   * row owns any more.
   */
  forget?(): unknown
}

/** Returns its argument. It exists so that declarations of providers look like those of types. */
export function defineProvider(provider: Provider): Provider {
  return provider
}
