/** The contract on PostgreSQL, and what only PostgreSQL promises: replicas, lost connections, wake-ups. */

import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { requireOrSkip } from '../../../tests/require.ts'
import { until } from '../../../tests/until.ts'
import { type AwaitedRequest, behalfOf, behalfOfRequest, whileAwaited } from '../awaited.ts'
import { contractOptions, contractRow, type Place } from '../contract/setting.ts'
import { storeContract } from '../contract.ts'
import {
  type SqlTx,
  type Store,
  StoreConflict,
  type StoreOptions,
  StoreUnavailable,
} from '../store.ts'
import {
  findPostgres,
  howToGetPostgres,
  preparedDatabases,
  startPostgres,
} from '../testing/postgres-server.ts'
import { openPostgres } from './open.ts'

const open = (
  url: string,
  options?: Partial<StoreOptions & { readonly answerMilliseconds: number }>,
): Promise<Store> => openPostgres({ url, poolSize: 8, clock: Date, ...contractOptions, ...options })

/** The store's own tables are there. */
const databases = preparedDatabases(async (url) => (await open(url))[Symbol.asyncDispose]())
after(() => databases.stop())

async function freshUrl(t: TestContext): Promise<string | undefined> {
  return requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)
    ? databases.create()
    : undefined
}

async function place(t: TestContext): Promise<Place | undefined> {
  const url = await freshUrl(t)
  return url === undefined ? undefined : (options) => open(url, options)
}

storeContract('postgres', { place, durable: true })

const cut = `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()`

const waiting = `SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`

test('two replicas see one another, and share the work', async (t) => {
  const url = await freshUrl(t)
  if (url === undefined) return
  await using one = await open(url)
  await using two = await open(url)
  await one.transact(async (tx) => {
    await tx.insert(contractRow('/a'))
    await tx.follow('f', '/a')
    await tx.schedule('/a', 1)
  })
  assert.equal((await two.get('/a'))?.etag, 'e1')
  assert.equal(await two.feed('f').position(), 1)
  const shares = await Promise.all([one.claimDue('one', 5, 30, 9), two.claimDue('two', 5, 30, 9)])
  assert.equal(shares.flat().length, 1)
})

test('of one name one is alone in all replicas; others neither wait for it nor for a connection', async (t) => {
  const url = await freshUrl(t)
  if (url === undefined) return
  await using one = await open(url)
  await using two = await open(url)
  // Connected before anybody waits, as the server lets nobody wait for long.
  await Promise.all([one, two, two, two].map((store) => store.ping()))
  const held = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const ended: string[] = []
  const first = one.transact(async (tx) => {
    await tx.get('/a')
    begun.resolve()
    await held.promise
    await tx.insert(contractRow('/a'))
    ended.push('first')
  }, 'areas')
  await begun.promise
  // More than there are connections.
  const seen = Array.from({ length: 20 }, () =>
    two.transact(async (tx) => {
      const row = await tx.get('/a')
      ended.push('next')
      return row?.etag
    }, 'areas'),
  )
  await Promise.all([
    two.transact((tx) => tx.insert(contractRow('/b'))),
    two.sql.transact((tx) => tx.follow('feed', '/b'), 'others'),
  ])
  assert.equal((await two.sql.all(waiting)).length, 1)
  assert.deepEqual(ended, [])
  held.resolve()
  await first
  assert.deepEqual(new Set(await Promise.all(seen)), new Set(['e1']))
  assert.equal(ended[0], 'first')
})

/** Locks what `hold` names until it is released. */
async function holding(store: Store, hold: (tx: SqlTx) => Promise<unknown>) {
  const held = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const done = store.sql.transact(async (tx) => {
    await hold(tx)
    begun.resolve()
    await held.promise
  })
  await begun.promise
  return async () => {
    held.resolve()
    await done
  }
}

/** What scans as long as the other store holds the lock. */
const slowScan = 'SELECT count(pg_advisory_xact_lock_shared(16)) AS n'

