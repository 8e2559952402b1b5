/** A process that begins a synchronization and is gone, as by kill -9, at one call of one data set's ledger. */

import { type Cut, cutEngine } from './cut.ts'
import { startSharing } from './start.ts'
import { openStoreAt, type StoreAddress, sealKey } from './stores.ts'

export interface Dying {
  readonly store: StoreAddress
  readonly root: string
  readonly cut: Cut
  readonly mode: 'Incremental' | 'FullSync'
}

// Written by the test that starts this.
const { store, root, cut, mode } = JSON.parse(process.argv[2] ?? '') as Dying
const engine = cutEngine(cut, async () => {
  process.kill(process.pid, 'SIGKILL')
  await new Promise(() => undefined)
})
const sharing = await startSharing({ store: await openStoreAt(store), root, engine, sealKey })
await sharing.ended(await sharing.synchronize(mode))
process.exit(3)
