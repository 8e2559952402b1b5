/**
 * `kill -9` of a worker at every boundary, and of the process that started it, and a crash of each server: afterwards another worker ends
 * the migration well, or cleans up, and nothing is left on either server.
 */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { someOf } from '../../../../tests/long.ts'
import { requireOrSkip } from '../../../../tests/require.ts'
import type { DatabaseEngine, DatabasePhase, MigrationSpec, ObservedMigration } from '../engine.ts'
import {
  inPhase,
  isEnded,
  type MigrationFixture,
  only,
  openMigrationFixture,
} from '../testing/fixture.ts'
import { findServer, howToGetServers } from '../testing/servers.ts'

const statements: readonly string[] = [
  `CREATE TABLE note (id int PRIMARY KEY, t text);
   INSERT INTO note SELECT g, repeat('x', 100) FROM generate_series(1, 2000) g`,
  `CREATE TABLE no_key (a int); INSERT INTO no_key SELECT g FROM generate_series(1, 100) g`,
  `CREATE UNLOGGED TABLE scratch (a int); INSERT INTO scratch VALUES (1)`,
  `CREATE SEQUENCE counted; SELECT nextval('counted')`,
]

const offline = [
  'preparing',
  'created',
  'schema',
  'copying',
  'indexing',
  'finishing',
  'finished',
] as const
const loading = [
  'created',
  'published',
  'slot',
  'schema',
  'copying',
  'indexing',
  'loaded',
  'subscribed',
] as const
const cutting = [
  'replicating',
  'cutting-over',
  'fenced',
  'drained',
  'past-return',
  'subscription-dropped',
  'slot-dropped',
  'finished',
] as const
/** Each server in each phase in which something is done or held at both. */
const crashes = (['source', 'target'] as const).flatMap((side) =>
  (['preparing', 'schema', 'copying', 'indexing', 'replicating', 'cutting-over'] as const).map(
    (phase) => [side, phase] as const,
  ),
)

/** The worker's process, as soon as it is seen in the phase. */
async function workerIn(
  engine: DatabaseEngine,
  folder: string,
  migration: string,
  phase: DatabasePhase,
): Promise<number> {
  for (let looks = 0; looks < 10_000; looks++) {
    const observed = await engine.observe(migration)
    if (inPhase(phase)(observed)) {
      const { pid } = JSON.parse(readFileSync(join(folder, 'worker.json'), 'utf8'))
      return Number(pid)
    }
    if (isEnded(observed)) break
    await new Promise((done) => setTimeout(done, 2))
  }
  throw new Error(`it was never seen in the phase ${phase}`)
}

/** One of the boundaries of each way. */
const oneOf = <T>(all: readonly T[], nth: number): readonly T[] => someOf(all, 8, nth)

