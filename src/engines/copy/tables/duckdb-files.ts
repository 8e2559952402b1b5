/**
 * DuckDB files below a folder. DuckDB gives a written file to one process alone, so each file is attached as
 * briefly as possible and waited for when another process has it. A query can reach nothing outside of the folder.
 */

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DuckDBConnection } from '@duckdb/node-api'
import { elapsedMilliseconds } from '../elapsed.ts'
import { CopyCancelled, CopyFailure, type DuckdbTable } from '../engine.ts'
import { realRoot, refuseLinks } from '../files/safe-path.ts'
import { stageFolder } from '../names.ts'
import { loadOptional } from '../optional-package.ts'

const waitMilliseconds = 30_000
const lookMilliseconds = 100
const memoryMegabytes = 512
const threads = 2
const databasePattern = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,62})$/
/** No stage folder matches it. */
const folderPattern = /^[a-z0-9](?:[a-z0-9-]{0,62})$/

type Cell = string | number | boolean | null

export interface DuckdbFiles extends AsyncDisposable {
  /** The real path of the folder. */
  readonly root: string
  /** Runs a statement; returns the number of changed rows. */
  run(sql: string): Promise<number>
  rows(sql: string): Promise<readonly Readonly<Record<string, Cell>>[]>
  /**
   * Attaches a file under a name for statements; waits while another process has it. Throws `CopyFailure` when that
   * takes too long.
   */
  attach(path: string, name: string, mode: 'read' | 'write'): Promise<void>
  detach(name: string): Promise<void>
  /** From now on a cancellation has no effect: publishing that has begun is completed. */
  holdOut(): void
}

/** When `signal` aborts, the running statement is interrupted, and every call then throws `CopyCancelled`. */
export async function openDuckdbFiles(
  folder: string,
  side: 'SourceRefused' | 'TargetRefused',
  signal: AbortSignal,
): Promise<DuckdbFiles> {
  const root = realRoot(folder)
  // Loaded here: loading the library takes longer than copying a small table.
  const { DuckDBInstance } = await loadOptional(
    '@duckdb/node-api',
    () => import('@duckdb/node-api'),
  )
  // One per process and folder: two would not notice that they write to the same file.
  const key = createHash('sha256').update(root).digest('hex').slice(0, 16)
  const instance = await DuckDBInstance.fromCache(`:memory:armature_${key}`, {
    threads: String(threads),
    memory_limit: `${memoryMegabytes}MB`,
    temp_directory: join(root, stageFolder, 'spill'),
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
  const connection = await instance.connect()
  await enclose(connection, root)
  await connection.run("set TimeZone = 'UTC'")
  const interrupt = (): void => connection.interrupt()
  signal.addEventListener('abort', interrupt)

  let isHeeding = true
  const stopIfCancelled = (): void => {
    if (isHeeding && signal.aborted) throw new CopyCancelled()
  }

  const inWords = async <T>(work: () => Promise<T>): Promise<T> => {
    stopIfCancelled()
    try {
      return await work()
    } catch (error) {
      stopIfCancelled()
      // Paths of this machine are not for the owner of the data.
      const text = error instanceof Error ? error.message : String(error)
      const message = text.replaceAll(`${root}/`, '').split('\n')[0] ?? ''
      throw new CopyFailure(side, `DuckDB: ${message.slice(0, 500)}`, 'never', { cause: error })
    }
  }

  return {
    root,
    run: (sql) => inWords(async () => (await connection.runAndReadAll(sql)).rowsChanged),
    rows: (sql) =>
      inWords(async () => {
        const read = await connection.runAndReadAll(sql)
        // Only scalars are selected, and as JSON they have these types.
        return read.getRowObjectsJson() as unknown as Readonly<Record<string, Cell>>[]
      }),
    async attach(path, name, mode) {
      const sql = `attach ${literal(path)} as ${quoted(name)} (${mode === 'read' ? 'read_only' : 'read_write'})`
      for (const from = elapsedMilliseconds(); ; ) {
        const refusal = await inWords(async () => {
          // Two errors are a result here: another process has the file, or another task of this one.
          return connection.run(sql).then(
            () => undefined,
            (error: unknown) => {
              if (isBusy(error)) return 'busy' as const
              throw error
            },
          )
        })
        if (refusal === undefined) return
        if (elapsedMilliseconds() - from > waitMilliseconds) {
          const shown = path.slice(root.length + 1)
          throw new CopyFailure('Unreachable', `the database '${shown}' stays in use`, 'later')
        }
        await sleep(lookMilliseconds)
      }
    },
    async detach(name) {
      // Also after a failure or an interruption: the file must not stay open here.
      await connection.run('rollback').catch(() => undefined)
      await connection.run('use memory').catch(() => undefined)
      await connection.run(`detach database if exists ${quoted(name)}`)
    },
    holdOut() {
      isHeeding = false
      signal.removeEventListener('abort', interrupt)
    },
    async [Symbol.asyncDispose]() {
      signal.removeEventListener('abort', interrupt)
      connection.closeSync()
      instance.closeSync()
    },
  }
}

/** Views, macros and defaults of a file are foreign: none may read or write anything else. */
async function enclose(connection: DuckDBConnection, root: string): Promise<void> {
  try {
    await connection.run(`set allowed_directories = [${literal(root)}]`)
    await connection.run('set enable_external_access = false')
  } catch (error) {
    // A locked setting cannot be set again: another task of this process has locked it.
    const read = await connection.runAndReadAll(
      "select current_setting('enable_external_access') as is_open",
    )
    if (read.getRowObjectsJson()[0]?.['is_open'] !== false) throw error
  }
}

function isBusy(error: unknown): boolean {
  return (
    error instanceof Error &&
    /Could not set lock on file|Unique file handle conflict|already attached/.test(error.message)
  )
}

/** The file of a table's database. Throws `CopyFailure` for a name that could leave the folder. */
export function fileOf(location: DuckdbTable, root: string): string {
  if (!databasePattern.test(location.database)) {
    throw new CopyFailure(
      'PathRefused',
      `'${location.database.slice(0, 80)}' is no name of a database: letters, digits, hyphens and underscores`,
    )
  }
  if (!folderPattern.test(location.folder)) {
    throw new CopyFailure('PathRefused', `'${location.folder.slice(0, 80)}' is no name of a server`)
  }
  const path = join(root, location.folder, `${location.database}.duckdb`)
  refuseLinks(root, path, location.database)
  return path
}

export function isThere(path: string): boolean {
  return existsSync(path)
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
