/**
 * What every pair of locations of tables keeps, as tests: contents, counts, increments by a column that grows, cuts at
 * every call of the journal, cancellation. A pair joins by saying how statements are run on its sides.
 */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { failure, runTask, taskOf } from '../contract.ts'
import { CopyCancelled, type CopyEngine, type CopyTask, type TableLocation } from '../engine.ts'
import { JournalClosed, MemoryManifest } from './memory-journal.ts'

export interface TableSide {
  readonly location: TableLocation
  /** Runs a statement that all dialects understand; `TABLE` in it is the location's table, `SCHEMA` its schema. */
  run(sql: string): Promise<void>
  /** Rows as text. */
  rows(sql: string): Promise<readonly (readonly (string | null)[])[]>
  /** The names of tables and files that a copy left beside the table. */
  leftovers(): Promise<readonly string[]>
}

export interface TablesPair extends AsyncDisposable {
  readonly source: TableSide
  readonly target: TableSide
}

const all = `select o.id::varchar, coalesce(name, '<null>'), extract(epoch from "When")::bigint::varchar, amount::varchar
  from TABLE o order by o.id`
export const rowsOfPair = 5000

/** A table with empty texts, nulls, quotes, line ends, moments and decimals. */
export async function fillTable(source: TableSide): Promise<void> {
  await source.run('create schema if not exists SCHEMA')
  await source.run(
    'create table TABLE (id int primary key, name text, "When" timestamptz, amount numeric(12,2))',
  )
  await source.run(
    `insert into TABLE select n, case when n % 7 = 0 then null when n % 5 = 0 then ''
      else 'a "line",' || chr(10) || chr(9) || 'ä' || n end,
      '2026-01-01 00:00:00+00'::timestamptz + n * interval '1 hour', (n / 3.0)::numeric(12,2)
      from generate_series(1, ${rowsOfPair}) t(n)`,
  )
}

