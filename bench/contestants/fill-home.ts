/**
 * Copies one resource of a stopped installation until there are enough, through the store's own port. The
 * copies differ in name and tag only, so a server finds them as if clients had written them.
 */

import { defaultLimits } from '../../src/kernel/limits.ts'
import { contractWords } from '../../src/kernel/vendor.ts'
import { areaMigrations } from '../../src/main/migrations.ts'
import { openSqlite } from '../../src/stores/sqlite/open.ts'

interface Filling {
  readonly database: string
  /** Of the resource to copy; its last part is `nameOf(0)`. */
  readonly key: string
  nameOf(index: number): string
  /** How many there are in the end, the first included. */
  readonly count: number
}

/** In one transaction; more would hold all of it in memory. */
const rowsAtOnce = 5_000

export async function fillHome({ database, key, nameOf, count }: Filling): Promise<void> {
  await using store = await openSqlite({
    path: database,
    migrations: areaMigrations,
    words: contractWords,
    transactionRetriesMax: defaultLimits.transactionRetriesMax,
  })
  const first = await store.get(key)
  if (first === undefined) throw new Error(`there is no resource ${key} to copy`)
  const firstName = nameOf(0)
  for (let begin = 1; begin < count; begin += rowsAtOnce) {
    const end = Math.min(count, begin + rowsAtOnce)
    await store.transact(async (tx) => {
      for (let index = begin; index < end; index++) {
        const name = nameOf(index)
        await tx.insert({
          ...first,
          key: first.key.replaceAll(firstName, name),
          id: first.id.replaceAll(firstName, name),
          document: first.document.replaceAll(firstName, name),
          etag: `${first.etag.slice(0, -7)}${String(index).padStart(7, '0')}`,
        })
      }
    })
  }
}
