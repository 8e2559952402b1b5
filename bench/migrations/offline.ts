/** The same database copied by each tool in turn, offline, and compared with the source after every copy. */

import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createPostgresEngine } from '../../src/engines/databases/postgres/postgres-engine.ts'
import { openWay } from '../../src/outbound/testing/ways.ts'
import { figureRow } from '../harness/measure-figures.ts'
import type { Measuring } from '../harness/measure-load.ts'
import { readFigures } from '../harness/process-figures.ts'
import type { FigureRow } from '../harness/results.ts'
import { contentOf, type Pair, run } from './servers.ts'

interface Shape {
  readonly name: string
  readonly statements: readonly string[]
}

const rowBytes = 150

export function oneTable(megabytes: number): Shape {
  const rows = Math.round((megabytes * 1e6) / rowBytes)
  return {
    name: `one table of ${megabytes} MB`,
    statements: [
      `CREATE TABLE public.line (id bigint, account int, amount numeric(12, 2), at timestamptz, note text)`,
      `INSERT INTO public.line SELECT g, g % 10007, g * 0.01, timestamptz '2020-01-01' + g * interval '1 s',
         md5(g::text) || md5((g + 1)::text) FROM generate_series(1, ${rows}) g`,
      `ALTER TABLE public.line ADD PRIMARY KEY (id)`,
      `CREATE INDEX ON public.line (account, at)`,
    ],
  }
}

export function manyTables(megabytes: number, tables: number): Shape {
  const rows = Math.round((megabytes * 1e6) / rowBytes / tables)
  return {
    name: `${tables} tables of ${megabytes} MB in all`,
    statements: [
      `DO $$ BEGIN FOR i IN 1..${tables} LOOP
         EXECUTE format('CREATE TABLE public.t%s (id int PRIMARY KEY, account int, note text)', i);
         EXECUTE format('INSERT INTO public.t%s SELECT g, g %% 97, md5(g::text) || md5((g + 1)::text) FROM generate_series(1, ${rows}) g', i);
         EXECUTE format('CREATE INDEX ON public.t%s (account)', i);
       END LOOP; END $$`,
    ],
  }
}

const database = 'shop'

interface Tool {
  readonly name: string
  copy(pair: Pair, folder: string): Promise<void>
}

const toolSeconds = 600

async function shell(script: string, pair: Pair, folder: string): Promise<void> {
  const uri = (server: Pair['source']): string => server.server.url(database)
  await promisify(execFile)('/bin/bash', ['-eo', 'pipefail', '-c', script], {
    cwd: folder,
    timeout: toolSeconds * 1000,
    maxBuffer: 64 * 1024 * 1024,
    env: {
      PATH: '/usr/lib/postgresql/15/bin:/usr/bin:/bin',
      HOME: folder,
      SOURCE: uri(pair.source),
      TARGET: uri(pair.target),
      ADMIN: pair.target.server.url('postgres'),
    },
  })
}

/** The highest memory of the worker, in bytes, read while it runs. */
let workerPeak = 0

export function peakOfWorkers(): number {
  return workerPeak
}

async function copyByArmature(pair: Pair, folder: string): Promise<void> {
  const engine = createPostgresEngine({
    clock: { now: () => Date.now() },
    outbound: openWay,
    folder,
  })
  const migration = `b${process.hrtime.bigint()}`
  await engine.run(
    migration,
    {
      mode: 'offline',
      source: pair.source.address,
      target: pair.target.address,
      databases: [database],
      overwrite: false,
      roles: false,
      setUpReplication: false,
      fence: 'none',
      verify: 'none',
      analyze: false,
      tablesAtOnce: 2,
      databasesAtOnce: 1,
    },
    { sourcePassword: pair.source.password, targetPassword: pair.target.password },
  )
  for (;;) {
    const observed = await engine.observe(migration)
    if (observed.worker === 'lost') throw new Error('the worker was lost')
    if (observed.worker === 'ended') {
      const [one] = observed.databases
      if (one?.phase !== 'succeeded') throw new Error(one?.message ?? 'nothing was copied')
      return
    }
    watch(join(folder, migration, 'worker.json'))
    await new Promise((done) => setTimeout(done, 20))
  }
}

function watch(file: string): void {
  try {
    const { pid } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number }
    const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    workerPeak = Math.max(workerPeak, Number(peak ?? 0) * 1024)
  } catch {
    // It has not begun, or has just ended.
  }
}

