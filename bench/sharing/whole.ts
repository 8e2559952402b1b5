/**
 * Data sharing with its plane and its store, in this process: the cost of a run beyond the copying, and of a list.
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listDetails } from '../../src/providers/data-share/domain/synchronizations/list-details.ts'
import { sharingStore, startSharing } from '../../src/providers/data-share/testing/start.ts'
import type { Sql } from '../../src/stores/store.ts'

/** Seconds of each incremental run over this many unchanged files. */
export async function unchangedRuns(
  folder: string,
  files: number,
  rounds: number,
): Promise<readonly number[]> {
  await using store = await sharingStore(join(folder, 'unchanged.db'))
  await using sharing = await startSharing({ store, root: join(folder, 'unchanged') })
  await sharing.prepare()
  const source = join(folder, 'unchanged', 'giver', 'data')
  for (let at = 0; at < files; at++) {
    const below = join(source, `d${at % 100}`)
    if (at < 100) mkdirSync(below, { recursive: true })
    writeFileSync(join(below, `f${at}`), 'x')
  }
  const dataSetId = await sharing.share('all', 'Container', { containerName: 'data' })
  await sharing.map('all', 'Container', { dataSetId, containerName: 'copy' })
  await finished(await sharing.synchronize('FullSync'))
  const seconds: number[] = []
  for (let round = 0; round < rounds; round++) {
    seconds.push(await finished(await sharing.synchronize('Incremental')))
  }
  return seconds

  async function finished(id: string): Promise<number> {
    const run = await sharing.ended(id)
    if (run.status !== 'Succeeded') throw new Error(JSON.stringify(await sharing.details(id)))
    return run.durationMs / 1000
  }
}

interface ListedPages {
  readonly title: string
  /** Milliseconds of each page. */
  readonly pages: readonly number[]
}

const questions: readonly (readonly [string, string])[] = [
  ['as they are', ''],
  ['by durationMs', '$orderby=durationMs desc'],
  ['by name', '$orderby=name'],
  ['that failed', "$filter=status eq 'Failed'"],
  ['whose name holds a text', "$filter=contains(name,'99')"],
  ['larger than most, by size', '$filter=sizeRead gt 50000&$orderby=sizeRead desc'],
  ['by status and name', '$orderby=status,name'],
  ['by kind going down, then by size', '$orderby=dataSetType desc,sizeRead'],
  ['that failed, by status and name', "$filter=status eq 'Failed'&$orderby=status,name"],
]
const pageSize = 100
const pagesWarm = 100
const pagesCounted = 300
const atOnce = 500

/** Pages of the details of one run with this many data sets. */
export async function listedPages(sql: Sql, details: number): Promise<readonly ListedPages[]> {
  for (let from = 0; from < details; from += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, details - from) }, (_, at) => from + at)
    const locations = some.map(() => `(${Array(21).fill('?').join(', ')})`).join(', ')
    await sql.transact((tx) =>
      tx.run(
        `insert into share_details (run_id, place, mapping_key, data_set_key, data_set_id, data_set_type, name, status,
            message, started_at, ended_at, files_read, files_written, rows_read, rows_copied, size_read, size_written,
            live_rows_read, live_rows_copied, live_size_read, live_size_written) values ${locations}`,
        ...some.flatMap((n) => {
          const mixed = (n * 7919) % 99_991
          const hasFailed = n % 100 === 0
          const words = [`id-${mixed}`, n % 3 === 0 ? 'SqlDBTable' : 'Blob', `set-${mixed}`]
          const state = hasFailed ? ['Failed', 'SourceMissing: none'] : ['Succeeded', null]
          const started = 1_700_000_000_000 + n * 10
          const numbers = [n % 50, n % 50, n % 1000, n % 1000, mixed, mixed, 0, 0, 0, 0]
          return [
            'run',
            n + 1,
            `/m/${n}`,
            `/d/${n}`,
            ...words,
            ...state,
            started,
            started + mixed,
            ...numbers,
          ]
        }),
      ),
    )
  }
  const listed: ListedPages[] = []
  for (const [title, text] of questions) {
    const query = new URLSearchParams(text)
    const pages: number[] = []
    let cursor: string | undefined
    for (let page = 0; page < pagesWarm + pagesCounted; page++) {
      const from = performance.now()
      const found = await listDetails(sql, 'run', { query, cursor, pageSize, now: Date.now() })
      if (page >= pagesWarm) pages.push(performance.now() - from)
      // After the last page comes the first.
      cursor = found.next
    }
    listed.push({ title, pages })
  }
  return listed
}