describe('whatever is killed, the fixture is put right', () => {
  let fixture: MigrationFixture | undefined
  let count = 0
  before(async () => {
    if (findServer(15) !== undefined && findServer(18) !== undefined)
      fixture = await openMigrationFixture(15, 18)
  })
  after(async () => {
    await fixture?.[Symbol.asyncDispose]()
  })

  const prepared = async (open: MigrationFixture, mode: MigrationSpec['mode']) => {
    count += 1
    const database = `crash_${count}`
    await open.make(database, statements)
    return { database, migration: `c${count}`, spec: open.spec([database], { mode }) }
  }

  /** No trace, no session, the source's tables and settings unchanged, and a complete copy. */
  const assertClean = async (
    open: MigrationFixture,
    migration: string,
    database: string,
    spec: MigrationSpec,
  ): Promise<void> => {
    await using engine = open.open()
    assert.deepEqual(await engine.traces(migration, spec, open.credentials), [])
    for (const side of ['source', 'target'] as const) {
      await using server = await open.session(side, 'postgres')
      let left: readonly object[] = []
      // A worker's sessions end with its process, a moment after its last record.
      for (let looks = 0; looks < 100; looks++) {
        left = await server.rows(
          `SELECT pid, application_name, query FROM pg_stat_activity WHERE application_name LIKE 'mig\\_${migration}%'`,
        )
        if (left.length === 0) break
        await new Promise((done) => setTimeout(done, 50))
      }
      assert.deepEqual(left, [])
    }
    await using source = await open.session('source', database)
    assert.equal(
      await source.value("SELECT relreplident FROM pg_class WHERE relname = 'no_key'"),
      'd',
    )
    assert.equal(
      await source.value(
        'SELECT count(*) FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase WHERE d.datname = current_database()',
      ),
      '0',
    )
  }

  const sum = `SELECT (SELECT count(*) FROM public.note) || '/' || (SELECT count(*) FROM public.no_key)
    || '/' || (SELECT count(*) FROM public.scratch) || '/' || (SELECT last_value FROM public.counted)`

  const assertCopied = async (open: MigrationFixture, database: string): Promise<void> => {
    await using source = await open.session('source', database)
    await using target = await open.session('target', database)
    assert.equal(await target.value(sum), await source.value(sum))
  }

  for (const boundary of oneOf(offline, 5)) {
    test(`offline, the worker killed at ${boundary}`, async (t) => {
      if (!requireOrSkip(t, fixture !== undefined, howToGetServers) || fixture === undefined) return
      const { database, migration, spec } = await prepared(fixture, 'offline')
      await using killed = fixture.open(boundary)
      await killed.run(migration, spec, fixture.credentials)
      const lost = await fixture.until(killed, migration, ({ worker }) => worker === 'lost')
      assert.notEqual(only(lost).phase, 'succeeded')
      await using engine = fixture.open()
      await engine.run(migration, spec, fixture.credentials)
      const ended = await fixture.until(engine, migration, isEnded)
      assert.equal(only(ended).phase, 'succeeded', only(ended).message)
      // Once the copy is complete, nothing is done twice.
      assert.equal(only(ended).attempt, boundary === 'finished' ? 1 : 2)
      await assertCopied(fixture, database)
      await assertClean(fixture, migration, database, spec)
    })
  }

  for (const boundary of oneOf(loading, 1)) {
    test(`online, the worker killed at ${boundary}, then canceled`, async (t) => {
      if (!requireOrSkip(t, fixture !== undefined, howToGetServers) || fixture === undefined) return
      const { database, migration, spec } = await prepared(fixture, 'online')
      await using killed = fixture.open(boundary)
      await killed.run(migration, spec, fixture.credentials)
      await fixture.until(killed, migration, ({ worker }) => worker === 'lost')
      await using engine = fixture.open()
      await engine.cancel(migration, [database], { dropTarget: true })
      await engine.run(migration, spec, fixture.credentials)
      const ended = await fixture.until(engine, migration, isEnded)
      assert.equal(only(ended).phase, 'canceled', only(ended).message)
      await assertClean(fixture, migration, database, spec)
      await using target = await fixture.session('target', 'postgres')
      assert.equal(
        await target.value('SELECT count(*) FROM pg_database WHERE datname = $1', [database]),
        '0',
      )
    })
  }

  for (const boundary of oneOf(cutting, 5)) {
    test(`online, the worker killed at ${boundary}, then cut over`, async (t) => {
      if (!requireOrSkip(t, fixture !== undefined, howToGetServers) || fixture === undefined) return
      const { database, migration, spec } = await prepared(fixture, 'online')
      await using killed = fixture.open(boundary)
      await killed.run(migration, spec, fixture.credentials)
      await killed.cutover(migration, [database])
      await fixture.until(killed, migration, ({ worker }) => worker === 'lost')
      await using engine = fixture.open()
      await engine.run(migration, spec, fixture.credentials)
      const ended = await fixture.until(engine, migration, isEnded)
      assert.equal(only(ended).phase, 'succeeded', only(ended).message)
      assert.equal(only(ended).attempt, 1)
      assert.ok((only(ended).pauseMilliseconds ?? 0) > 0)
      await assertCopied(fixture, database)
      await assertClean(fixture, migration, database, spec)
    })
  }

  for (const [side, phase] of someOf(crashes, 7, 3)) {
    test(`the ${side} crashes in the phase ${phase}`, async (t) => {
      if (!requireOrSkip(t, fixture !== undefined, howToGetServers) || fixture === undefined) return
      const { database, migration, spec } = await prepared(fixture, 'online')
      await using engine = fixture.open()
      await engine.run(migration, spec, fixture.credentials)
      await engine.cutover(migration, [database])
      const pid = await workerIn(engine, join(fixture.folder, migration), migration, phase)
      // The worker sleeps meanwhile, so that the phase does not pass.
      process.kill(pid, 'SIGSTOP')
      try {
        await fixture[side].server.crash()
      } finally {
        process.kill(pid, 'SIGCONT')
      }
      // A worker that lost its lock with the target ends; the next look at the migration begins another one.
      const settled = (one: ObservedMigration): boolean => isEnded(one) || one.worker === 'lost'
      let ended = await fixture.until(engine, migration, settled)
      if (!isEnded(ended)) {
        await engine.run(migration, spec, fixture.credentials)
        ended = await fixture.until(engine, migration, isEnded)
      }
      assert.equal(only(ended).phase, 'succeeded', only(ended).message)
      await assertCopied(fixture, database)
      await assertClean(fixture, migration, database, spec)
    })
  }

  test('a target that crashed while the half-built database was dropped', async (t) => {
    if (!requireOrSkip(t, fixture !== undefined, howToGetServers) || fixture === undefined) return
    const { database, migration, spec } = await prepared(fixture, 'online')
    await using killed = fixture.open('copying')
    await killed.run(migration, spec, fixture.credentials)
    await fixture.until(killed, migration, ({ worker }) => worker === 'lost')
    {
      await using target = await fixture.session('target', 'postgres')
      // The state after such a crash: nobody may connect any more.
      await target.rows('UPDATE pg_database SET datconnlimit = -2 WHERE datname = $1', [database])
    }
    await using engine = fixture.open()
    await engine.run(migration, spec, fixture.credentials)
    await engine.cutover(migration, [database])
    const ended = await fixture.until(engine, migration, isEnded)
    assert.equal(only(ended).phase, 'succeeded', only(ended).message)
    await assertCopied(fixture, database)
    await assertClean(fixture, migration, database, spec)
  })

  test('the controlling process is killed, and the next one finds the worker at work', async (t) => {
    if (!requireOrSkip(t, fixture !== undefined, howToGetServers) || fixture === undefined) return
    const { database, migration, spec } = await prepared(fixture, 'online')
    const script = `
      import { createPostgresEngine } from ${JSON.stringify(new URL('postgres-engine.ts', import.meta.url))}
      import { openWay } from ${JSON.stringify(new URL('../../../outbound/testing/ways.ts', import.meta.url))}
      const folder = ${JSON.stringify(fixture.folder)}
      const engine = createPostgresEngine({ clock: { now: () => Date.now() }, outbound: openWay, folder })
      await engine.run(${JSON.stringify(migration)}, ${JSON.stringify(spec)}, ${JSON.stringify(fixture.credentials)})
      console.log('started')
      setInterval(() => {}, 1000)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'exit')
    await using engine = fixture.open()
    const seen = await fixture.until(engine, migration, inPhase('replicating'))
    assert.equal(seen.worker, 'running')
    await engine.run(migration, spec, fixture.credentials)
    await engine.cutover(migration, [database])
    const ended = await fixture.until(engine, migration, isEnded)
    assert.equal(only(ended).phase, 'succeeded', only(ended).message)
    assert.equal(only(ended).attempt, 1)
    await assertCopied(fixture, database)
    await assertClean(fixture, migration, database, spec)
  })
})
