/** What authorizations need, and the port for requests to token endpoints. */

import type { Clock, Ids, Log, Seal, Timers } from '#kernel/ports.ts'
import type { Directory, WorkloadIdentities } from '#kernel/principal.ts'
import type { PlaneServices } from '#plane/create-plane.ts'

/** Sends requests to token endpoints. It enforces the outbound policy. */
export interface TokenEndpoint {
  /** Sends a form by POST for an owner, the resource group. Never throws. */
  ask(url: string, form: Readonly<Record<string, string>>, owner: string): Promise<TokenAnswer>
}

export type TokenAnswer =
  | { readonly ok: true; readonly answer: Readonly<Record<string, unknown>> }
  | {
      readonly ok: false
      /** `invalid_grant` and the like, or one of our own codes. */
      readonly error: string
      readonly message: string
      /** A later retry may succeed. */
      readonly transient: boolean
    }

/** User-assigned identities, which exist apart from services. */
interface AssignedIdentities {
  /** The action that the writer of a service needs on each. Without the vendor word. */
  readonly useAction: string
  /** Undefined when there is none with that resource id. */
  find(
    resourceId: string,
  ): Promise<{ readonly clientId: string; readonly principalId: string } | undefined>
}

/** What services need for their identities. */
export interface ServiceDependencies {
  readonly tenantId: string
  readonly ids: Ids
  readonly workloads: WorkloadIdentities
  readonly identities: AssignedIdentities
  publicUrl(): string
}

export interface ConsentDependencies {
  readonly seal: Seal
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly timers: Timers
  readonly directory: Pick<Directory, 'groupsOf'>
  readonly tokens: TokenEndpoint
  /** Addresses that end with a slash; browsers may be redirected to anything below them. */
  readonly redirects: readonly string[]
  readonly services: Pick<PlaneServices, 'reader' | 'updateAsSystem'>
  publicUrl(): string
}
