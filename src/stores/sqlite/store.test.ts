/** The contract on SQLite, in a file and in memory, and what only SQLite promises. */

import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'

import { turnsOf, useUpTurns } from '../../../tests/turns.ts'
import { behalfOf } from '../awaited.ts'
import { contractOptions, contractRow, type Place } from '../contract/setting.ts'
import { storeContract } from '../contract.ts'
import { type SqlTx, type Store, StoreUnavailable } from '../store.ts'
import { openSqlite } from './open.ts'

async function freshPath(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'armature-store-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return join(folder, 'store.db')
}

const open = (path: string): Promise<Store> => openSqlite({ path, ...contractOptions })

async function filePlace(t: TestContext): Promise<Place> {
  const path = await freshPath(t)
  return (options) => openSqlite({ path, ...contractOptions, ...options })
}

async function memoryPlace(): Promise<Place> {
  return (options) => openSqlite({ path: ':memory:', ...contractOptions, ...options })
}

storeContract('sqlite file', { place: filePlace, durable: true })
storeContract('sqlite memory', { place: memoryPlace, durable: false })

const isNever = (error: unknown): boolean =>
  error instanceof StoreUnavailable && error.retry === 'never'

test('a file in use is refused, and free again after closing', async (t) => {
  const path = await freshPath(t)
  {
    await using store = await open(path)
    await assert.rejects(open(path), (error) => isNever(error) && /in use/.test(String(error)))
    await store.transact((tx) => tx.insert(contractRow('/a')))
  }
  await using store = await open(path)
  assert.notEqual(await store.get('/a'), undefined)
})

test('claims of a process that is gone are free at once', async (t) => {
  const path = await freshPath(t)
  {
    await using store = await open(path)
    await store.transact((tx) => tx.schedule('/a', 10))
    assert.equal((await store.claimDue('one', 20, 3600, 1)).length, 1)
    // Events that came during the claim are due when they were wanted.
    await store.transact((tx) => tx.schedule('/a', 5))
    assert.equal((await store.claimDue('two', 30, 3600, 1)).length, 0)
  }
  await using store = await open(path)
  assert.equal(await store.nextDue(), 5)
  assert.equal((await store.claimDue('two', 30, 3600, 1)).length, 1)
})

test('the files are for their owner alone', async (t) => {
  const path = await freshPath(t)
  await using store = await open(path)
  await store.transact((tx) => tx.insert(contractRow('/a')))
  for (const end of ['', '.lock', '-wal', '-shm']) {
    assert.equal((await stat(path + end)).mode & 0o777, 0o600, end)
  }
})

test('a database of something else and a missing folder are refused', async (t) => {
  const path = await freshPath(t)
  const other = new DatabaseSync(path)
  other.exec('CREATE TABLE theirs (id INTEGER)')
  other.close()
  await assert.rejects(open(path), (error) => isNever(error) && /'theirs'/.test(String(error)))
  await assert.rejects(open(join(path, 'no', 'store.db')), isNever)
})

for (const [name, freshPlace] of [
  ['a file', filePlace],
  ['memory', memoryPlace],
] as const) {
  test(`in ${name}, a work that awaits something foreign fails loudly, alone and in company`, async (t) => {
    await using store = await (await freshPlace(t))()
    for (const neighbours of [0, 3]) {
      const good = Array.from({ length: neighbours }, (_, n) =>
        store.transact((tx) => tx.insert(contractRow(`/good${n}`))),
      )
      let late: Promise<unknown> | undefined
      const foreign = Promise.withResolvers<void>()
      const bad = store.transact(async (tx) => {
        await tx.insert(contractRow('/bad'))
        await foreign.promise
        late = tx.insert(contractRow('/late'))
        await late
      })
      await assert.rejects(bad, /awaited something other/)
      await Promise.all(good)
      assert.equal(await store.get('/bad'), undefined)
      foreign.resolve()
      await nextTurn()
      await assert.rejects(async () => late, /after its end/)
      assert.equal(await store.count({ under: '/', limit: 9 }), neighbours)
    }
  })
}

