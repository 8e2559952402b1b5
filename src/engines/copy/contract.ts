/**
 * What every pair of locations of objects keeps, as tests: contents, counts, increments, cuts at every call of the
 * journal, cancellation. A pair joins by saying how a test writes to its source and looks at its target.
 */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { isLong } from '../../../tests/long.ts'
import {
  CopyCancelled,
  type CopyEngine,
  CopyFailure,
  type CopyTask,
  type ObjectsLocation,
} from './engine.ts'
import { JournalClosed, MemoryManifest } from './testing/memory-journal.ts'

export interface ObjectsPair extends AsyncDisposable {
  readonly source: ObjectsLocation
  readonly target: ObjectsLocation
  /** The service copies by itself, and only while publishing: nothing is committed before. */
  readonly pulls?: boolean
  write(key: string, bytes: Uint8Array): Promise<void>
  remove(key: string): Promise<void>
  /** Puts something into the target that no copy wrote. */
  litter(key: string, bytes: Uint8Array): Promise<void>
  /** What a reader of the target sees, by key. */
  seen(): Promise<ReadonlyMap<string, Uint8Array>>
}

/** More than one block of 8 MiB; in the long suite, more than two. */
export const large = (isLong ? 20 : 8) * 1024 * 1024 + 17

let tasks = 0
export function taskOf(
  pair: Pick<CopyTask, 'source' | 'target'>,
  mode: CopyTask['mode'],
  manifest: MemoryManifest,
  run: string = String(++tasks).padStart(12, '0'),
): CopyTask {
  const { watermark } = manifest
  return {
    id: `task-${++tasks}`,
    source: pair.source,
    target: pair.target,
    mode,
    token: 'abcdef0123456789',
    run,
    owned: manifest.owned,
    published: false,
    ...(watermark === undefined ? {} : { watermark }),
  }
}

export async function runTask(
  engine: CopyEngine,
  task: CopyTask,
  manifest: MemoryManifest,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  await using session = engine.open()
  await session.copy(task, manifest.journal(task), signal)
}

export async function failure(work: Promise<void>): Promise<CopyFailure> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof CopyFailure, `expected a CopyFailure, got ${String(error)}`)
  return error
}

/** The journal calls at which a copy is cut off: every one, or each `step`th from the `first` on. */
export interface Cuts {
  readonly first: number
  readonly step: number
}

