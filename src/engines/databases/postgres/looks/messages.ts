/** The messages between a process that looks at servers and its parent. They are structured clones. */

import type { Destination } from '#outbound/outbound.ts'
import type { Decision } from '#outbound/way-of-parent.ts'
import type {
  Credentials,
  DatabaseEngine,
  DatabaseEngineErrorKind,
  MigrationSpec,
} from '../../engine.ts'
import type { ClientPrograms } from '../find-client-programs.ts'

/** The calls of the port that connect to servers. */
type Unchanged =
  | 'inspect'
  | 'settings'
  | 'changeSetting'
  | 'createDatabase'
  | 'dropDatabase'
  | 'survey'
  | 'setUpReplication'
  | 'traces'

export type LookValues = { readonly [K in Unchanged]: Parameters<DatabaseEngine[K]> } & {
  readonly validate: [spec: MigrationSpec, credentials: Credentials, trial: Trial]
}

/** What a validation needs of its parent. */
interface Trial {
  readonly isFollowed: boolean
  readonly programs: ClientPrograms | undefined
  /** For what stands on the disk meanwhile. */
  readonly folder: string
}

export type LookName = keyof LookValues
export type LookCall = {
  readonly [K in LookName]: { readonly name: K; readonly values: LookValues[K] }
}[LookName]
export type LookResult<K extends LookName> = Awaited<ReturnType<DatabaseEngine[K]>>

export type ToLooks =
  /** The authorities that the parent trusts, ahead of the first call that needs them. */
  | { readonly kind: 'trust'; readonly authorities: readonly string[] }
  /** `now`: the moment by the parent's clock, which may have been moved. */
  | { readonly kind: 'call'; readonly id: number; readonly now: number; readonly call: LookCall }
  | { readonly kind: 'cancel'; readonly id: number }
  | { readonly kind: 'decision'; readonly id: number; readonly decision: Decision }

export type FromLooks =
  /** Its loop turns. Sent once it listens, and then for as long as a call is under way. */
  | { readonly kind: 'beat' }
  | { readonly kind: 'decide'; readonly id: number; readonly destination: Destination }
  | { readonly kind: 'failed'; readonly destination: Destination; readonly reason: string }
  | { readonly kind: 'ended'; readonly id: number; readonly outcome: LookOutcome }

export type LookOutcome =
  | { readonly kind: 'done'; readonly value: unknown }
  | {
      readonly kind: 'failed'
      readonly failure: DatabaseEngineErrorKind
      readonly message: string
      readonly number: number | undefined
    }
  | { readonly kind: 'canceled' }
  /** A bug of ours, for the log. */
  | { readonly kind: 'fault'; readonly message: string }

/** How often a process with calls under way shows that its loop turns. */
export const beatMilliseconds = 1000
