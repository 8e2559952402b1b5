/**
 * The port for PostgreSQL servers: starts workers, reads their records, hands them their orders, and has servers looked at in
 * another process (`looks/`). This one connects to no server.
 */

import { spawn } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '#kernel/ports.ts'
import type { Outbound } from '#outbound/outbound.ts'
import {
  type DatabaseEngine,
  DatabaseEngineError,
  isToken,
  type MigrationSpec,
  type ObservedMigration,
  type ServerAccess,
} from '../engine.ts'
import { type ClientPrograms, findClientPrograms } from './find-client-programs.ts'
import { Looks } from './looks/looks.ts'
import type { LookName } from './looks/messages.ts'
import { endProgramsLeftBy, identify, isRunning, placeOf } from './process-identity.ts'
import { type Intents, RecordFolder, recordedMigrations } from './record.ts'
import { reportOf } from './report.ts'
import type { WorkerOrders } from './worker.ts'

interface PostgresEngineOptions {
  readonly clock: Clock
  /** What this process, its workers and their programs may connect to. */
  readonly outbound: Outbound
  /** An absolute path with one folder per migration, created when needed. Every replica must see the same one. */
  readonly folder: string
  /** The folder of `pg_dump` and `pg_restore`; the usual places are searched when left out. */
  readonly clientFolder?: string
  /** The bound of memory of each of them. */
  readonly clientMegabytes?: number
  /** For tests: the boundary at which workers of this engine kill themselves. */
  readonly haltAt?: string
}

const workerFile = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url),
)
/** A worker holds buffers, never a table: this keeps it well below 200 MB (bench scenario `migrations`). */
const workerArguments: readonly string[] = [
  '--disable-warning=ExperimentalWarning',
  '--max-old-space-size=96',
  '--max-semi-space-size=4',
]

/** No migration token: tokens have no dot. */
const trials = '.trials'

/** The calls that query one server and end with its answer. */
function callsOf(looks: Looks): Pick<DatabaseEngine, Exclude<LookName, 'validate'>> {
  // They are sent to another process: nothing that a caller's object has besides goes along.
  const sent = ({ address, password }: ServerAccess): ServerAccess => ({ address, password })
  return {
    inspect: (server) => looks.run('inspect', [sent(server)], server),
    settings: (server) => looks.run('settings', [sent(server)], server),
    changeSetting: (server, name, value) =>
      looks.run('changeSetting', [sent(server), name, value], server),
    createDatabase: (server, wanted) => looks.run('createDatabase', [sent(server), wanted], server),
    dropDatabase: (server, name) => looks.run('dropDatabase', [sent(server), name], server),
    setUpReplication: (source) => looks.run('setUpReplication', [sent(source)], source),
    survey: (...values) => looks.run('survey', values, values[2]),
    traces: (...values) => looks.run('traces', values, values[2]),
  }
}

