/** Database migrations between two real servers: offline beside PostgreSQL's own tools, online under load. */

import { existsSync } from 'node:fs'
import { figureRow } from '../harness/measure-figures.ts'
import { manyTables, measureOffline, oneTable, peakOfWorkers } from '../migrations/offline.ts'
import { measureOnline } from '../migrations/online.ts'
import { startPair } from '../migrations/servers.ts'
import type { Scenario } from '../scenario.ts'

/** `ARMATURE_BENCH_MEGABYTES=1000` for the large run; `ARMATURE_BENCH_TABLES` for fewer tables. */
const megabytes = Number(process.env['ARMATURE_BENCH_MEGABYTES'] ?? 300)
const tables = Number(process.env['ARMATURE_BENCH_TABLES'] ?? 1000)
const tools = ['/usr/lib/postgresql/15/bin/pgbench', '/usr/bin/pgcopydb']

export const scenario: Scenario = {
  kind: 'figures',
  title: 'Database migrations',
  about:
    'A database copied from one PostgreSQL 15 to another on the same machine, all processors shared by both ' +
    'servers and the tool, in turns, and compared by checksums after every copy; ratios are to ' +
    '`pg_dump -Fc | pg_restore`, less is better. Then an online migration while pgbench writes.',
  async measure(name, measuring) {
    const lacking = tools.filter((tool) => !existsSync(tool))
    if (lacking.length > 0) {
      return { rows: [], notes: [], skipped: [`needs ${lacking.join(' and ')}`] }
    }
    return measuring.processors.onAll(async () => {
      await using pair = await startPair()
      const rows = [
        ...(await measureOffline(name, oneTable(megabytes), pair, measuring)),
        ...(await measureOffline(name, manyTables(megabytes, tables), pair, measuring)),
        figureRow({
          figure: 'most memory of a worker, MB',
          contestant: 'Armature',
          values: [peakOfWorkers() / 1e6],
        }),
        ...(await measureOnline(name, pair, measuring)),
        ...(await measureOnline(name, pair, measuring, tables / 2)),
      ]
      return {
        rows,
        skipped: [],
        notes: [
          {
            contestant: 'Armature',
            note: 'from the order to the end of the worker’s process, two pairs of connections; as the others of pg_dump, without statistics and comparison',
          },
          {
            contestant: 'Armature',
            note: 'the worker looks at its lag twice a second, so 0 says less than that',
          },
          {
            contestant: 'pgcopydb clone',
            note: 'Debian’s 0.10, two jobs; gathers statistics too, which cannot be turned off',
          },
          {
            contestant: 'pg_dump -Fd -j 2',
            note: 'by way of a folder on disk, and two jobs to restore',
          },
        ],
      }
    })
  },
}
