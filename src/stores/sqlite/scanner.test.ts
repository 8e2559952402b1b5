/** Scans of a file run in a thread of their own. Snapshots stay unchanged while others write. */

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setTimeout, setImmediate as turn } from 'node:timers/promises'
import { until } from '../../../tests/until.ts'
import { behalfOf, whileAwaited } from '../awaited.ts'
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

const withOwner = <T>(owner: string, work: () => T): T => behalfOf(owner).run(work)

async function openScanner(t: TestContext, secondsMax: number): Promise<Scanner> {
  const folder = await mkdtemp(join(tmpdir(), 'armature-scan-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'empty.db')
  new DatabaseSync(path).close()
  return new Scanner(path, secondsMax)
}

/** Goes through rows without an end. */
const endless = `WITH RECURSIVE up (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up)
  SELECT max(n) AS most FROM up WHERE within_time(n > 0)`

test('a scan that would never end ends, and the thread goes on', async (t) => {
  const scanner = await openScanner(t, 0.05)
  await assert.rejects(scanner.all(endless, []), StatementTooLong)
  assert.deepEqual(await scanner.all('SELECT 1 AS one', []), [{ one: 1 }])
  const answered = await scanner.snapshot(({ scan }) => scan(endless).catch((error) => error))
  assert.ok(answered instanceof StatementTooLong)
  await scanner.close()
})

test('short scans are answered between the rows of long ones, also in snapshots', async (t) => {
  const scanner = await openScanner(t, 1)
  const ended: string[] = []
  const noted = (name: string, work: Promise<unknown>) =>
    work.then(
      () => ended.push(name),
      (error: unknown) => {
        assert.ok(error instanceof StatementTooLong, String(error))
        ended.push(`${name} was too long`)
      },
    )
  const one = 'SELECT 1 AS one'
  await Promise.all([
    noted('long', scanner.all(endless, [])),
    noted('long', scanner.all(endless, [])),
    noted(
      'long snapshot',
      scanner.snapshot((reads) => reads.all(endless)),
    ),
    noted('short', scanner.all(one, [])),
    noted(
      'short snapshot',
      scanner.snapshot(async (reads) => {
        await reads.all(one)
        await reads.all(one)
      }),
    ),
  ])
  assert.deepEqual(ended.toSorted(), [
    'long snapshot was too long',
    'long was too long',
    'long was too long',
    'short',
    'short snapshot',
  ])
  // What was quick before the first long one had its answer.
  assert.deepEqual(new Set(ended.slice(0, 2)), new Set(['short', 'short snapshot']))
  await scanner.close()
})

test('long scans take turns by owner, and each has its whole time whatever ran between its rows', async (t) => {
  const scanner = await openScanner(t, 1)
  const ended: string[] = []
  const scans = ['a', 'a', 'a', 'b'].map((owner) =>
    withOwner(owner, () => assert.rejects(scanner.all(endless, []), StatementTooLong)).then(() =>
      ended.push(owner),
    ),
  )
  const finite =
    'WITH RECURSIVE up (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up LIMIT 400000) SELECT count(*) AS n FROM up WHERE within_time(n > 0)'
  const honest = withOwner('c', () => scanner.all(finite, [])).then((rows) => {
    assert.deepEqual(rows, [{ n: 400_000 }])
    ended.push('c')
  })
  await Promise.all([...scans, honest])
  assert.deepEqual(ended.slice(3), ['a', 'a'])
  await scanner.close()
})

test('an owner whose short scans go on meanwhile has a turn for a long one', async (t) => {
  const scanner = await openScanner(t, 0.5)
  const ended = new AbortController()
  const endlessly = async (owner: string): Promise<void> => {
    while (!ended.signal.aborted) {
      await withOwner(owner, () => assert.rejects(scanner.all(endless, []), StatementTooLong))
    }
  }
  const others = ['a', 'a', 'b', 'b'].map(endlessly)
  let short = 0
  const shortly = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      await withOwner('c', () => scanner.all('SELECT 1 AS one', []))
      short++
      await setTimeout(50)
    }
  }
  const own = shortly()
  await until(() => short > 2)
  const finite = `WITH RECURSIVE up (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up LIMIT 1500000)
    SELECT count(*) AS n FROM up WHERE within_time(n > 0)`
  await withOwner('c', () => scanner.all(finite, []))
  ended.abort()
  await Promise.all([...others, own])
  await scanner.close()
})

test('a snapshot that ends while its scan waits leaves nothing', async (t) => {
  const scanner = await openScanner(t, 1)
  const long = assert.rejects(scanner.all(endless, []), StatementTooLong)
  const left = scanner.snapshot(async (reads) => {
    void reads.all(endless).catch(() => undefined)
    await reads.all('SELECT 1 AS one')
  })
  await Promise.all([long, left])
  assert.deepEqual(await scanner.all('SELECT 1 AS one', []), [{ one: 1 }])
  await scanner.close()
})

test('a scan that nobody waits for any more ends, whether it runs or waits', async (t) => {
  const scanner = await openScanner(t, 600)
  const left = new AbortController()
  const scans = Array.from({ length: 3 }, () =>
    assert.rejects(
      whileAwaited(
        () => left.signal,
        () => scanner.all(endless, []),
      ),
      { message: 'left' },
    ),
  )
  await scanner.all('SELECT 1 AS one', [])
  left.abort(new Error('left'))
  await Promise.all(scans)
  // It would wait for ten minutes behind one of them.
  await scanner.close()
})
