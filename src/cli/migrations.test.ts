/** The migration commands, with the edge and the plane over the real engine and real servers. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { findServer, howToGetServers } from '#engines/databases/testing/servers.ts'
import { servePlane } from '#http/testing/serve-plane.ts'
import {
  type MigrationFixture,
  openMigrationFixture,
} from '#providers/db-for-postgresql/testing/fixture.ts'
import { requireOrSkip } from '../../tests/require.ts'
import { type Ran, type RunOptions, runCli } from './testing/run-cli.ts'

interface Fixture extends AsyncDisposable {
  readonly migrations: MigrationFixture
  run(line: string, options?: RunOptions): Promise<Ran>
}

const subscription = '11111111-2222-4333-8444-555555555555'

async function open(): Promise<Fixture> {
  const migrations = await openMigrationFixture()
  const server = await servePlane(migrations.plane)
  const { url } = server
  const environment = { SOURCE: migrations.source.password, TARGET: migrations.target.password }
  return {
    migrations,
    run: (line, options) =>
      runCli([...line.split(' '), '--subscription', subscription, '--url', url, '--token', 'any'], {
        environment,
        ...options,
      }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await migrations[Symbol.asyncDispose]()
    },
  }
}

const isThere = findServer(15) !== undefined
const place = '-g rg -s target'
const passwords = '--source-password env:SOURCE --target-password env:TARGET'

describe('the commands about migrations', () => {
  let opened: Fixture | undefined
  before(async () => {
    if (!isThere) return
    opened = await open()
    const { address } = opened.migrations.target
    const at = `--host 127.0.0.1 --port ${address.port} --user postgres --yes`
    const ran = await opened.run(
      `migration server create target -g rg --yes ${at} --password env:TARGET`,
    )
    assert.equal(ran.code, 0, ran.error)
    assert.match(ran.out, /state +Ready\n +version +15/)
  })
  after(async () => {
    await opened?.[Symbol.asyncDispose]()
  })
  const row = (title: string, body: (w: Fixture) => Promise<void>): void => {
    test(title, { timeout: 360_000 }, async (t) => {
      if (!requireOrSkip(t, isThere, howToGetServers) || opened === undefined) return
      await body(opened)
    })
  }
  const source = ({ migrations }: Fixture): string =>
    `--source 127.0.0.1:${migrations.source.address.port}@postgres`
  const succeeds = async (w: Fixture, line: string, options?: RunOptions): Promise<Ran> => {
    const ran = await w.run(line, options)
    assert.equal(ran.code, 0, `${line}: ${ran.error}${ran.out}`)
    return ran
  }

  row('servers: registered, listed, shown, removed', async (w) => {
    assert.match((await succeeds(w, 'migration server list -g rg')).out, /^target +Ready +15 /m)
    await w.migrations.make('listed', 'target')
    const shown = await succeeds(w, 'migration server show target -g rg')
    assert.match(shown.out, /databases +listed/)
    assert.doesNotMatch(shown.out, new RegExp(w.migrations.target.password))
    const wrong = 'migration server create wrong -g rg --host 127.0.0.1 --user postgres --yes'
    const port = `--port ${w.migrations.target.address.port}`
    const ran = await w.run(`${wrong} ${port} --password -`, { input: 'guessed\n' })
    assert.equal(ran.code, 1)
    assert.match(ran.error, /password authentication failed/)
    const joined = await w.run(`${wrong.replace('127.0.0.1', 'db.example:5433')} --password -`)
    assert.equal(joined.code, 2)
    assert.match(joined.error, /--host db\.example --port 5433/)
    const away = wrong.replace('127.0.0.1', '127.0.0.1 --port 1')
    const registered = await succeeds(w, `${away} --password env:SOURCE`)
    assert.match(
      registered.out,
      /state +Inaccessible\n +reason +603000: The server .* is not reached/,
    )
    assert.doesNotMatch(
      (await succeeds(w, 'migration server show wrong -g rg')).out,
      /databases/,
      'nobody can tell them',
    )
    await succeeds(w, 'migration server delete wrong -g rg')
    const plain = await w.run(`${wrong} --password hush`)
    assert.equal(plain.code, 2)
    assert.doesNotMatch(plain.error, /hush/)
    assert.equal((await w.run(wrong)).code, 2, 'nobody can be asked')
    const unset = await w.run(`${wrong} --password env:NOTHING`)
    assert.match(unset.error, /NoPassword/)
  })

  row('a password that is asked for is typed unseen', async (w) => {
    const port = `--port ${w.migrations.target.address.port}`
    const ran = await w.run(
      `migration server create asked -g rg --host 127.0.0.1 ${port} --user postgres --yes`,
      { input: `${w.migrations.target.password}\r`, size: { rows: 24, columns: 80 } },
    )
    assert.equal(ran.code, 0, ran.error)
    assert.equal(ran.error, 'password: \n')
    await succeeds(w, 'migration server delete asked -g rg')
  })

  row('online: created, watched to the cutover, cut over one by one and asked for', async (w) => {
    await w.migrations.make('one')
    await w.migrations.make('two')
    const made = await succeeds(
      w,
      `migration create both ${place} ${source(w)} ${passwords} -d one,two --online`,
    )
    assert.match(made.out, /mode +Online/)
    const watched = await succeeds(w, `migration watch both ${place} --until cutover`)
    assert.match(watched.error, /both: Online, WaitingForUserAction \/ WaitingForCutoverTrigger/)
    assert.match(watched.out, /one +WaitingForCutoverTrigger +ReplicatingChanges +2 of 2/)
    assert.match((await succeeds(w, `migration show both ${place}`)).out, /Validation: .*succeeded/)
    assert.equal((await w.run(`migration watch both ${place}`)).code, 3, 'nobody decides')
    assert.match((await succeeds(w, `migration list ${place}`)).out, /both +Online .* one, two/)
    await succeeds(w, `migration cutover both ${place} --databases one`)
    const size = { rows: 24, columns: 100 }
    const asked = await succeeds(w, `migration watch both ${place}`, {
      interactive: true,
      input: 'a',
      size,
    })
    assert.match(asked.error, /\[#{24}\] two ReplicatingChanges: 0 changes applied/)
    assert.match(asked.error, /a: cut over .* {3}x: call it off {3}q: stop watching/)
    assert.match(asked.out, /state +Succeeded/)
    for (const line of asked.error.split('\n')) assert.ok(line.length <= size.columns + 12, line)
    assert.equal(
      await w.migrations.contentOf('target', 'two'),
      await w.migrations.contentOf('source', 'two'),
    )
    const none = await succeeds(w, `migration list ${place}`)
    assert.equal(none.error, '(none)\n')
    assert.match(
      (await succeeds(w, `migration list ${place} --all`)).out,
      /both +Online +Succeeded/,
    )
    const late = await w.run(`migration cancel both ${place}`)
    assert.match(late.error, /MigrationStateConflict/)
  })

  row('offline: waits to be started, and for leave to overwrite', async (w) => {
    await w.migrations.make('taken')
    await w.migrations.make('taken', 'target')
    const skip = '--skip-validation --start-later'
    await succeeds(w, `migration create over ${place} ${source(w)} ${passwords} -d taken ${skip}`)
    const waits = await w.run(`migration watch over ${place}`)
    assert.equal(waits.code, 3)
    assert.match(waits.out, /WaitingForTargetDBOverwriteConfirmation/)
    const size = { rows: 24, columns: 200 }
    const interactive = { interactive: true, size }
    const kept = await w.run(`migration watch over ${place}`, { ...interactive, input: 'ono\r' })
    assert.match(kept.error, /\(nothing was done\)/)
    const dropped = await w.run(`migration watch over ${place}`, {
      ...interactive,
      input: 'oyes\r',
    })
    assert.equal(dropped.code, 3, 'it waits for its start, and the input is at its end')
    assert.match(dropped.out, /WaitingForDataMigrationScheduling/)
    await succeeds(w, `migration start over ${place}`)
    await succeeds(w, `migration watch over ${place}`)
  })

  row('a migration without names asks for them, and is called off', async (w) => {
    await succeeds(w, `migration create unnamed ${place} ${source(w)} ${passwords}`)
    const ran = await w.run(`migration watch unnamed ${place}`, {
      interactive: true,
      input: 'dmissing\r',
      size: { rows: 24, columns: 200 },
    })
    assert.equal(ran.code, 1, ran.error)
    assert.match(ran.out, /state +ValidationFailed/)
    await succeeds(w, `migration create off ${place} ${source(w)} ${passwords}`)
    await succeeds(w, `migration cancel off ${place}`)
    const ended = await w.run(`migration watch off ${place} --json`)
    assert.equal(ended.code, 1)
    assert.equal(JSON.parse(ended.out).properties.currentStatus.state, 'Canceled')
  })

  row('deleting asks for one that is under way to be called off first', async (w) => {
    await succeeds(w, `migration create gone ${place} ${source(w)} ${passwords}`)
    const refused = await w.run(`migration delete gone ${place}`)
    assert.equal(refused.code, 1)
    assert.match(refused.error, /UnderWay.*--cancel/)
    const called = await succeeds(w, `migration delete gone ${place} --cancel`)
    assert.match(called.error, /being called off/)
    assert.equal((await w.run(`migration watch gone ${place}`)).code, 1)
    assert.match((await succeeds(w, `migration delete gone ${place}`)).error, /Deleted gone/)
    assert.match((await w.run(`migration show gone ${place}`)).error, /NotFound/)
  })

  row('validate tells its findings and fails with them', async (w) => {
    const check = `migration validate`
    await w.migrations.make('judged')
    const fine = await succeeds(w, `${check} fine ${place} ${source(w)} ${passwords} -d judged`)
    assert.match(fine.out, /Validation: (?:\d+ warnings?, )?\d+ succeeded/)
    const failed = await w.run(`${check} lacking ${place} ${source(w)} ${passwords} -d nothere`)
    assert.equal(failed.code, 1)
    assert.match(failed.out, /nothere +\w+ +Failed +\S/)
    const missing = await w.run(`${check} none ${place} ${source(w)} ${passwords}`)
    assert.equal(missing.code, 2)
    const two = await w.run(`${check} none ${place} ${passwords} -d a`)
    assert.match(two.error, /give `--source`/)
  })
})
