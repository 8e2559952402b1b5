/** The group commit when SQLite itself fails: every unit of a lost batch is told, and the next batch works. */

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'

import { StoreConflict, StoreUnavailable } from '../store.ts'
import { GroupCommit, type Unit } from './group-commit.ts'
import { Turns } from './turns.ts'

function opened(): { db: DatabaseSync; group: GroupCommit; log: string[]; turns: Turns } {
  const db = new DatabaseSync(':memory:')
  db.exec('PRAGMA foreign_keys = ON')
  db.exec('CREATE TABLE kept (value TEXT)')
  db.exec(`CREATE TABLE owed (id INTEGER PRIMARY KEY,
    due INTEGER REFERENCES owed (id) DEFERRABLE INITIALLY DEFERRED)`)
  const log: string[] = []
  const turns = new Turns()
  const group = new GroupCommit({
    db,
    triesMax: 3,
    unitsMax: 4,
    turns,
    onCommit: () => log.push('commit'),
    onUndone: () => log.push('undone'),
  })
  return { db, group, log, turns }
}

function enlist(group: GroupCommit, work: () => void, wrote = true, owner?: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const unit: Unit = {
      owner,
      attempt: async () => work(),
      kept: () => undefined,
      undone: () => wrote,
      committed: resolve,
      failed: reject,
    }
    group.add(unit)
  })
}

const values = (db: DatabaseSync): readonly unknown[] =>
  db
    .prepare('SELECT value FROM kept ORDER BY value')
    .all()
    .map((row) => ({ ...row }))

for (const neighbours of [0, 2]) {
  test(`a failing COMMIT fails the batch and its ${neighbours} neighbours`, async () => {
    const { db, group, log } = opened()
    const units = [
      enlist(group, () => db.exec('INSERT INTO owed VALUES (1, 99)')),
      ...Array.from({ length: neighbours }, (_, n) =>
        enlist(group, () => db.exec(`INSERT INTO kept VALUES ('n${n}')`)),
      ),
    ]
    for (const outcome of await Promise.allSettled(units)) {
      assert.equal(outcome.status, 'rejected')
    }
    assert.deepEqual(log, ['undone'])
    assert.deepEqual(values(db), [])
    await enlist(group, () => db.exec("INSERT INTO kept VALUES ('next')"))
    assert.deepEqual(values(db), [{ value: 'next' }])
  })

  test(`a full disk fails who met it, with ${neighbours} neighbours, and later ones succeed`, async () => {
    const { db, group } = opened()
    const { page_count: pages } = { ...db.prepare('PRAGMA page_count').get() }
    db.exec(`PRAGMA max_page_count = ${String(pages)}`)
    const full = enlist(group, () => db.exec('INSERT INTO kept VALUES (hex(zeroblob(100000)))'))
    const small = Array.from({ length: neighbours }, () => enlist(group, () => undefined))
    await assert.rejects(
      full,
      (error) => error instanceof StoreUnavailable && error.retry === 'later',
    )
    await Promise.allSettled(small)
    db.exec('PRAGMA max_page_count = 1000000')
    await enlist(group, () => db.exec("INSERT INTO kept VALUES ('next')"))
    assert.deepEqual(values(db), [{ value: 'next' }])
  })
}

test('a failure after a write takes back its own rows alone, and its neighbours are run again', async () => {
  const { db, group, log } = opened()
  const runs = { before: 0, after: 0 }
  const outcomes = await Promise.allSettled([
    enlist(group, () => {
      runs.before++
      db.exec("INSERT INTO kept VALUES ('before')")
    }),
    enlist(group, () => {
      db.exec("INSERT INTO kept VALUES ('refused')")
      throw new Error('refused')
    }),
    enlist(group, () => {
      runs.after++
      db.exec("INSERT INTO kept VALUES ('after')")
    }),
  ])
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(values(db), [{ value: 'after' }, { value: 'before' }])
  assert.deepEqual(runs, { before: 2, after: 1 })
  assert.deepEqual(log, ['undone', 'commit'])
})

