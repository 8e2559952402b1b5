/** What authorizations are given, and the port by which token endpoints are asked. */

import type { Clock, Ids, Log, Seal, Timers } from '#kernel/ports.ts'
import type { Directory } from '#kernel/principal.ts'
import type { PlaneServices } from '#plane/create-plane.ts'

/** Asks token endpoints. It is what keeps requests from going where they must not. */
export interface TokenEndpoint {
  /** A form by POST. Never throws. */
  ask(url: string, form: Readonly<Record<string, string>>): Promise<TokenAnswer>
}

export type TokenAnswer =
  | { readonly ok: true; readonly answer: Readonly<Record<string, unknown>> }
  | {
      readonly ok: false
      /** `invalid_grant` and the like, or one of our own. */
      readonly error: string
      readonly message: string
      /** Asking again later may help. */
      readonly transient: boolean
    }

export interface ConsentDependencies {
  readonly seal: Seal
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly timers: Timers
  readonly directory: Pick<Directory, 'groupsOf'>
  readonly tokens: TokenEndpoint
  /** Addresses that end with a slash: browsers may go back to what is below them. */
  readonly redirects: readonly string[]
  readonly services: Pick<PlaneServices, 'reader' | 'updateAsSystem'>
  publicUrl(): string
}
