/** Pipelined and prepared statements never break a promise: with a real server that fails. */

import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import pg, { type PoolClient } from 'pg'

import { requireOrSkip } from '../../../tests/require.ts'
import { contractEvent, contractOptions, contractRow } from '../contract/setting.ts'
import { LargeRows } from '../large-rows.ts'
import { FeedMoved, type Store, StoreConflict, type Tx } from '../store.ts'
import {
  findPostgres,
  howToGetPostgres,
  type PostgresServer,
  startPostgres,
} from '../testing/postgres-server.ts'
import { openPostgres } from './open.ts'
import { cellTypes, PreparedStatements } from './session.ts'
import { transactions } from './statements.ts'
import { PostgresTransaction } from './transaction.ts'

const shared: { server?: Promise<PostgresServer> } = {}
after(async () => (await shared.server)?.stop())

interface Place extends AsyncDisposable {
  readonly store: Store
  /** Another program at the same database. */
  readonly other: pg.Client
}

async function place(t: TestContext): Promise<Place | undefined> {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return undefined
  shared.server ??= startPostgres({ fsync: false })
  const url = await (await shared.server).createDatabase()
  const store = await openPostgres({ url, poolSize: 4, clock: Date, ...contractOptions })
  const other = new pg.Client({ connectionString: url, types: cellTypes, pipeline: true })
  await other.connect()
  return {
    store,
    other,
    async [Symbol.asyncDispose]() {
      await other.end()
      await store[Symbol.asyncDispose]()
    },
  }
}

test('columns that another replica changes are read on, in and outside of transactions', async (t) => {
  await using at = await place(t)
  if (at === undefined) return
  const { store, other } = at
  const text = 'SELECT generation AS number FROM resources WHERE key = ?'
  const read = async (): Promise<unknown> => {
    const rows = await Promise.all(Array.from({ length: 8 }, () => store.sql.all(text, '/a')))
    for (const row of rows) assert.deepEqual(row, rows[0])
    return rows[0]
  }
  await store.transact((tx) => tx.insert(contractRow('/a', { generation: 7 })))
  for (let time = 0; time < 3; time++) {
    await Promise.all(Array.from({ length: 8 }, () => store.get('/a')))
    assert.deepEqual(await read(), [{ number: 7 }])
    await store.transact((tx) => tx.lock('/a', 'change'))
  }
  for (const type of ['numeric', 'bigint']) {
    // First used inside a transaction, then outside.
    await other.query(`ALTER TABLE resources ALTER COLUMN generation TYPE ${type}`)
    assert.equal((await store.transact((tx) => tx.lock('/a', 'change')))?.generation, 7)
    assert.equal((await store.get('/a'))?.generation, 7)
    assert.deepEqual(await read(), [{ number: 7 }])
  }
  await other.query('ALTER TABLE resources ALTER COLUMN generation TYPE numeric')
  assert.equal((await store.get('/a'))?.generation, 7)
  assert.deepEqual(await store.sql.transact((tx) => tx.all(text, '/a')), [{ number: 7 }])
})

test('rows that are read together are those that each read alone would find', async (t) => {
  await using at = await place(t)
  if (at === undefined) return
  const { store } = at
  const sizes = [2, 65_536, 65_537, 300_000]
  const rows = Array.from({ length: 100 }, (_, index) =>
    contractRow(`/r${index}`, {
      generation: index,
      document: `"${'ä'.repeat(((sizes[index % sizes.length] ?? 2) - 2) / 2)}"`,
    }),
  )
  await store.transact(async (tx) => {
    for (const row of rows) await tx.insert(row)
  })
  const keys = rows.flatMap(({ key }) => [key, key, `${key}/none`])
  const together = await Promise.all(keys.map((key) => store.get(key)))
  for (const [index, key] of keys.entries()) {
    assert.deepEqual(together[index], await store.get(key))
    if (index % 3 === 0) assert.deepEqual(together[index], rows[index / 3])
  }
  // Each read finds what was committed before it.
  for (let generation = 1_000; generation < 1_020; generation++) {
    const elsewhere = keys.slice(0, 50).map((key) => store.get(key))
    await at.other.query('UPDATE resources SET generation = $1 WHERE key = $2', [generation, '/r0'])
    assert.equal((await store.get('/r0'))?.generation, generation)
    await Promise.all(elsewhere)
  }
})