for (const [name, freshPlace] of [
  ['a file', filePlace],
  ['memory', memoryPlace],
] as const) {
  test(`in ${name}, the loop comes round in long transactions and in batches of many`, async (t) => {
    await using store = await (await freshPlace(t))()
    const counts = async (work: () => Promise<unknown>) => (await turnsOf(work)).turns
    const long = async (tx: SqlTx, statements: number): Promise<void> => {
      for (let at = 0; at < statements; at++) await tx.all('select count(*) as n from resources')
    }
    const statements = 20
    const one = () => store.sql.transact((tx) => long(tx, statements))
    const rows = (of: string) => () =>
      Promise.all(
        Array.from({ length: statements }, (_, at) =>
          store.transact((tx) => tx.insert(contractRow(`/${of}/${at}`))),
        ),
      )
    assert.ok((await counts(one)) < statements, 'in one turn while there is time')
    assert.ok((await counts(rows('quick'))) < statements, 'rows while there is time')
    useUpTurns(t)
    assert.ok((await counts(one)) >= statements, 'one transaction')
    const many = () => Promise.all(Array.from({ length: 3 }, one))
    assert.ok((await counts(many)) >= 3 * statements, 'many in one batch')
    assert.ok((await counts(rows('slow'))) >= statements, 'rows in one batch')
  })

  test(`in ${name}, a transaction that paused is still all or nothing, and awaits nothing foreign`, async (t) => {
    await using store = await (await freshPlace(t))()
    await store.transact((tx) => tx.insert(contractRow('/kept')))
    useUpTurns(t)
    const seen: Promise<number>[] = []
    const outside = AsyncLocalStorage.snapshot()
    const long = async (tx: SqlTx): Promise<void> => {
      await tx.follow('feed', '/a')
      setImmediate(() => outside(() => seen.push(store.count({ under: '/', limit: 9 }))))
      for (let at = 0; at < 3; at++) await tx.run('delete from resources')
    }
    const refusal = new Error('no')
    await assert.rejects(
      store.sql.transact(async (tx) => {
        await long(tx)
        throw refusal
      }),
      (error) => error === refusal,
    )
    assert.equal(await store.feed('feed').position(), 0)
    await assert.rejects(
      store.sql.transact(async (tx) => {
        await long(tx)
        await new Promise(() => undefined)
      }),
      /awaited something other/,
    )
    assert.equal(await store.feed('feed').position(), 0)
    assert.deepEqual(await Promise.all(seen), [1, 1])
    await store.sql.transact(long)
    assert.equal(await store.feed('feed').position(), 1)
  })
}

test('in memory, a read made before the first wait of a work sees nothing of it', async () => {
  await using store = await (await memoryPlace())()
  let seen: Promise<unknown> | undefined
  const outside = AsyncLocalStorage.snapshot()
  await store.transact(async (tx) => {
    const inserted = tx.insert(contractRow('/a'))
    seen = outside(() => store.get('/a')).then((row) => row?.key)
    await inserted
    await tx.remove('/a', 'e1')
  })
  assert.equal(await seen, undefined)
})

test('a transaction inside a transaction fails instead of hanging', async (t) => {
  await using store = await open(await freshPath(t))
  const nested = store.transact(() => store.transact(async () => 1))
  await assert.rejects(nested, /beside its transaction/)
})

test('the writes of one turn are committed together', async (t) => {
  const path = await freshPath(t)
  await using store = await open(path)
  const outside = new DatabaseSync(path, { readOnly: true })
  const version = outside.prepare('PRAGMA data_version')
  version.setReturnArrays(true)
  let commits = 0
  // An array of one cell, by the line above.
  const read = (): unknown => (version.get() as unknown as readonly unknown[])[0]
  let last = read()
  const look = (): void => {
    const now = read()
    if (now !== last) commits++
    last = now
  }
  await Promise.all(
    Array.from({ length: 100 }, (_, n) =>
      store.transact((tx) => tx.insert(contractRow(`/r${n}`))).then(look),
    ),
  )
  outside.close()
  assert.equal(commits, 1)
})