test('scans and snapshots leave half of the connections to others, and nobody waits for a client that is gone', async (t) => {
  const url = await freshUrl(t)
  if (url === undefined) return
  await using one = await open(url)
  await using two = await open(url)
  const release = await holding(one, (tx) => tx.all('SELECT pg_advisory_xact_lock(16)'))
  const scan = (_: unknown, at: number) =>
    at % 2 === 0 ? two.sql.scan(slowScan) : two.sql.snapshot((reads) => reads.scan(slowScan))
  const scans = ['one', 'two'].flatMap((caller) =>
    behalfOf(caller).run(() => Array.from({ length: 10 }, scan)),
  )
  const client = new AbortController()
  const gone = whileAwaited(
    () => client.signal,
    () => [
      two.sql.scan(slowScan),
      two.sql.snapshot((reads) => reads.scan(slowScan)),
      two.sql.transact((tx) => tx.all('SELECT 1 AS one'), { owner: 'a' }),
    ],
  )
  assert.deepEqual(await gone[2], [{ one: 1 }])
  // As many as there are places beside the scans.
  await Promise.all(Array.from({ length: 4 }, () => two.transact((tx) => tx.get('/a'))))
  assert.equal(await two.get('/a'), undefined)
  assert.equal(
    (await until(async () => (await one.sql.all(waiting)).length > 3 && one.sql.all(waiting)))
      .length,
    4,
  )
  client.abort(new Error('gone'))
  for (const call of gone.slice(0, 2)) await assert.rejects(call, /gone/)
  await release()
  for (const rows of await Promise.all(scans)) assert.deepEqual(rows, [{ n: 1 }])
})

test('reads of a request that nobody waits for leave the queue, and its writes go on', async (t) => {
  const url = await freshUrl(t)
  if (url === undefined) return
  await using one = await open(url)
  await using two = await open(url)
  const release = await holding(one, (tx) => tx.all('SELECT pg_advisory_xact_lock(16)'))
  const client = new AbortController()
  const request = (readsAwaited: AwaitedRequest['readsAwaited']): AwaitedRequest => ({
    owner: 'reader',
    awaited: () => client.signal,
    readsAwaited,
    isOver: false,
  })
  const calls = (of: AwaitedRequest) =>
    behalfOfRequest(of).run(() => [two.sql.all('SELECT 1 AS n'), two.sql.scan('SELECT 1 AS n')])
  const slow = behalfOf('reader').run(() => [
    ...Array.from({ length: 8 }, () => two.sql.all(slowScan)),
    ...Array.from({ length: 8 }, () => two.sql.scan(slowScan)),
  ])
  const over = request(() => client.signal)
  const [reads, writes, later] = [
    calls(request(() => client.signal)),
    calls(request(undefined)),
    behalfOfRequest(over),
  ]
  over.isOver = true
  const after = later.run(() => two.sql.all('SELECT 1 AS n'))
  client.abort(new Error('gone'))
  for (const call of reads) await assert.rejects(call, /gone/)
  await release()
  for (const call of [...writes, after]) assert.deepEqual(await call, [{ n: 1 }])
  await Promise.all(slow)
})

test('writes of an owner that wait for its rows hold a third of the connections, and no owners more than half', async (t) => {
  const url = await freshUrl(t)
  if (url === undefined) return
  await using one = await open(url)
  await using two = await open(url)
  await one.transact(async (tx) => {
    for (const key of ['/a', '/b']) await tx.insert(contractRow(key))
  })
  const raise = 'UPDATE resources SET generation = generation + 1 WHERE key = ?'
  const release = await holding(one, (tx) => tx.run(raise, '/a'))
  let again = 0
  const ready = async () => {
    // It may ask the store, as it holds no connection.
    await two.get('/b')
    again++
  }
  const writes = (owner: string) =>
    Array.from({ length: 10 }, () =>
      two.sql.transact((tx) => tx.run(raise, '/a'), { owner, ready }),
    )
  const holds = async (count: number) =>
    assert.equal(
      (
        await until(
          async () => (await one.sql.all(waiting)).length >= count && one.sql.all(waiting),
        )
      ).length,
      count,
    )
  const client = new AbortController()
  const first = writes('first')
  const gone = whileAwaited(
    () => client.signal,
    () => two.sql.transact((tx) => tx.run(raise, '/a'), { owner: 'first', ready }),
  )
  await two.sql.transact((tx) => tx.run(raise, '/b'), { owner: 'second' })
  await two.transact((tx) => tx.lock('/b', 'change'))
  await holds(2)
  client.abort(new Error('gone'))
  await assert.rejects(gone, /gone/)
  const others = ['second', 'third'].flatMap(writes)
  assert.equal((await two.get('/b'))?.generation, 2)
  await holds(4)
  // Both kinds together leave a quarter.
  const lock = await holding(one, (tx) => tx.all('SELECT pg_advisory_xact_lock(16)'))
  const scans = ['reader', 'another'].flatMap((caller) =>
    behalfOf(caller).run(() => Array.from({ length: 10 }, () => two.sql.scan(slowScan))),
  )
  assert.equal((await two.get('/b'))?.generation, 2)
  await holds(6)
  await lock()
  await Promise.all(scans)
  assert.equal(again, 0)
  await release()
  await Promise.all([...first, ...others])
  assert.equal((await two.get('/a'))?.generation, 32)
  assert.equal(again, 26)
})

