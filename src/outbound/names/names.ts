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

/**
 * Names that are resolved at once, of one domain and of all; the last places are for domains without one. Domains whose servers do
 * not answer cost nothing, so names have places by how long they took the last time (decision 0436).
 */
const sizes = {
  quick: { perOwnerMax: 4, sumMax: 8, spare: 2 },
  unknown: { perOwnerMax: 4, sumMax: 12, spare: 4 },
  slow: { perOwnerMax: 4, sumMax: 4 },
}
type Pace = keyof typeof sizes
/** A process resolves with half of its threads. */
const threads = 2 * (sizes.quick.sumMax + sizes.unknown.sumMax + sizes.slow.sumMax)
const slowMilliseconds = 1000
/** Names of which it is remembered how long they took. */
const rememberedMax = 10_000
/** A name that finds no place for so long is not resolved. */
const waitingMilliseconds = 15_000
/** The process ends after this long without a name. */
const idleMilliseconds = 60_000
const heapMegabytes = 32
const closing = 'the control plane ends'

interface Waiting {
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
  readonly #paces = new Map<string, Pace>()
  readonly #waiting = new Map<number, Waiting>()
  #child: Runner | undefined
  #last = 0
  #isClosed = false
  #idle: NodeJS.Timeout | undefined

  /** `environment`: further variables of the process. */
  constructor(environment: Readonly<Record<string, string>> = {}) {
    this.#environment = environment
  }

  readonly resolve: Resolve = async (name) => {
    const late = () => AbortSignal.timeout(waitingMilliseconds)
    const room = this.#rooms[this.#paces.get(name) ?? 'unknown']
    const leave = await room.enter(domainOf(name), 1, late)
    let pace: Pace = 'quick'
    const isSlow = setTimeout(() => {
      pace = 'slow'
      this.#remember(name, pace)
    }, slowMilliseconds).unref()
    try {
      const found = await this.#resolved(name)
      this.#remember(name, pace)
      return found
    } finally {
      leave()
      clearTimeout(isSlow)
    }
  }

  #remember(name: string, pace: Pace): void {
    // Behind those that were not used for longer.
    this.#paces.delete(name)
    this.#paces.set(name, pace)
    if (this.#paces.size > rememberedMax) this.#paces.delete(this.#paces.keys().next().value ?? '')
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
    this.#waiting.set(id, { resolve, reject })
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
    this.#waiting.delete(answer.id)
    if ('addresses' in answer) waiting?.resolve(answer.addresses)
    else waiting?.reject(new Error(answer.reason))
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

/** Below them names belong to one owner each: `example.co.uk` is nobody's but its owner's, as `example.org` is. */
const shared = /^(?:ac|co|com|edu|go|gob|gov|ltd|me|mil|ne|net|nom|or|org|plc|sch)\.[a-z]{2}$/

/** What belongs to one owner. Whoever has a domain has any number of names in it. */
function domainOf(name: string): string {
  const labels = name.split('.')
  const two = labels.slice(-2).join('.')
  return shared.test(two) ? labels.slice(-3).join('.') : two
}
