/** The copying behind data shares, beside `rclone`, `cp` and `psql` on the same folders, service and servers. */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import {
  hasAzurite,
  howToGetAzurite,
  startAzurite,
} from '../../src/engines/copy/testing/azurite.ts'
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
  fillFolder,
  folderWays,
  largeMegabytes,
  listedDetails,
  smallFiles,
  tableRows,
  tableWays,
  unchangedFiles,
  type Way,
} from '../sharing/copies.ts'
import { listedPages, unchangedRuns } from '../sharing/whole.ts'

export const scenario: Scenario = {
  kind: 'figures',
  title: 'Data shares: copying',
  about:
    'Seconds, in turns; ratios are to rclone (to psql for the table), less is better. The engine runs in its own ' +
    'process, started for every copy, as the server runs it; its ledger is in memory but for what says otherwise. ' +
    'ARMATURE_BENCH_SHARING=full takes the sizes of the aims: 1 GiB, 10,000 blobs, a million rows, 100,000 objects.',
  async measure(name, measuring) {
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
  { contestant: 'psql | psql', note: 'COPY piped into COPY, then the primary key' },
]

async function all(
  name: string,
  folder: string,
  skipped: string[],
  measuring: Measuring,
): Promise<readonly FigureRow[]> {
  // As `npx armature` does, for the processes that the engine starts.
  enableCompileCache(join(folder, 'compiled'))
  fillFolder(folder)
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
    const figure = `${blobs} blobs of 4 KB within azurite, s`
    rows.push(...(await turns(name, figure, ways, 'rclone', measuring)))
  } else skipped.push(`blobs: ${howToGetAzurite}`)
  if (findPostgres() === undefined) skipped.push(`tables: ${howToGetPostgres}`)
  else {
    await using server = await startPostgres({ fsync: false })
    const ways = await tableWays(server)
    const figure = `${tableRows} rows, PostgreSQL to PostgreSQL, s`
    rows.push(...(await turns(name, figure, ways, 'psql | psql', measuring)))
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
  measuring.progress(`${name}: pages of ${listedDetails} details`)
  for (const { title, pages } of await listedPages(folder, listedDetails)) {
    const sorted = [...pages].sort((left, right) => left - right)
    const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? 0
    rows.push(
      figureRow({
        figure: `A page of ${listedDetails} details, ${title}, p99, ms`,
        contestant: 'Armature',
        values: [p99],
        digits: 2,
      }),
    )
  }
  return rows
}

async function turns(
  name: string,
  figure: string,
  ways: Readonly<Record<string, Way>>,
  floor: string,
  measuring: Measuring,
): Promise<readonly FigureRow[]> {
  const seconds = new Map<string, number[]>(Object.keys(ways).map((one) => [one, []]))
  for (let round = 0; round < measuring.rounds; round++) {
    for (const [contestant, way] of Object.entries(ways)) {
      measuring.progress(`${name}: ${figure}: ${contestant}`)
      const from = performance.now()
      await way()
      seconds.get(contestant)?.push((performance.now() - from) / 1000)
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
