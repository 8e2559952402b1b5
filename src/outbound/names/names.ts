/**
 * Resolves the names that callers give, in a process of its own. The system takes a thread for each until its DNS servers have
 * answered, and a process has two for that: names for which no server answers would hold up all others, that of the database of
 * this installation too (decision 0418).
 */

import { createRoom, type Leave, type Room } from '#kernel/room.ts'
import { beginProcess } from '#threads/begin-process.ts'
import type { Runner } from '#threads/limited-threads.ts'
import type { Resolve } from '../outbound.ts'
import type { Answer, Lookup } from './messages.ts'
import { domainOf, type Pace, Paces } from './paces.ts'

/**
 * Names that are resolved at once, of one domain and of all; the last places are for domains without one. Domains whose servers do
 * not answer cost nothing, so names have places by how long they took the last time (decision 0436).
 */
const sizes = {
  quick: { perOwnerMax: 4, sumMax: 8, spare: 2 },
  unknown: { perOwnerMax: 4, sumMax: 12, spare: 4 },
  slow: { perOwnerMax: 4, sumMax: 4 },
}
/** Those that were no slow ones before, and have taken a second: they leave their places, as far as there is room here. */
const overdue = { perOwnerMax: 2, sumMax: 16, spare: 4 }
/** A process resolves with half of its threads. */
const threads = 2 * (sizes.quick.sumMax + sizes.unknown.sumMax + sizes.slow.sumMax + overdue.sumMax)
/** A name that finds no place for so long is not resolved. */
const waitingMilliseconds = 15_000
/** The process ends after this long without a name. */
const idleMilliseconds = 60_000
const heapMegabytes = 32
const closing = 'the control plane ends'

/** A name that is looked up, or waits for a place. */
interface Entry {
  readonly name: string
  readonly found: Promise<readonly string[]>
  /** How many want it who may still give up: while it waits for a place. */
  wanted: number
  /** It waits no longer. */
  readonly gone: AbortController
  isUnderway: boolean
  resolve(addresses: readonly string[]): void
}

interface Waiting {
  readonly entry: Entry
  isSlow: boolean
  /** Of its place. */
  readonly leave: Leave
  readonly ended: AbortController
  resolve(addresses: readonly string[]): void
  reject(error: Error): void
}