test('whoever names one company in several ways leaves a turn to others, and so do their reads', async (t) => {
  const url = await freshUrl(t)
  if (url === undefined) return
  await using one = await open(url)
  await using two = await open(url)
  await one.transact(async (tx) => {
    for (const key of ['/a', '/b']) await tx.insert(contractRow(key))
  })
  const raise = 'UPDATE resources SET generation = generation + 1 WHERE key = ?'
  const release = await holding(one, (tx) => tx.run(raise, '/a'))
  const writes = ['seller', 'colleague'].flatMap((principal) =>
    Array.from({ length: 20 }, (_, at) =>
      two.sql.transact((tx) => tx.run(raise, '/a'), { owner: [principal, `name ${at % 5}`] }),
    ),
  )
  for (const other of ['other', 'third', 'fourth']) {
    await two.sql.transact((tx) => tx.run(raise, '/b'), { owner: [other, 'company'] })
  }
  await release()
  await Promise.all(writes)
  const lock = await holding(one, (tx) => tx.all('SELECT pg_advisory_xact_lock(16)'))
  const slow = ['reader', 'another'].flatMap((caller) =>
    behalfOf(caller).run(() => Array.from({ length: 20 }, () => two.sql.all(slowScan))),
  )
  assert.equal((await behalfOf('other').run(() => two.get('/b')))?.generation, 4)
  // What is for everybody waits for nobody's turn.
  assert.equal(await behalfOf('reader').run(() => two.feed('feed').position()), 0)
  await lock()
  await Promise.all(slow)
})

test('writes of callers that wait for one row leave connections to others, and what goes on after a request is nobody’s', async (t) => {
  const url = await freshUrl(t)
  if (url === undefined) return
  await using one = await open(url)
  await using two = await open(url)
  await one.transact(async (tx) => {
    for (const key of ['/a', '/b']) await tx.insert(contractRow(key))
  })
  const raise = 'UPDATE resources SET generation = generation + 1 WHERE key = ?'
  const release = await holding(one, (tx) => tx.run(raise, '/a'))
  const callers = ['mover', 'another', 'other', 'ended'].map(behalfOf)
  const [mover, another, other, ended] = callers
  const moves = [mover, another].flatMap((caller) =>
    Array.from({ length: 20 }, () =>
      caller?.run(() => two.transact((tx) => tx.lock('/a', 'change'), { expected: {} })),
    ),
  )
  await other?.run(() => two.transact((tx) => tx.lock('/b', 'change')))
  assert.ok((await other?.run(() => two.get('/b'))) !== undefined)
  const begun = Promise.withResolvers<void>()
  const later = mover?.run(async () => {
    await begun.promise
    return two.transact((tx) => tx.lock('/b', 'change'))
  })
  mover?.end()
  begun.resolve()
  await later
  ended?.end()
  await ended?.run(() => two.transact((tx) => tx.lock('/b', 'change')))
  await release()
  await Promise.all(moves)
})

test('replicas that start at once migrate once', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  const url = await databases.createEmpty()
  const stores = await Promise.all([open(url), open(url), open(url)])
  for (const store of stores) await store.ping()
  for (const store of stores) await store[Symbol.asyncDispose]()
})

