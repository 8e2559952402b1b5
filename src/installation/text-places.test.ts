import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSqlite } from '#stores/sqlite/open.ts'
import { installationMigrations } from './record.ts'
import { placeRowsAfter, textPlaces } from './text-places.ts'

test('rows are read in the order of their key, few megabytes at once', async () => {
  await using store = await openSqlite({
    path: ':memory:',
    migrations: installationMigrations,
    words: { namespace: 'Vendor', brand: 'Vendor' },
    transactionRetriesMax: 8,
  })
  const place = (await textPlaces(store.sql)).find(({ table }) => table === 'installation')
  assert.ok(place)
  const megabytes = [3, 2, 1, 5, 0, 0, 3]
  await store.sql.transact(async (tx) => {
    await tx.run('delete from installation')
    for (const [at, size] of megabytes.entries()) {
      const value = 'x'.repeat(size * 1024 * 1024)
      await tx.run('insert into installation (name, value) values (?, ?)', `n${at}`, value)
    }
  })
  const read: string[][] = []
  let after: Awaited<ReturnType<typeof placeRowsAfter>>['end']
  do {
    const { rows, end } = await placeRowsAfter(store.sql, place, after)
    read.push(rows.map((row) => String(row['name'])))
    after = end
  } while (after !== undefined)
  // The last one is found to be the end.
  assert.deepEqual(read, [['n0'], ['n1', 'n2'], ['n3'], ['n4', 'n5', 'n6'], []])
})
