/**
 * What a provider gets of its installation: one parameter, the same for every provider, so that a new provider needs
 * no wiring but its line in the list. Engines are not included: a provider asks for its engines by name.
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
  /** Gives resources identities of their own. */
  readonly workloads: WorkloadIdentities
  readonly clock: Clock
  readonly ids: Ids
  readonly timers: Timers
  readonly log: Log
  /** The relational port, for providers that own tables (`migrations` beside their `provider.ts`). */
  readonly sql: Sql
  /**
   * A seal with a key for that purpose alone. Sealed values can still be opened after the installation's key was
   * rotated.
   */
  sealOf(purpose: SealPurpose): Seal
  /** The address of the installation for clients, without a slash at its end. Known once it listens. */
  publicUrl(): string
  /** Available only after all providers are declared. */
  readonly services: PlaneServices
}
