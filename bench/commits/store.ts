/** Rows and audit records in one SQLite file, committed in batches. As a thread, it commits the batches it is sent. */

import { DatabaseSync } from 'node:sqlite'
import { isMainThread, parentPort, workerData } from 'node:worker_threads'

/** One write: it holds only if the row still has `version`. */
export interface Write {
  readonly key: string
  readonly version: number
  readonly document: string
  readonly record: string
}

interface CommitStore extends Disposable {
  /** Whether each write held. All of them are on the disk then. */
  commit(batch: readonly Write[]): readonly boolean[]
}

export function openCommitStore(file: string, rows: readonly Write[]): CommitStore {
  const database = new DatabaseSync(file)
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS resources (key TEXT PRIMARY KEY, version INTEGER, document TEXT) STRICT;
    CREATE TABLE IF NOT EXISTS records (id INTEGER PRIMARY KEY, record TEXT) STRICT;
    BEGIN`)
  const insert = database.prepare('INSERT INTO resources VALUES (?, ?, ?)')
  for (const { key, version, document } of rows) insert.run(key, version, document)
  database.exec('COMMIT')
  const update = database.prepare(
    'UPDATE resources SET version = version + 1, document = ? WHERE key = ? AND version = ?',
  )
  const append = database.prepare('INSERT INTO records (record) VALUES (?)')
  return {
    commit(batch) {
      database.exec('BEGIN IMMEDIATE')
      const held = batch.map(({ key, version, document, record }) => {
        append.run(record)
        return update.run(document, key, version).changes === 1
      })
      database.exec('COMMIT')
      return held
    },
    [Symbol.dispose]: () => database.close(),
  }
}

if (!isMainThread) {
  const store = openCommitStore(String(workerData), [])
  parentPort?.on('message', (batch: readonly Write[]) => {
    parentPort?.postMessage(store.commit(batch))
  })
}
