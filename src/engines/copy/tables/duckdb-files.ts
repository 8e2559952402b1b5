/**
 * One DuckDB file and a stage. DuckDB gives a written file to one process alone, so each file is attached as briefly as
 * possible and waited for when another process has it. A query can reach nothing but these: whoever made a file may have put
 * functions into it that read other files (decision 0354).
 */

import { existsSync, lstatSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { elapsedMilliseconds } from '../elapsed.ts'
import { CopyCancelled, CopyFailure, type DuckdbTable } from '../engine.ts'
import { refuseLinks } from '../files/safe-path.ts'
import { loadOptional } from '../optional-package.ts'
import type { TableStage } from './table-stage.ts'

const waitMilliseconds = 30_000
const lookMilliseconds = 100
const memoryMegabytes = 512
const threads = 2
const databasePattern = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,62})$/
/** No stage folder matches it. */
const folderPattern = /^[a-z0-9](?:[a-z0-9-]{0,62})$/

type Cell = string | number | boolean | null

/** What each file has besides itself while it is written. */
const logEndings = ['', '.wal', '.wal.checkpoint', '.wal.recovery']

/** Open in this process. Two instances would not notice that they have the same file. */
const attached = new Set<string>()

export interface DuckdbFiles extends AsyncDisposable {
  /** The path of the database's file. */
  readonly path: string
  /** Runs one statement; returns the number of changed rows. */
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
  location: DuckdbTable,
  stage: TableStage,
  side: 'SourceRefused' | 'TargetRefused',
  signal: AbortSignal,
): Promise<DuckdbFiles> {
  const { root } = stage
  const path = fileOf(location, root)
  // Loaded here: loading the library takes longer than copying a small table.
  const { DuckDBInstance } = await loadOptional(
    '@duckdb/node-api',
    () => import('@duckdb/node-api'),
  )
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(threads),
    memory_limit: `${memoryMegabytes}MB`,
    temp_directory: stage.at('spill'),
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
  const connection = await instance.connect()
  const paths = logEndings.map((ending) => literal(`${path}${ending}`))
  await connection.run(`set allowed_paths = [${paths.join(', ')}]`)
  await connection.run(`set allowed_directories = [${literal(stage.folder)}]`)
  await connection.run('set enable_external_access = false')
  await connection.run("set TimeZone = 'UTC'")
  await connection.run('set lock_configuration = true')
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
      if (error instanceof CopyFailure) throw error
      // Paths of this machine are not for the owner of the data.
      const text = error instanceof Error ? error.message : String(error)
      const message = text.replaceAll(`${root}/`, '').split('\n')[0] ?? ''
      throw new CopyFailure(side, `DuckDB: ${message.slice(0, 500)}`, 'never', { cause: error })
    }
  }

  /** The attached paths by name. */
  const own = new Map<string, string>()

  return {
    path,
    run: (sql) =>
      inWords(async () => {
        // Statements that DuckDB shows of a table hold text of its file as it is: collations, names of functions.
        const { count } = await connection.extractStatements(sql)
        if (count !== 1) throw new Error('what makes the table is more than one statement')
        return (await connection.runAndReadAll(sql)).rowsChanged
      }),
    rows: (sql) =>
      inWords(async () => {
        const read = await connection.runAndReadAll(sql)
        // Only scalars are selected, and as JSON they have these types.
        return read.getRowObjectsJson() as unknown as Readonly<Record<string, Cell>>[]
      }),
    async attach(path, name, mode) {
      const sql = `attach ${literal(path)} as ${quoted(name)} (${mode === 'read' ? 'read_only' : 'read_write'})`
      const isOpened = async (): Promise<boolean> => {
        if (attached.has(path)) return false
        // Each time: whoever writes beside the file may have put a link there since.
        for (const ending of logEndings) refuseOthers(root, `${path}${ending}`)
        attached.add(path)
        try {
          await connection.run(sql)
          own.set(name, path)
          return true
        } catch (error) {
          attached.delete(path)
          // A result here: another process has the file.
          if (isBusy(error)) return false
          throw error
        }
      }
      for (const from = elapsedMilliseconds(); !(await inWords(isOpened)); ) {
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
      attached.delete(own.get(name) ?? '')
      own.delete(name)
    },
    holdOut() {
      isHeeding = false
      signal.removeEventListener('abort', interrupt)
    },
    async [Symbol.asyncDispose]() {
      signal.removeEventListener('abort', interrupt)
      connection.closeSync()
      instance.closeSync()
      for (const one of own.values()) attached.delete(one)
    },
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && /Could not set lock on file/.test(error.message)
}

/** The file of a table's database. Throws `CopyFailure` for a name that could leave the folder. */
function fileOf(location: DuckdbTable, root: string): string {
  if (!databasePattern.test(location.database)) {
    throw new CopyFailure(
      'PathRefused',
      `'${location.database.slice(0, 80)}' is no name of a database: letters, digits, hyphens and underscores`,
    )
  }
  if (!folderPattern.test(location.folder)) {
    throw new CopyFailure('PathRefused', `'${location.folder.slice(0, 80)}' is no name of a server`)
  }
  return join(root, location.folder, `${location.database}.duckdb`)
}

/** DuckDB follows links, also for its logs, and waits for ever to open a pipe. */
function refuseOthers(root: string, path: string): void {
  const shown = path.slice(root.length + 1)
  refuseLinks(root, path, shown)
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === false) {
    throw new CopyFailure('PathRefused', `'${shown}' is no file`)
  }
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
