/**
 * Client programs that are newer than both servers. `pg_restore` of version 17 or later sets what no older server knows; a machine
 * may lack one, so its words are put before the work of the one that is there. And what they find in the home of their user.
 */

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openWay } from '#outbound/testing/ways.ts'
import { requireOrSkip } from '../../../../tests/require.ts'
import { fingerprint } from '../testing/fingerprint.ts'
import { isEnded, openMigrationFixture } from '../testing/fixture.ts'
import { findServer, howToGetServers } from '../testing/servers.ts'
import { runProgram } from './client-programs.ts'
import { findClientPrograms } from './find-client-programs.ts'
import { createPostgresEngine } from './postgres-engine.ts'

/** What version 18 prints at a server of version 15. */
const refused = `pg_restore: error: could not execute query: ERROR:  unrecognized configuration parameter "transaction_timeout"
Command was: SET transaction_timeout = 0;
`

const asVersion18: Readonly<Record<string, (real: string) => string>> = {
  pg_dump: (real) =>
    `if [ "$1" = --version ]; then echo 'pg_dump (PostgreSQL) 18.1'; else exec ${real} "$@"; fi`,
  pg_restore: (real) => `case " $* " in *' --list '*) exec ${real} "$@";; esac
# The words of several jobs run into each other.
case " $* " in *' --jobs='*) printf 'pg_restore: pg_restore:' >&2;; esac
printf '%s' '${refused.slice(0, -20)}' >&2
sleep 0.2
printf '%s\\n' '${refused.slice(-20).trim()}' >&2
case " $* " in *' --exit-on-error '*) exit 1;; esac
${real} "$@" 2>"$0.$$"; status=$?
sed '/errors ignored/d' "$0.$$" >&2
if [ $status -le 1 ]; then echo 'pg_restore: warning: errors ignored on restore: 1' >&2; exit 1; fi
exit $status`,
}

test('client programs newer than both servers restore, and stop at what fails', async (t) => {
  const has = findServer(13) !== undefined && findServer(15) !== undefined
  const real = await findClientPrograms()
  if (!requireOrSkip(t, has && real !== undefined, howToGetServers) || real === undefined) return
  await using fixture = await openMigrationFixture(13, 15)
  const clientFolder = join(fixture.folder, 'client')
  mkdirSync(clientFolder)
  for (const [name, script] of Object.entries(asVersion18)) {
    const text = `#!/bin/sh\n${script(join(real.folder, name))}\n`
    writeFileSync(join(clientFolder, name), text, { mode: 0o755 })
  }
  await using engine = createPostgresEngine({
    clock: { now: () => Date.now() },
    outbound: openWay,
    folder: join(fixture.folder, 'records'),
    clientFolder,
  })
  const tables = `CREATE TABLE up (id int PRIMARY KEY); CREATE TABLE down (id int PRIMARY KEY, up int REFERENCES up); CREATE INDEX ON down (up);
    INSERT INTO up SELECT generate_series(1, 50); INSERT INTO down SELECT g, g FROM generate_series(1, 50) g`
  await fixture.make('whole', [tables])
  await fixture.make('violated', [
    `${tables}; SET session_replication_role = replica; INSERT INTO down VALUES (99, 99)`,
  ])
  const validated = await engine.validate(fixture.spec(['whole']), fixture.credentials)
  assert.notEqual(validated.state, 'Failed', JSON.stringify(validated))
  await engine.run('newer', fixture.spec(['whole', 'violated']), fixture.credentials)
  const { databases } = await fixture.until(engine, 'newer', isEnded)
  const [whole, violated] = databases
  assert.equal(whole?.phase, 'succeeded', whole?.message)
  assert.deepEqual(
    await fingerprint(fixture.target, 'whole'),
    await fingerprint(fixture.source, 'whole'),
  )
  assert.equal(violated?.phase, 'failed')
  assert.match(violated?.message ?? '', /violates foreign key constraint "down_up_fkey"/)
  assert.doesNotMatch(violated?.message ?? '', /transaction_timeout|errors ignored/)
})

test('a server without a password gets none that lies in the home of the programs’ user', async (t) => {
  const real = await findClientPrograms()
  if (!requireOrSkip(t, real !== undefined, howToGetServers) || real === undefined) return
  const home = mkdtempSync(join(tmpdir(), 'armature-home-'))
  t.after(() => rmSync(home, { recursive: true }))
  writeFileSync(join(home, '.pgpass'), '*:*:*:*:of-the-operator\n', { mode: 0o600 })
  const script = `#!/bin/sh\nHOME=${home} exec ${join(real.folder, 'pg_dump')} "$@"\n`
  writeFileSync(join(home, 'pg_dump'), script, { mode: 0o755 })
  let got = ''
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.on('error', () => socket.destroy())
    socket.on('data', (bytes) => {
      // Neither TLS nor another encryption; then the password in clear text.
      if (bytes.length === 8) socket.write('N')
      else if (bytes[0] === 0) socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]))
      else {
        got += bytes.toString('latin1')
        socket.destroy()
      }
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.after(() => server.close())
  const bound = server.address()
  const port = typeof bound === 'object' ? (bound?.port ?? 0) : 0
  const running = runProgram({
    programs: { ...real, folder: home },
    name: 'pg_dump',
    args: [],
    server: {
      address: { host: '127.0.0.1', port, user: 'u', sslMode: 'prefer' },
      password: '',
      outbound: openWay,
    },
    database: 'd',
    applicationName: 'test',
    rootCertificateFile: undefined,
    signal: new AbortController().signal,
  })
  await assert.rejects(running, /pg_dump: no connection to its server$/)
  assert.equal(got, '')
  assert.ok(connections > 0)
})
