/** Migrations whose servers are restarted or go away, or whose group is deleted in the middle. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findServer, howToGetServers } from '#engines/databases/testing/servers.ts'
import { requireOrSkip } from '../../../../../tests/require.ts'
import { until } from '../../../../../tests/until.ts'
import {
  isSettled,
  type MigrationFixture,
  openMigrationFixture,
  refused,
  target,
  waitsFor,
} from '../../testing/fixture.ts'

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

  row('a target that is deleted while it is away is no event any more', async (w) => {
    await w.make('gone')
    await w.put('gone', ['gone'], online)
    await w.until('gone', waitsFor('WaitingForCutoverTrigger'))
    const raised = async () => (await w.store.sql.all('select signal from health_signals')).length
    const back = await w.target.server.suspend()
    await until(async () => (await raised()) === 1)
    assert.equal((await w.call('DELETE', target.split('/providers/')[0] ?? '')).status, 202)
    await back()
    await until(async () => (await w.plane.reader.get(target)) === undefined)
    assert.equal(await raised(), 0)
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
