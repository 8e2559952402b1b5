/**
 * What the store writes and flushes is recorded below it, and the power fails at every point of the record: all that was
 * answered by then, to who wrote and to who read, is there, and no half of a transaction. What was written and not yet flushed may be there, be
 * missing, or be there in part.
 */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'

import { requireOrSkip } from '../../../tests/require.ts'
import {
  canRecordFlushes,
  compileFlushRecorder,
  howToRecordFlushes,
} from '../testing/flush-recorder.ts'

/** Points of the record at which the power fails. The long suite takes each of them. */
const pointsMax = process.env['ARMATURE_TEST_LONG'] === '1' ? Number.POSITIVE_INFINITY : 40
const seed = Number(process.env['ARMATURE_TEST_SEED'] ?? 1)

/** Commits in groups, copies of the log into the file, and a log that begins anew after each. */
const writerScript = `
  import { openSync, writeSync } from 'node:fs'
  import { DatabaseSync } from 'node:sqlite'
  import { openSqlite } from ${JSON.stringify(String(new URL('open.ts', import.meta.url)))}
  import { opening, snapshots } from ${JSON.stringify(String(new URL('statements.ts', import.meta.url)))}
  import { contractOptions, contractRow } from ${JSON.stringify(String(new URL('../contract/setting.ts', import.meta.url)))}
  const [folder] = process.argv.slice(-1)
  const path = folder + '/store.db'
  const answers = openSync(folder + '/answered', 'w')
  const store = await openSqlite({ path, ...contractOptions })
  const copier = new DatabaseSync(path)
  for (const setting of opening.copier) copier.exec(setting)
  let at = 0
  for (let round = 0; round < 4; round++) {
    const lane = async (number) => {
      for (let n = 0; n < 12; n++) {
        const key = '/' + round + '-' + number + '-' + n
        const document = JSON.stringify({ text: key.repeat((number * 40) % 300) })
        await store.transact(async (tx) => {
          await tx.insert(contractRow(key, { document }))
          await tx.insert(contractRow(key + '/twin', { document }))
          await tx.follow('f', key)
        })
        // With a position, since the recorder sees no other writes.
        at += writeSync(answers, key + '\\n', at)
        // A copy while others write, and one that has the log to itself.
        if (number === 0 && n === 6) copier.exec(snapshots.checkpoint)
      }
    }
    let writing = true
    const reader = async () => {
      const seen = new Set()
      const tell = (rows) => {
        for (const { key } of rows) {
          if (seen.has(key) || key.endsWith('/twin')) continue
          seen.add(key)
          at += writeSync(answers, key + '\\n', at)
        }
      }
      const text = 'SELECT key FROM resources WHERE key > ? ORDER BY key'
      for (let look = 0; writing; look++) {
        tell(await store.list({ under: '/', limit: 1_000 }))
        tell(await store.sql.all(text, '/' + round))
        if (look % 4 === 0) tell(await store.sql.scan(text, '/' + round))
        await new Promise(setImmediate)
      }
    }
    const reading = reader()
    await Promise.all(Array.from({ length: 5 }, (_, number) => lane(number)))
    writing = false
    await reading
    copier.exec(snapshots.checkpoint)
  }
  process.kill(process.pid, 'SIGKILL')
`

type Step =
  | { readonly kind: 'write'; readonly file: string; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly file: string; readonly length: number }
  | { readonly kind: 'begin' | 'flushed'; readonly file: string }

function stepsOf(record: string): readonly Step[] {
  return record
    .trim()
    .split('\n')
    .map((line): Step => {
      const [kind, file = '', number, hex = ''] = line.split(' ')
      if (kind === 'w')
        return { kind: 'write', file, at: Number(number), bytes: Buffer.from(hex, 'hex') }
      if (kind === 't') return { kind: 'truncate', file, length: Number(number) }
      return { kind: kind === 'b' ? 'begin' : 'flushed', file }
    })
}

/** What the disk holds of one file, and what only the system's memory holds. */
class RecordedFile {
  flushed = Buffer.alloc(0)
  waiting: Step[] = []
  #begun = 0