test('more transactions than a batch holds are all carried out', async (t) => {
  await using store = await open(await freshPath(t))
  await Promise.all(
    Array.from({ length: 600 }, (_, n) => store.transact((tx) => tx.insert(contractRow(`/r${n}`)))),
  )
  assert.equal(await store.count({ under: '/', limit: 1000 }), 600)
})

test('the position of a feed is known without asking', async (t) => {
  await using store = await open(await freshPath(t))
  await store.sql.transact((tx) => tx.follow('f', '/a'))
  assert.equal(store.feed('f').position(), 1)
})

test('rows that are in no memory are read while the turn has time for it', async (t) => {
  await using store = await open(await freshPath(t))
  const document = JSON.stringify({ text: 'x'.repeat(3_000_000) })
  const [large, small] = [contractRow('/large', { document }), contractRow('/small')]
  await store.transact(async (tx) => {
    await tx.insert(large)
    await tx.insert(small)
  })
  useUpTurns(t)
  const read = (key: string) =>
    turnsOf(() => Promise.all(Array.from({ length: 8 }, () => store.get(key))))
  const { turns, result } = await read(large.key)
  assert.ok(turns >= 7, `${turns} turns`)
  assert.ok(result.every((row) => row?.document === document))
  assert.ok((await read(small.key)).turns < 7)
})

test('writes to one large row, one after the other, leave turns to others', async (t) => {
  await using store = await open(await freshPath(t))
  const document = JSON.stringify({ text: 'x'.repeat(1_500_000) })
  const row = contractRow('/large', { document })
  await store.transact((tx) => tx.insert(row))
  const change = () =>
    store.transact(async (tx) => {
      const current = await tx.lock(row.key, 'change')
      assert.ok(current !== undefined)
      await tx.update({ ...current, generation: current.generation + 1 }, current.etag)
    })
  useUpTurns(t)
  const { turns } = await turnsOf(() => Promise.all(Array.from({ length: 10 }, change)))
  assert.ok(turns >= 10, `${turns} turns`)
  assert.equal((await store.get(row.key))?.generation, 11)
})

/** Whoever writes so comes after others, in a batch of their own. */
const long = async (): Promise<void> => {
  const began = performance.now()
  while (performance.now() - began < 60);
}

test('who must be ready is ready anew where others moved a feed on before its turn', async () => {
  await using store = await openSqlite({ path: ':memory:', ...contractOptions })
  await store.transact(async (tx) => {
    await tx.insert(contractRow('/right'))
    await tx.follow('rights', '/right')
  })
  const { etag = '' } = (await store.get('/right')) ?? {}
  const [a, b] = [behalfOf('a'), behalfOf('b')]
  const seen: boolean[] = []
  const ready = async (): Promise<void> => {
    seen.push((await store.get('/right')) !== undefined)
  }
  await a.run(() => store.transact(long))
  await store.transact(long, { name: 'rights', ready })
  await ready()
  const written = a.run(() => [
    store.transact(async () => seen.at(-1), { name: 'rights', ready }),
    store.transact(async () => seen.at(-1), { owner: 'a', ready }),
  ])
  const removed = b.run(() =>
    store.transact(async (tx) => {
      await tx.remove('/right', etag)
      await tx.follow('rights', '/right')
    }),
  )
  await removed
  assert.deepEqual(await Promise.all(written), [false, false], `ready ${seen.length} times`)
})

test('whoever holds a name waits behind nothing of their own', async () => {
  await using store = await openSqlite({ path: ':memory:', ...contractOptions })
  const [writer, other] = [behalfOf('writer'), behalfOf('other')]
  let written = 0
  // Takes its turn as a request does.
  const ready = () => store.transact(async () => undefined)
  const slow = writer.run(() =>
    Array.from({ length: 20 }, () => store.transact(long).then(() => void written++)),
  )
  const own = writer.run(() => store.transact(async () => undefined, { name: 'f', ready }))
  await other.run(() => store.transact(async () => undefined, { name: 'f', ready }))
  assert.ok(written < 15, `${written} of the other came first`)
  await Promise.all([own, ...slow])
})
