/**
 * Copies one resource of a stopped installation until there are enough, through the store's own port. The copies
 * differ only in name and tag, so the server finds them as if clients had written them.
 */

import { openStore } from './open-store.ts'

interface Filling {
  /** A file of SQLite, or the address of a PostgreSQL database. */
  readonly database: string
  /** The key of the resource to copy; its last part is `nameOf(0)`. */
  readonly key: string
  nameOf(index: number): string
  /** How many resources there are in the end, the first included. */
  readonly count: number
}

/** Rows per transaction. More would keep all of them in memory. */
const rowsAtOnce = 5_000

export async function fillHome({ database, key, nameOf, count }: Filling): Promise<void> {
  await using store = await openStore(database)
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
