/** The copying behind data shares, beside `rclone`, `cp` and `psql` on the same folders, service and servers. */

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  hasAzurite,
  howToGetAzurite,
  startAzurite,
} from '../../src/engines/copy/testing/azurite.ts'
import { openStoreAt } from '../../src/providers/data-share/testing/stores.ts'
import type { Sql } from '../../src/stores/store.ts'
import {
  findPostgres,
  howToGetPostgres,
  startPostgres,
} from '../../src/stores/testing/postgres-server.ts'
import { figureRow } from '../harness/measure-figures.ts'
import type { Measuring } from '../harness/measure-load.ts'
import type { FigureRow } from '../harness/results.ts'
import type { Scenario } from '../scenario.ts'
import {
  blobs,
  blobWays,
  fillLarge,
  fillSmall,
  folderWays,
  largeMegabytes,
  listedDetails,
  openTables,
  smallFiles,
  type Tables,
  tableRows,
  unchangedFiles,
  type Way,
} from '../sharing/copies.ts'
import { mostMemory } from '../sharing/memory.ts'
import { listedPages, unchangedRuns } from '../sharing/whole.ts'

const run = promisify(execFile)

export const scenario: Scenario = {
  kind: 'figures',
  title: 'Data shares: copying',
  about:
    'Seconds, in turns: whoever came first in one comes last in the next, the first turn of each is not counted, ' +
    'and what is dirty in memory is written before a turn begins. Ratios are to rclone (to psql for the table), less ' +
    'is better. The engine runs in its own process, started for every copy, as the server runs it; its ledger is in ' +
    'memory but for what says otherwise. ' +
    'ARMATURE_BENCH_SHARING=full takes the sizes of the aims: 1 GiB, 10,000 blobs, a million rows, 100,000 objects.',
  async measure(name, measuring) {
    if (!existsSync('/usr/bin/rclone'))
      return { rows: [], notes: [], skipped: ['needs /usr/bin/rclone'] }
    mkdirSync(measuring.dataFolder, { recursive: true })
    const folder = mkdtempSync(join(measuring.dataFolder, 'sharing-'))
    const skipped: string[] = []
    try {
      const rows = await measuring.processors.onAll(() => all(name, folder, skipped, measuring))
      return { rows, skipped, notes }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

const notes = [
  {
    contestant: 'Armature',
    note: 'full copies are staged and swapped; SHA-256 of every file, MD5 of every blob; the start of its process counts',
  },
  {
    contestant: 'rclone',
    note: 'as it is by default; the service copies blobs by itself, as it does for Armature',
  },
  { contestant: 'cp -r', note: 'no checksum, no manifest; the second time `cp -ru`' },
  {
    contestant: 'psql | psql',
    note: 'COPY piped into COPY as it is by default, as text; then the primary key',
  },
]

async function all(
  name: string,
  folder: string,
  skipped: string[],
  measuring: Measuring,
): Promise<readonly FigureRow[]> {
  // As `npx armature` does, for the processes that the engine starts.
  enableCompileCache(join(folder, 'compiled'))
  fillSmall(join(folder, 'from'), smallFiles)
  fillLarge(join(folder, 'from'), largeMegabytes)
  const folders = folderWays(folder)
  const first: Record<string, Way> = {}
  const again: Record<string, Way> = {}
  for (const [contestant, [one, two]] of Object.entries(folders)) {
    first[contestant] = one
    again[contestant] = two
  }
  const rows: FigureRow[] = []
  const files = `${smallFiles} files of 4 KB and one of ${largeMegabytes} MB`
  rows.push(...(await turns(name, `${files}, folder to folder, s`, first, 'rclone', measuring)))
  rows.push(...(await turns(name, `${files}, nothing changed, s`, again, 'rclone', measuring)))
  if (hasAzurite()) {
    await using server = await startAzurite()
    const ways = await blobWays(folder, server)
    const copied = `${blobs} blobs of 4 KB`
    const within = `${copied} within azurite, s`
    rows.push(...(await turns(name, within, ways.within, 'rclone', measuring)))
    const down = `${copied} from azurite to a folder, by our own client, s`
    rows.push(...(await turns(name, down, ways.toFolder, 'rclone', measuring)))
  } else skipped.push(`blobs: ${howToGetAzurite}`)
  if (findPostgres() === undefined) {
    skipped.push(`tables: ${howToGetPostgres}`)
    rows.push(...(await memoryRows(name, folder, undefined, measuring)))
  } else {
    await using server = await startPostgres({ fsync: false })
    const tables = await openTables(server)
    const figure = `${tableRows} rows, PostgreSQL to PostgreSQL, s`
    rows.push(...(await turns(name, figure, tables.ways, 'psql | psql', measuring)))
    rows.push(...(await memoryRows(name, folder, tables, measuring)))
  }
  measuring.progress(`${name}: ${unchangedFiles} objects, nothing changed`)
  const unchanged = await unchangedRuns(folder, unchangedFiles, measuring.rounds)
  rows.push(
    figureRow({
      figure: `${unchangedFiles} objects, nothing changed, with the ledger in SQLite, s`,
      contestant: 'Armature',
      values: unchanged,
      digits: 2,
    }),
  )
  await using sqlite = await openStoreAt({ kind: 'sqlite', path: join(folder, 'listed.db') })
  rows.push(...(await pageRows(name, 'SQLite', sqlite.sql, measuring)))
  if (findPostgres() !== undefined) {
    await using server = await startPostgres({ fsync: false })
    await using postgres = await openStoreAt({
      kind: 'postgres',
      url: await server.createDatabase(),
    })
    rows.push(...(await pageRows(name, 'PostgreSQL', postgres.sql, measuring)))
  }
  return rows
}

async function pageRows(
  name: string,
  store: string,
  sql: Sql,
  measuring: Measuring,
): Promise<readonly FigureRow[]> {
  measuring.progress(`${name}: pages of ${listedDetails} details, ${store}`)
  return (await listedPages(sql, listedDetails)).map(({ title, pages }) => {
    const sorted = [...pages].sort((left, right) => left - right)
    const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? 0
    return figureRow({
      figure: `A page of ${listedDetails} details, ${title}, ${store}, p99, ms`,
      contestant: 'Armature',
      values: [p99],
      digits: 2,
    })
  })
}

async function memoryRows(
  name: string,
  folder: string,
  tables: Tables | undefined,
  measuring: Measuring,
): Promise<readonly FigureRow[]> {
  measuring.progress(`${name}: memory`)
  const measured = await mostMemory(folder, tables)
  return measured.map(({ what, megabytes }) =>
    figureRow({
      figure: `Most memory of the process that copies ${what}, MB`,
      contestant: 'Armature',
      values: [megabytes],
    }),
  )
}

async function turns(
  name: string,
  figure: string,
  ways: Readonly<Record<string, Way>>,
  floor: string,
  measuring: Measuring,
): Promise<readonly FigureRow[]> {
  const contestants = Object.keys(ways)
  const seconds = new Map<string, number[]>(contestants.map((one) => [one, []]))
  for (let round = 0; round <= measuring.rounds; round++) {
    const first = round % contestants.length
    for (const contestant of [...contestants.slice(first), ...contestants.slice(0, first)]) {
      measuring.progress(`${name}: ${figure}: ${contestant}`)
      const way = ways[contestant]
      await way?.ready?.()
      await run('sync')
      const from = performance.now()
      await way?.copy()
      if (round > 0) seconds.get(contestant)?.push((performance.now() - from) / 1000)
    }
  }
  const base = seconds.get(floor)
  return [...seconds].map(([contestant, values]) =>
    figureRow({
      figure,
      contestant,
      values,
      digits: 2,
      ...(base === undefined ? {} : { to: base }),
    }),
  )
}
