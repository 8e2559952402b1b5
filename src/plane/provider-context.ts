/**
 * What a provider may have of the installation it serves: one parameter, the same for every provider, so that
 * adding one needs no wiring but its line in the list. Engines are no part of it: those a provider asks for by name.
 */

import type { Clock, Ids, Log, Seal, Timers } from '#kernel/ports.ts'
import type { Directory, WorkloadIdentities } from '#kernel/principal.ts'
import type { SealPurpose } from '#kernel/seal-purposes.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { Sql } from '#stores/store.ts'
import type { PlaneServices } from './create-plane.ts'

export interface ProviderContext {
  readonly words: VendorWords
  readonly tenantId: string
  readonly directory: Directory
  /** Where resources get identities of their own. */
  readonly workloads: WorkloadIdentities
  readonly clock: Clock
  readonly ids: Ids
  readonly timers: Timers
  readonly log: Log
  /** The relational port, for providers that own tables (`migrations` beside their `provider.ts`). */
  readonly sql: Sql
  /** A seal whose key is for that purpose alone. What it sealed opens after a rotation of the installation's key too. */
  sealOf(purpose: SealPurpose): Seal
  /** Where clients reach the installation, without a slash at its end. Known once it listens. */
  publicUrl(): string
  /** Reached only after declaring: they answer when the plane exists. */
  readonly services: PlaneServices
}
