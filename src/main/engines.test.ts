/** The engines of an installation are closed with it. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { lowCounts } from '#engines/containers/docker/machine-counts.ts'
import { type Log, silentLog } from '#kernel/ports.ts'
import { openWay } from '#outbound/testing/ways.ts'
import { realTimers } from '#plane/testing/start.ts'
import { openSqlite } from '#stores/sqlite/open.ts'
import { readConfig } from '../config.ts'
import { openServerHome } from '../installation/home.ts'
import { installationMigrations } from '../installation/record.ts'
import { openEngines } from './engines.ts'

/** What an installation with these settings makes its engines of. */
async function baseOf(
  t: TestContext,
  settings: Readonly<Record<string, string>>,
  opened: AsyncDisposableStack,
) {
  const home = mkdtempSync(join(tmpdir(), 'armature-engines-'))
  t.after(() => rmSync(home, { recursive: true }))
  const config = readConfig({ environment: {}, settings: { home, ...settings } })
  const clock = { now: () => Date.now() }
  const record = {
    tenantId: 'tenant',
    subscriptionId: 'subscription',
    ownerAssignmentId: 'assignment',
    namesKeys: true,
    sealedIndexKey: undefined,
  }
  const store = await openSqlite({
    path: ':memory:',
    migrations: installationMigrations,
    words: { namespace: 'Vendor', brand: 'Vendor' },
    transactionRetriesMax: 3,
  })
  opened.use(store)
  return {
    config,
    home: openServerHome(config.home),
    record,
    store,
    clock,
    timers: realTimers,
    outbound: openWay,
    log: silentLog,
  }
}

test('the engine of migrations is closed by a stop and starts nothing afterwards', async (t) => {
  const opened = new AsyncDisposableStack()
  const base = await baseOf(t, { containers: 'simulated' }, opened)
  const { migrating } = await openEngines(base, opened)
  assert.deepEqual(await migrating.engine.list(), [])
  await opened.disposeAsync()
  await assert.rejects(migrating.engine.list(), { kind: 'ended', message: /is closed/ })
})

test('a server that others reach says what containers on its machine can take of it', async (t) => {
  const docker = http.createServer((_request, response) => response.end('{"Version":"29.0"}'))
  await new Promise<void>((resolve) => docker.listen(0, '127.0.0.1', resolve))
  t.after(() => docker.close())
  // A server that listens on TCP has such an address.
  const { port } = docker.address() as AddressInfo
  const warned = async (settings: Readonly<Record<string, string>>) => {
    await using opened = new AsyncDisposableStack()
    const fields: object[] = []
    const log: Log = { ...silentLog, warn: (field) => fields.push(field) }
    await openEngines({ ...(await baseOf(t, settings, opened)), log }, opened)
    return fields.flatMap((field) => ('set' in field ? [field.set] : []))
  }
  const low = await lowCounts()
  const here = { containers: 'docker', dockerHost: `tcp://127.0.0.1:${port}` }
  assert.deepEqual(await warned({ ...here, host: '0.0.0.0' }), low.length > 0 ? [low] : [])
  assert.deepEqual(await warned(here), [])
  assert.deepEqual(await warned({ containers: 'simulated', host: '0.0.0.0' }), [])
})
