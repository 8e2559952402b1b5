/**
 * Runs statements whose cost grows with a table in a thread, since a call of SQLite blocks its thread. The first
 * statement starts the thread. It reads what is committed, like the reading connection. Short statements are answered
 * between the rows of a long one. Copying the log has a thread of its own, so that no long scan delays it.
 */

import { closeSync, constants, openSync, readSync, statSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { objectMaker } from '#kernel/object-maker.ts'
import { type Awaited, createRoom } from '#kernel/room.ts'
import { awaitedSignal, callOwner } from '../awaited.ts'
import { assertCarried, assertReads } from '../sql.ts'
import {
  type SqlReads,
  type SqlRow,
  type SqlValue,
  StatementTooLong,
  StoreUnavailable,
} from '../store.ts'
import type { LogState } from './checkpoints.ts'
import type { Cells, ScanAnswer, ScanMessage, ScanRequest, ScanSettings } from './scan-messages.ts'

/** Other long statements wait for the thread as long. */
const usualSecondsMax = 5
/** Each has a connection of its own. The last place is for owners who have none. */
const snapshots = { perOwnerMax: 2, sumMax: 4, spare: 1 }

const oneByte = Buffer.alloc(1)

/** Reads do not change the time of the last one, where the system can leave that out, which it does for the owner alone. */
function openUnseen(file: string): number | undefined {
  const uid = statSync(file, { throwIfNoEntry: false })?.uid
  if (uid === undefined) return undefined
  const isOwn = uid === process.geteuid?.()
  return openSync(file, constants.O_RDONLY | (isOwn ? (constants.O_NOATIME ?? 0) : 0))
}

/** For whom a statement runs. */
interface Caller {
  readonly owner: string | undefined
  /** Nobody waits for the answer once it is aborted. */
  readonly signal: ReturnType<Awaited>
}

interface Waiting {
  resolve(cells: Cells): void
  reject(error: Error): void
}

export class Scanner {
  readonly #settings: ScanSettings
  readonly #waiting = new Map<number, Waiting>()
  readonly #snapshots = createRoom(snapshots)
  #worker: Worker | undefined
  /** The descriptor of the log file, which is there as long as a connection is open. */
  #log: number | undefined
  #isClosed = false
  #last = 0

  /** `secondsMax`: the processor time of one statement that counts its rows. */
  constructor(path: string, secondsMax = usualSecondsMax) {
    this.#settings = { path, secondsMax }
  }

  async all(text: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    return await this.#all(text, values, callerNow())
  }

  async #all(
    text: string,
    values: readonly SqlValue[],
    caller: Caller,
    snapshot?: number,
  ): Promise<readonly SqlRow[]> {
    assertReads(text)
    assertCarried(values)
    const at = snapshot === undefined ? {} : { snapshot }
    const { columns, rows } = await this.#ask({ kind: 'read', text, values, ...at }, caller)
    return rows.map(objectMaker<SqlValue>(columns))
  }

  /** All reads of `work` see the store as it was at the first of them. */
  async snapshot<T>(work: (reads: SqlReads) => Promise<T>): Promise<T> {
    const caller = callerNow()
    const { owner } = caller
    const leave = await this.#snapshots.enter(owner ?? '', 1, awaitedSignal)
    const snapshot = ++this.#last
    const read: SqlReads['all'] = (text, ...values) => this.#all(text, values, caller, snapshot)
    try {
      return await work({ pauses: true, all: read, scan: read })
    } finally {
      // Also when the thread is lost meanwhile: otherwise the place would stay taken for ever.
      await this.#end(snapshot, owner).finally(leave)
    }
  }

  /**
   * Whether the log file has more bytes than this. It reads the byte at that place: whoever asks for a file's times makes the
   * next write give it new ones, and the flush of that write then waits for them too.
   */
  isLogLonger(bytes: number): boolean {
    this.#log ??= openUnseen(`${this.#settings.path}-wal`)
    return this.#log !== undefined && readSync(this.#log, oneByte, 0, 1, bytes) === 1
  }

  /** Copies what is committed into the file, as far as no reader needs the log. */
  async checkpoint(): Promise<LogState> {
    const { rows } = await this.#ask({ kind: 'checkpoint' })
    const [, pages, copied] = rows[0] ?? []
    return { pages: Number(pages), copied: Number(copied) }
  }

  async #end(snapshot: number, owner: string | undefined): Promise<void> {
    if (this.#worker !== undefined) await this.#ask({ kind: 'end', snapshot }, { owner })
  }

  async close(): Promise<void> {
    const worker = this.#worker
    if (this.#log !== undefined) closeSync(this.#log)
    this.#log = undefined
    if (worker !== undefined && !this.#isClosed) {
      const ended = new Promise((resolve) => worker.once('exit', resolve))
      await this.#ask({ kind: 'close' })
      this.#isClosed = true
      // Keeps the process alive until this promise settles.
      worker.ref()
      await ended
    }
    this.#isClosed = true
  }

  #ask(work: ScanRequest['work'], { owner, signal }: Partial<Caller> = {}): Promise<Cells> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) {
        reject(new StoreUnavailable('The store is closed.', 'later'))
        return
      }
      signal?.throwIfAborted()
      this.#worker ??= this.#start()
      const id = ++this.#last
      const forget = (): void => {
        this.#forget(id)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', forget)
      const settled =
        <T>(settle: (outcome: T) => void) =>
        (outcome: T): void => {
          signal?.removeEventListener('abort', forget)
          settle(outcome)
        }
      this.#waiting.set(id, { resolve: settled(resolve), reject: settled(reject) })
      // A running statement keeps the process alive, like any work.
      this.#worker.ref()
      this.#worker.postMessage({ id, work, owner } satisfies ScanRequest)
    })
  }

  #forget(request: number): void {
    if (!this.#waiting.delete(request)) return
    if (this.#waiting.size === 0) this.#worker?.unref()
    this.#worker?.postMessage({ forget: request } satisfies ScanMessage)
  }

  #start(): Worker {
    const file = import.meta.url.endsWith('.ts') ? './scan-thread.ts' : './scan-thread.js'
    const worker = new Worker(new URL(file, import.meta.url), {
      workerData: this.#settings,
      // The launcher leaves this warning out of the main thread alone.
      execArgv: ['--disable-warning=ExperimentalWarning'],
    })
    worker.unref()
    worker.on('message', (answer: ScanAnswer) => this.#answered(worker, answer))
    worker.on('error', (error: unknown) =>
      this.#lost(worker, error instanceof Error ? error.message : String(error)),
    )
    worker.on('exit', () => this.#lost(worker, 'its thread has ended'))
    return worker
  }

  #answered(worker: Worker, { id, outcome }: ScanAnswer): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (this.#waiting.size === 0) worker.unref()
    if (waiting === undefined) return
    if (outcome.kind === 'rows') waiting.resolve(outcome)
    else if (outcome.kind === 'unavailable') {
      waiting.reject(new StoreUnavailable(outcome.message, outcome.retry))
    } else if (outcome.kind === 'too long') waiting.reject(new StatementTooLong())
    else waiting.reject(Object.assign(new Error(outcome.message), { stack: outcome.stack }))
  }

  /** Rejects what was sent to it; the next statement starts another thread. */
  #lost(worker: Worker, reason: string): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    const lost = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { reject } of lost) {
      reject(new StoreUnavailable(`SQLite cannot answer: ${reason}`, 'later'))
    }
  }
}

function callerNow(): Caller {
  return { owner: callOwner(), signal: awaitedSignal() }
}
