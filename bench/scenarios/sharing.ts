/** The copying behind data shares, beside `rclone`, `cp` and `psql` on the same folders, service and servers. */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
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
  smallFiles,
  tableRows,
  tableWays,
  type Way,
} from '../sharing/copies.ts'

export const scenario: Scenario = {
  kind: 'figures',
  title: 'Data shares: copying',
  about:
    'Seconds, in turns; ratios are to rclone (to psql for the table), less is better. The engine runs in its own ' +
    'process, started for every copy, as the server runs it; the ledger is in memory.',
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
  { contestant: 'rclone', note: 'as it is by default; blobs are copied by the service itself' },
  { contestant: 'cp -r', note: 'no checksum, no manifest; the second time `cp -ru`' },
  { contestant: 'psql | psql', note: 'COPY piped into COPY, then the primary key' },
]

async function all(
  name: string,
  folder: string,
  skipped: string[],
  measuring: Measuring,
): Promise<readonly FigureRow[]> {
  fillFolder(folder)
  const folders = folderWays(folder)
  const first: Record<string, Way> = {}
  const again: Record<string, Way> = {}
  for (const [contestant, [one, two]] of Object.entries(folders)) {
    first[contestant] = one
    again[contestant] = two
  }
  const rows: FigureRow[] = []
  const files = `${smallFiles} files of 4 KB and a large one`
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
