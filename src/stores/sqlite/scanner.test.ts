/** Scans of a file run in a thread of their own. Snapshots stay unchanged while others write. */

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { contractOptions } from '../contract/setting.ts'
import { StatementTooLong, StoreUnavailable } from '../store.ts'
import { openSqlite } from './open.ts'
import { Scanner } from './scanner.ts'

async function openStore(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'armature-scan-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const migration = {
    area: 'numbers',
    number: 1,
    sqlite: ['CREATE TABLE numbers (n INTEGER)'],
    postgres: [],
  }
  const migrations = [...contractOptions.migrations, migration]
  return openSqlite({ path: join(folder, 'store.db'), ...contractOptions, migrations })
}

const sum = 'SELECT count(*) AS n FROM numbers'
/** Scans a million generated rows. */
const long = `WITH RECURSIVE up (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up LIMIT 1000000)
  SELECT max(n) AS most FROM up`

test('the event loop comes round while a scan runs', async (t) => {
  await using store = await openStore(t)
  const scanning = { isOver: false }
  const found = store.sql.scan(long).finally(() => {
    scanning.isOver = true
  })
  let turns = 0
  while (!scanning.isOver) {
    await turn()
    turns += 1
  }
  assert.deepEqual(await found, [{ most: 1_000_000 }])
  assert.ok(turns > 10, `${turns} turns`)
})

test('a snapshot stays as it was, more of them than have a place wait, and writes go on', async (t) => {
  await using store = await openStore(t)
  const add = () => store.sql.transact((tx) => tx.run('INSERT INTO numbers VALUES (1)'))
  await add()
  const counts = await Promise.all(
    Array.from({ length: 10 }, () =>
      store.sql.snapshot(async (reads) => {
        const before = await reads.all(sum)
        await add()
        return [before, await reads.scan(sum)]
      }),
    ),
  )
  for (const [before, after] of counts) assert.deepEqual(after, before)
  assert.deepEqual(await store.sql.all(sum), [{ n: 11 }])
})

test('a closed store answers no scan', async (t) => {
  const store = await openStore(t)
  const last = store.sql.scan(sum)
  await store[Symbol.asyncDispose]()
  assert.deepEqual(await last, [{ n: 0 }])
  await assert.rejects(store.sql.scan(sum), StoreUnavailable)
})

test('a scan that would never end ends, and the thread goes on', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'armature-scan-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'empty.db')
  new DatabaseSync(path).close()
  const scanner = new Scanner(path, 0.05)
  const endless = `WITH RECURSIVE up (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up)
    SELECT max(n) AS most FROM up WHERE within_time(n > 0)`
  await assert.rejects(scanner.all(endless, []), StatementTooLong)
  assert.deepEqual(await scanner.all('SELECT 1 AS one', []), [{ one: 1 }])
  await scanner.close()
})
