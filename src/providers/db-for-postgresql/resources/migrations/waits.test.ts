/** A wrong answer to a wait ends nothing: the next PATCH may bring the right one. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findServer, howToGetServers } from '#engines/databases/testing/servers.ts'
import { someOf } from '../../../../../tests/long.ts'
import { requireOrSkip } from '../../../../../tests/require.ts'
import { until } from '../../../../../tests/until.ts'
import {
  isSettled,
  openMigrationFixture,
  refused,
  statusOf,
  target,
  waitsFor,
} from '../../testing/fixture.ts'

for (const migrationOption of someOf(['Migrate', 'ValidateAndMigrate'], 2)) {
  test(`what is wrong in a PATCH to a waiting migration is mended by another one: ${migrationOption}`, async (t) => {
    if (!requireOrSkip(t, findServer(15) !== undefined, howToGetServers)) return
    await using w = await openMigrationFixture()
    await w.register()
    await w.make('patient')
    await w.put('patient', [], { migrationOption, startDataMigration: 'False' })
    await w.until('patient', waitsFor('WaitingForDBsToMigrateSpecification'))
    const passwords = (sourceServerPassword: string) => ({
      adminCredentials: { sourceServerPassword, targetServerPassword: w.target.password },
    })
    await w.patch('patient', {
      dbsToMigrate: ['patient'],
      secretParameters: passwords('wrong'),
    })
    const early = await w.until('patient', ({ error }) => error !== undefined)
    assert.deepEqual(
      [early.state, early.subState],
      ['WaitingForUserAction', 'WaitingForDBsToMigrateSpecification'],
    )
    assert.match(early.error ?? '', /603100/)
    await w.patch('patient', { secretParameters: passwords(w.source.password) })
    const scheduled = await w.until('patient', waitsFor('WaitingForDataMigrationScheduling'))
    assert.equal(scheduled.error, undefined)
    for (const [wrong, text] of [
      [{ secretParameters: passwords('wrong') }, /603100/],
      [
        {
          sourceDbServerFullyQualifiedDomainName: 'no-such-host.invalid',
          secretParameters: passwords(w.source.password),
        },
        /603000/,
      ],
    ] as const) {
      await w.patch('patient', wrong)
      const held = await w.until('patient', ({ error }) => text.test(error ?? ''))
      assert.equal(held.state, 'WaitingForUserAction')
      assert.equal(held.subState, 'WaitingForDataMigrationScheduling')
    }
    await w.patch('patient', {
      sourceDbServerFullyQualifiedDomainName: null,
      startDataMigration: 'True',
      secretParameters: passwords(w.source.password),
    })
    const done = await w.until('patient', isSettled)
    assert.equal(done.state, 'Succeeded', done.error)
    const shown = await w.call('GET', `${target}/migrations/patient`)
    assert.equal(shown.body.properties.sourceDbServerFullyQualifiedDomainName, undefined)
    assert.equal(statusOf(shown).error, undefined)
  })
}

test('one that waits for its time keeps nobody from the target, and takes its turn', async (t) => {
  if (!requireOrSkip(t, findServer(15) !== undefined, howToGetServers)) return
  // One for a resource group.
  await using w = await openMigrationFixture({ atOnceMax: 2 })
  await w.register()
  await w.make('far')
  await w.make('near')
  await w.put('far', ['far'], { migrationWindowStartTimeInUtc: '2090-01-01T00:00:00Z' })
  await w.until('far', waitsFor('WaitingForDataMigrationWindow'))
  const online = { migrationMode: 'Online', setupLogicalReplicationOnSourceDbIfNeeded: 'True' }
  assert.equal((await w.put('near', ['near'], online)).status, 201)
  await w.until('near', waitsFor('WaitingForCutoverTrigger'))
  await w.patch('far', { startDataMigration: 'True' })
  const waits = await w.until('far', ({ databases }) => databases['far'].message !== '')
  const inTurn = await w.until('far', ({ databases }) => /near/.test(databases['far'].message))
  assert.deepEqual(
    [inTurn.state, inTurn.subState],
    ['InProgress', 'PerformingPreRequisiteSteps'],
    waits.error,
  )
  const other = `${target}2`
  await w.register(other)
  await w.make('elsewhere')
  const more = `${other}/migrations/more`
  const made = await w.call('PUT', more, w.body(['elsewhere']))
  assert.equal(made.status, 201)
  const state = async () => statusOf(await w.call('GET', more))
  await until(async () =>
    /one of 1 in its resource group/.test((await state()).databases['elsewhere']?.message),
  )
  await w.patch('near', { triggerCutover: 'True' })
  assert.equal((await w.until('near', isSettled)).state, 'Succeeded')
  await until(async () => (await state()).state === 'Succeeded')
  const done = await w.until('far', isSettled)
  assert.equal(done.state, 'Succeeded', done.error)
  assert.equal(await w.contentOf('target', 'far'), await w.contentOf('source', 'far'))
})

test('after the end, those that failed are begun anew alone', async (t) => {
  if (!requireOrSkip(t, findServer(15) !== undefined, howToGetServers)) return
  await using w = await openMigrationFixture()
  await w.register()
  for (const name of ['sound', 'brittle', 'broken']) await w.make(name)
  const spoil = async (name: string): Promise<void> => {
    await using source = await w.session('source', name)
    // Such an index cannot be restored: its function finds its table only by a search path.
    await source.run(`SET search_path TO public; CREATE TABLE other (id int); INSERT INTO other VALUES (1);
      CREATE FUNCTION looked_up(int) RETURNS bigint IMMUTABLE LANGUAGE sql AS 'SELECT count(*) + $1 FROM parent';
      CREATE INDEX looks ON other (looked_up(id))`)
  }
  for (const name of ['brittle', 'broken']) await spoil(name)
  await w.put('again', ['sound', 'brittle', 'broken'])
  const half = await w.until('again', isSettled)
  assert.equal(half.state, 'Failed')
  const states = ({ databases }: typeof half) =>
    Object.fromEntries(Object.entries(databases).map(([name, one]) => [name, one.migrationState]))
  assert.deepEqual(states(half), { sound: 'Succeeded', brittle: 'Failed', broken: 'Failed' })
  const retry = (databases?: readonly string[]) =>
    w.call('POST', `${target}/migrations/again/retry`, databases && { databases })
  await refused(retry(['sound']), 'InvalidParameterValue', 400)
  await using source = await w.session('source', 'brittle')
  await source.run('DROP INDEX public.looks')

  assert.deepEqual((await retry(['brittle'])).body, { databases: ['brittle'] })
  assert.equal(statusOf(await w.call('GET', `${target}/migrations/again`)).state, 'InProgress')
  const second = await w.until('again', isSettled)
  assert.deepEqual(states(second), { sound: 'Succeeded', brittle: 'Succeeded', broken: 'Failed' })
  assert.equal(second.state, 'Failed')
  assert.equal(second.databases['sound'].startedOn, half.databases['sound'].startedOn)
  assert.equal(await w.contentOf('target', 'brittle'), await w.contentOf('source', 'brittle'))
  const report = await w.call('GET', `${target}/migrations/again/report`)
  assert.deepEqual(
    report.body.databases.map((one: { name: string; outcome: string }) => [one.name, one.outcome]),
    [
      ['sound', 'succeeded'],
      ['broken', 'failed'],
      ['brittle', 'succeeded'],
    ],
  )

  await using other = await w.session('source', 'broken')
  await other.run('DROP INDEX public.looks')
  assert.deepEqual((await retry()).body, { databases: ['broken'] })
  const third = await w.until('again', isSettled)
  assert.equal(third.state, 'Succeeded', third.error)
  // Its record is removed after its end is stored.
  await w.plane.reconciler.idle()
  assert.deepEqual(await w.engine.list(), [])
})
