/**
 * DuckDB files below a folder. DuckDB gives a file that is written to one process alone, so each is attached for as
 * short as it takes, waited for when another has it, and nothing outside of the folder can be reached from a query.
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
/** No stage folder is one. */
const folderPattern = /^[a-z0-9](?:[a-z0-9-]{0,62})$/

type Cell = string | number | boolean | null

export interface DuckdbFiles extends AsyncDisposable {
  /** The folder as it really is. */
  readonly root: string
  /** Runs a statement; how many rows it changed. */
  run(sql: string): Promise<number>
  rows(sql: string): Promise<readonly Readonly<Record<string, Cell>>[]>
  /** Opens a file by a name for statements; waits for whoever has it. Throws `CopyFailure` when that lasts. */
  attach(path: string, name: string, mode: 'read' | 'write'): Promise<void>
  detach(name: string): Promise<void>
  /** From now on a cancellation changes nothing: what has begun to be published is seen to its end. */
  holdOut(): void
}

/** A statement that runs when `signal` is aborted is broken off, and everything then throws `CopyCancelled`. */
export async function openDuckdbFiles(
  folder: string,
  side: 'SourceRefused' | 'TargetRefused',
  signal: AbortSignal,
): Promise<DuckdbFiles> {
  const root = realRoot(folder)
  // Loaded here: its library takes longer to load than a small table takes to copy.
  const { DuckDBInstance } = await loadOptional(
    '@duckdb/node-api',
    () => import('@duckdb/node-api'),
  )
  // One for a process and folder: two would not see that they write to the same file.
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
      const told = error instanceof Error ? error.message : String(error)
      const message = told.replaceAll(`${root}/`, '').split('\n')[0] ?? ''
      throw new CopyFailure(side, `DuckDB: ${message.slice(0, 500)}`, 'never', { cause: error })
    }
  }

  return {
    root,
    run: (sql) => inWords(async () => (await connection.runAndReadAll(sql)).rowsChanged),
    rows: (sql) =>
      inWords(async () => {
        const read = await connection.runAndReadAll(sql)
        // Scalars only are asked for, and as JSON they are these.
        return read.getRowObjectsJson() as unknown as Readonly<Record<string, Cell>>[]
      }),
    async attach(path, name, mode) {
      const sql = `attach ${literal(path)} as ${quoted(name)} (${mode === 'read' ? 'read_only' : 'read_write'})`
      for (const from = elapsedMilliseconds(); ; ) {
        const refusal = await inWords(async () => {
          // Both are an answer here: another process has the file, or another task of this one.
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
      // Also after a failure or an interruption: the file is not to stay with us.
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

/** Views, macros and defaults of a file are not ours: none of them may read or write anything else. */
async function enclose(connection: DuckDBConnection, root: string): Promise<void> {
  try {
    await connection.run(`set allowed_directories = [${literal(root)}]`)
    await connection.run('set enable_external_access = false')
  } catch (error) {
    // What is closed cannot be set again: another task of this process has closed it.
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

/** The file of a table's database. Throws `CopyFailure` for names that could leave the folder. */
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
