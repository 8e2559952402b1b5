/** Migrations whose servers get other passwords or another address in the middle. */

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
  type Status,
  target,
  waitsFor,
} from '../../testing/fixture.ts'
import { openTrap } from '../../testing/trap.ts'

const isThere = findServer(15) !== undefined

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