export function tablesContract(
  name: string,
  engine: () => CopyEngine,
  open: (t: { skip(reason?: string): void }) => Promise<TablesPair | undefined>,
): void {
  const same = async ({ source, target }: TablesPair): Promise<void> => {
    alike(await target.rows(all), await source.rows(all))
  }
  const tasks = (pair: TablesPair, manifest: MemoryManifest) => {
    const locations = { source: pair.source.location, target: pair.target.location }
    return (mode: CopyTask['mode'], run?: string): CopyTask => ({
      ...taskOf(locations, mode, manifest, run),
      watermarkColumn: 'id',
    })
  }
  const countOf = async (side: TableSide): Promise<number> =>
    Number((await side.rows('select count(*)::varchar from TABLE'))[0]?.[0])
  const noneLeft = async ({ source, target }: TablesPair): Promise<void> => {
    assert.deepEqual([...(await source.leftovers()), ...(await target.leftovers())], [])
  }

  describe(`tables, ${name}`, () => {
    test('whole; what has come since, by a column; whole again', async (t) => {
      await using pair = await open(t)
      if (pair === undefined) return
      await fillTable(pair.source)
      const manifest = new MemoryManifest()
      const task = tasks(pair, manifest)
      const first = task('full')
      await runTask(engine(), first, manifest)
      await same(pair)
      const counts = manifest.countsOf(first.run)
      assert.deepEqual([counts.rowsRead, counts.rowsCopied], [rowsOfPair, rowsOfPair])
      assert.ok(counts.sizeRead > 0 && counts.sizeRead === counts.sizeWritten)
      await pair.source.run(
        `insert into TABLE select n, 'more', null, 1 from generate_series(5001, 5010) t(n)`,
      )
      const second = task('incremental')
      await runTask(engine(), second, manifest)
      assert.equal(
        manifest.countsOf(second.run).rowsCopied,
        11,
        'ten, and the last one once more rather than lost',
      )
      await same(pair)
      await pair.source.run("update TABLE set name = 'changed' where id = 5010")
      await pair.source.run('delete from TABLE where id <= 100')
      const third = task('incremental')
      await runTask(engine(), third, manifest)
      assert.equal(manifest.countsOf(third.run).rowsCopied, 1)
      assert.equal(await countOf(pair.target), 5010, 'an increment removes nothing')
      await runTask(engine(), task('full'), manifest)
      await same(pair)
      await noneLeft(pair)
    })

    test('without a key all is copied, and the note says why', async (t) => {
      await using pair = await open(t)
      if (pair === undefined) return
      await pair.source.run('create schema if not exists SCHEMA')
      await pair.source.run('create table TABLE (id int, name text)')
      await pair.source.run("insert into TABLE values (1, 'one'), (2, 'two')")
      const manifest = new MemoryManifest()
      const task = tasks(pair, manifest)
      await runTask(engine(), task('full'), manifest)
      await pair.source.run("insert into TABLE values (2, 'twice')")
      const second = task('incremental')
      await runTask(engine(), second, manifest)
      assert.equal(manifest.countsOf(second.run).rowsCopied, 3)
      assert.match(manifest.notes[0] ?? '', /primary key/)
      assert.equal(await countOf(pair.target), 3)
    })

    test('cut off at every call of the journal and taken up again: the same rows, counted once', async (t) => {
      await using pair = await open(t)
      if (pair === undefined) return
      await fillTable(pair.source)
      const kept = new MemoryManifest()
      await runTask(engine(), tasks(pair, kept)('full'), kept)
      const calls = kept.calls.length
      for (const mode of ['full', 'incremental'] as const) {
        for (let cut = 0; cut < calls + 1; cut++) {
          await pair.source.run(`update TABLE set name = '${mode} ${cut}' where id = ${rowsOfPair}`)
          const run = `${mode === 'full' ? 'd' : 'e'}${cut}`.padEnd(12, '0')
          const task = tasks(pair, kept)
          kept.callsLeft = cut
          const died = await runTask(engine(), task(mode, run), kept).then(
            () => undefined,
            (reason: unknown) => reason,
          )
          assert.ok(died === undefined || died instanceof JournalClosed, String(died))
          kept.callsLeft = Number.POSITIVE_INFINITY
          if (died !== undefined) await runTask(engine(), task(mode, run), kept)
          await same(pair)
          const expected = mode === 'full' ? rowsOfPair : 1
          assert.equal(kept.countsOf(run).rowsCopied, expected, `${mode}, cut at ${cut}`)
        }
      }
      await noneLeft(pair)
    })

    test('cancelled: the table as it was; cancelled while it publishes: the new one whole', async (t) => {
      await using pair = await open(t)
      if (pair === undefined) return
      await fillTable(pair.source)
      const manifest = new MemoryManifest()
      const task = tasks(pair, manifest)
      await runTask(engine(), task('full'), manifest)
      const before = await pair.target.rows(all)
      await pair.source.run('delete from TABLE where id > 10')
      for (const when of ['at once', 'soon', 'publishing'] as const) {
        const one = task('full')
        const cancel = new AbortController()
        const journal = manifest.journal(one)
        await using session = engine().open()
        const stopping = {
          ...journal,
          publishing: () => {
            cancel.abort()
            return journal.publishing()
          },
        }
        if (when === 'publishing') {
          await session.copy(one, stopping, cancel.signal)
          await same(pair)
        } else {
          const unpublished = { ...journal, publishing: async () => assert.fail('published') }
          const work = session.copy(one, unpublished, cancel.signal)
          if (when === 'soon') await new Promise((done) => setImmediate(done))
          cancel.abort()
          await assert.rejects(work, CopyCancelled)
          alike(await pair.target.rows(all), before)
        }
        await noneLeft(pair)
      }
    })

    test('rows of others in the target stay, and a table that is not there is reported', async (t) => {
      await using pair = await open(t)
      if (pair === undefined) return
      await fillTable(pair.source)
      await fillTable(pair.target)
      await pair.target.run('delete from TABLE where id > 3')
      const manifest = new MemoryManifest()
      const refused = await failure(runTask(engine(), tasks(pair, manifest)('full'), manifest))
      assert.equal(refused.code, 'TargetNotEmpty')
      assert.equal(await countOf(pair.target), 3)
      await pair.target.run('delete from TABLE')
      await runTask(engine(), tasks(pair, manifest)('full'), manifest)
      await same(pair)
      const source = { ...pair.source.location, table: 'none' }
      const missing = { ...tasks(pair, manifest)('full'), source }
      assert.equal((await failure(runTask(engine(), missing, manifest))).code, 'SourceMissing')
      await noneLeft(pair)
    })
  })
}

type Rows = Awaited<ReturnType<TableSide['rows']>>

/** Only the first different row is reported: thousands of them help nobody. */
function alike(found: Rows, expected: Rows): void {
  const at = expected.findIndex((row, index) => String(row) !== String(found[index]))
  if (at >= 0) assert.deepEqual(found[at], expected[at])
  assert.equal(found.length, expected.length)
}