test('a commit sent together with a feed that cannot be written is no commit', async (t) => {
  await using at = await place(t)
  if (at === undefined) return
  const { store, other } = at
  await other.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'no entry'; END $$`)
  await other.query('CREATE TRIGGER refuse BEFORE INSERT ON feed_entries EXECUTE FUNCTION refuse()')
  await assert.rejects(
    store.transact(async (tx) => {
      await tx.insert(contractRow('/a'))
      await tx.follow('f', '/a')
      await tx.follow('g', '/a')
    }),
    /no entry/,
  )
  assert.equal(await store.get('/a'), undefined)
  // The connection can be used again.
  await store.transact((tx) => tx.insert(contractRow('/b')))
  assert.equal((await store.get('/b'))?.key, '/b')
})

test('a transaction that the server gave up is not reported as committed', async (t) => {
  await using at = await place(t)
  if (at === undefined) return
  const { store, other } = at
  const tx = transactionOn(other)
  await tx.insert(contractRow('/a'))
  // Without the transaction, which sees no failure of its own.
  await assert.rejects(other.query('SELECT 1 / 0'), /zero/)
  await assert.rejects(tx.commit(), /answered a commit with ROLLBACK/)
  assert.equal(await store.get('/a'), undefined)
})

test('nothing is written where BEGIN fails', async (t) => {
  await using at = await place(t)
  if (at === undefined) return
  const { store, other } = at
  for (const reads of [0, 1, 3]) {
    const tx = transactionOn(other, 'SELECT 1 / 0')
    const calls = [
      ...Array.from({ length: reads }, () => tx.get('/a')),
      tx.insert(contractRow('/a')),
      tx.schedule('/a', 1),
    ]
    const outcomes = await Promise.allSettled(calls)
    assert.deepEqual(
      outcomes.slice(-2).map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    await assert.rejects(tx.commit(), /zero/)
    assert.equal(await tx.rollback(), true)
    assert.equal(await store.get('/a'), undefined)
    assert.equal(await store.nextDue(), undefined)
  }
})

test('locks that are begun ahead are sent at once and in their order, each for the first who asks', async (t) => {
  await using at = await place(t)
  if (at === undefined) return
  const { store, other } = at
  const rows = ['/a', '/b', '/c'].map((key) => contractRow(key))
  await store.transact(async (tx) => {
    for (const row of rows) await tx.insert(row)
  })
  const sent: string[] = []
  const tx = transactionOn(other, transactions.begin, sent)
  const lock = (key: string) => tx.lock(key, 'share')
  tx.lockAhead(['/a', '/b', '/none'].map((key) => ({ key, mode: 'share' })))
  const counted = tx.count({ under: '/', limit: 9 })
  // Nothing is answered yet.
  assert.deepEqual(sent, ['BEGIN', 'lockForShare', 'lockForShare', 'lockForShare', 'countAll'])
  assert.deepEqual(
    [await lock('/b'), await lock('/a'), await lock('/none')],
    [rows[1], rows[0], undefined],
  )
  assert.equal(await counted, 3)
  assert.equal(sent.length, 5)
  await tx.update({ ...contractRow('/a'), etag: 'e2' }, 'e1')
  // Asked for again, it is read again; so is one that is to be locked more strictly.
  assert.equal((await lock('/a'))?.etag, 'e2')
  tx.lockAhead([{ key: '/c', mode: 'share' }])
  assert.deepEqual(await tx.lock('/c', 'change'), rows[2])
  assert.deepEqual(sent.slice(5), ['update', 'lockForShare', 'lockForShare', 'lockForChange'])
  await tx.commit()
})

test('the commit goes with the last calls, and where one of them fails, nothing is committed', async (t) => {
  await using at = await place(t)
  if (at === undefined) return
  const { store, other } = at
  await store.transact((tx) => tx.insert(contractRow('/a')))
  await store.transact((tx) => tx.follow('f', '/a'))
  const sent: string[] = []
  const tx = transactionOn(other, transactions.begin, sent)
  await tx.lock('/a', 'change')
  sent.length = 0
  await tx.endWith([
    tx.update({ ...contractRow('/a'), etag: 'e2' }, 'e1'),
    tx.record(contractEvent),
  ])
  const committed = tx.commit()
  // Nothing is answered yet.
  assert.deepEqual(sent, ['update', 'record', 'COMMIT'])
  await committed
  assert.equal((await store.get('/a'))?.etag, 'e2')

  const lose = (last: (tx: Tx) => readonly Promise<void>[], expected = { f: 1 }): Promise<void> =>
    store.transact(
      async (tx) => {
        await tx.lock('/a', 'change')
        await tx.endWith?.([tx.insert(contractRow('/b')), ...last(tx)])
        await tx.follow('f', '/b')
      },
      { expected },
    )
  const event = (tx: Tx): readonly Promise<void>[] => [tx.record(contractEvent)]
  await assert.rejects(lose(event, { f: 0 }), (error) => {
    assert.ok(error instanceof FeedMoved)
    assert.deepEqual(error.positions, { f: 1 })
    return true
  })
  await assert.rejects(
    lose((tx) => [tx.insert(contractRow('/c', { document: 'a\0b' })), ...event(tx)]),
    /NUL/,
  )
  // A row that is not locked may have another tag, and one that is locked a newer one.
  await assert.rejects(
    lose((tx) => [tx.update(contractRow('/none'), 'e1')]),
    StoreConflict,
  )
  await assert.rejects(
    lose((tx) => [tx.update(contractRow('/a'), 'e1')]),
    StoreConflict,
  )
  await assert.rejects(
    lose((tx) => [tx.insert(contractRow('/a'))]),
    StoreConflict,
  )
  assert.equal(await store.count({ under: '/', limit: 9 }), 1)
  assert.equal(await store.feed('f').position(), 1)
  assert.deepEqual(await store.sql.all('SELECT count(*) AS number FROM events'), [{ number: 1 }])
  await lose(event)
  assert.equal(await store.count({ under: '/', limit: 9 }), 2)
  assert.equal(await store.feed('f').position(), 2)
})

test('queries that are prefetched go with BEGIN, and what is sent goes with the commit', async (t) => {
  await using at = await place(t)
  if (at === undefined) return
  const { store, other } = at
  await store.transact((tx) => tx.insert(contractRow('/a')))
  const sent: string[] = []
  const tx = transactionOn(other, transactions.begin, sent)
  const query = 'SELECT generation AS number FROM resources WHERE key = ? FOR UPDATE'
  tx.prefetch(query, '/a')
  tx.prefetch(query, '/none')
  const found = tx.all(query, '/none')
  // Nothing is answered yet.
  assert.deepEqual(sent.splice(0), ['BEGIN', 'SELECT', 'relational0'])
  assert.deepEqual([await found, await tx.all(query, '/a')], [[], [{ number: 1 }]])
  await tx.send('UPDATE resources SET generation = ? WHERE key = ?', 5, '/a')
  await tx.record(contractEvent)
  const committed = tx.commit()
  assert.deepEqual(sent, ['UPDATE', 'record', 'COMMIT'])
  await committed
  assert.equal((await store.get('/a'))?.generation, 5)
})

test('of calls sent at once, all tell the failure of the first', async (t) => {
  await using at = await place(t)
  if (at === undefined) return
  const { store } = at
  await store.transact((tx) => tx.insert(contractRow('/a')))
  let told: readonly string[] = []
  await assert.rejects(
    store.transact(async (tx) => {
      await tx.get('/a')
      const outcomes = await Promise.allSettled([
        tx.insert(contractRow('/b')),
        tx.insert(contractRow('/c', { document: 'a\0b' })),
        tx.insert(contractRow('/d')),
      ])
      told = outcomes.map((one) => (one.status === 'rejected' ? String(one.reason) : ''))
    }),
    /NUL/,
  )
  assert.equal(told[0], '')
  assert.match(told[1] ?? '', /NUL/)
  assert.equal(told[2], told[1])
  assert.equal(await store.count({ under: '/', limit: 9 }), 1)
})

/** A transaction of the store on a connection of the test, which may break its beginning. */
function transactionOn(
  client: pg.Client,
  begin: string = transactions.begin,
  sent: string[] = [],
): PostgresTransaction {
  const connection = {
    query(config: { text: string; name?: string }) {
      sent.push(config.name ?? config.text.split(' ')[0] ?? '')
      return client.query(config.text === transactions.begin ? { ...config, text: begin } : config)
    },
  }
  // A transaction needs only `query` of its connection.
  return new PostgresTransaction(connection as unknown as PoolClient, {
    prepared: new PreparedStatements(),
    large: new LargeRows(),
  })
}
