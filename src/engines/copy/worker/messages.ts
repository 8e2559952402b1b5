/** The messages between a session's process and its parent. They are structured clones. */

import type { OutboundSettings } from '#outbound/policy.ts'
import type { CopyJournal, CopyTask, FailureCode } from '../engine.ts'

export type JournalCall = {
  readonly [K in keyof CopyJournal]: {
    readonly name: K
    readonly values: Parameters<CopyJournal[K]>
  }
}[keyof CopyJournal]

export type ToWorker =
  | { readonly kind: 'copy'; readonly task: CopyTask; readonly outbound: OutboundSettings }
  | { readonly kind: 'cancel'; readonly taskId: string; readonly reason: string | undefined }
  | { readonly kind: 'answer'; readonly call: number; readonly value: unknown }
  | { readonly kind: 'refused'; readonly call: number; readonly message: string }

export type FromWorker =
  | {
      readonly kind: 'call'
      readonly call: number
      readonly taskId: string
      readonly journal: JournalCall
    }
  | { readonly kind: 'ended'; readonly taskId: string; readonly outcome: Outcome }

export type Outcome =
  | { readonly kind: 'copied' }
  | { readonly kind: 'cancelled' }
  | {
      readonly kind: 'failed'
      readonly code: FailureCode
      readonly message: string
      readonly retry: 'later' | 'never'
    }
  /** The journal threw; its keeper has the error. */
  | { readonly kind: 'journal' }
  /** A bug of ours, for the log. */
  | { readonly kind: 'fault'; readonly message: string }
