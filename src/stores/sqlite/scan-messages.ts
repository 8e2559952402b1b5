/** What is asked of the scanning thread, and what it answers. Plain data both ways. */

import type { SqlValue } from '../store.ts'

export interface ScanQuestion {
  readonly id: number
  readonly work:
    | {
        readonly kind: 'read'
        readonly text: string
        readonly values: readonly SqlValue[]
        /** Asked of this snapshot, or of what is committed now. */
        readonly snapshot?: number
      }
    /** The log is copied into the file, beside readers and writers: answers one row, as `PRAGMA wal_checkpoint` does. */
    | { readonly kind: 'checkpoint' }
    /** The snapshot is needed no more. */
    | { readonly kind: 'end'; readonly snapshot: number }
    /** The thread ends. */
    | { readonly kind: 'close' }
}

export interface Cells {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly SqlValue[])[]
}

export interface ScanAnswer {
  readonly id: number
  readonly told:
    | ({ readonly kind: 'rows' } & Cells)
    | {
        readonly kind: 'unavailable'
        readonly message: string
        readonly retry: 'later' | 'never'
      }
    | { readonly kind: 'fault'; readonly message: string; readonly stack: string | undefined }
}
