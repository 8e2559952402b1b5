/** An online migration under steady writes: how far the target lags, and how long writers are blocked. */

import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createPostgresEngine } from '../../src/engines/databases/postgres/postgres-engine.ts'
import { openWay } from '../../src/outbound/testing/ways.ts'
import { figureRow } from '../harness/measure-figures.ts'
import type { Measuring } from '../harness/measure-load.ts'
import type { FigureRow } from '../harness/results.ts'
import { manyTables } from './offline.ts'
import { contentOf, openAsApplication, type Pair, run } from './servers.ts'

const database = 'bank'
const scale = 5
const transactionsPerSecond = 300
const watchedSeconds = 3
const clientFolder = '/usr/lib/postgresql/15/bin'

/** `tables` are still ones beside those that are written. */
export async function measureOnline(
  name: string,
  pair: Pair,
  measuring: Measuring,
  tables = 0,
): Promise<readonly FigureRow[]> {
  const folder = join(measuring.dataFolder, 'migrations-online')
  mkdirSync(folder, { recursive: true })
  const pauses: number[] = []
  const seen: number[] = []
  const lags: number[] = []
  const rates: number[] = []
  const backlogs: number[] = []
  for (let round = 0; round < measuring.rounds; round++) {
    for (const server of [pair.source, pair.target]) {
      await run(server, 'postgres', [`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`])
    }
    await run(pair.source, 'postgres', [`CREATE DATABASE ${database}`])
    const url = pair.source.server.url(database)
    const env = { PATH: clientFolder, HOME: folder }
    execFileSync(`${clientFolder}/pgbench`, ['-i', '-q', '-s', String(scale), url], {
      stdio: 'ignore',
      env,
    })
    if (tables > 0) await run(pair.source, database, manyTables(1, tables).statements)
    const load = spawn(
      `${clientFolder}/pgbench`,
      ['-n', '-c', '2', '-R', String(transactionsPerSecond), '-T', '300', url],
      { stdio: 'ignore', env },
    )
    const ended = new Promise((done) => load.once('exit', done))
    try {
      const succeeded = Promise.withResolvers<void>()
      const application = pauseOfApplication(pair, succeeded.promise)
      const one = await migrate(pair, join(folder, String(round)), succeeded.resolve)
      seen.push(await application)
      // The fence has ended the load, so both sides are still.
      await ended
      if ((await contentOf(pair.source, database)) !== (await contentOf(pair.target, database))) {
        throw new Error('the target is not what the source is')
      }
      pauses.push(one.pauseMilliseconds)
      lags.push(one.lagSeconds)
      rates.push(one.changesPerSecond)
      backlogs.push(one.bytesBehindMax / 1024)
      measuring.progress(
        `${name}: online with ${tables} tables more: paused ${one.pauseMilliseconds} ms, ${seen.at(-1)} ms for an application`,
      )
    } finally {
      load.kill()
    }
  }
  rmSync(folder, { recursive: true, force: true })
  const row = (figure: string, values: readonly number[], digits: number): FigureRow =>
    figureRow({ figure, contestant: 'Armature', values, digits })
  if (tables > 0) {
    return [
      row(`pause of a cutover with ${tables} tables more, as an application sees it, ms`, seen, 0),
    ]
  }
  return [
    row(`cutover at ${transactionsPerSecond} transactions a second, pause in ms`, pauses, 0),
    row(
      'the same as an application sees it, from its last commit at the source to its first at the target',
      seen,
      0,
    ),
    row('largest lag seen, seconds', lags, 2),
    row('largest backlog seen, KiB of log', backlogs, 0),
    row('row changes applied a second', rates, 0),
  ]
}

const stepMilliseconds = 3
/** Changes no content, but is a write. */
const write = 'UPDATE public.pgbench_tellers SET filler = filler WHERE tid = 1'

/**
 * An application that writes at the source until it is refused, and at the target once the migration is reported as
 * done.
 */
async function pauseOfApplication(pair: Pair, succeeded: Promise<void>): Promise<number> {
  let last = Date.now()
  try {
    await using source = await openAsApplication(pair.source, database)
    for (;;) {
      await source.run(write)
      last = Date.now()
      await new Promise((done) => setTimeout(done, stepMilliseconds))
    }
  } catch {
    // The fence refuses it.
  }
  await succeeded
  await using target = await openAsApplication(pair.target, database)
  await target.run(write)
  return Date.now() - last
}

interface Online {
  readonly pauseMilliseconds: number
  readonly lagSeconds: number
  readonly bytesBehindMax: number
  readonly changesPerSecond: number
}

async function migrate(pair: Pair, folder: string, onSuccess: () => void): Promise<Online> {
  const engine = createPostgresEngine({
    clock: { now: () => Date.now() },
    outbound: openWay,
    folder,
  })
  await engine.run(
    'online',
    {
      mode: 'online',
      source: pair.source.address,
      target: pair.target.address,
      databases: [database],
      overwrite: false,
      roles: false,
      setUpReplication: true,
      fence: 'cutover',
      verify: 'counts',
      analyze: false,
      tablesAtOnce: 2,
      databasesAtOnce: 1,
    },
    { sourcePassword: pair.source.password, targetPassword: pair.target.password },
  )
  // Changes before the first sample caught up with the copy, so they give no rate.
  let first: { readonly at: number; readonly applied: number } | undefined
  let lagSeconds = 0
  let bytesBehindMax = 0
  let changesPerSecond = 0
  let asked = false
  for (;;) {
    const observed = await engine.observe('online')
    const [one] = observed.databases
    if (one?.phase === 'succeeded') onSuccess()
    if (observed.worker === 'lost') throw new Error('the worker was lost')
    if (observed.worker === 'ended') {
      if (one?.phase !== 'succeeded') throw new Error(one?.message ?? 'nothing was copied')
      const pauseMilliseconds = one.pauseMilliseconds ?? 0
      return { pauseMilliseconds, lagSeconds, bytesBehindMax, changesPerSecond }
    }
    // Counters are updated once a second, so their own time is used.
    const { updatedAt: at } = observed
    if (one?.phase === 'replicating' && !asked && at !== undefined) {
      const { appliedChanges: applied, latencySeconds } = one.counters
      first ??= applied > 0 ? { at, applied } : undefined
      lagSeconds = Math.max(lagSeconds, latencySeconds ?? 0)
      bytesBehindMax = Math.max(bytesBehindMax, one.bytesBehind ?? 0)
      const seconds = first === undefined ? 0 : (at - first.at) / 1000
      if (first !== undefined && seconds > watchedSeconds) {
        changesPerSecond = (applied - first.applied) / seconds
        asked = true
        await engine.cutover('online', [database])
      }
    }
    await new Promise((done) => setTimeout(done, asked ? 10 : 50))
  }
}
