/** Messages to and from the scanning thread. Plain data both ways. */

import type { SqlValue } from '../store.ts'

/** What the thread begins with. */
export interface ScanSettings {
  readonly path: string
  readonly secondsMax: number
}

export interface ScanRequest {
  readonly id: number
  /** The principal in whose name it is: owners take turns. What concerns one snapshot has one owner. */
  readonly owner?: string | undefined
  readonly work:
    | {
        readonly kind: 'read'
        readonly text: string
        readonly values: readonly SqlValue[]
        /** Reads this snapshot, or what is committed now. */
        readonly snapshot?: number
      }
    /** Copies the log into the file beside readers and writers; the answer is the row of `PRAGMA wal_checkpoint`. */
    | { readonly kind: 'checkpoint' }
    /** The snapshot is not needed any more. */
    | { readonly kind: 'end'; readonly snapshot: number }
    /** The thread ends. */
    | { readonly kind: 'close' }
}

/** Nobody waits for the answer of the request any more, and there is none. */
interface Forget {
  readonly forget: number
}

export type ScanMessage = ScanRequest | Forget

export interface Cells {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly SqlValue[])[]
}

export interface ScanAnswer {
  readonly id: number
  readonly outcome:
    | ({ readonly kind: 'rows' } & Cells)
    | {
        readonly kind: 'unavailable'
        readonly message: string
        readonly retry: 'later' | 'never'
      }
    | { readonly kind: 'too long' }
    | { readonly kind: 'fault'; readonly message: string; readonly stack: string | undefined }
}
