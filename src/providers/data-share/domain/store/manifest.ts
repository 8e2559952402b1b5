/**
 * The manifest of one data set's copy: what lies at the target in which state, written as it is copied and in one
 * transaction with the numbers. A full copy has rows of its own until it is published; then one pointer moves.
 */

import {
  CopyCancelled,
  type CopyJournal,
  type CopyTask,
  type CountedWork,
  type DoneItem,
  type Item,
  type ItemAction,
} from '#engines/copy/engine.ts'
import type { Sql, SqlRow, SqlTx } from '#stores/store.ts'
import type { Runs } from './runs.ts'
import { type Detail, manifests, type Run } from './tables.ts'

/** Where a data set is read, and where its copy is written. */
interface Sites {
  readonly source: string
  readonly target: string
}

export interface Known extends Sites {
  /** The rows that are valid; empty before anything was published. */
  readonly stage: string
  readonly owned: boolean
  readonly watermark: string | null
}

/** What was written elsewhere, and what was read elsewhere, is not known here. Earlier versions did not note where. */
export async function readManifest(sql: Sql, token: string, sites: Sites): Promise<Known> {
  const [cells] = await sql.all('select * from share_manifests where token = ?', token)
  const row = cells && manifests.row(cells)
  const is = (site: keyof Sites): boolean => ['', sites[site]].includes(row?.[site] ?? '')
  const isSame = is('source') && is('target')
  return {
    ...sites,
    stage: (isSame && row?.stage) || '',
    owned: is('target') && row?.owned === true,
    watermark: (isSame && row?.watermark) || null,
  }
}

export interface ManifestDependencies {
  readonly sql: Sql
  readonly runs: Runs
  readonly run: Run
  readonly detail: Detail
  readonly task: Pick<CopyTask, 'token' | 'run' | 'mode' | 'owned'>
  readonly known: Known
  onNote(note: string): void
}

/** The rows of an invalid stage that are removed at a time. */
const purgeRows = 2000
/** Rows in one statement: a round trip for each would cost more than the row. */
const rowsAtOnce = 100

export function openManifest(deps: ManifestDependencies): CopyJournal {
  const { sql, runs, run, detail, task, known } = deps
  const { token } = task
  const isFull = task.mode === 'full' || known.stage === ''
  const stage = isFull ? task.run : known.stage

  return {
    forget: () => forget(deps, stage),
    async todo(items) {
      const [from, to] = rangeOf(items.map(({ key }) => key))
      const rows = await sql.all(
        'select item, etag from share_items where token = ? and stage = ? and item >= ? and item <= ?',
        token,
        stage,
        from,
        to,
      )
      const parted = await sql.all(
        'select item, etag, position from share_parts where token = ? and stage = ? and item >= ? and item <= ?',
        token,
        stage,
        from,
        to,
      )
      const done = new Map(rows.map((row) => [String(row['item']), String(row['etag'])]))
      const begun = new Map(parted.map((row) => [String(row['item']), row]))
      return items.map(({ key, etag }: Item): ItemAction => {
        if (done.get(key) === etag) return { kind: 'skip' }
        const part = begun.get(key)
        if (part === undefined || part['etag'] !== etag) return { kind: 'copy' }
        return { kind: 'resume', offset: Number(part['position']) }
      })
    },
    async commit({ done, counted, underway, part }) {
      await sql.transact(async (tx) => {
        await runs.assert(tx, run)
        // A service may list a blob twice, and a statement writes a row once.
        const each = new Map(done.map((one) => [one.key, one]))
        await insertItems(tx, { token, stage, run: task.run }, [...each.values()])
        if (part !== undefined) {
          await tx.run(
            `insert into share_parts (token, stage, item, etag, position) values (?, ?, ?, ?, ?)
              on conflict (token, stage, item) do update set etag = excluded.etag, position = excluded.position`,
            token,
            stage,
            part.key,
            part.etag,
            part.offset,
          )
        }
        await count(tx, deps, counted, underway)
      })
    },
    async holds(keys) {
      const [from, to] = rangeOf(keys)
      const rows = await sql.all(
        'select item from share_items where token = ? and stage = ? and run_id = ? and item >= ? and item <= ?',
        token,
        stage,
        task.run,
        from,
        to,
      )
      const held = new Set(rows.map((row) => String(row['item'])))
      return keys.map((key) => held.has(key))
    },
    async publishing() {
      await sql.transact(async (tx) => {
        await runs.assert(tx, run)
        await keep(tx, token, known)
        await tx.run(
          'update share_details set publishing = 1 where run_id = ? and place = ? and publishing = 0',
          run.id,
          detail.place,
        )
      })
    },
    async done(after, limit) {
      const rows = await sql.all(
        `select item, etag, size, digest from share_items
          where token = ? and stage = ? and run_id = ? and item > ? order by item limit ?`,
        token,
        stage,
        task.run,
        after ?? '',
        limit,
      )
      return rows.map(toDoneItem)
    },
    async published({ replaces, watermark, counted, note }) {
      await sql.transact(async (tx) => {
        await runs.assert(tx, run)
        await keep(tx, token, {
          ...known,
          stage: replaces ? stage : known.stage,
          watermark: watermark ?? null,
        })
        // A run that is cut off right after this repeats it; counts are not added twice.
        const isNews = await tx.run(
          `update share_details set publishing = 2, message = coalesce(?, message)
            where run_id = ? and place = ? and publishing < 2`,
          note ?? null,
          run.id,
          detail.place,
        )
        if (counted !== undefined && isNews > 0) await count(tx, deps, counted, {})
      })
      if (note !== undefined) deps.onNote(note)
      if (replaces) await purge(sql, token, stage)
    },
  }
}

