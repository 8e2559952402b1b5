/** What the copying of data shares is measured on: folders, blobs and a table, each beside the tool people would use. */

import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { taskOf } from '../../src/engines/copy/contract.ts'
import type { CopyTask, Place } from '../../src/engines/copy/engine.ts'
import { type BlobServer, emulator } from '../../src/engines/copy/testing/azurite.ts'
import { MemoryManifest } from '../../src/engines/copy/testing/memory-ledger.ts'
import { workerEngine } from '../../src/engines/copy/worker/worker-engine.ts'
import type { PostgresServer } from '../../src/stores/testing/postgres-server.ts'

const run = promisify(execFile)

/** `full` is what the aims are about; else it is as much as tells the difference within a minute. */
const isFull = process.env['ARMATURE_BENCH_SHARING'] === 'full'

export const smallFiles = 10_000
export const smallBytes = 4096
export const largeMegabytes = isFull ? 1024 : 128
export const tableRows = isFull ? 1_000_000 : 200_000
export const blobs = isFull ? 10_000 : 1000
export const unchangedFiles = isFull ? 100_000 : 20_000
export const listedDetails = isFull ? 100_000 : 20_000

/** One way to copy: seconds of each turn. */
export type Way = () => Promise<void>

async function copy(
  source: Place,
  target: Place,
  mode: CopyTask['mode'],
  manifest: MemoryManifest,
) {
  await using session = workerEngine().open()
  const task = taskOf({ source, target }, mode, manifest)
  await session.copy(task, manifest.ledger(task), new AbortController().signal)
}

export function fillFolder(folder: string): void {
  const data = join(folder, 'from', 'data', 'x')
  for (let at = 0; at < smallFiles; at++) {
    const below = join(data, `d${at % 50}`)
    if (at < 50) mkdirSync(below, { recursive: true })
    writeFileSync(join(below, `f${at}`), Buffer.alloc(smallBytes, at))
  }
  const piece = Buffer.alloc(16 * 1024 * 1024, 7)
  for (let at = 0; at < largeMegabytes / 16; at++) {
    writeFileSync(join(data, 'large.bin'), piece, { flag: 'a' })
  }
}

/** By contestant: the first copy, and the one after it with nothing changed. */
export function folderWays(folder: string): Readonly<Record<string, readonly [Way, Way]>> {
  const place = (side: string): Place => ({
    kind: 'folder',
    shape: 'tree',
    root: join(folder, side),
    container: 'data',
    path: 'x',
  })
  let manifest = new MemoryManifest()
  const data = join(folder, 'from', 'data', 'x')
  const fresh = (name: string): string => {
    rmSync(join(folder, name), { recursive: true, force: true })
    return join(folder, name)
  }
  const rclone = (): Promise<unknown> =>
    run('rclone', ['copy', data, join(folder, 'rclone'), '-q', '--config', '/dev/null'])
  return {
    Armature: [
      async () => {
        mkdirSync(fresh('to'))
        manifest = new MemoryManifest()
        await copy(place('from'), place('to'), 'full', manifest)
      },
      () => copy(place('from'), place('to'), 'incremental', manifest),
    ],
    rclone: [
      async () => {
        fresh('rclone')
        await rclone()
      },
      async () => void (await rclone()),
    ],
    'cp -r': [
      async () => void (await run('cp', ['-r', data, fresh('cp')])),
      async () => void (await run('cp', ['-ru', `${data}/.`, join(folder, 'cp')])),
    ],
  }
}

export async function blobWays(
  folder: string,
  server: BlobServer,
): Promise<Readonly<Record<string, Way>>> {
  // The emulator's way of signing; the endpoint is ours.
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
  const place = (container: string): Place => ({
    kind: 'blobs',
    shape: 'tree',
    endpoint: server.endpoint,
    ...emulator,
    container,
    path: '',
  })
  let turn = 0
  return {
    Armature: () => copy(place('source'), place(`ours-${++turn}`), 'full', new MemoryManifest()),
    rclone: async () => {
      await rclone('b:source', `b:theirs-${++turn}`)
    },
  }
}

export async function tableWays(server: PostgresServer): Promise<Readonly<Record<string, Way>>> {
  const [from, to] = [await server.createDatabase(), await server.createDatabase()]
  const fill = `create table t (id int primary key, name text, at timestamptz);
    insert into t select n, md5(n::text) || md5(n::text), now() from generate_series(1, ${tableRows}) n;`
  await run('psql', ['-q', '-d', from, '-c', fill])
  const place = (address: string): Place => {
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
  const drop = (): Promise<unknown> => run('psql', ['-q', '-d', to, '-c', 'drop table if exists t'])
  return {
    Armature: async () => {
      await drop()
      await copy(place(from), place(to), 'full', new MemoryManifest())
    },
    'psql | psql': async () => {
      await drop()
      await run('psql', [
        '-q',
        '-d',
        to,
        '-c',
        'create table t (id int not null, name text, at timestamptz)',
      ])
      const line = `psql -q -d "$1" -c 'copy t to stdout' | psql -q -d "$2" -c 'copy t from stdin'`
      await run('sh', ['-c', line, 'sh', from, to])
      await run('psql', ['-q', '-d', to, '-c', 'alter table t add primary key (id)'])
    },
  }
}