const floorName = 'pg_dump -Fc | pg_restore'
const createTarget = 'psql -qX -d "$ADMIN" -c "CREATE DATABASE shop TEMPLATE template0"'

const tools: readonly Tool[] = [
  { name: 'Armature', copy: copyByArmature },
  {
    name: floorName,
    copy: (pair, folder) =>
      shell(
        `${createTarget}; pg_dump -Fc -Z0 -d "$SOURCE" | pg_restore --exit-on-error -d "$TARGET"`,
        pair,
        folder,
      ),
  },
  {
    name: 'pg_dump -Fd -j 2',
    copy: (pair, folder) =>
      shell(
        `${createTarget}; rm -rf dump; pg_dump -Fd -j 2 -Z1 -f dump -d "$SOURCE"; pg_restore -j 2 --exit-on-error -d "$TARGET" dump; rm -rf dump`,
        pair,
        folder,
      ),
  },
  {
    name: 'pgcopydb clone',
    copy: (pair, folder) =>
      shell(
        `${createTarget}; pgcopydb clone --source "$SOURCE" --target "$TARGET" --table-jobs 2 --index-jobs 2 --restart --dir "$PWD/pgcopydb"; rm -rf pgcopydb`,
        pair,
        folder,
      ),
  },
]

/** Processor seconds of both servers and the tools so far. This process, which only observes, is not included. */
function processorSeconds(): number {
  const { user, system } = process.cpuUsage()
  const all = readFigures(process.pid)?.cpuMicroseconds ?? Number.NaN
  return (all - user - system) / 1e6
}

/** Processes that have ended are counted once their parents have collected them. */
const settleMilliseconds = 300

export async function measureOffline(
  name: string,
  shape: Shape,
  pair: Pair,
  measuring: Measuring,
): Promise<readonly FigureRow[]> {
  // As the launcher of an installation does.
  enableCompileCache(join(measuring.dataFolder, 'compiled'))
  const folder = join(measuring.dataFolder, 'migrations')
  mkdirSync(folder, { recursive: true })
  measuring.progress(`${name}: making ${shape.name}`)
  await run(pair.source, 'postgres', [
    `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`,
    `CREATE DATABASE ${database}`,
  ])
  await run(pair.source, database, [...shape.statements, 'ANALYZE', 'CHECKPOINT'])
  const wanted = await contentOf(pair.source, database)
  await run(pair.target, 'postgres', [`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`])
  const seconds = new Map<string, number[]>(tools.map((tool) => [tool.name, []]))
  const processors = new Map<string, number[]>(tools.map((tool) => [tool.name, []]))
  // Not counted: the first copy into a new server pays for creating the files of its log.
  const floorTool = tools.find((tool) => tool.name === floorName)
  await floorTool?.copy(pair, folder)
  for (let round = 0; round < measuring.rounds; round++) {
    // Each round begins with another tool, so that none always follows the same one.
    for (let at = 0; at < tools.length; at++) {
      const tool = tools[(at + round) % tools.length]
      if (tool === undefined) continue
      await run(pair.target, 'postgres', [
        `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`,
        'CHECKPOINT',
      ])
      const before = processorSeconds()
      const started = process.hrtime.bigint()
      await tool.copy(pair, folder)
      const took = Number(process.hrtime.bigint() - started) / 1e9
      await sleep(settleMilliseconds)
      processors.get(tool.name)?.push(processorSeconds() - before)
      if ((await contentOf(pair.target, database)) !== wanted) {
        throw new Error(`${tool.name} did not copy everything`)
      }
      seconds.get(tool.name)?.push(took)
      measuring.progress(`${name}: ${shape.name}: ${tool.name} ${took.toFixed(2)} s`)
    }
  }
  rmSync(folder, { recursive: true, force: true })
  const rows = (figure: string, taken: ReadonlyMap<string, number[]>): readonly FigureRow[] =>
    tools.map((tool) =>
      figureRow({
        figure: `${shape.name}, ${figure}`,
        contestant: tool.name,
        values: taken.get(tool.name) ?? [],
        digits: 2,
        to: taken.get(floorName) ?? [],
      }),
    )
  return [...rows('seconds', seconds), ...rows('seconds of processors', processors)]
}