export function createPostgresEngine(options: PostgresEngineOptions): DatabaseEngine {
  const { clock, outbound } = options
  const looks = new Looks({ outbound, clock })
  let found: Promise<ClientPrograms | undefined> | undefined
  const programs = (): Promise<ClientPrograms | undefined> => {
    found ??= findClientPrograms(options.clientFolder, options.clientMegabytes)
    return found
  }

  const folderOf = (migration: string): RecordFolder => {
    if (!isToken(migration)) throw new Error(`'${migration}' is no migration token`)
    return new RecordFolder(join(options.folder, migration))
  }

  const known = (migration: string): RecordFolder => {
    const folder = folderOf(migration)
    if (folder.readSpec() === undefined) {
      throw new DatabaseEngineError('absent', `The migration '${migration}' was never run.`)
    }
    return folder
  }

  return {
    async describe() {
      const client = await programs()
      return {
        title: titleOf(client),
        clientMajor: client?.major,
      }
    },

    ...callsOf(looks),

    async validate(spec, credentials, { signal, isFollowed = false } = {}) {
      const trial = {
        isFollowed,
        programs: await programs(),
        folder: join(options.folder, trials),
      }
      return looks.run('validate', [spec, credentials, trial], { ...credentials, signal })
    },

    async run(migration, spec, credentials) {
      requireSound(spec)
      const folder = folderOf(migration)
      const before = folder.readSpec()
      if (before !== undefined && !isDeepStrictEqual(lasting(before), lasting(spec))) {
        throw new DatabaseEngineError(
          'refused',
          `The migration '${migration}' was run with another specification.`,
        )
      }
      if (folder.readState()?.ended === true || workerRuns(folder)) return
      const client = await programs()
      if (client === undefined) {
        throw new DatabaseEngineError(
          'refused',
          'The client programs of PostgreSQL (pg_dump and pg_restore) were not found: install them, or set the folder that holds them.',
        )
      }
      folder.make()
      endProgramsOf(folder)
      folder.writeSpec(spec)
      startWorker(folder, {
        migration,
        folder: folder.path,
        spec,
        credentials,
        outbound: outbound.settings,
        programs: client,
        ...(options.haltAt === undefined ? {} : { haltAt: options.haltAt }),
      })
    },

    place: async () => placeOf(options.folder),

    async observe(migration) {
      const folder = folderOf(migration)
      const spec = folder.readSpec()
      return spec === undefined ? unknown : observed(folder, clock.now())
    },

    report: async (migration) => reportOf(folderOf(migration)),

    ...ordersOf(known),

    forget: (migration) => forget(folderOf(migration), migration),

    async list() {
      return recordedMigrations(options.folder).filter(isToken)
    },

    // Workers outlive their engine on purpose.
    [Symbol.asyncDispose]: () => looks[Symbol.asyncDispose](),
  }
}

/** Requests for a migration's worker: written to its folder, where it reads them. */
function ordersOf(
  known: (migration: string) => RecordFolder,
): Pick<DatabaseEngine, 'cutover' | 'catchUp' | 'retry' | 'cancel'> {
  const ask = (migration: string, change: (before: Intents) => Intents): void => {
    const folder = known(migration)
    const before = folder.readIntents()
    const after = change(before)
    if (!isDeepStrictEqual(before, after)) folder.writeIntents(after)
  }

  return {
    async cutover(migration, databases) {
      requireOnline(known(migration).readSpec())
      ask(migration, (before) => ({ ...before, cutover: union(before.cutover, databases) }))
    },

    async catchUp(migration, databases) {
      requireOnline(known(migration).readSpec())
      ask(migration, (before) => ({ ...before, catchUp: oneMore(before.catchUp, databases) }))
    },

    async retry(migration, databases) {
      if (known(migration).readState()?.ended === true) {
        throw new DatabaseEngineError('refused', 'All databases of the migration are at an end.')
      }
      ask(migration, (before) => ({ ...before, retry: oneMore(before.retry, databases) }))
    },

    async cancel(migration, databases, { dropTarget = false } = {}) {
      ask(migration, (before) => withCancel(before, databases, dropTarget))
    },
  }
}

function requireOnline(spec: MigrationSpec | undefined): void {
  if (spec?.mode === 'online') return
  throw new DatabaseEngineError('refused', 'An offline migration has no cutover.', {
    number: 603114,
  })
}

function withCancel(before: Intents, databases: readonly string[], dropTarget: boolean): Intents {
  return {
    ...before,
    cancel: union(before.cancel, databases),
    dropTarget: dropTarget ? union(before.dropTarget, databases) : before.dropTarget,
  }
}

function oneMore(
  before: Readonly<Record<string, number>>,
  databases: readonly string[],
): Readonly<Record<string, number>> {
  const once = databases.map((name) => [name, (before[name] ?? 0) + 1] as const)
  return { ...before, ...Object.fromEntries(once) }
}

const leavingMilliseconds = 20
const leavingLooksMax = 250

function titleOf(client: ClientPrograms | undefined): string {
  return client === undefined
    ? 'PostgreSQL, without client programs: databases can be looked at and not migrated'
    : `PostgreSQL, client ${client.version} in ${client.folder}`
}

