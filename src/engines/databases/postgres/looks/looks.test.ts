/** What a look does to its own process does nothing to this one, and to nobody else's look. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Log, silentLog } from '#kernel/ports.ts'
import { openOutbound } from '#outbound/outbound.ts'
import { openSettings } from '#outbound/policy.ts'
import { requireOrSkip } from '../../../../../tests/require.ts'
import { until } from '../../../../../tests/until.ts'
import { DatabaseEngineError } from '../../engine.ts'
import { openMigrationFixture } from '../../testing/fixture.ts'
import { message, startHostileServer } from '../../testing/hostile-server.ts'
import { howToSeeProcesses, peerOf, runs, seesProcesses } from '../../testing/processes.ts'
import { findServer, howToGetServers } from '../../testing/servers.ts'
import { createPostgresEngine } from '../postgres-engine.ts'

function openEngine(folder = '/nonexistent', clientFolder?: string) {
  const warnings: string[] = []
  const warn: Log['warn'] = (fields, words) => warnings.push(`${words} ${JSON.stringify(fields)}`)
  const engine = createPostgresEngine({
    clock: { now: () => Date.now() },
    outbound: openOutbound({
      settings: openSettings,
      log: { ...silentLog, warn },
      // Every name is a host of its own; all are this machine.
      resolve: async () => ['127.0.0.1'],
    }),
    folder,
    ...(clientFolder === undefined ? {} : { clientFolder }),
  })
  return { engine, warnings }
}

/** A server whose first connections have something happen to the process that looks; later ones are refused. */
async function serverThat(happens: (pid: number, socket: Socket) => void, times: number) {
  const pids: number[] = []
  let connections = 0
  const server = await startHostileServer({
    atQuery(socket) {
      connections++
      const pid = peerOf(socket)
      assert.ok(pid !== undefined && pid !== process.pid)
      pids.push(pid)
      if (connections <= times) happens(pid, socket)
      else socket.write(message('E', 'SERROR\0CXX000\0Mits own words\0\0'))
    },
  })
  return { server, pids, connections: () => connections }
}

const at = (server: { readonly address: { readonly port: number } }, host: string) => ({
  address: { host, port: server.address.port, user: 'u', sslMode: 'prefer' } as const,
  password: 'secret',
})

function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => assert.fail('it did not fail'),
    (error: unknown) => error,
  )
}

function unavailable(error: unknown): string {
  assert.ok(error instanceof DatabaseEngineError, String(error))
  assert.equal(error.kind, 'unavailable')
  return error.message
}

test('a server that holds the loop is found and left alone, and the look of others is done again', async (t) => {
  if (!requireOrSkip(t, seesProcesses, howToSeeProcesses)) return
  const { engine, warnings } = openEngine()
  await using _engine = engine
  // The process stands still, as with a value that the driver never finishes reading.
  const hostile = await serverThat((pid) => process.kill(pid, 'SIGSTOP'), 100)
  await using _hostile = hostile.server
  const other = await serverThat(() => undefined, 1)
  await using _other = other.server
  const others = rejection(engine.inspect(at(other.server, 'other.test')))
  await until(() => other.connections() === 1)
  const own = rejection(engine.inspect(at(hostile.server, 'hostile.test')))
  await until(() => hostile.connections() === 1)
  // It goes to a new process at once, whoever is being looked at.
  assert.match(String(await others), /its own words/)
  assert.equal(other.connections(), 2)
  assert.match(unavailable(await own), /was lost/)
  assert.equal(hostile.connections(), 2)
  assert.match(warnings.join('\n'), /hostile\.test.*stood still for 10 seconds/)
  assert.equal(new Set([...hostile.pids, ...other.pids]).size, 3)

  assert.match(String(await rejection(engine.inspect(at(hostile.server, 'HOSTILE.test.')))), /lost/)
  assert.equal(hostile.connections(), 2)
  assert.match(String(await rejection(engine.inspect(at(other.server, 'other.test')))), /own words/)
  await until(() => !hostile.pids.some(runs))
})

test('a look whose process is killed is done again; a change is not', async (t) => {
  if (!requireOrSkip(t, seesProcesses, howToSeeProcesses)) return
  const { engine } = openEngine()
  await using _engine = engine
  const killing = await serverThat((pid) => process.kill(pid, 'SIGKILL'), 1)
  await using _killing = killing.server
  const look = rejection(engine.inspect(at(killing.server, 'hostile.test')))
  assert.match(String(await look), /its own words/)
  assert.equal(killing.connections(), 2)

  const changed = await serverThat((pid) => process.kill(pid, 'SIGKILL'), 1)
  await using _changed = changed.server
  const made = engine.createDatabase(at(changed.server, 'other.test'), { name: 'd' })
  assert.match(unavailable(await rejection(made)), /may or may not/)
  assert.equal(changed.connections(), 1)
})

