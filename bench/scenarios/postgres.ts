/**
 * The store on PostgreSQL, with one replica and with two, beside SQLite: the cost of a request for us, and for the
 * database.
 */

import { findPostgres, howToGetPostgres } from '../../src/stores/testing/postgres-server.ts'
import { firstPageCase, requestsOf } from '../contestants/armature.ts'
import { getCase, putCase } from '../contestants/peers.ts'
import { figureRow } from '../harness/measure-figures.ts'
import type { Measuring } from '../harness/measure-load.ts'
import type { FigureRow } from '../harness/results.ts'
import { startLoad } from '../load/start-load.ts'
import { openOnPostgres, openOnSqlite, type Standing } from '../postgres/replicas.ts'
import type { Scenario } from '../scenario.ts'

const count = 10_000
const connections = 32
const cases = [getCase, putCase, firstPageCase] as const
type Case = (typeof cases)[number]

export const scenario: Scenario = {
  kind: 'figures',
  title: 'The store on PostgreSQL',
  about:
    'One resource out of 10,000 by its id, and the first page of 100: 32 connections, shared among the replicas. Ratios are ' +
    'to SQLite in the same run. All servers have one processor together, the load the other, the database both.',
  async measure(name, measuring) {
    if (findPostgres() === undefined) return { rows: [], notes, skipped: [howToGetPostgres] }
    const setting = { ...measuring, count }
    await using sqlite = await openOnSqlite(setting)
    await using postgres = await openOnPostgres(setting)
    const ways: readonly Way[] = [
      { contestant: 'SQLite', standing: sqlite, replicas: 1 },
      { contestant: 'PostgreSQL', standing: postgres, replicas: 1 },
      { contestant: 'PostgreSQL, two replicas', standing: postgres, replicas: 2 },
    ]
    return { rows: await all(name, ways, measuring), notes, skipped: [] }
  },
}

const notes = [
  { contestant: 'SQLite', note: 'flushed before the answer' },
  {
    contestant: 'PostgreSQL',
    note: 'a server of its own on loopback, fsync and synchronous_commit on, its other settings as Debian has them but for 64 MB of buffers',
  },
]

interface Way {
  readonly contestant: string
  readonly standing: Standing
  readonly replicas: number
}

interface Turn {
  readonly rate: number
  readonly ours: number
  readonly database: number
}

async function all(
  name: string,
  ways: readonly Way[],
  measuring: Measuring,
): Promise<readonly FigureRow[]> {
  const rows: FigureRow[] = []
  for (const one of cases) {
    const turns = new Map<Way, Turn[]>(ways.map((way) => [way, []]))
    for (let round = 1; round <= measuring.rounds; round++) {
      for (const [way, taken] of turns) {
        const turn = await measureTurn(way, one, measuring)
        taken.push(turn)
        measuring.progress(
          `${name}: round ${round}, ${one}, ${way.contestant}: ${Math.round(turn.rate)} req/s, ` +
            `${Math.round(turn.ours)} + ${Math.round(turn.database)} CPU µs/req`,
        )
      }
    }
    rows.push(...rowsOf(one, turns))
  }
  return rows
}

function rowsOf(one: string, turns: ReadonlyMap<Way, readonly Turn[]>): readonly FigureRow[] {
  const floor = [...turns.values()][0] ?? []
  return [...turns].flatMap(([{ contestant, standing }, taken]) => {
    const row = (figure: string, pick: (turn: Turn) => number): FigureRow =>
      figureRow({
        figure: `${one}, ${figure}`,
        contestant,
        values: taken.map(pick),
        to: floor.map(pick),
      })
    const database = row('CPU µs/req of the database', (turn) => turn.database)
    return [
      row('req/s', ({ rate }) => rate),
      row('CPU µs/req of ours', ({ ours }) => ours),
      ...(standing.databasePid === undefined ? [] : [database]),
    ]
  })
}

/** Both replicas get requests at the same time. The database's cost is reported once for both. */
async function measureTurn(
  { standing, replicas }: Way,
  one: Case,
  { processors, seconds }: Measuring,
): Promise<Turn> {
  const requests = requestsOf(standing.access, count)[one]
  const replicasMeant = standing.replicas.slice(0, replicas)
  const results = await Promise.all(
    replicasMeant.map(({ place, child }) =>
      startLoad(processors, {
        host: '127.0.0.1',
        port: place.port,
        connections: connections / replicas,
        warmUpSeconds: 1,
        seconds,
        requests,
        serverPid: child.pid,
        ...(standing.databasePid && { behindPid: standing.databasePid }),
      }),
    ),
  )
  for (const { child } of replicasMeant) await child.settle()
  const completed = sum(results.map((result) => result.completed))
  return {
    rate: sum(results.map((result) => result.completed / result.seconds)),
    ours: sum(results.map((result) => result.serverCpuMicroseconds ?? 0)) / completed,
    database:
      sum(results.map((result) => result.behindCpuMicroseconds ?? 0)) / replicas / completed,
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
