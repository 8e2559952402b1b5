/** Migrations whose servers are restarted, go away, refuse connections, or are deleted in the middle. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findServer, howToGetServers } from '#engines/databases/testing/servers.ts'
import { defaultLimits } from '#kernel/limits.ts'
import { contractWords } from '#kernel/vendor.ts'
import { openPostgres } from '#stores/postgres/open.ts'
import { findPostgres, howToGetPostgres, startPostgres } from '#stores/testing/postgres-server.ts'
import { isLong } from '../../../../../tests/long.ts'
import { requireOrSkip } from '../../../../../tests/require.ts'
import { healthMigrations } from '../../../resource-health/domain/migrations.ts'
import {
  isSettled,
  type MigrationFixture,
  openMigrationFixture,
  refused,
  type Status,
  target,
  waitsFor,
} from '../../testing/fixture.ts'
import { openTrap } from '../../testing/trap.ts'

const isThere = findServer(15) !== undefined

test('a source without logical replication is set up when that is allowed, and waits for its restart', {
  timeout: 240_000,
}, async (t) => {
  if (!requireOrSkip(t, isThere, howToGetServers)) return
  await using w = await openMigrationFixture({ settings: { wal_level: '' } })
  await w.register()
  await w.make('plain')
  await w.put('setup', ['plain'], {
    migrationMode: 'Online',
    migrationOption: 'ValidateAndMigrate',
  })
  const substate = 'WaitingForLogicalReplicationSetupRequestOnSourceDB'
  const waiting = await w.until('setup', waitsFor(substate))
  assert.match(waiting.databases['plain'].message, /wal_level/)
  await w.patch('setup', { setupLogicalReplicationOnSourceDbIfNeeded: 'True' })
  await w.until('setup', ({ databases }) => /restart/.test(databases['plain'].message))
  await w.source.server.restart()
  await w.until('setup', waitsFor('WaitingForCutoverTrigger'))
  await w.patch('setup', { triggerCutover: 'True' })
  const done = await w.until('setup', isSettled)
  assert.equal(done.state, 'Succeeded', done.error)
})

describe('servers that go away', () => {
  const row = (title: string, body: (w: MigrationFixture) => Promise<void>): void => {
    test(title, { timeout: 240_000 }, async (t) => {
      if (!requireOrSkip(t, isThere, howToGetServers)) return
      await using w = await openMigrationFixture()
      await w.register()
      await body(w)
    })
  }
  const online = {
    migrationMode: 'Online',
    setupLogicalReplicationOnSourceDbIfNeeded: 'True',
  }

  row('a target that vanishes is an event of service health until it is back', async (w) => {
    await w.make('watched')
    await w.put('watched', ['watched'], online)
    await w.until('watched', waitsFor('WaitingForCutoverTrigger'))
    const raised = async () => (await w.store.sql.all('select signal from health_signals')).length
    const back = await w.target.server.suspend()
    for (let looks = 0; (await raised()) === 0 && looks < 1200; looks++) {
      await new Promise((done) => setTimeout(done, 50))
    }
    assert.equal(await raised(), 1)
    assert.equal((await w.call('GET', target)).body.properties.state, 'Inaccessible')
    // The lag is unknown then, and not shown.
    const lost = await w.until('watched', ({ error }) => error !== undefined)
    assert.match(lost.error ?? '', /is not reached/)
    assert.equal(lost.databases['watched'].latency, undefined)
    await back()
    for (let looks = 0; (await raised()) > 0 && looks < 1200; looks++) {
      await new Promise((done) => setTimeout(done, 50))
    }
    assert.equal(await raised(), 0)
    assert.equal((await w.call('GET', target)).body.properties.state, 'Ready')
    await w.patch('watched', { triggerCutover: 'True' })
    const done = await w.until('watched', isSettled)
    assert.equal(done.state, 'Succeeded', done.error)
  })

  row('what cannot be removed at a source that is away stays in sight until it can', async (w) => {
    await w.make('left')
    await w.put('left', ['left'], online)
    await w.until('left', waitsFor('WaitingForCutoverTrigger'))
    const back = await w.source.server.suspend()
    await w.patch('left', { cancel: 'True' })
    const cleaning = await w.until('left', ({ state }) => state === 'CleaningUp')
    assert.match(cleaning.error ?? '', /slot .* at the source/)
    await back()
    assert.equal((await w.until('left', isSettled)).state, 'Canceled')
    assert.deepEqual(await w.tracesAtSource(), [])
  })

  row('a password that is changed in the middle can be given anew', async (w) => {
    await w.make('rotated')
    await w.put('rotated', ['rotated'], online)
    await w.until('rotated', waitsFor('WaitingForCutoverTrigger'))
    await using server = await w.session('source', 'postgres')
    await server.run("ALTER ROLE postgres PASSWORD 'another'")
    await server.run(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'mig%'",
    )
    const shut = ({ databases }: Status): boolean =>
      /does not accept the user/.test(databases['rotated'].message)
    assert.equal((await w.until('rotated', shut)).state, 'WaitingForUserAction')
    const adminCredentials = { sourceServerPassword: 'another' }
    await w.patch('rotated', { secretParameters: { adminCredentials } })
    await w.until(
      'rotated',
      (status) => waitsFor('WaitingForCutoverTrigger')(status) && !shut(status),
    )
    await w.patch('rotated', { triggerCutover: 'True' })
    const done = await w.until('rotated', isSettled)
    assert.equal(done.state, 'Succeeded', done.error)
    await server.run(`ALTER ROLE postgres PASSWORD '${w.source.password}'`)
    assert.deepEqual(await w.tracesAtSource(), [])
  })

  row('a target that is led elsewhere gets no password', isLedElsewhere)

  test('a target that is led elsewhere gets no password, with PostgreSQL as the store', {
    timeout: 240_000,
    skip: !isLong,
  }, async (t) => {
    if (!requireOrSkip(t, isThere, howToGetServers)) return
    if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
    await using server = await startPostgres({ fsync: false })
    await using store = await openPostgres({
      url: await server.createDatabase(),
      poolSize: 4,
      clock: Date,
      migrations: healthMigrations,
      words: contractWords,
      transactionRetriesMax: defaultLimits.transactionRetriesMax,
    })
    await using w = await openMigrationFixture({ store })
    await w.register()
    await isLedElsewhere(w)
  })

  row('a group that is deleted calls off what is under way in it', async (w) => {
    await w.make('grouped')
    await w.put('grouped', ['grouped'], online)
    await w.until('grouped', waitsFor('WaitingForCutoverTrigger'))
    assert.equal((await w.call('DELETE', target.split('/providers/')[0] ?? '')).status, 202)
    for (let looks = 0; looks < 600; looks++) {
      const rows = await w.store.list({ under: '/subscriptions', limit: 10 })
      if (rows.every(({ key }) => !key.includes('/resourcegroups/'))) break
      await new Promise((done) => setTimeout(done, 50))
    }
    await refused(w.call('GET', target), 'ResourceGroupNotFound', 404)
    assert.deepEqual(await w.tracesAtSource(), [])
    assert.deepEqual(await w.engine.list(), [])
  })
})

/** A running migration restarts its worker, but never with the server that the target's writer named meanwhile. */
async function isLedElsewhere(w: MigrationFixture): Promise<void> {
  await using trap = await openTrap()
  await w.make('led')
  await w.put('led', ['led'], {
    migrationMode: 'Online',
    setupLogicalReplicationOnSourceDbIfNeeded: 'True',
  })
  await w.until('led', waitsFor('WaitingForCutoverTrigger'))
  const lead = async (port: number, administratorLoginPassword: string) => {
    await w.call('PATCH', target, { properties: { port, administratorLoginPassword } })
  }
  await lead(trap.port, 'of whoever may write the server')
  // The worker that knows the old address ends, since the source refuses it.
  await using server = await w.session('source', 'postgres')
  await server.run("ALTER ROLE postgres PASSWORD 'another'")
  await server.run(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'mig%'",
  )
  const secretParameters = (adminCredentials: object) => ({
    secretParameters: { adminCredentials },
  })
  await w.until('led', ({ databases }) => /does not accept/.test(databases['led'].message))
  const asks = (names: string) => (status: Status) =>
    !isSettled(status) && status.error?.includes(`since ${names} was given: give it again`) === true
  await w.until('led', asks('sourceServerPassword and targetServerPassword'))
  await w.patch('led', secretParameters({ sourceServerPassword: 'another' }))
  await w.until('led', asks('targetServerPassword'))
  for (let looks = 0; !trap.told().includes('whoever') && looks < 1200; looks++) {
    await new Promise((done) => setTimeout(done, 50))
  }
  assert.match(trap.told(), /of whoever may write the server/)
  assert.ok(!trap.told().includes(w.target.password) && !trap.told().includes('another'))
  await lead(w.target.address.port, w.target.password)
  await w.patch(
    'led',
    secretParameters({ sourceServerPassword: 'another', targetServerPassword: w.target.password }),
  )
  await w.until(
    'led',
    (one) => waitsFor('WaitingForCutoverTrigger')(one) && one.error === undefined,
  )
  await w.patch('led', { triggerCutover: 'True' })
  const done = await w.until('led', isSettled)
  assert.equal(done.state, 'Succeeded', done.error)
}