test('the process ends with its engine, and with its parent however that ends', async (t) => {
  if (!requireOrSkip(t, seesProcesses, howToSeeProcesses)) return
  const silent = await serverThat(() => undefined, 100)
  await using _silent = silent.server
  const { engine } = openEngine()
  const broken = rejection(engine.inspect(at(silent.server, 'other.test')))
  await until(() => silent.pids.length === 1)
  await engine[Symbol.asyncDispose]()
  const error = await broken
  assert.ok(error instanceof DatabaseEngineError && error.kind === 'ended', String(error))
  assert.match(error.message, /The control plane ends/)
  assert.deepEqual(silent.pids.filter(runs), [])
  assert.match(String(await rejection(engine.inspect(at(silent.server, 'other.test')))), /ends/)

  const script = `
    import { createPostgresEngine } from ${JSON.stringify(new URL('../postgres-engine.ts', import.meta.url))}
    import { openWay } from ${JSON.stringify(import.meta.resolve('#outbound/testing/ways.ts'))}
    const engine = createPostgresEngine({ clock: { now: () => 0 }, outbound: openWay, folder: '/nonexistent' })
    await engine.inspect(${JSON.stringify(at(silent.server, '127.0.0.1'))})`
  const options = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script]
  const parent = spawn(process.execPath, options, { stdio: ['ignore', 'ignore', 'inherit'] })
  await until(() => silent.pids.length === 2)
  parent.kill('SIGKILL')
  await until(() => !silent.pids.some(runs))
})

test('a signal to all of a service ends no look before the server ends it', async (t) => {
  if (!requireOrSkip(t, seesProcesses, howToSeeProcesses)) return
  const { engine } = openEngine()
  await using _engine = engine
  const signaled = await serverThat((pid, socket) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.kill(pid, signal)
    socket.write(message('E', 'SERROR\0CXX000\0Mthe first words\0\0'))
  }, 1)
  await using _signaled = signaled.server
  const look = rejection(engine.inspect(at(signaled.server, 'other.test')))
  assert.match(String(await look), /the first words/)
})

/** Client programs of which one stands still, and writes down its process. */
function stalledPrograms(t: TestContext): { readonly folder: string; pids(): readonly number[] } {
  const folder = mkdtempSync(join(tmpdir(), 'armature-looks-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const list = join(folder, 'pids')
  const script = `#!/bin/sh
if [ "$1" = --version ]; then echo 'pg_dump (PostgreSQL) 18.1'; exit; fi
echo $$ >> ${list}
exec sleep 600
`
  mkdirSync(join(folder, 'records'))
  for (const name of ['pg_dump', 'pg_restore']) {
    writeFileSync(join(folder, name), script, { mode: 0o755 })
  }
  const pids = (): readonly number[] =>
    existsSync(list) ? readFileSync(list, 'utf8').trim().split('\n').map(Number) : []
  return { folder, pids }
}

test('client programs end with the process that started them', async (t) => {
  if (!requireOrSkip(t, seesProcesses, howToSeeProcesses)) return
  if (!requireOrSkip(t, findServer(15) !== undefined, howToGetServers)) return
  await using fixture = await openMigrationFixture(15, 15)
  await fixture.make('small', ['CREATE TABLE t (id int PRIMARY KEY)'])
  const { folder, pids } = stalledPrograms(t)
  const { engine } = openEngine(join(folder, 'records'), folder)
  await using _engine = engine
  const cancel = new AbortController()
  const { signal } = cancel
  const spec = fixture.spec(['small'])
  const report = rejection(engine.validate(spec, fixture.credentials, { signal }))
  await until(() => pids().length === 1)
  const [program = 0] = pids()
  const stat = readFileSync(`/proc/${program}/stat`, 'utf8')
  process.kill(Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]), 'SIGKILL')
  await until(() => !runs(program))
  // It only looks, so it is done again, until it is called off.
  await until(() => pids().length === 2)
  cancel.abort(new Error('called off'))
  assert.match(String(await report), /called off/)
  await until(() => !pids().some(runs))
})
