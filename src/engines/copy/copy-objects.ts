/**
 * Copies objects to objects: lists the source, copies what the journal does not know, publishes. Small items go
 * through memory whole, large ones in chunks with checkpoints. A changed item is read again once.
 */

import { createHash, type Hash, hash } from 'node:crypto'
import { setImmediate as breathe } from 'node:timers/promises'
import { createRoom, inRoom } from '#kernel/room.ts'
import { elapsedMilliseconds } from './elapsed.ts'
import {
  batchItems,
  CopyCancelled,
  type CopyControl,
  CopyFailure,
  type CopyJournal,
  type CopyTask,
  type CountedWork,
  type DoneItem,
} from './engine.ts'
import { ItemChanged, type ListedItem, type ObjectSink, type ObjectSource } from './objects.ts'

/**
 * How often progress is committed. Committing more often costs the store; less often means copying more again after
 * a cut.
 */
const commitMilliseconds = 250
const checkpointBytes = 64 * 1024 * 1024
const breatheMilliseconds = 2
/** Items from this size on go through memory a few at a time, however many small ones are in progress. */
const heavyBytes = 256 * 1024
const heavyAtOnce = 8
/**
 * The number of items remembered until the end. When there are more, the source is listed again, so that memory
 * stays flat.
 */
const leftMax = 50_000

export async function copyObjects(
  task: CopyTask,
  source: ObjectSource,
  sink: ObjectSink,
  { journal, signal }: CopyControl,
): Promise<void> {
  const replaces = task.mode === 'full' || !task.owned
  const prepared = await sink.prepare(journal.forget)
  if (prepared === 'published') {
    await journal.published({ replaces })
    return sink.discard()
  }
  const run = new ObjectsRun(source, sink, journal)
  await run.all(replaces ? 'later' : 'now', signal)
  stopIfCancelled(signal)
  if (replaces) await journal.publishing()
  await sink.publish(journal)
  await run.rest()
  if (replaces) await sink.tidy?.(journal)
  await journal.published({ replaces })
  // Not earlier: by its stage a run that was cut off here knows that it had published.
  await sink.discard()
}

function stopIfCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw new CopyCancelled()
}

interface ToCopy {
  readonly item: ListedItem
  /** This many bytes are already there. */
  readonly offset: number
}

/** When the service copies by itself: in turn, left for the end, or (at the end) only those. */
type Pulling = 'now' | 'later' | 'only'

class ObjectsRun {
  readonly #source: ObjectSource
  readonly #sink: ObjectSink
  readonly #journal: CopyJournal
  readonly #width: number
  readonly #heavy = createRoom({ perOwnerMax: heavyAtOnce, sumMax: heavyAtOnce })
  #signal = new AbortController().signal
  #pulling: Pulling = 'now'
  /** Items left for the end; undefined when there are too many to remember. */
  #left: ListedItem[] | undefined = []
  /** The failure of an item at the end. The others continue, so that as little as possible stays old. */
  #failure: CopyFailure | undefined
  #done: DoneItem[] = []
  #bytes = 0
  #committedAt = elapsedMilliseconds()
  #breathedAt = elapsedMilliseconds()
  /** Bytes of large items in progress, by key: read, and safe in the stage. */
  readonly #underway = new Map<string, number>()
  #committing: Promise<void> = Promise.resolve()

  constructor(source: ObjectSource, sink: ObjectSink, journal: CopyJournal) {
    this.#source = source
    this.#sink = sink
    this.#journal = journal
    this.#width = Math.max(source.width, sink.width)
  }

  async all(pulling: Exclude<Pulling, 'only'>, signal: AbortSignal): Promise<void> {
    this.#pulling = pulling
    this.#signal = signal
    await this.#listed()
  }

  /** Copies what was left. It always completes: stopped half-way it would leave old and new items side by side. */
  async rest(): Promise<void> {
    const left = this.#left
    if (left?.length === 0) return
    this.#pulling = 'only'
    this.#signal = new AbortController().signal
    if (left === undefined) await this.#listed()
    else {
      await this.#sideBySide(whole(left))
      await this.#settled()
    }
    if (this.#failure !== undefined) throw this.#failure
  }

  async #listed(): Promise<void> {
    await this.#sideBySide(this.#toCopy())
    await this.#settled()
  }

