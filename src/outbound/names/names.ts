/**
 * Resolves the names that callers give, in a process of its own. The system takes a thread for each until its DNS servers have
 * answered, and a process has two for that: names for which no server answers would hold up all others, that of the database of
 * this installation too (decision 0418).
 */

import { createRoom, type Room } from '#kernel/room.ts'
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
/** A process resolves with half of its threads. */
const threads = 2 * (sizes.quick.sumMax + sizes.unknown.sumMax + sizes.slow.sumMax)
/** A name that finds no place for so long is not resolved. */
const waitingMilliseconds = 15_000
/** The process ends after this long without a name. */
const idleMilliseconds = 60_000
const heapMegabytes = 32
const closing = 'the control plane ends'

interface Waiting {
  readonly name: string
  isSlow: boolean
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
  readonly #paces = new Paces()
  /** By name. */
  readonly #underway = new Map<string, Promise<readonly string[]>>()
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
    const others = this.#underway.get(name)
    if (others !== undefined) return others
    const room = this.#rooms[this.#paces.of(name)]
    const late = () => signal ?? AbortSignal.timeout(waitingMilliseconds)
    const leave = await room.enter(domainOf(name), 1, late)
    // Somebody else may have begun meanwhile.
    const before = this.#underway.get(name)
    if (before !== undefined) {
      leave()
      return before
    }
    const own = this.#resolved(name).finally(() => {
      this.#underway.delete(name)
      leave()
    })
    this.#underway.set(name, own)
    return own
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#end(closing)
  }

  async #resolved(name: string): Promise<readonly string[]> {
    if (this.#isClosed) throw new Error(closing)
    this.#child ??= this.#start()
    clearTimeout(this.#idle)
    const id = ++this.#last
    const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>()
    this.#waiting.set(id, { name, isSlow: false, resolve, reject })
    // What is under way keeps the process running, as any connection does.
    this.#child.ref()
    this.#child.postMessage({ id, name } satisfies Lookup)
    return await promise
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
    if ('isSlow' in answer) {
      waiting.isSlow = true
      this.#paces.remember(waiting.name, 'slow')
      return
    }
    this.#waiting.delete(answer.id)
    if ('addresses' in answer) {
      if (!waiting.isSlow) this.#paces.remember(waiting.name, 'quick')
      waiting.resolve(answer.addresses)
    } else waiting.reject(Object.assign(new Error(answer.reason), { code: answer.code }))
    if (this.#waiting.size > 0) return
    this.#child?.unref()
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => this.#end('nobody needs it'), idleMilliseconds).unref()
  }

  #end(reason: string): void {
    clearTimeout(this.#idle)
    void this.#child?.terminate()
    this.#child = undefined
    for (const { reject } of this.#waiting.values()) reject(new Error(reason))
    this.#waiting.clear()
  }
}
