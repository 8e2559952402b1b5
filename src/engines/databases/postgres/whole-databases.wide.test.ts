/**
 * Whole databases, from one version to another: offline, and online while they are written to and altered. Compared by
 * the catalogs, by sums over all rows and, if one program reads both servers, by its dumps. The ordinary suite takes the published
 * ones; the long one takes also our own and those of PostgreSQL: every extension, its benchmark's and its regression database.
 */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isLong } from '../../../../tests/long.ts'
import { requireOrSkip } from '../../../../tests/require.ts'
import { fingerprint } from '../testing/fingerprint.ts'
import {
  inPhase,
  isEnded,
  type MigrationFixture,
  openMigrationFixture,
} from '../testing/fixture.ts'
import { dumpedText } from '../testing/published.ts'
import { dropWithdrawn } from '../testing/regression.ts'
import { assertSameMeaning } from '../testing/reprinted.ts'
import { findServer, howToGetServers, type Major } from '../testing/servers.ts'
import { largeOnes, publishedOnes, type WholeDatabase } from '../testing/whole-databases.ts'
import { findClientPrograms } from './find-client-programs.ts'

const howToGetDatabases =
  'published databases are not compared: set ARMATURE_TEST_DATABASES to a folder of SQL files'

const pairs: readonly (readonly [Major, Major])[] = isLong
  ? [
      [13, 15],
      [15, 18],
      [13, 18],
    ]
  : [[13, 18]]
const modes = ['offline', 'online'] as const

/** The servers print these differently: see `reprinted.ts`. */
const printedByVersion: ReadonlySet<string> = new Set(['views', 'rules', 'functions'])

async function assertAlike(
  fixture: MigrationFixture,
  name: string,
  { majors, isDumpedAlike }: { readonly majors: readonly Major[]; readonly isDumpedAlike: boolean },
) {
  const here = await fingerprint(fixture.source, name)
  const there = await fingerprint(fixture.target, name)
  for (const [subject, lines] of Object.entries(here)) {
    if (printedByVersion.has(subject)) continue
    assert.deepEqual(there[subject], lines, `${name}: ${subject}`)
  }
  await using source = await fixture.session('source', name)
  await using target = await fixture.session('target', name)
  await assertSameMeaning(source, target)
  const client = await findClientPrograms()
  if (!isDumpedAlike || client === undefined || majors.some((major) => major > client.major)) return
  assert.deepEqual(
    await dumpedText(fixture.target, name),
    await dumpedText(fixture.source, name),
    `${name}: dumps`,
  )
}

const release = `CREATE TABLE public.armature_late (id serial PRIMARY KEY, t text DEFAULT 'x');
  INSERT INTO public.armature_late (t) SELECT 'late ' || g FROM generate_series(1, 500) g;
  CREATE INDEX armature_late_by_t ON public.armature_late (t);
  ALTER TABLE public.armature_late ADD COLUMN more int DEFAULT 3 NOT NULL`

/** What the newer server does not take is told before anything is made, and then dropped. */
async function withdraw(fixture: MigrationFixture, name: string, majors: readonly [Major, Major]) {
  await using engine = fixture.open()
  const spec = fixture.spec([name])
  const before = await engine.validate(spec, fixture.credentials)
  assert.equal(before.state, 'Failed')
  assert.match(JSON.stringify(before.databases), /The target does not take the structure/)
  await dropWithdrawn(fixture, name, majors)
  const after = await engine.validate(spec, fixture.credentials)
  assert.notEqual(after.state, 'Failed', JSON.stringify(after))
}

/** No transaction of `pgbench` that was acknowledged is lost, and all that one did is there. */
async function assertBalanced(fixture: MigrationFixture, name: string, acknowledged: number) {
  await using target = await fixture.session('target', name)
  const [sums] = await target.rows<Record<string, string>>(
    `SELECT (SELECT sum(delta) FROM public.pgbench_history) AS history, (SELECT sum(abalance) FROM public.pgbench_accounts) AS accounts,
       (SELECT sum(bbalance) FROM public.pgbench_branches) AS branches, (SELECT sum(tbalance) FROM public.pgbench_tellers) AS tellers,
       (SELECT count(*) FROM public.pgbench_history) AS made`,
  )
  assert.ok(acknowledged > 0 && Number(sums?.['made']) >= acknowledged, JSON.stringify(sums))
  assert.equal(
    new Set(['history', 'accounts', 'branches', 'tellers'].map((one) => sums?.[one])).size,
    1,
  )
}

describe('whole databases come over', () => {
  for (const [from, to] of pairs) {
    test(`from ${from} to ${to}`, async (t) => {
      const published = publishedOnes()
      if (published.length === 0) {
        // Not part of the repository, so it is never required.
        process.stderr.write(`SKIPPED: ${t.name}: ${howToGetDatabases}\n`)
        if (!isLong) t.skip(howToGetDatabases)
        if (!isLong) return
      }
      const there = [from, to].every((major) => findServer(major) !== undefined)
      if (!requireOrSkip(t, there, howToGetServers)) return
      const large = isLong
        ? await largeOnes(from, (how) => process.stderr.write(`SKIPPED: ${t.name}: ${how}\n`))
        : []
      await using fixture = await openMigrationFixture(from, to)
      // The ordinary suite makes one pass with both modes.
      for (const mode of modes) {
        const small = published.filter((_, at) => isLong || modes[at % modes.length] === mode)
        await migrate(fixture, { mode, majors: [from, to], ones: [...small, ...large] })
      }
    })
  }
})

async function migrate(
  fixture: MigrationFixture,
  given: {
    readonly mode: (typeof modes)[number]
    readonly majors: readonly [Major, Major]
    readonly ones: readonly WholeDatabase[]
  },
): Promise<void> {
  const { mode, majors, ones } = given
  await using engine = fixture.open()
  const named = ones.map((one) => ({ one, name: `${one.name} ${mode}` }))
  for (const { one, name } of named) {
    await one.make(fixture, name)
    if (one.name === 'regression') await withdraw(fixture, name, majors)
  }
  const databases = named.map(({ name }) => name)
  const token = `whole${mode}`
  const spec = fixture.spec(databases, { mode, databasesAtOnce: 2 })
  await using applications = new AsyncDisposableStack()
  const ends: (() => Promise<void>)[] = []
  if (mode === 'online') {
    for (const { one, name } of named) {
      const application = await one.run(fixture, name)
      applications.defer(async () => void (await application.ended()))
      ends.push(async () => {
        const acknowledged = await application.ended()
        if (one.name === 'pgbench') await assertBalanced(fixture, name, acknowledged)
      })
    }
  }
  await engine.run(token, spec, fixture.credentials)
  if (mode === 'online') {
    await fixture.until(engine, token, (seen) => isEnded(seen) || inPhase('replicating')(seen))
    for (const name of databases) {
      await using source = await fixture.session('source', name)
      await source.run(release)
    }
    await engine.catchUp(token, databases)
    await engine.cutover(token, databases)
  }
  const ended = await fixture.until(engine, token, isEnded)
  for (const { name, phase, message } of ended.databases) {
    assert.equal(phase, 'succeeded', `${name}: ${message}`)
  }
  for (const end of ends) await end()
  for (const { one, name } of named) {
    await assertAlike(fixture, name, { majors, isDumpedAlike: one.isDumpedAlike })
  }
  assert.deepEqual(await engine.traces(token, spec, fixture.credentials), [])
}