test('two replicas writing at once keep a feed dense and in order', async (t) => {
  const url = await freshUrl(t)
  if (url === undefined) return
  await using one = await open(url)
  await using two = await open(url)
  await Promise.all(
    Array.from({ length: 60 }, (_, n) =>
      (n % 2 === 0 ? one : two).transact(async (tx) => {
        await tx.follow(n % 3 === 0 ? 'g' : 'f', `/${n}`)
        await tx.follow(n % 3 === 0 ? 'f' : 'g', `/${n}`)
      }),
    ),
  )
  for (const name of ['f', 'g']) {
    const { position, keys } = await two.feed(name).since(0, 100)
    assert.equal(position, 60)
    assert.equal(new Set(keys).size, 60)
  }
})

test('work scheduled by another replica calls back, also after the connection was lost', async (t) => {
  const url = await freshUrl(t)
  if (url === undefined) return
  await using one = await open(url)
  await using two = await open(url)
  let wake = Promise.withResolvers<void>()
  two.onWork(() => wake.resolve())
  // The first call tells that the listener is connected.
  await wake.promise
  wake = Promise.withResolvers<void>()
  await one.transact((tx) => tx.schedule('/a', 1))
  await wake.promise
  wake = Promise.withResolvers<void>()
  await one.sql.all(cut)
  await wake.promise
})

test('a deadlock is a lost race and tried again', async (t) => {
  const url = await freshUrl(t)
  if (url === undefined) return
  await using store = await open(url)
  await store.transact(async (tx) => {
    await tx.insert(contractRow('/a'))
    await tx.insert(contractRow('/b'))
  })
  let both = 0
  const met = Promise.withResolvers<void>()
  const cross = (first: string, second: string): Promise<void> =>
    store.transact(async (tx) => {
      await tx.lock(first, 'change')
      both++
      if (both === 2) met.resolve()
      await met.promise
      const row = await tx.lock(second, 'change')
      assert.ok(row !== undefined)
      await tx.update({ ...row, generation: row.generation + 1 }, row.etag)
    })
  await Promise.all([cross('/a', '/b'), cross('/b', '/a')])
  // The server ended at least one of the two, which ran again.
  assert.ok(both >= 3)
  assert.equal((await store.get('/a'))?.generation, 2)
  assert.equal((await store.get('/b'))?.generation, 2)
})

test('shared locks do not exclude each other, and hold off a change', async (t) => {
  const url = await freshUrl(t)
  if (url === undefined) return
  await using store = await open(url)
  await store.transact((tx) => tx.insert(contractRow('/a')))
  let readers = 0
  const met = Promise.withResolvers<void>()
  const waited = Promise.withResolvers<void>()
  const read = (): Promise<void> =>
    store.transact(async (tx) => {
      await tx.lock('/a', 'share')
      readers++
      if (readers === 2) met.resolve()
      await waited.promise
      assert.equal((await tx.get('/a'))?.etag, 'e1')
    })
  const readings = [read(), read()]
  await met.promise
  const changing = store.transact((tx) => tx.update(contractRow('/a', { etag: 'e2' }), 'e1'))
  const isWaiting = async (): Promise<boolean> => (await store.sql.all(waiting)).length > 0
  for (let tries = 0; tries < 200 && !(await isWaiting()); tries++) await sleep(10)
  assert.equal(await isWaiting(), true)
  waited.resolve()
  await Promise.all([...readings, changing])
  assert.equal((await store.get('/a'))?.etag, 'e2')
})

test('a claim passes over work that another transaction holds, instead of waiting', async (t) => {
  const url = await freshUrl(t)
  if (url === undefined) return
  await using store = await open(url)
  await store.transact(async (tx) => {
    await tx.schedule('/a', 1)
    await tx.schedule('/b', 2)
  })
  const outside = AsyncLocalStorage.snapshot()
  await store.transact(async (tx) => {
    await tx.schedule('/a', 1)
    const claims = await outside(() => store.claimDue('one', 5, 30, 9))
    assert.deepEqual(
      claims.map(({ key }) => key),
      ['/b'],
    )
  })
  assert.equal((await store.claimDue('one', 5, 30, 9)).length, 1)
})

test('a claim asserted in a transaction cannot be taken over before its commit', async (t) => {
  const url = await freshUrl(t)
  if (url === undefined) return
  await using store = await open(url)
  await store.transact((tx) => tx.schedule('/a', 1))
  const [first] = await store.claimDue('one', 5, 0, 1)
  assert.ok(first !== undefined)
  // Taken over after the claim was checked: it is checked again, under a lock, before the commit.
  const outside = AsyncLocalStorage.snapshot()
  await assert.rejects(
    store.transact(async (tx) => {
      await tx.assertClaim(first)
      await tx.insert(contractRow('/late'))
      assert.equal((await outside(() => store.claimDue('two', 5, 30, 1))).length, 1)
    }),
    StoreConflict,
  )
  assert.equal(await store.get('/late'), undefined)
})