/** From now on the target is the mapping's own. */
async function keep(
  tx: SqlTx,
  token: string,
  { stage, watermark, source, target }: Omit<Known, 'owned'>,
): Promise<void> {
  await tx.run(
    `insert into share_manifests (token, stage, watermark, owned, source, target)
      values (?, ?, ?, 1, ?, ?) on conflict (token) do update set stage = excluded.stage,
        watermark = excluded.watermark, owned = 1, source = excluded.source, target = excluded.target`,
    token,
    stage,
    watermark,
    source,
    target,
  )
}

function toDoneItem(row: SqlRow): DoneItem {
  return {
    key: String(row['item']),
    etag: String(row['etag']),
    size: Number(row['size']),
    digest: String(row['digest']),
  }
}

async function insertItems(
  tx: SqlTx,
  { token, stage, run }: { readonly token: string; readonly stage: string; readonly run: string },
  done: readonly DoneItem[],
): Promise<void> {
  for (let at = 0; at < done.length; at += rowsAtOnce) {
    const some = done.slice(at, at + rowsAtOnce)
    const places = some.map(() => '(?, ?, ?, ?, ?, ?, ?)').join(', ')
    await tx.run(
      `insert into share_items (token, stage, item, etag, size, digest, run_id) values ${places}
        on conflict (token, stage, item) do update set etag = excluded.etag, size = excluded.size,
          digest = excluded.digest, run_id = excluded.run_id`,
      ...some.flatMap(({ key, etag, size, digest }) => [
        token,
        stage,
        key,
        etag,
        size,
        digest,
        run,
      ]),
    )
  }
}

/** A server says how many rows it gave. Larger numbers, and sums of some, are no exact numbers of JavaScript. */
const countMax = 2 ** 50

/** Adds to the counts of the data set; progress replaces the last progress. */
function count(
  tx: SqlTx,
  { run, detail }: Pick<ManifestDependencies, 'run' | 'detail'>,
  counted: CountedWork,
  underway: CountedWork,
): Promise<number> {
  return tx.run(
    `update share_details set files_read = files_read + ?, files_written = files_written + ?,
        rows_read = rows_read + ?, rows_copied = rows_copied + ?, size_read = size_read + ?,
        size_written = size_written + ?, live_rows_read = ?, live_rows_copied = ?, live_size_read = ?,
        live_size_written = ? where run_id = ? and place = ?`,
    ...[
      counted.filesRead,
      counted.filesWritten,
      counted.rowsRead,
      counted.rowsCopied,
      counted.sizeRead,
      counted.sizeWritten,
      underway.rowsRead,
      underway.rowsCopied,
      underway.sizeRead,
      underway.sizeWritten,
    ].map((counts = 0) => Math.min(counts, countMax)),
    run.id,
    detail.place,
  )
}

/** What this run has done at that stage, in bounded steps, and its numbers. */
async function forget(
  { sql, runs, run, detail, task: { token, run: of } }: ManifestDependencies,
  stage: string,
): Promise<void> {
  // Publishing that has begun is completed, and of this nothing is left.
  if (run.cancelled) throw new CopyCancelled()
  for (let removed = purgeRows; removed === purgeRows; ) {
    removed = await sql.transact(async (tx) => {
      await runs.assert(tx, run)
      return tx.run(
        `delete from share_items where token = ? and stage = ? and run_id = ? and item in
          (select item from share_items where token = ? and stage = ? and run_id = ? order by item limit ?)`,
        ...[token, stage, of, token, stage, of, purgeRows],
      )
    })
  }
  await sql.transact(async (tx) => {
    await runs.assert(tx, run)
    await tx.run('delete from share_parts where token = ? and stage = ?', token, stage)
    await tx.run(
      `update share_details set files_read = 0, files_written = 0, rows_read = 0, rows_copied = 0,
          size_read = 0, size_written = 0, publishing = case publishing when 1 then 0 else publishing end
          where run_id = ? and place = ?`,
      run.id,
      detail.place,
    )
  })
}

/** Removes what earlier full copies and interrupted ones left, in bounded steps. */
async function purge(sql: Sql, token: string, kept: string): Promise<void> {
  for (let stage = await otherStage(sql, token, kept); stage !== undefined; ) {
    if ((await purgeSome(sql, token, stage)) < purgeRows) stage = await otherStage(sql, token, kept)
  }
  await sql.transact((tx) => tx.run('delete from share_parts where token = ?', token))
}

/** Found on both sides of the one that is kept: a search for what is not that would go through all its rows each time. */
async function otherStage(sql: Sql, token: string, kept: string): Promise<string | undefined> {
  for (const side of ['<', '>']) {
    const [row] = await sql.all(
      `select stage from share_items where token = ? and stage ${side} ? order by stage limit 1`,
      token,
      kept,
    )
    if (row !== undefined) return String(row['stage'])
  }
  return undefined
}

function purgeSome(sql: Sql, token: string, stage: string): Promise<number> {
  return sql.transact((tx) =>
    tx.run(
      `delete from share_items where token = ? and stage = ? and item in
        (select item from share_items where token = ? and stage = ? order by item limit ?)`,
      ...[token, stage, token, stage, purgeRows],
    ),
  )
}

/** The first and last key in bytewise order. */
function rangeOf(keys: readonly string[]): readonly [string, string] {
  const bytes = keys.map((key) => Buffer.from(key))
  bytes.sort(Buffer.compare)
  return [bytes[0]?.toString() ?? '', bytes.at(-1)?.toString() ?? '']
}