export class Names implements AsyncDisposable {
  readonly #environment: Readonly<Record<string, string>>
  readonly #rooms: Readonly<Record<Pace, Room>> = {
    quick: createRoom(sizes.quick),
    unknown: createRoom(sizes.unknown),
    slow: createRoom(sizes.slow),
  }
  readonly #overdue = createRoom(overdue)
  readonly #paces = new Paces()
  /** By name: those that more callers may join. */
  readonly #entries = new Map<string, Entry>()
  readonly #waiting = new Map<number, Waiting>()
  #child: Runner | undefined
  #last = 0
  #isClosed = false
  #idle: NodeJS.Timeout | undefined

  /** `environment`: further variables of the process. */
  constructor(environment: Readonly<Record<string, string>> = {}) {
    this.#environment = environment
  }

  readonly resolve: Resolve = async (name, signal) => {
    const entry = this.#entries.get(name) ?? this.#begin(name)
    if (entry.isUnderway) return entry.found
    return this.#placed(entry, signal ?? AbortSignal.timeout(waitingMilliseconds))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#end(closing)
  }

  #begin(name: string): Entry {
    const { promise: found, resolve, reject } = Promise.withResolvers<readonly string[]>()
    const gone = new AbortController()
    const entry = { name, found, wanted: 0, gone, isUnderway: false, resolve }
    this.#entries.set(name, entry)
    this.#find(entry)
      .finally(() => this.#forget(entry))
      .then(resolve, reject)
    return entry
  }

  /** Nobody joins it any more. */
  #forget(entry: Entry): void {
    if (this.#entries.get(entry.name) === entry) this.#entries.delete(entry.name)
  }

  /** Rejects with the signal's reason where there is no place before. */
  #placed(entry: Entry, signal: AbortSignal): Promise<readonly string[]> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        if (entry.isUnderway) return
        reject(signal.reason)
        entry.wanted--
        if (entry.wanted > 0) return
        this.#forget(entry)
        entry.gone.abort(signal.reason)
      }
      entry.wanted++
      entry.found.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
      if (signal.aborted) giveUp()
      else signal.addEventListener('abort', giveUp)
    })
  }

  async #find(entry: Entry): Promise<readonly string[]> {
    const { name, gone } = entry
    const pace = this.#paces.of(name)
    const place = this.#rooms[pace].enter(domainOf(name), 1, () => gone.signal)
    const leave = place instanceof Promise ? await place : place
    try {
      // While it waited, others may have shown how slow it is.
      if (this.#paces.of(name) === pace) {
        entry.isUnderway = true
        return await this.#resolved(entry, leave)
      }
    } finally {
      leave()
    }
    return this.#find(entry)
  }

  async #resolved(entry: Entry, leave: Leave): Promise<readonly string[]> {
    if (this.#isClosed) throw new Error(closing)
    this.#child ??= this.#start()
    clearTimeout(this.#idle)
    const id = ++this.#last
    const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>()
    const ended = new AbortController()
    this.#waiting.set(id, { entry, isSlow: false, leave, ended, resolve, reject })
    // What is under way keeps the process running, as any connection does.
    this.#child.ref()
    this.#child.postMessage({ id, name: entry.name } satisfies Lookup)
    return await promise.finally(() => ended.abort())
  }

  /** It leaves its place to others, and has one here until it ends. */
  async #moveOver({ entry, leave, ended: { signal } }: Waiting): Promise<void> {
    const entering = this.#overdue.enter(domainOf(entry.name), 1, () => signal)
    const [entered] = await Promise.allSettled([entering])
    if (entered.status === 'rejected') return
    leave()
    if (signal.aborted) entered.value()
    else signal.addEventListener('abort', entered.value)
  }

  #start(): Runner {
    // In a package the files are JavaScript; in a checkout they are TypeScript.
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    const child = beginProcess(new URL(`./main.${extension}`, import.meta.url), {
      heapMegabytes,
      semiSpaceMegabytes: 1,
      environment: { UV_THREADPOOL_SIZE: String(threads), ...this.#environment },
    })
    child.on('message', (answer: Answer) => this.#hear(answer))
    child.once('error', () => {
      if (this.#child === child) this.#end('the process of names ended')
    })
    return child
  }

  #hear(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id)
    if (waiting === undefined) return
    const { entry } = waiting
    if ('isSlow' in answer) {
      waiting.isSlow = true
      // One packet may be lost: whoever comes now has it looked up once more, in a place of slow names.
      if (this.#paces.of(entry.name) !== 'slow') {
        this.#forget(entry)
        void this.#moveOver(waiting)
      }
      this.#paces.remember(entry.name, 'slow')
      return
    }
    this.#waiting.delete(answer.id)
    if ('addresses' in answer) {
      if (!waiting.isSlow) this.#paces.remember(entry.name, 'quick')
      waiting.resolve(answer.addresses)
      this.#answerLater(entry.name, answer.addresses)
    } else waiting.reject(Object.assign(new Error(answer.reason), { code: answer.code }))
    if (this.#waiting.size > 0) return
    this.#child?.unref()
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => this.#end('nobody needs it'), idleMilliseconds).unref()
  }

  /** Whoever came when it was slow already has the answer, too. */
  #answerLater(name: string, addresses: readonly string[]): void {
    const later = this.#entries.get(name)
    if (later === undefined) return
    this.#forget(later)
    later.resolve(addresses)
    later.gone.abort()
  }

  #end(reason: string): void {
    clearTimeout(this.#idle)
    void this.#child?.terminate()
    this.#child = undefined
    for (const { reject } of this.#waiting.values()) reject(new Error(reason))
    this.#waiting.clear()
  }
}