async function forget(folder: RecordFolder, migration: string): Promise<void> {
  if (folder.readSpec() === undefined) return folder.remove()
  const isEnded = folder.readState()?.ended === true
  // It has recorded its end, and is about to exit.
  for (let look = 0; isEnded && workerRuns(folder) && look < leavingLooksMax; look++) {
    await pause(leavingMilliseconds)
  }
  if (!isEnded || workerRuns(folder)) {
    throw new DatabaseEngineError('busy', `The migration '${migration}' is not at its end.`)
  }
  endProgramsOf(folder)
  folder.remove()
}

const unknown: ObservedMigration = {
  worker: 'none',
  updatedAt: undefined,
  databases: [],
  asked: { cutover: [], cancel: [] },
  pendingCleanUps: [],
  message: '',
}

function observed(folder: RecordFolder, now: number): ObservedMigration {
  const before = folder.readState()
  const runs = workerRuns(folder, before)
  // A worker that ends in between has written its last state by then.
  const state = runs || before?.ended === true ? before : folder.readState()
  const { cutover, cancel } = folder.readIntents()
  const isOver = state?.ended === true
  // Why another one cannot take the lock says nothing of a worker that has it.
  const refusal = isOver || folder.isRenewed(now, state) ? '' : folder.readRefusal()
  return {
    worker: isOver ? 'ended' : runs ? 'running' : 'lost',
    updatedAt: state?.updatedAt,
    databases: state?.databases.map((database) => database.observed) ?? [],
    asked: { cutover, cancel },
    pendingCleanUps: state?.databases.flatMap(({ pending }) => pending) ?? [],
    message: state?.message || refusal,
  }
}

function workerRuns(folder: RecordFolder, state = folder.readState()): boolean {
  const workers = [state?.worker, folder.readSpawned()]
  return workers.some((worker) => worker !== undefined && isRunning(worker))
}

/** What a worker that was killed left: a program waits for its server for ever, as its deadline went with the worker. */
function endProgramsOf(folder: RecordFolder): void {
  for (const worker of [folder.readState()?.worker, folder.readSpawned()]) {
    if (worker !== undefined) endProgramsLeftBy(worker)
  }
}

function startWorker(folder: RecordFolder, orders: WorkerOrders): void {
  const log = openSync(folder.file('worker.log'), 'w', 0o600)
  try {
    const child = spawn(process.execPath, [...workerArguments, workerFile], {
      cwd: folder.path,
      detached: true,
      stdio: ['pipe', log, log],
      env: { NODE_OPTIONS: '', ...compiledBefore() },
    })
    // A worker that cannot start is lost, which `observe` reports.
    child.on('error', () => undefined)
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(JSON.stringify(orders))
    if (child.pid !== undefined) folder.writeSpawned(identify(child.pid))
    child.unref()
  } finally {
    closeSync(log)
  }
}

/** This process's compile cache, from which a worker starts. */
function compiledBefore(): NodeJS.ProcessEnv {
  const folder = getCompileCacheDir()
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) }
}

/** The part of a specification that never changes: addresses may. */
function lasting(spec: MigrationSpec): object {
  const {
    source: _source,
    target: _target,
    sourceFromTarget: _from,
    authoritiesAtTarget: _file,
    ...rest
  } = spec
  // Through text, so that an absent field equals an undefined one.
  return JSON.parse(JSON.stringify(rest)) as object
}

function union(left: readonly string[], right: readonly string[]): readonly string[] {
  return [...new Set([...left, ...right])]
}

function requireSound(spec: MigrationSpec): void {
  const within = (value: number, most: number): boolean =>
    Number.isInteger(value) && value >= 1 && value <= most
  const sound =
    spec.databases.length > 0 &&
    new Set(spec.databases).size === spec.databases.length &&
    within(spec.tablesAtOnce, 16) &&
    within(spec.databasesAtOnce, 16)
  if (!sound) throw new DatabaseEngineError('refused', 'The specification is out of its bounds.')
  if (!existsSync(workerFile)) throw new Error(`the worker's file is not at ${workerFile}`)
}
