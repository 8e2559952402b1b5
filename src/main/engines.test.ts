/** The engines of an installation are closed with it. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLog } from '#kernel/ports.ts'
import { openWay } from '#outbound/testing/ways.ts'
import { realTimers } from '#plane/testing/start.ts'
import { openSqlite } from '#stores/sqlite/open.ts'
import { readConfig } from '../config.ts'
import { openServerHome } from '../installation/home.ts'
import { openEngines } from './engines.ts'

test('the engine of migrations is closed by a stop and starts nothing afterwards', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'armature-engines-'))
  t.after(() => rmSync(home, { recursive: true }))
  const config = readConfig({ environment: {}, settings: { home, containers: 'simulated' } })
  const clock = { now: () => Date.now() }
  const record = {
    tenantId: 'tenant',
    subscriptionId: 'subscription',
    ownerAssignmentId: 'assignment',
    namesKeys: true,
    sealedIndexKey: undefined,
  }
  await using store = await openSqlite({
    path: ':memory:',
    migrations: [],
    words: { namespace: 'Vendor', brand: 'Vendor' },
    transactionRetriesMax: 3,
  })
  const opened = new AsyncDisposableStack()
  const base = {
    config,
    home: openServerHome(config.home),
    record,
    store,
    clock,
    timers: realTimers,
    outbound: openWay,
    log: silentLog,
  }
  const { migrating } = await openEngines(base, opened)
  assert.deepEqual(await migrating.engine.list(), [])
  await opened.disposeAsync()
  await assert.rejects(migrating.engine.list(), /is closed/)
})
