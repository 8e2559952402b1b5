/** Checkpoints: when the log is copied, what waits for it, and that it restarts under continuous writes. */

import assert from 'node:assert/strict'
import { closeSync, mkdtempSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { contractOptions } from '../contract/setting.ts'
import { Checkpoints, type LogState } from './checkpoints.ts'
import { openSqlite } from './open.ts'
import { Scanner } from './scanner.ts'
import { opening } from './statements.ts'

/** The part of a log's header that changes when the log begins anew: its number, and random numbers. */
function beginningOf(log: string): string {
  const header = Buffer.alloc(24)
  const file = openSync(log, 'r')
  readSync(file, header)
  closeSync(file)
  return header.toString('hex', 12)
}

function startCopies() {
  const copies: PromiseWithResolvers<LogState>[] = []
  const log = { bytes: 0 }
  const checkpoints = new Checkpoints(
    () => {
      const copy = Promise.withResolvers<LogState>()
      copies.push(copy)
      return copy.promise
    },
    (bytes) => log.bytes > bytes,
  )
  return { copies, checkpoints, log }
}

test('writes wait for the second copy of a long log alone, and go on when it fails', async () => {
  const { copies, checkpoints } = startCopies()
  checkpoints.committed(10)
  assert.equal(copies.length, 0)
  checkpoints.committed(10_000)
  checkpoints.committed(30_000)
  assert.equal(copies.length, 1)
  assert.equal(checkpoints.held, undefined)
  copies[0]?.resolve({ pages: 20_000, copied: 19_000 })
  for (let looks = 0; copies.length < 2 && looks < 10; looks++) await turn()
  const { held } = checkpoints
  assert.notEqual(held, undefined)
  copies[1]?.reject(new Error('the disk is full'))
  await held
  await checkpoints.settle()
  assert.equal(checkpoints.held, undefined)
  checkpoints.committed(50_000)
  copies[2]?.resolve({ pages: 100, copied: 100 })
  await checkpoints.settle()
  assert.equal(copies.length, 3)
})

test('each commit of an opened store is flushed: the log of a machine that fails has it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-checkpoints-'))
  try {
    await using store = await openSqlite({ ...contractOptions, path: join(folder, 'store.db') })
    const settings = await store.sql.transact((tx) =>
      tx.all(
        'SELECT s.synchronous, j.journal_mode FROM pragma_synchronous s, pragma_journal_mode j',
      ),
    )
    // FULL is 2. With NORMAL a killed process loses nothing either, but a power failure does.
    assert.deepEqual(settings, [{ synchronous: 2, journal_mode: 'wal' }])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a log that few statements filled is copied, too; one that stays long is when it has grown', async () => {
  const { copies, checkpoints, log } = startCopies()
  const mega = 1024 * 1024
  checkpoints.committed(10)
  assert.equal(copies.length, 0)
  // A reader blocks it: each checkpoint ends, and the file keeps its length.
  for (const [megabytes, wanted] of [
    [65, 1],
    [65, 1],
    [80, 1],
    [82, 2],
    [82, 2],
    [64, 2],
    [65, 3],
  ] as const) {
    log.bytes = megabytes * mega
    // Not each commit looks at the file.
    for (let commit = 0; commit < 8; commit++) checkpoints.committed(11)
    assert.equal(copies.length, wanted, `${megabytes} MB`)
    copies.at(-1)?.resolve({ pages: 100, copied: 10 })
    await checkpoints.settle()
  }
})

test('a look at the length of the log leaves its times as they are', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-checkpoints-'))
  try {
    const path = join(folder, 'store.db')
    using writer = new DatabaseSync(path)
    const copier = new Scanner(path)
    assert.equal(copier.isLogLonger(0), false, 'there is none yet')
    for (const setting of opening.writer) writer.exec(setting)
    writer.exec('CREATE TABLE filled (id INTEGER PRIMARY KEY, body TEXT NOT NULL)')
    const { size, atimeNs } = statSync(`${path}-wal`, { bigint: true })
    assert.equal(copier.isLogLonger(Number(size) - 1), true)
    assert.equal(copier.isLogLonger(Number(size)), false)
    if (process.platform === 'linux') {
      assert.equal(statSync(`${path}-wal`, { bigint: true }).atimeNs, atimeNs)
    }
    await copier.close()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('the log begins anew under writes that never rest, and the file has them all', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-checkpoints-'))
  try {
    const path = join(folder, 'store.db')
    const writer = new DatabaseSync(path)
    for (const setting of opening.writer) writer.exec(setting)
    // A commit copies the log itself where the thread that copies has failed until then, so that no log grows for ever.
    const pages = writer.prepare('PRAGMA wal_autocheckpoint').get()
    assert.deepEqual(Object.values(pages ?? {}), [65_536])
    writer.exec('CREATE TABLE filled (id INTEGER PRIMARY KEY, body TEXT NOT NULL)')
    const insert = writer.prepare('INSERT INTO filled (body) VALUES (?)')
    const copier = new Scanner(path)
    const checkpoints = new Checkpoints(
      () => copier.checkpoint(),
      (bytes) => copier.isLogLonger(bytes),
    )
    const text = 'x'.repeat(60_000)
    let rows = 0
    let begun: string | undefined
    // How much is written until then depends on how fast the other thread copies. A commit copies the log itself at 256 MB.
    for (; rows < 3_000 && (begun === undefined || beginningOf(`${path}-wal`) === begun); rows++) {
      await checkpoints.held
      insert.run(text)
      begun ??= beginningOf(`${path}-wal`)
      checkpoints.committed((rows + 1) * 1_000)
      await turn()
    }
    assert.notEqual(beginningOf(`${path}-wal`), begun, `not after ${rows} rows`)
    await checkpoints.settle()
    await copier.close()
    writer.close()
    using reader = new DatabaseSync(path, { readOnly: true })
    const [row] = reader.prepare('SELECT count(*) AS n FROM filled').all()
    assert.equal(row?.['n'], rows)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