test('a failure before any write costs its neighbours nothing', async () => {
  const { db, group, log } = opened()
  let runs = 0
  const neighbour = enlist(group, () => {
    runs++
    db.exec("INSERT INTO kept VALUES ('kept')")
  })
  const refused = enlist(
    group,
    () => {
      throw new Error('refused')
    },
    false,
  )
  await assert.rejects(refused, /refused/)
  await neighbour
  assert.deepEqual(values(db), [{ value: 'kept' }])
  assert.equal(runs, 1)
  assert.deepEqual(log, ['commit'])
})

test('a lost race is tried again inside the batch, from where its neighbours left it', async () => {
  const { db, group, log } = opened()
  let tries = 0
  await Promise.all([
    enlist(group, () => db.exec("INSERT INTO kept VALUES ('a')")),
    enlist(group, () => {
      tries++
      db.exec(`INSERT INTO kept VALUES ('try${tries}')`)
      if (tries < 3) throw new StoreConflict('lost')
    }),
    enlist(group, () => db.exec("INSERT INTO kept VALUES ('b')")),
  ])
  // The first try used no savepoints.
  assert.deepEqual(values(db), [{ value: 'a' }, { value: 'b' }, { value: 'try3' }])
  assert.deepEqual(log, ['undone', 'commit'])
})

test('closing carries out what waits, then refuses', async () => {
  const { db, group, log } = opened()
  const units = Array.from({ length: 9 }, (_, n) =>
    enlist(group, () => db.exec(`INSERT INTO kept VALUES ('${n}')`)),
  )
  await group.close()
  await Promise.all(units)
  // Nine units in batches of four.
  assert.deepEqual(log, ['commit', 'commit', 'commit'])
  await assert.rejects(
    enlist(group, () => undefined),
    StoreUnavailable,
  )
})

test('a batch that has written much is committed, and the others are the next one', async () => {
  const { db, group, log, turns } = opened()
  const units = Array.from({ length: 4 }, (_, n) =>
    enlist(group, () => {
      for (let statements = 0; statements < 600; statements++) turns.count()
      db.exec(`INSERT INTO kept VALUES ('${n}')`)
    }),
  )
  await Promise.all(units)
  assert.deepEqual(log, ['commit', 'commit'])
  assert.equal(values(db).length, 4)
})

test('a batch ends after some time, however few statements it had', async (t) => {
  const { group, log } = opened()
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const ask = (name: string, milliseconds: number): Promise<void> =>
    enlist(
      group,
      () => {
        log.push(name)
        now += milliseconds
      },
      true,
      'seller',
    )
  await Promise.all([ask('a', 45), ask('b', 45), ask('c', 45), ask('d', 45)])
  assert.deepEqual(log, ['a', 'b', 'c', 'commit', 'd', 'commit'])
})

test('owners take turns, and the commit of one who writes little waits for one of those who write for long', async (t) => {
  const { group, log } = opened()
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const ask = (owner: string, name: string, milliseconds: number): Promise<void> =>
    enlist(
      group,
      () => {
        log.push(name)
        now += milliseconds
      },
      true,
      owner,
    )
  const first = Array.from({ length: 6 }, (_, at) => ask('seller', `s${at}`, 100))
  const small = ask('other', 'o0', 1)
  await small
  // Nobody was known to write for long, so the first batch would be of four, but ends after some time.
  assert.deepEqual(log, ['s0', 'o0', 'commit'])
  const next = [ask('other', 'o1', 1), ask('third', 't0', 1), ask('other', 'o2', 1)]
  await Promise.all(next)
  assert.deepEqual(log.slice(3), ['t0', 'o1', 'o2', 'commit'])
  const last = ask('other', 'o3', 1)
  await Promise.all([...first, last])
  // Whoever writes for long has turns, too.
  assert.deepEqual(log.slice(7, 11), ['s1', 'commit', 'o3', 'commit'])
  assert.deepEqual(
    log.filter((one) => one.startsWith('s')),
    ['s0', 's1', 's2', 's3', 's4', 's5'],
  )
})