test('a lost connection is reported as such, and the next call has a new one', async (t) => {
  const url = await freshUrl(t)
  if (url === undefined) return
  await using store = await open(url)
  await using other = await open(url)
  await assert.rejects(
    store.transact(async (tx) => {
      await tx.insert(contractRow('/a'))
      await other.sql.all(cut)
      await tx.insert(contractRow('/b'))
    }),
    (error) => error instanceof StoreUnavailable && error.retry === 'later',
  )
  assert.equal(await store.count({ under: '/', limit: 9 }), 0)
})

test('connections whose packets are lost are given up, and new ones take their place', async (t) => {
  const url = await freshUrl(t)
  if (url === undefined) return
  const address = new URL(url)
  const target = { port: Number(address.port), host: address.hostname }
  const everyone = new Set<Socket>()
  const lost = new Set<Socket>()
  let connections = 0
  const proxy = createServer((near) => {
    const far = connect(target)
    connections += 1
    for (const one of [near, far]) one.on('error', () => undefined)
    near.on('close', () => far.destroy())
    near.on('data', (bytes) => {
      if (!lost.has(near)) far.write(bytes)
    })
    far.on('data', (bytes) => {
      if (!lost.has(near)) near.write(bytes)
    })
    everyone.add(near)
  })
  t.after(() => proxy.close())
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  // The server listens on a port.
  address.port = String((proxy.address() as AddressInfo).port)
  await using store = await open(address.href, { answerMilliseconds: 500 })
  await Promise.all(Array.from({ length: 8 }, () => store.sql.all('SELECT pg_sleep(0.1)')))
  const before = connections
  for (const near of everyone) lost.add(near)
  const answers = Array.from({ length: 8 }, (_, at) =>
    at % 2 === 0 ? store.ping() : store.transact((tx) => tx.insert(contractRow(`/r${at}`))),
  )
  for (const { status, reason } of (await Promise.allSettled(answers)) as PromiseRejectedResult[]) {
    assert.equal(status, 'rejected')
    assert.ok(reason instanceof StoreUnavailable && reason.retry === 'later', String(reason))
  }
  await store.transact((tx) => tx.insert(contractRow('/new')))
  assert.equal((await store.get('/new'))?.etag, 'e1')
  assert.ok(connections > before)
})

test('a server that is gone is unavailable, not a fault', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  const settings = { synchronous_commit: 'off' }
  const server = await startPostgres({ fsync: false, settings })
  const url = await server.createDatabase()
  await using store = await open(url)
  // A server that is configured to answer before it has written is overruled.
  const shown = await store.sql.all("SELECT current_setting('synchronous_commit') AS value")
  assert.deepEqual(shown, [{ value: 'on' }])
  store.onWork(() => undefined)
  await store.ping()
  await server.stop()
  const isLater = (error: unknown): boolean =>
    error instanceof StoreUnavailable && error.retry === 'later'
  // The first call may still see the broken connection, the second finds no server.
  for (let time = 0; time < 2; time++) {
    await assert.rejects(store.ping(), isLater)
    await assert.rejects(
      store.transact((tx) => tx.get('/a')),
      isLater,
    )
  }
  await assert.rejects(open(url), isLater)
})

test('wrong credentials and a missing database need an operator', async (t) => {
  const url = await freshUrl(t)
  if (url === undefined) return
  for (const wrong of [
    url.replace(/:[0-9a-f]+@/, ':wrong@'),
    url.replace(/\/[^/]*$/, '/nowhere'),
  ]) {
    await assert.rejects(
      open(wrong),
      (error) => error instanceof StoreUnavailable && error.retry === 'never',
    )
  }
})

test('a database with tables of something else is refused', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  const url = await databases.createEmpty()
  const { Client } = (await import('pg')).default
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query('CREATE TABLE resources (theirs integer)')
  await client.end()
  await assert.rejects(
    open(url),
    (error) => error instanceof StoreUnavailable && error.retry === 'never',
  )
})
