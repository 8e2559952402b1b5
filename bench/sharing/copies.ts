/**
 * The data of the measurement of data shares: folders, blobs and a table, each beside the tool that people would
 * use.
 */

import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { taskOf } from '../../src/engines/copy/contract.ts'
import type { CopyLocation, CopyTask } from '../../src/engines/copy/engine.ts'
import { type BlobServer, emulator } from '../../src/engines/copy/testing/azurite.ts'
import { MemoryManifest } from '../../src/engines/copy/testing/memory-journal.ts'
import { workerEngine } from '../../src/engines/copy/worker/worker-engine.ts'
import { openSettings } from '../../src/outbound/policy.ts'
import type { PostgresServer } from '../../src/stores/testing/postgres-server.ts'

const run = promisify(execFile)

/** `full` is the size of the aims. Otherwise the size that shows a difference within a minute. */
const isFull = process.env['ARMATURE_BENCH_SHARING'] === 'full'

export const smallFiles = 10_000
const smallBytes = 4096
export const largeMegabytes = isFull ? 1024 : 128
export const tableRows = isFull ? 1_000_000 : 200_000
export const blobs = isFull ? 10_000 : 1000
export const unchangedFiles = isFull ? 100_000 : 20_000
export const listedDetails = isFull ? 100_000 : 20_000

/** The sizes at which memory is measured. */
export const memorySizes = {
  files: isFull ? [1000, 10_000, 100_000] : [1000, 10_000],
  megabytes: isFull ? [1024, 4096] : [128, 512],
  rows: isFull ? [1_000_000, 5_000_000] : [200_000, 1_000_000],
}

/** One way to copy. */
export interface Way {
  /** Preparation that is not counted, above all an empty target. */
  readonly ready?: () => Promise<void>
  copy(): Promise<unknown>
}

/** The highest memory of the process that copied, in megabytes. */
export async function copy(
  source: CopyLocation,
  target: CopyLocation,
  mode: CopyTask['mode'],
  manifest: MemoryManifest,
): Promise<number> {
  await using session = workerEngine(openSettings).open()
  const task = taskOf({ source, target }, mode, manifest)
  await session.copy(task, manifest.journal(task), new AbortController().signal)
  return mostMemoryOfChildren()
}

/** The process still runs, and is the only child that talks to this one by messages. */
function mostMemoryOfChildren(): number {
  const ids = readdirSync('/proc/self/task').flatMap((thread) =>
    readFileSync(`/proc/self/task/${thread}/children`, 'utf8').split(' '),
  )
  const of = (id: string): number => {
    if (!readFileSync(`/proc/${id}/cmdline`, 'utf8').includes('worker/main.ts')) return 0
    const status = readFileSync(`/proc/${id}/status`, 'utf8')
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024
  }
  return Math.max(0, ...ids.filter((id) => id !== '').map(of))
}

export function placeOf(root: string): CopyLocation {
  return { kind: 'folder', shape: 'tree', root, container: 'data', path: 'x' }
}

export function fillSmall(root: string, files: number): void {
  for (let at = 0; at < files; at++) {
    const below = join(root, 'data', 'x', `d${at % 50}`)
    if (at < 50) mkdirSync(below, { recursive: true })
    writeFileSync(join(below, `f${at}`), Buffer.alloc(smallBytes, at))
  }
}

export function fillLarge(root: string, megabytes: number): void {
  mkdirSync(join(root, 'data', 'x'), { recursive: true })
  const piece = Buffer.alloc(16 * 1024 * 1024, 7)
  for (let at = 0; at < megabytes / 16; at++) {
    writeFileSync(join(root, 'data', 'x', 'large.bin'), piece, { flag: 'a' })
  }
}

/**
 * By contestant: the first copy, and a second one with nothing changed. Every first copy goes to a folder of its
 * own that stays until the end: a file system that is still removing files creates new ones many times slower.
 */
export function folderWays(folder: string): Readonly<Record<string, readonly [Way, Way]>> {
  const from = join(folder, 'from')
  const data = join(from, 'data', 'x')
  let turn = 0
  const ways = (
    first: (to: string) => Promise<unknown>,
    second: (to: string) => Promise<unknown>,
  ): readonly [Way, Way] => {
    let to = ''
    const ready = async (): Promise<void> => {
      to = join(folder, `turn-${++turn}`)
      mkdirSync(to)
    }
    return [{ ready, copy: () => first(to) }, { copy: () => second(to) }]
  }
  let manifest = new MemoryManifest()
  const rclone = (to: string): Promise<unknown> =>
    run('rclone', ['copy', data, join(to, 'x'), '-q', '--config', '/dev/null'])
  return {
    Armature: ways(
      (to) => {
        manifest = new MemoryManifest()
        return copy(placeOf(from), placeOf(to), 'full', manifest)
      },
      (to) => copy(placeOf(from), placeOf(to), 'incremental', manifest),
    ),
    rclone: ways(rclone, rclone),
    'cp -r': ways(
      (to) => run('cp', ['-r', data, join(to, 'x')]),
      (to) => run('cp', ['-ru', `${data}/.`, join(to, 'x')]),
    ),
  }
}