  async *#toCopy(): AsyncGenerator<ToCopy> {
    for await (const batch of this.#source.list()) {
      stopIfCancelled(this.#signal)
      const todo = await this.#journal.todo(batch)
      for (const [at, item] of batch.entries()) {
        const what = todo[at]
        if (what === undefined || what.kind === 'skip' || !this.#isTurnOf(item)) continue
        yield { item, offset: what.kind === 'resume' ? what.offset : 0 }
      }
    }
  }

  async #settled(): Promise<void> {
    await this.#commit()
    await this.#committing
  }

  /** Large items in progress do not hold up the small ones behind them. */
  async #sideBySide(items: AsyncIterator<ToCopy, unknown>): Promise<void> {
    let failed = false
    const lane = async (): Promise<void> => {
      while (!failed) {
        const next = await items.next()
        if (next.done === true) return
        await this.#item(next.value)
        if (elapsedMilliseconds() - this.#committedAt >= commitMilliseconds) await this.#commit()
        if (elapsedMilliseconds() - this.#breathedAt >= breatheMilliseconds) await this.#breathe()
      }
    }
    const lanes = Array.from({ length: this.#width }, () =>
      lane().catch((error: unknown) => {
        // Rethrown below, when the other workers have released what they hold.
        failed = true
        throw error
      }),
    )
    const ended = await Promise.allSettled(lanes)
    for (const one of ended) if (one.status === 'rejected') throw one.reason
  }

  #isTurnOf(item: ListedItem): boolean {
    const pulls = this.#sink.pulls?.(item) === true
    if (pulls && this.#pulling === 'later') {
      this.#left?.push(item)
      if (this.#left !== undefined && this.#left.length > leftMax) this.#left = undefined
    }
    return this.#pulling === 'now' || pulls === (this.#pulling === 'only')
  }

  /** Lets messages in, above all a cancellation. */
  async #breathe(): Promise<void> {
    await breathe()
    this.#breathedAt = elapsedMilliseconds()
    stopIfCancelled(this.#signal)
  }

  async #item({ item: listed, offset }: ToCopy): Promise<void> {
    stopIfCancelled(this.#signal)
    let item = listed
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#copy(item, attempt === 0 ? offset : 0)
      } catch (error) {
        // The adapter reports that the source changed; the first time is forgiven.
        if (!(error instanceof ItemChanged)) throw error
        this.#underway.delete(item.key)
        const now = attempt > 0 ? undefined : await this.#source.look(item.key)
        if (now !== undefined) {
          item = now
          continue
        }
        const why =
          attempt > 0
            ? `${error.message}, and again when read anew`
            : `'${item.key}' was removed while it was copied`
        const failure = new CopyFailure('SourceChanged', why)
        if (this.#pulling !== 'only') throw failure
        this.#failure ??= failure
        return
      }
    }
  }

  #copy(item: ListedItem, offset: number): void | Promise<void> {
    if (this.#sink.pulls?.(item) === true) return this.#pull(item)
    const { size } = item
    const work = (): void | Promise<void> =>
      size > this.#source.wholeMax ? this.#large(item, offset) : this.#small(item)
    if (size <= heavyBytes || this.#width <= heavyAtOnce) return work()
    return inRoom(this.#heavy, 'heavy', work)
  }

  /** When both are synchronous, nothing runs between reading and writing: the source reuses its buffer. */
  #small(item: ListedItem): void | Promise<void> {
    const bytes = this.#source.whole(item)
    if (bytes instanceof Promise) return bytes.then((read) => this.#put(item, read))
    return this.#put(item, bytes)
  }

  async #pull(item: ListedItem): Promise<void> {
    const digest = await this.#sink.pull?.(item)
    this.#note(item, digest ?? '')
  }

  #put(item: ListedItem, bytes: Uint8Array): void | Promise<void> {
    const digest = `${this.#sink.hash}:${hash(this.#sink.hash, bytes)}`
    if (this.#sink.has(item)) return this.#note(item, digest)
    const put = this.#sink.putWhole(item, bytes, digest)
    if (put instanceof Promise) return put.then(() => this.#note(item, digest))
    this.#note(item, digest)
  }

  #note({ key, size, etag }: ListedItem, digest: string): void {
    this.#done.push({ key, size, etag, digest })
    this.#bytes += size
  }

  async #large(item: ListedItem, offset: number): Promise<void> {
    const upload = await this.#sink.begin(item, offset)
    const digest = createHash(this.#sink.hash)
    // Runs beside the copying, since the disk is slow; one at a time.
    let saving: Promise<void> | undefined
    const save = async (): Promise<void> => {
      const safe = await upload.checkpoint()
      await this.#commit({ key: item.key, etag: item.etag, offset: safe })
    }
    try {
      await take(digest, upload.kept?.() ?? firstBytes(this.#source, item, upload.offset))
      let at = upload.offset
      let checkpoint = at
      for await (const chunk of this.#source.open(item, at)) {
        stopIfCancelled(this.#signal)
        const written = upload.write(chunk)
        digest.update(chunk)
        await written
        at += chunk.length
        this.#underway.set(item.key, at)
        if (at - checkpoint >= checkpointBytes && at < item.size) {
          await saving
          checkpoint = at
          saving = save()
          // The error is thrown where it is awaited.
          saving.catch(() => undefined)
        } else if (elapsedMilliseconds() - this.#committedAt >= commitMilliseconds) {
          await this.#commit()
        }
      }
      await saving
      if (at !== item.size) throw new ItemChanged(item.key)
      const hex = `${this.#sink.hash}:${digest.digest('hex')}`
      await upload.finish(hex)
      this.#underway.delete(item.key)
      this.#note(item, hex)
    } finally {
      await Promise.allSettled([saving])
      await upload.close()
    }
  }

  /** Commits the progress since the last time; one commit at a time, in order. */
  async #commit(part?: {
    readonly key: string
    readonly etag: string
    readonly offset: number
  }): Promise<void> {
    const done = this.#done
    const bytes = this.#bytes
    this.#done = []
    this.#bytes = 0
    this.#committedAt = elapsedMilliseconds()
    let running = 0
    for (const one of this.#underway.values()) running += one
    const underway: CountedWork = { sizeRead: running, sizeWritten: running }
    const before = this.#committing
    this.#committing = (async () => {
      await before
      if (done.length === 0 && part === undefined && running === 0) return
      const parts = chunked(done)
      for (const [at, some] of parts.entries()) {
        const size = parts.length === 1 ? bytes : some.reduce((sum, one) => sum + one.size, 0)
        await this.#journal.commit({
          done: some,
          counted: {
            filesRead: some.length,
            filesWritten: some.length,
            sizeRead: size,
            sizeWritten: size,
          },
          underway,
          ...(part === undefined || at > 0 ? {} : { part }),
        })
      }
    })()
    // The next waiter gets the error; without this, a failure meanwhile would end the process.
    this.#committing.catch(() => undefined)
    // At most one commit is ahead, so that uncommitted progress does not pile up.
    await before
  }
}

async function* whole(items: readonly ListedItem[]): AsyncGenerator<ToCopy> {
  for (const item of items) yield { item, offset: 0 }
}

async function take(digest: Hash, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of chunks) digest.update(chunk)
}

/** Read again from the source when the target cannot return what it has. */
async function* firstBytes(
  source: ObjectSource,
  item: ListedItem,
  length: number,
): AsyncGenerator<Uint8Array> {
  let left = length
  if (left === 0) return
  for await (const chunk of source.open(item, 0)) {
    yield chunk.length > left ? chunk.subarray(0, left) : chunk
    left -= chunk.length
    if (left <= 0) return
  }
}

function chunked(done: readonly DoneItem[]): readonly (readonly DoneItem[])[] {
  if (done.length <= batchItems) return [done]
  const chunks: (readonly DoneItem[])[] = []
  for (let at = 0; at < done.length; at += batchItems) chunks.push(done.slice(at, at + batchItems))
  return chunks
}
