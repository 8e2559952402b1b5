/** A second worker of a migration, as one on another machine is that sees the record and not the first one's process. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openWay } from '#outbound/testing/ways.ts'
import { requireOrSkip } from '../../../../tests/require.ts'
import { until } from '../../../../tests/until.ts'
import type { MigrationSpec } from '../engine.ts'
import {
  isEnded,
  type MigrationFixture,
  openMigrationFixture,
  startReplicating,
} from '../testing/fixture.ts'
import { findServer, howToGetServers } from '../testing/servers.ts'
import { findClientPrograms } from './find-client-programs.ts'
import { freshRecord, type MigrationState, RecordFolder } from './record.ts'
import { runMigration } from './run-migration.ts'

test('a second worker leaves the record to the one that has the lock, and finds it as that one left it', async (t) => {
  if (!requireOrSkip(t, findServer(15) !== undefined, howToGetServers)) return
  await using fixture = await openMigrationFixture(15, 15)
  await using engine = fixture.open()
  await fixture.make('shop', ['CREATE TABLE note (id int PRIMARY KEY)'])
  const spec = fixture.spec(['shop'], { mode: 'online' })
  await startReplicating(fixture, engine, 'm1', spec)
  const folder = new RecordFolder(join(fixture.folder, 'm1'))
  const first = folder.readState()?.worker
  const run = await runOf(fixture, 'm1', spec, folder)
  const locksOut = new AbortController()
  const wrong = { ...run.credentials, targetPassword: 'wrong' }
  const lockedOut = runMigration({ ...run, credentials: wrong, stop: locksOut.signal })
  // The first one writes what it knows again and again.
  for (let writes = 0; writes < 10; writes++) {
    const before = folder.readState()
    assert.deepEqual(before?.worker, first)
    await until(() => folder.readState()?.updatedAt !== before?.updatedAt)
  }
  locksOut.abort()
  await lockedOut
  const second = runMigration(run)
  await until(() => folder.readRefusal().startsWith('Another worker holds the lock'))
  assert.equal((await engine.observe('m1')).message, '')
  await engine.cutover('m1', ['shop'])
  await fixture.until(engine, 'm1', isEnded)
  await second
  const { worker, ended, databases } = folder.readState() ?? {}
  assert.deepEqual([worker, ended, databases?.[0]?.observed.phase], [first, true, 'succeeded'])
  folder.writeRefusal('no route')
  assert.equal((await engine.observe('m1')).message, '')
  // One whose state nobody renews.
  const left = { ...folder.readState(), ended: false, updatedAt: 0 } as MigrationState
  folder.writeState(left, true)
  assert.equal((await engine.observe('m1')).message, 'no route')
})

/** In this process. */
async function runOf(
  fixture: MigrationFixture,
  migration: string,
  spec: MigrationSpec,
  folder: RecordFolder,
): Promise<Parameters<typeof runMigration>[0]> {
  const programs = await findClientPrograms()
  assert.ok(programs !== undefined)
  folder.make()
  folder.writeSpec(spec)
  return {
    migration,
    spec,
    credentials: { ...fixture.credentials, outbound: openWay },
    programs,
    clock: { now: () => Date.now() },
    folder,
    process: { pid: 1, started: 'elsewhere' },
    stop: new AbortController().signal,
    onBoundary: () => undefined,
  }
}

test('a database that makes the record too large fails with words, and has changed nothing', async (t) => {
  if (!requireOrSkip(t, findServer(15) !== undefined, howToGetServers)) return
  await using fixture = await openMigrationFixture(15, 15)
  await using engine = fixture.open()
  const many =
    "DO $$ BEGIN FOR i IN 1..200 LOOP EXECUTE 'CREATE TABLE t' || i || ' (a int)'; END LOOP; END $$"
  await fixture.make('large', [many])
  const spec = fixture.spec(['large'], { mode: 'online' })
  const folder = new RecordFolder(join(fixture.folder, 'm2'), 5_000)
  await runMigration(await runOf(fixture, 'm2', spec, folder))
  const { ended, databases } = folder.readState() ?? {}
  const [database] = databases ?? []
  assert.deepEqual([ended, database?.observed.phase, database?.identities], [true, 'failed', []])
  assert.match(database?.observed.message ?? '', /^The record of the migration has more than /)
  await using source = await fixture.session('source', 'large')
  const replaced = "SELECT count(*) FROM pg_catalog.pg_class WHERE relreplident = 'f'"
  assert.equal(await source.value(replaced), '0')
  assert.deepEqual(await engine.traces('m2', spec, fixture.credentials), [])
})

