/**
 * Opens a SQLite file as a store: locks it for this process, sets its durability, brings its schema up to date.
 * Refuses a file that is in use, that a newer version made, or that belongs to another program.
 */

import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

import { assertWords, pendingMigrations, wordSettings } from '../migrate.ts'
import { type Store, type StoreOptions, StoreUnavailable } from '../store.ts'
import { translate } from './failure.ts'
import { defineFunctions, StatementTime } from './functions.ts'
import { coreMigrations } from './migrations/core.ts'
import { Scanner } from './scanner.ts'
import { opening } from './statements.ts'
import { type SqliteBounds, SqliteStore } from './store.ts'

export interface SqliteOptions extends StoreOptions {
  /** The file, in a folder that exists; `:memory:` for a store that ends with the process. */
  readonly path: string
  /** Bytes of rows kept in memory after they were read. */
  readonly rowBytesMax?: number
  /** What all migrations make of an empty file, as one script. Without it they run one after the other. */
  readonly wholeSchema?: (() => Promise<string | undefined>) | undefined
}

/** Throws `StoreUnavailable` with `retry: 'never'` when this process may not have the file. */
export async function openSqlite(options: SqliteOptions): Promise<Store> {
  const { path } = options
  const bounds = boundsOf(options)
  const opened: DatabaseSync[] = []
  // The thread runs one statement at a time, on whichever connection.
  const time = new StatementTime(secondsMax)
  const open = (file: string, settings: readonly string[], readOnly = false): DatabaseSync => {
    const db = new DatabaseSync(file, { readOnly })
    opened.push(db)
    for (const setting of settings) db.exec(setting)
    defineFunctions(db, time)
    return db
  }
  try {
    if (path === ':memory:') {
      const writer = open(path, opening.writer)
      prepareSchema(writer, options, await options.wholeSchema?.())
      return new SqliteStore(
        { writer, reader: writer, lock: undefined, scanner: undefined, copier: undefined, time },
        bounds,
      )
    }
    const lock = lockFile(path, open)
    createPrivately(path)
    const writer = open(path, opening.writer)
    prepareSchema(writer, options, isEmpty(writer) ? await options.wholeSchema?.() : undefined)
    writer.exec(opening.dropLeases)
    const reader = open(path, opening.reader, true)
    const scanner = new Scanner(path)
    const copier = new Scanner(path)
    return new SqliteStore({ writer, reader, lock, scanner, copier, time }, bounds)
  } catch (error) {
    for (const db of opened.reverse()) db.close()
    throw translate(error)
  }
}

/** Of a statement that holds up the process. What may take longer runs in the scanning thread. */
const secondsMax = 2
/** Rows that are read repeatedly by id: parsing and copying is most of the cost of a read. */
const usualRowBytesMax = 32 * 1024 * 1024

function boundsOf({ transactionRetriesMax, rowBytesMax }: SqliteOptions): SqliteBounds {
  return {
    triesMax: Math.max(1, transactionRetriesMax),
    rowBytesMax: rowBytesMax ?? usualRowBytesMax,
  }
}

type Open = (file: string, settings: readonly string[]) => DatabaseSync

/**
 * Locks a second, empty database for the lifetime of the process. Feed positions and open batches are known only to
 * this process, so a second process on the same file would work with wrong ones.
 */
function lockFile(path: string, open: Open): DatabaseSync {
  const file = `${path}.lock`
  createPrivately(file)
  try {
    return open(file, opening.holdLock)
  } catch (error) {
    throw new StoreUnavailable(
      `The store '${path}' is in use by another process (its lock is '${file}'). ` +
        'Stop that process; for several processes use PostgreSQL.',
      'never',
      { cause: error },
    )
  }
}

/**
 * The store holds hashes of secrets, so only their owner may read its files. Files that SQLite adds get the same
 * mode.
 */
function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, 'a', 0o600))
  } catch (error) {
    throw new StoreUnavailable(`The file '${file}' cannot be written.`, 'never', { cause: error })
  }
}

function isEmpty(db: DatabaseSync): boolean {
  return db.prepare(opening.anyTable).get() === undefined
}

function prepareSchema(
  db: DatabaseSync,
  options: StoreOptions,
  wholeSchema: string | undefined,
): void {
  const foreign = db.prepare(opening.foreignTables).get() as { name: string } | undefined
  if (foreign !== undefined) {
    throw new StoreUnavailable(
      `The file is a database of something else: it has a table '${foreign.name}' and no store.`,
      'never',
    )
  }
  db.exec('BEGIN IMMEDIATE')
  try {
    if (wholeSchema !== undefined) db.exec(wholeSchema)
    migrate(db, options, wholeSchema !== undefined)
    db.exec('COMMIT')
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

function migrate(db: DatabaseSync, options: StoreOptions, isNew: boolean): void {
  for (const table of opening.tables) db.exec(table)
  // The cells are of the types that `opening.tables` gives them.
  const applied = db.prepare(opening.applied).all() as { area: string; number: number }[]
  const pending = pendingMigrations([...coreMigrations, ...options.migrations], applied)
  const apply = db.prepare(opening.apply)
  for (const migration of pending) {
    for (const text of migration.sqlite) db.exec(text)
    apply.run(migration.area, migration.number)
  }
  const remember = db.prepare(opening.remember)
  for (const [name, word] of wordSettings(options.words)) {
    // Stored only at creation: a store that lost a word must not take today's setting.
    if (isNew || applied.length === 0) remember.run(name, word)
  }
  const settings = db.prepare(opening.settings).all() as { name: string; value: string }[]
  assertWords(options.words, new Map(settings.map(({ name, value }) => [name, value])))
}
