/**
 * The store on PostgreSQL, with one replica and with two, beside SQLite: the cost of a request and of a deployment for us, and for
 * the database.
 */

import { findPostgres, howToGetPostgres } from '../../src/stores/testing/postgres-server.ts'
import { deploymentBody } from '../deployments/client.ts'
import { operationsCount } from '../deployments/templates.ts'
import { figureRow } from '../harness/measure-figures.ts'
import type { Measuring } from '../harness/measure-load.ts'
import { readFigures } from '../harness/process-figures.ts'
import type { FigureRow } from '../harness/results.ts'
import { firstWarmUp, laterWarmUp } from '../harness/warm-up.ts'
import type { WarmUp } from '../load/job.ts'
import { startLoad } from '../load/start-load.ts'
import { count, type LoadCase, loadCases } from '../postgres/cases.ts'
import { openOnPostgres, openOnSqlite, type Standing } from '../postgres/replicas.ts'
import type { Scenario } from '../scenario.ts'

const connections = 32

export const scenario: Scenario = {
  kind: 'figures',
  title: 'The store on PostgreSQL',
  about:
    `One resource out of ${count.toLocaleString('en')} by its id, first pages of lists, and a line added to one of many invoices: ${connections} connections, shared among the replicas. ` +
    `A deployment of ${operationsCount} operations: one client, or one for each replica at once. Ratios are ` +
    'to SQLite in the same run. All servers have one processor together, the load the other, the database both.',
  async measure(name, measuring) {
    if (findPostgres() === undefined) return { rows: [], notes, skipped: [howToGetPostgres] }
    measuring.progress(`${name}: filling both stores`)
    await using sqlite = await openOnSqlite(measuring)
    await using postgres = await openOnPostgres(measuring)
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
    note: 'a server of its own on loopback, fsync and synchronous_commit on, its other settings as Debian has them but for 64 MB of buffers; any replica may carry out a deployment, so the processor time of both is counted for it',
  },
]

interface Way {
  readonly contestant: string
  readonly standing: Standing
  readonly replicas: number
}

/** What is counted once for each answer, or each resource. */
interface Case {
  readonly name: string
  readonly unit: 'req' | 'resource'
  /** Before its first turn. */
  warmUp(way: Way): Promise<unknown>
  turn(way: Way, round: number): Promise<Turn>
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
  const loads = loadCases.map((one) => loadOf(one, measuring))
  for (const one of [...loads, deployment]) {
    const turns = new Map<Way, Turn[]>(ways.map((way) => [way, []]))
    for (let round = 1; round <= measuring.rounds; round++) {
      for (const [way, taken] of turns) {
        if (round === 1) await one.warmUp(way)
        const turn = await one.turn(way, round)
        taken.push(turn)
        measuring.progress(
          `${name}: round ${round}, ${one.name}, ${way.contestant}: ${Math.round(turn.rate)} ${one.unit}/s, ` +
            `${Math.round(turn.ours)} + ${Math.round(turn.database)} CPU µs/${one.unit}`,
        )
      }
    }
    rows.push(...rowsOf(one, turns))
  }
  return rows
}

function rowsOf(
  { name, unit }: Case,
  turns: ReadonlyMap<Way, readonly Turn[]>,
): readonly FigureRow[] {
  const floor = [...turns.values()][0] ?? []
  return [...turns].flatMap(([{ contestant, standing }, taken]) => {
    const row = (figure: string, pick: (turn: Turn) => number): FigureRow =>
      figureRow({
        figure: `${name}, ${figure}`,
        contestant,
        values: taken.map(pick),
        to: floor.map(pick),
      })
    const database = row(`CPU µs/${unit} of the database`, (turn) => turn.database)
    return [
      row(`${unit}/s`, ({ rate }) => rate),
      row(`CPU µs/${unit} of ours`, ({ ours }) => ours),
      ...(standing.databasePid === undefined ? [] : [database]),
    ]
  })
}

function loadOf(name: LoadCase, { processors, seconds }: Measuring): Case {
  /** All replicas get requests at the same time. The database's cost is reported once for each of them. */
  async function load({ standing, replicas }: Way, warmUp: WarmUp, seconds: number): Promise<Turn> {
    const used = standing.replicas.slice(0, replicas)
    const results = await Promise.all(
      used.map(({ place, child }) =>
        startLoad(processors, {
          host: '127.0.0.1',
          port: place.port,
          connections: connections / replicas,
          warmUp,
          seconds,
          requests: standing.requests[name],
          serverPid: child.pid,
          ...(standing.databasePid && { behindPid: standing.databasePid }),
        }),
      ),
    )
    for (const { child } of used) await child.settle()
    const completed = sum(results.map((result) => result.completed))
    return {
      rate: sum(results.map((result) => result.completed / result.seconds)),
      ours: sum(results.map((result) => result.serverCpuMicroseconds ?? 0)) / completed,
      database:
        sum(results.map((result) => result.behindCpuMicroseconds ?? 0)) / replicas / completed,
    }
  }
  return {
    name,
    unit: 'req',
    // By itself: otherwise one replica would be measured while another still warms up.
    warmUp: (way) => load(way, firstWarmUp, 0),
    turn: (way) => load(way, laterWarmUp, seconds),
  }
}

const deployment: Case = {
  name: `deployment of ${operationsCount}`,
  unit: 'resource',
  warmUp: (way) => deploy(way, 0),
  turn: deploy,
}

async function deploy({ standing, replicas }: Way, round: number): Promise<Turn> {
  const made = standing.replicas
    .slice(0, replicas)
    .map(({ deployments }, at) => ({ deployments, name: `of-${replicas}-${round}-${at}` }))
  for (const { deployments, name } of made) await deployments.putApi(name)
  const before = spent(standing)
  const began = performance.now()
  await Promise.all(
    made.map(({ deployments, name }) => deployments.deploy(name, deploymentBody(name))),
  )
  const seconds = (performance.now() - began) / 1000
  const after = spent(standing)
  for (const { child } of standing.replicas) await child.settle()
  const resources = operationsCount * replicas
  return {
    rate: resources / seconds,
    ours: (after.ours - before.ours) / resources,
    database: (after.database - before.database) / resources,
  }
}

function spent({ replicas, databasePid }: Standing): Omit<Turn, 'rate'> {
  const of = (pid: number | undefined): number =>
    pid === undefined ? 0 : (readFigures(pid)?.cpuMicroseconds ?? 0)
  return { ours: sum(replicas.map(({ child }) => of(child.pid))), database: of(databasePid) }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
