/**
 * Published databases, from one version to another: offline, and online while they are written to and altered.
 * Compared by the catalogs, by sums over all rows and, if one program reads both servers, by its dumps.
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
import { generatedSchema } from '../testing/generated.ts'
import { startLoad } from '../testing/load.ts'
import { dumpedText, loadPublished, publishedDatabases } from '../testing/published.ts'
import { findServer, howToGetServers, type Major } from '../testing/servers.ts'
import { readTables } from './catalog.ts'
import { findClientPrograms } from './client-programs.ts'

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
/** Tables of our own generated schema, in the long suite. */
const generatedTables = 400

/** The servers print these differently. */
const printedByVersion: ReadonlySet<string> = new Set(['views', 'rules', 'functions'])

async function assertAlike(fixture: MigrationFixture, name: string, majors: readonly Major[]) {
  const here = await fingerprint(fixture.source, name)
  const there = await fingerprint(fixture.target, name)
  const [from, to] = majors
  for (const [subject, lines] of Object.entries(here)) {
    if (from !== to && printedByVersion.has(subject)) {
      assert.equal(there[subject]?.length, lines.length, `${name}: ${subject}`)
    } else {
      assert.deepEqual(there[subject], lines, `${name}: ${subject}`)
    }
  }
  const client = await findClientPrograms()
  if (client === undefined || majors.some((major) => major > client.major)) return
  assert.deepEqual(
    await dumpedText(fixture.target, name),
    await dumpedText(fixture.source, name),
    `${name}: dumps`,
  )
}

/** Writes to some of its tables that satisfy every constraint, and go through the log. */
async function writesOf(fixture: MigrationFixture, name: string): Promise<readonly string[]> {
  await using session = await fixture.session('source', name)
  const tables = await readTables(session)
  return tables
    .filter(({ columns, pages }) => columns.length > 0 && pages > 0)
    .slice(0, 10)
    .map(
      ({ name: table, columns: [column] }) =>
        `UPDATE ONLY ${table} SET ${column} = ${column} WHERE ctid = (SELECT ctid FROM ONLY ${table} OFFSET floor(random() * 20) LIMIT 1)`,
    )
}

const release = `CREATE TABLE public.armature_late (id serial PRIMARY KEY, t text DEFAULT 'x');
  INSERT INTO public.armature_late (t) SELECT 'late ' || g FROM generate_series(1, 500) g;
  CREATE INDEX armature_late_by_t ON public.armature_late (t);
  ALTER TABLE public.armature_late ADD COLUMN more int DEFAULT 3 NOT NULL`

describe('published databases come over whole', () => {
  for (const [from, to] of pairs) {
    test(`from ${from} to ${to}`, async (t) => {
      const published = publishedDatabases()
      if (published === undefined) {
        // Not part of the repository, so it is never required.
        process.stderr.write(`SKIPPED: ${t.name}: ${howToGetDatabases}\n`)
        t.skip(howToGetDatabases)
        return
      }
      const there = [from, to].every((major) => findServer(major) !== undefined)
      if (!requireOrSkip(t, there, howToGetServers)) return
      await using fixture = await openMigrationFixture(from, to)
      await using engine = fixture.open()
      const files = [...published]
      // The ordinary suite makes one pass with both modes.
      for (const mode of modes) {
        const names = files
          .filter((_, at) => isLong || modes[at % modes.length] === mode)
          .map(([name, file]) => ({ name: `${name} ${mode}`, file }))
        for (const { name, file } of names) {
          await fixture.make(name, [])
          await loadPublished(fixture.source, name, file)
        }
        if (isLong) {
          const name = `generated ${mode}`
          await fixture.makeOdd(name)
          await using inside = await fixture.session('source', name)
          await inside.run('SET search_path TO public')
          for (const statement of generatedSchema(generatedTables)) await inside.run(statement)
          names.push({ name, file: '' })
        }
        const databases = names.map(({ name }) => name)
        const token = `published${mode}`
        const spec = fixture.spec(databases, { mode, databasesAtOnce: 2 })
        await using loads = new AsyncDisposableStack()
        if (mode === 'online') {
          for (const name of databases) {
            const statements = await writesOf(fixture, name)
            if (statements.length === 0) continue
            const load = startLoad(fixture.source, name, {
              perSecond: 20,
              statements,
              endsWhenShutOut: true,
            })
            loads.defer(() => load.stop())
          }
        }
        await engine.run(token, spec, fixture.credentials)
        if (mode === 'online') {
          await fixture.until(
            engine,
            token,
            (seen) => isEnded(seen) || inPhase('replicating')(seen),
          )
          for (const name of databases) {
            await using source = await fixture.session('source', name)
            await source.run(release)
          }
          await engine.catchUp(token, databases)
          await engine.cutover(token, databases)
        }
        const ended = await fixture.until(engine, token, isEnded)
        await loads.disposeAsync()
        for (const { name, phase, message } of ended.databases) {
          assert.equal(phase, 'succeeded', `${name}: ${message}`)
        }
        for (const name of databases) await assertAlike(fixture, name, [from, to])
        assert.deepEqual(await engine.traces(token, spec, fixture.credentials), [])
      }
    })
  }
})