export async function blobWays(
  folder: string,
  server: BlobServer,
): Promise<{
  /** Copies inside the service. */
  readonly within: Readonly<Record<string, Way>>
  /** Every byte goes through our HTTP client. */
  readonly toFolder: Readonly<Record<string, Way>>
}> {
  // The emulator's signature, and our own endpoint.
  const env = {
    ...process.env,
    RCLONE_CONFIG_B_TYPE: 'azureblob',
    RCLONE_CONFIG_B_ACCOUNT: emulator.account,
    RCLONE_CONFIG_B_KEY: emulator.key,
    RCLONE_CONFIG_B_ENDPOINT: server.endpoint,
    RCLONE_CONFIG_B_USE_EMULATOR: 'true',
  }
  const rclone = (...words: readonly string[]): Promise<unknown> =>
    run('rclone', ['copy', ...words, '-q', '--config', '/dev/null'], { env, timeout: 300_000 })
  const from = join(folder, 'blobs')
  mkdirSync(from)
  for (let at = 0; at < blobs; at++)
    writeFileSync(join(from, `f${at}`), Buffer.alloc(smallBytes, at))
  await rclone(from, 'b:source')
  const location = (container: string): CopyLocation => ({
    kind: 'blobs',
    shape: 'tree',
    endpoint: server.endpoint,
    ...emulator,
    container,
    path: '',
  })
  let turn = 0
  const fresh = (): string => {
    const made = join(folder, `blobs-${++turn}`)
    mkdirSync(made)
    return made
  }
  return {
    within: {
      Armature: {
        copy: () =>
          copy(location('source'), location(`ours-${++turn}`), 'full', new MemoryManifest()),
      },
      rclone: { copy: () => rclone('b:source', `b:theirs-${++turn}`) },
    },
    toFolder: {
      Armature: {
        copy: () => copy(location('source'), placeOf(fresh()), 'full', new MemoryManifest()),
      },
      rclone: { copy: () => rclone('b:source', fresh()) },
    },
  }
}

export interface Tables {
  readonly ways: Readonly<Record<string, Way>>
  /** Makes the source of this length and copies it once. Returns the same as `copy`. */
  copyOf(rows: number): Promise<number>
}

export async function openTables(server: PostgresServer): Promise<Tables> {
  const [from, to] = [await server.createDatabase(), await server.createDatabase()]
  const psql = (database: string, ...commands: readonly string[]): Promise<unknown> =>
    run('psql', ['-q', '-d', database, ...commands.flatMap((one) => ['-c', one])])
  const fill = (rows: number): Promise<unknown> =>
    psql(
      from,
      'drop table if exists t',
      'create table t (id int primary key, name text, at timestamptz)',
      `insert into t select n, md5(n::text) || md5(n::text), now() from generate_series(1, ${rows}) n`,
      'vacuum analyze t',
    )
  const location = (address: string): CopyLocation => {
    const url = new URL(address)
    return {
      kind: 'postgres',
      host: url.hostname,
      port: Number(url.port),
      database: url.pathname.slice(1),
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      tls: 'off',
      schema: 'public',
      table: 't',
    }
  }
  const ready = async (): Promise<void> => {
    await psql(to, 'drop table if exists t', 'checkpoint')
  }
  const ours = (): Promise<number> =>
    copy(location(from), location(to), 'full', new MemoryManifest())
  const piped = `psql -q -d "$1" -c 'copy t to stdout' | psql -q -d "$2" -c 'copy t from stdin'`
  await fill(tableRows)
  return {
    ways: {
      Armature: { ready, copy: ours },
      'psql | psql': {
        ready,
        async copy() {
          await psql(to, 'create table t (id int not null, name text, at timestamptz)')
          await run('sh', ['-c', piped, 'sh', from, to])
          await psql(to, 'alter table t add primary key (id)')
        },
      },
    },
    async copyOf(rows) {
      await fill(rows)
      await ready()
      return ours()
    },
  }
}