export function objectsContract(
  name: string,
  engine: () => CopyEngine,
  open: (t: { skip(reason?: string): void }) => Promise<ObjectsPair | undefined>,
  cuts: Cuts = { first: 0, step: 1 },
): void {
  describe(`objects, ${name}`, () => {
    const contents = new Map<string, Uint8Array>([
      ['a.txt', Buffer.from('one')],
      ['a/b.txt', Buffer.from('two')],
      ['a/empty', Buffer.alloc(0)],
      ['ä ö/名 %.txt', Buffer.from('three')],
      ['large.bin', Buffer.alloc(large, 'armature')],
    ])
    const fill = async (pair: ObjectsPair): Promise<void> => {
      for (const [key, bytes] of contents) await pair.write(key, bytes)
    }

    test('full, then nothing changed, then something changed', async (t) => {
      await using pair = await open(t)
      if (pair === undefined) return
      await fill(pair)
      const manifest = new MemoryManifest()
      const first = taskOf(pair, 'full', manifest)
      await runTask(engine(), first, manifest)
      assertSeen(await pair.seen(), contents)
      const counts = manifest.countsOf(first.run)
      const bytes = [...contents.values()].reduce((sum, one) => sum + one.length, 0)
      assert.deepEqual(
        [counts.filesRead, counts.filesWritten, counts.sizeRead, counts.sizeWritten],
        [5, 5, bytes, bytes],
      )
      const again = taskOf(pair, 'incremental', manifest)
      await runTask(engine(), again, manifest)
      assert.equal(manifest.countsOf(again.run).filesRead, 0)
      await pair.write('a.txt', Buffer.from('changed'))
      await pair.write('new.txt', Buffer.from('new'))
      await pair.remove('a/b.txt')
      const third = taskOf(pair, 'incremental', manifest)
      await runTask(engine(), third, manifest)
      assert.deepEqual(
        [manifest.countsOf(third.run).filesRead, manifest.countsOf(third.run).sizeWritten],
        [2, 10],
      )
      const seen = await pair.seen()
      assert.equal(Buffer.from(seen.get('a.txt') ?? []).toString(), 'changed')
      assert.equal(Buffer.from(seen.get('new.txt') ?? []).toString(), 'new')
      assert.ok(seen.has('a/b.txt'), 'an increment removes nothing')
      const full = taskOf(pair, 'full', manifest)
      await runTask(engine(), full, manifest)
      assert.ok(!(await pair.seen()).has('a/b.txt'), 'a full copy is the source and nothing else')
      assert.equal(manifest.countsOf(full.run).filesRead, 5)
    })

    test('cut off at every call of the journal and taken up again: same content, counted once', async (t) => {
      await using pair = await open(t)
      if (pair === undefined) return
      await fill(pair)
      const bytes = [...contents.values()].reduce((sum, one) => sum + one.length, 0)
      const manifest = new MemoryManifest()
      const whole = taskOf(pair, 'full', manifest)
      await runTask(engine(), whole, manifest)
      const calls = manifest.calls.length
      for (let cut = cuts.first; cut < calls + 1; cut += cuts.step) {
        await pair.write('a.txt', Buffer.from(`round ${cut}`.padEnd(3)))
        const size = bytes - 3 + `round ${cut}`.length
        const run = `c${String(cut).padStart(11, '0')}`
        manifest.callsLeft = cut
        // In production the process dies; here the stage is left as it was.
        const dying = runTask(engine(), taskOf(pair, 'full', manifest, run), manifest)
        const error = await dying.then(
          () => undefined,
          (reason: unknown) => reason,
        )
        assert.ok(error === undefined || error instanceof JournalClosed, String(error))
        manifest.callsLeft = Number.POSITIVE_INFINITY
        if (error !== undefined) {
          await runTask(engine(), taskOf(pair, 'full', manifest, run), manifest)
        }
        assertSeen(
          await pair.seen(),
          new Map([...contents, ['a.txt', Buffer.from(`round ${cut}`)]]),
        )
        const counts = manifest.countsOf(run)
        assert.deepEqual([counts.filesWritten, counts.sizeWritten], [5, size], `cut at ${cut}`)
      }
    })

    test('cut off after it had published and cleaned up: nothing is copied, and nothing lost', async (t) => {
      await using pair = await open(t)
      if (pair === undefined) return
      await fill(pair)
      const manifest = new MemoryManifest()
      const task = taskOf(pair, 'full', manifest)
      await runTask(engine(), task, manifest)
      const before = manifest.calls.length
      await runTask(engine(), { ...task, owned: true, published: true }, manifest)
      assertSeen(await pair.seen(), contents)
      assert.equal(manifest.calls.length, before)
    })

    test('cancelled: what was there is as it was', async (t) => {
      await using pair = await open(t)
      if (pair === undefined) return
      await fill(pair)
      const manifest = new MemoryManifest()
      await runTask(engine(), taskOf(pair, 'full', manifest), manifest)
      const before = await pair.seen()
      for (const [key, bytes] of contents)
        await pair.write(key, Buffer.concat([bytes, Buffer.of(7)]))
      for (const when of pair.pulls === true
        ? (['todo'] as const)
        : (['todo', 'commit'] as const)) {
        const task = taskOf(pair, 'full', manifest)
        const cancel = new AbortController()
        const journal = manifest.journal(task)
        await using session = engine().open()
        const stopping = { ...journal }
        if (when === 'todo') {
          stopping.todo = (items) => {
            cancel.abort()
            return journal.todo(items)
          }
        } else {
          stopping.commit = (progress) => {
            cancel.abort()
            return journal.commit(progress)
          }
        }
        await assert.rejects(session.copy(task, stopping, cancel.signal), CopyCancelled)
        assertSeen(await pair.seen(), before)
      }
    })

    test('what others put into the target stays: the copy is refused', async (t) => {
      await using pair = await open(t)
      if (pair === undefined) return
      await fill(pair)
      await pair.litter('theirs.txt', Buffer.from('mine'))
      const manifest = new MemoryManifest()
      const refused = await failure(runTask(engine(), taskOf(pair, 'full', manifest), manifest))
      assert.equal(refused.code, 'TargetNotEmpty')
      assert.deepEqual([...(await pair.seen()).keys()], ['theirs.txt'])
    })
  })
}

function assertSeen(
  seen: ReadonlyMap<string, Uint8Array>,
  expected: ReadonlyMap<string, Uint8Array>,
): void {
  const digests = (map: ReadonlyMap<string, Uint8Array>): Record<string, string> =>
    Object.fromEntries(
      [...map]
        .map(([key, bytes]) => [key, createHash('sha256').update(bytes).digest('hex')] as const)
        .sort(([left], [right]) => (left < right ? -1 : 1)),
    )
  assert.deepEqual(digests(seen), digests(expected))
}