  take(step: Step): void {
    if (step.kind === 'begin') this.#begun = this.waiting.length
    else if (step.kind === 'flushed') {
      for (const one of this.waiting.splice(0, this.#begun))
        this.flushed = applied(this.flushed, one)
      this.#begun = 0
    } else this.waiting.push(step)
  }

  /** `keeps` tells how much of a waiting step has reached the disk: 0 is nothing of it, 1 is all. */
  after(keeps: () => number): Buffer {
    let bytes = Buffer.from(this.flushed)
    for (const step of this.waiting) {
      const share = keeps()
      if (step.kind === 'truncate' && share === 1) bytes = applied(bytes, step)
      if (step.kind !== 'write') continue
      // A disk writes whole sectors.
      const length =
        share === 1 ? step.bytes.length : Math.floor((step.bytes.length * share) / 512) * 512
      if (length > 0) bytes = applied(bytes, { ...step, bytes: step.bytes.subarray(0, length) })
    }
    return bytes
  }
}

function applied(bytes: Buffer<ArrayBuffer>, step: Step): Buffer<ArrayBuffer> {
  if (step.kind === 'truncate') {
    const cut = Buffer.alloc(step.length)
    bytes.copy(cut)
    return cut
  }
  if (step.kind !== 'write') return bytes
  const end = step.at + step.bytes.length
  let room = bytes
  if (end > bytes.length) {
    room = Buffer.alloc(end)
    bytes.copy(room)
  }
  step.bytes.copy(room, step.at)
  return room
}

/** Fails unless the file holds all that was answered, and nothing half. */
function check(
  folder: string,
  files: ReadonlyMap<string, Buffer>,
  answered: readonly string[],
): void {
  const path = join(folder, 'store.db')
  for (const name of ['store.db-wal', 'store.db-shm']) rmSync(join(folder, name), { force: true })
  for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes)
  using db = new DatabaseSync(path)
  const one = (text: string): unknown => Object.values(db.prepare(text).get() ?? {})[0]
  // Before the first commit there is no schema, and nobody was answered.
  if (one("SELECT count(*) FROM sqlite_schema WHERE name = 'feed_entries'") === 0) {
    assert.deepEqual(answered, [])
    return
  }
  const followed = db.prepare("SELECT key FROM feed_entries WHERE name = 'f'").all()
  const keys = new Set(followed.map((row) => String(row['key'])))
  for (const key of answered) assert.ok(keys.has(key), `${key} was answered and is lost`)
  const rows = db
    .prepare('SELECT key FROM resources')
    .all()
    .map((row) => String(row['key']))
  assert.deepEqual(new Set(rows), new Set([...keys].flatMap((key) => [key, `${key}/twin`])))
  assert.equal(one('PRAGMA quick_check'), 'ok')
}

function record(folder: string): readonly Step[] {
  const shim = compileFlushRecorder(folder)
  const recorded = join(folder, 'recorded')
  mkdirSync(recorded)
  const written = join(folder, 'record')
  const script = join(folder, 'writer.mjs')
  writeFileSync(script, writerScript)
  const ran = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', script, recorded],
    {
      env: {
        ...process.env,
        LD_PRELOAD: shim,
        FLUSH_FOLDER: recorded,
        FLUSH_RECORD: written,
        // Long enough for others to read between a commit and its flush.
        FLUSH_MICROSECONDS: '1000',
      },
    },
  )
  assert.equal(ran.signal, 'SIGKILL', String(ran.stderr))
  return stepsOf(readFileSync(written, 'latin1'))
}

test('the power may fail at any point of what is written and flushed', (t) => {
  if (!requireOrSkip(t, canRecordFlushes(), howToRecordFlushes)) return
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'armature-power-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const steps = record(folder)
  const copies = steps.filter(({ kind, file }) => kind === 'flushed' && file === 'store.db')
  assert.ok(copies.length >= 8, 'the log is copied and flushed while it is recorded')
  const disk = join(folder, 'disk')
  mkdirSync(disk)
  const random = randomFrom(seed)
  const files = new Map<string, RecordedFile>()
  let answers = ''
  for (const [point, step] of steps.entries()) {
    if (step.file === 'answered') {
      if (step.kind === 'write') answers += step.bytes.toString('latin1')
    } else if (/^store\.db(-wal)?$/.test(step.file)) {
      let file = files.get(step.file)
      if (file === undefined) {
        file = new RecordedFile()
        files.set(step.file, file)
      }
      file.take(step)
    }
    if (random() * steps.length >= pointsMax) continue
    const answered = answers.split('\n').filter((key) => key !== '')
    // All of what waits for a flush, nothing of it, and parts.
    for (const keeps of [() => 1, () => 0, () => Math.min(1, random() * 2)]) {
      const found = [...files].map(([name, file]) => [name, file.after(keeps)] as const)
      try {
        check(disk, new Map(found), answered)
      } catch (error) {
        throw new Error(`with seed ${seed}, at point ${point} of ${steps.length}`, { cause: error })
      }
    }
  }
})

/** Repeatable: a linear congruence. */
function randomFrom(start: number): () => number {
  let state = start >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