test('one whose record has no room for the words of its failure fails and is canceled all the same', async (t) => {
  if (!requireOrSkip(t, findServer(15) !== undefined, howToGetServers)) return
  await using fixture = await openMigrationFixture(15, 15)
  await using engine = fixture.open()
  await fixture.make('large', ['CREATE TABLE note (id int PRIMARY KEY)'])
  const spec = fixture.spec(['large'], { mode: 'online' })
  const ended = async (migration: string, folder: RecordFolder): Promise<unknown> => {
    await runMigration(await runOf(fixture, migration, spec, folder))
    const { ended: isOver, databases } = folder.readState() ?? {}
    assert.deepEqual(await engine.traces(migration, spec, fixture.credentials), [])
    return [isOver, databases?.[0]?.observed.phase]
  }
  const pathOf = (migration: string): string => join(fixture.folder, migration)
  assert.deepEqual(await ended('m4', new RecordFolder(pathOf('m4'), 950)), [true, 'failed'])
  // Those of an earlier version, whose worker ended in the middle.
  const left = async (migration: string): Promise<RecordFolder> => {
    const folder = new RecordFolder(pathOf(migration), 900)
    folder.make()
    const written = new RecordFolder(folder.path)
    const observed = { ...freshRecord('large', 1).observed, phase: 'preparing' as const }
    const record = { ...freshRecord('large', 1), observed, setAside: ['x'.repeat(1_000)] }
    const rest = { message: '', updatedAt: 0, rolesDone: true, ended: false, worker: undefined }
    written.writeState({ databases: [record], ...rest }, true)
    return folder
  }
  assert.deepEqual(await ended('m5', await left('m5')), [true, 'failed'])
  const canceled = await left('m6')
  const intents = { ...canceled.readIntents(), cancel: ['large'] }
  canceled.writeIntents(intents)
  assert.deepEqual(await ended('m6', canceled), [true, 'canceled'])
})

test('the others of a migration go on where one database makes the record too large', async (t) => {
  if (!requireOrSkip(t, findServer(15) !== undefined, howToGetServers)) return
  await using fixture = await openMigrationFixture(15, 15)
  await fixture.make('large', ['CREATE TABLE note (id int PRIMARY KEY)'])
  await fixture.make('small', ['CREATE TABLE note (id int PRIMARY KEY)'])
  const spec = fixture.spec(['large', 'small'], {})
  const folder = new RecordFolder(join(fixture.folder, 'm7'), 6_000)
  folder.make()
  const large = { ...freshRecord('large', 1), setAside: ['x'.repeat(6_000)] }
  const databases = [large, freshRecord('small', 1)]
  const rest = { message: '', updatedAt: 0, rolesDone: true, ended: false, worker: undefined }
  new RecordFolder(folder.path).writeState({ databases, ...rest }, true)
  await runMigration(await runOf(fixture, 'm7', spec, folder))
  const seen = folder.readState()?.databases.map(({ observed }) => observed.phase)
  assert.deepEqual(seen, ['failed', 'succeeded'])
})

test('a record that is too large to be read ends as failed, and is taken down at the source', async (t) => {
  if (!requireOrSkip(t, findServer(15) !== undefined, howToGetServers)) return
  await using fixture = await openMigrationFixture(15, 15)
  await using engine = fixture.open()
  await fixture.make('vast', ['CREATE TABLE note (id int PRIMARY KEY)'])
  const spec = fixture.spec(['vast'], { mode: 'online' })
  const folder = new RecordFolder(join(fixture.folder, 'm8'))
  const run = await runOf(fixture, 'm8', spec, folder)
  const leaving = new AbortController()
  const onBoundary = (name: string): void => {
    if (name === 'replicating') leaving.abort()
  }
  await runMigration({ ...run, stop: leaving.signal, onBoundary })
  const kinds = (await engine.traces('m8', spec, fixture.credentials)).map(({ kind }) => kind)
  assert.ok(kinds.includes('slot'))
  writeFileSync(folder.file('state.json'), ' '.repeat(33 * 2 ** 20))
  const before = await engine.observe('m8')
  assert.deepEqual([before.worker, before.databases[0]?.phase], ['lost', 'cleaning-up'])
  await runMigration(run)
  const { worker, databases } = await engine.observe('m8')
  assert.deepEqual([worker, databases[0]?.phase], ['ended', 'failed'])
  assert.match(databases[0]?.message ?? '', /more than 32 MB.* may still only read/)
  assert.deepEqual(await engine.traces('m8', spec, fixture.credentials), [])
  // The copy may be in use, and stays.
  await using target = await fixture.session('target', 'vast')
  assert.equal(await target.value('SELECT count(*) FROM public.note'), '0')
})

/** A disk that is full for a moment. */
class FullFolder extends RecordFolder {
  isFull = true
  override writeRefusal(message: string): void {
    if (message === '' && this.isFull) {
      this.isFull = false
      throw new Error('ENOSPC: no space left on device')
    }
    super.writeRefusal(message)
  }
}

test('a worker that cannot write when it has the lock ends, and lets go of it', async (t) => {
  if (!requireOrSkip(t, findServer(15) !== undefined, howToGetServers)) return
  await using fixture = await openMigrationFixture(15, 15)
  await fixture.make('full', ['CREATE TABLE note (id int PRIMARY KEY)'])
  const folder = new FullFolder(join(fixture.folder, 'm3'))
  const run = await runOf(fixture, 'm3', fixture.spec(['full']), folder)
  await assert.rejects(runMigration(run), /ENOSPC/)
  await runMigration(run)
  assert.equal(folder.readState()?.databases[0]?.observed.phase, 'succeeded')
})
