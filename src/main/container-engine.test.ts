/** Which container engine a start with `auto` takes, given what earlier starts and other replicas recorded. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openWay } from '#outbound/testing/ways.ts'
import { realTimers } from '#plane/testing/start.ts'
import { openPostgres } from '#stores/postgres/open.ts'
import { openSqlite } from '#stores/sqlite/open.ts'
import type { Sql } from '#stores/store.ts'
import { findPostgres, howToGetPostgres, startPostgres } from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../tests/require.ts'
import { readConfig } from '../config.ts'
import { recordEngine } from '../installation/engine-record.ts'
import { installationMigrations } from '../installation/record.ts'
import { chooseContainerEngine } from './container-engine.ts'

const clock = { now: () => Date.now() }
const options = {
  migrations: installationMigrations,
  words: { namespace: 'Vendor', brand: 'Vendor' },
  transactionRetriesMax: 3,
}
/** Nothing is there, and the usual sockets of the machine are not tried. */
const nowhere = 'unix:///no/such/socket'

async function startDocker() {
  const server = http.createServer((_request, response) => response.end('{"Version":"29.0"}'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A server that listens on TCP has such an address.
  const { port } = server.address() as AddressInfo
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { address: `tcp://127.0.0.1:${port}`, close, [Symbol.asyncDispose]: close }
}

function starts(t: TestContext, sql: Sql) {
  const home = mkdtempSync(join(tmpdir(), 'armature-engine-'))
  t.after(() => rmSync(home, { recursive: true }))
  return async (containers: string, dockerHost?: string) => {
    const config = readConfig({
      environment: {},
      settings: { home, containers, ...(dockerHost === undefined ? {} : { dockerHost }) },
    })
    const deps = { installation: 'one', sql, clock, timers: realTimers, outbound: openWay }
    const { engine, title, isAwaited } = await chooseContainerEngine(config, deps)
    await engine[Symbol.asyncDispose]()
    return { title, isAwaited }
  }
}

test('a start without the address uses the recorded engine, and waits while it is away', async (t) => {
  await using store = await openSqlite({ path: ':memory:', ...options })
  const start = starts(t, store.sql)
  assert.match((await start('auto', nowhere)).title, /^simulated/)
  await using docker = await startDocker()
  const { address } = docker
  assert.equal((await start('auto', address)).title, `Docker 29.0 at ${address}`)
  assert.equal((await start('auto')).title, `Docker 29.0 at ${address}`)
  await docker.close()
  const away = await start('auto')
  assert.equal(away.isAwaited, true)
  assert.match(away.title, new RegExp(`^waiting for ${address} .*ARMATURE_CONTAINERS=simulated`))
  assert.match((await start('auto', nowhere)).title, new RegExp(`^waiting for ${nowhere}`))
  assert.match((await start('simulated')).title, /^simulated/)
  assert.equal((await start('auto')).isAwaited, true)
  await recordEngine(store.sql, 'kubernetes')
  await assert.rejects(start('auto', nowhere), /were made on Kubernetes/)
})

test('replicas of one store take the same engine, whatever each of them reaches', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  await using docker = await startDocker()
  const { address } = docker
  for (const first of ['simulated', 'docker', 'both']) {
    const url = await server.createDatabase()
    await using store = await openPostgres({ url, poolSize: 4, clock, ...options })
    const start = starts(t, store.sql)
    const [reaching, apart] = [() => start('auto', address), () => start('auto', nowhere)]
    const order = first === 'docker' ? [reaching, apart] : [apart, reaching]
    const titles: string[] = []
    if (first === 'both') {
      for (const { title } of await Promise.all(order.map((one) => one()))) titles.push(title)
    } else for (const one of order) titles.push((await one()).title)
    const kinds = new Set(titles.map((title) => title.startsWith('simulated')))
    assert.equal(kinds.size, 1, titles.join('\n'))
    if (first === 'simulated') {
      assert.match(titles[1] ?? '', /ARMATURE_CONTAINERS=docker changes it/)
      assert.match((await start('docker', address)).title, /^Docker/)
      assert.match((await start('auto', address)).title, /^Docker/)
    }
  }
})
