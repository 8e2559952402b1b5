/** A store that outlives the process that has it open: a file, or a database of a server; and what opens its secrets. */

import { defaultLimits } from '#kernel/limits.ts'
import { contractWords } from '#kernel/vendor.ts'
import { realClock } from '#plane/testing/provider-context.ts'
import { openPostgres } from '#stores/postgres/open.ts'
import type { Store } from '#stores/store.ts'
import { dataShareMigrations } from '../domain/store/migrations.ts'
import { sharingStore } from './start.ts'

export type StoreAddress =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string }

/** The same for all who open one. */
export const sealKey: Uint8Array = new Uint8Array(32).fill(7)

export function openStoreAt(address: StoreAddress): Promise<Store> {
  if (address.kind === 'sqlite') return sharingStore(address.path)
  return openPostgres({
    url: address.url,
    poolSize: 6,
    clock: realClock,
    migrations: dataShareMigrations,
    words: contractWords,
    transactionRetriesMax: defaultLimits.transactionRetriesMax,
  })
}
