/**
 * Looks at servers that callers name, in processes of their own (decision 0292). One process serves all calls. When it is
 * lost, the servers of the calls that were under way are kept apart for a while: each has a process to itself, so that the
 * one that causes it is found, and is left alone. Nothing here connects to a server.
 */

import type { Clock } from '#kernel/ports.ts'
import { canonicalHost } from '#outbound/address.ts'
import type { WayOut } from '#outbound/way-of-parent.ts'
import { DatabaseEngineError, type ServerAddress } from '../../engine.ts'
import {
  type Ending,
  type LooksBounds,
  LooksProcess,
  type Lost,
  type SentCall,
} from './looks-process.ts'
import type { LookCall, LookName, LookOutcome, LookResult, LookValues } from './messages.ts'
import { Pauses } from './pauses.ts'
import { Places } from './places.ts'

interface LooksOptions {
  readonly outbound: WayOut
  readonly clock: Clock
}

/** A process without calls ends after so long; every registered server is looked at every 15 seconds. */
const idleMilliseconds = 60_000
const boundsOfAll: LooksBounds = {
  roomMegabytes: 256,
  heapMegabytes: 1024,
  residentMegabytes: 1536,
}
const boundsApart: LooksBounds = { roomMegabytes: 96, heapMegabytes: 512, residentMegabytes: 768 }

/** Calls that change a server are not begun twice. */
const changing: ReadonlySet<LookName> = new Set([
  'changeSetting',
  'createDatabase',
  'dropDatabase',
  'setUpReplication',
])

export class Looks implements AsyncDisposable {
  readonly #outbound: WayOut
  readonly #clock: Clock
  readonly #apart: Places
  /** Hosts that are looked at in a process of their own. */
  readonly #suspects = new Pauses()
  /** The servers, with their ports, of a call that was alone in a process that was lost: others' may be at the same host. */
  readonly #leftAlone = new Pauses()
  #all: LooksProcess | undefined
  #idle: NodeJS.Timeout | undefined
  #isClosed = false

  constructor({ outbound, clock }: LooksOptions) {
    this.#outbound = outbound
    this.#clock = clock
    this.#apart = new Places((key) => this.#start(boundsApart, (lost) => this.#blame(key, lost)))
  }

  async run<K extends LookName>(
    name: K,
    values: LookValues[K],
    {
      owner = '',
      signal,
    }: { readonly owner?: string | undefined; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<LookResult<K>> {
    signal?.throwIfAborted()
    const call = { name, values } as LookCall
    const servers = serversOf(call)
    const ending = await this.#end({ owner, call, servers, now: this.#clock.now(), signal })
    if (ending.kind === 'lost') throw this.#notSeen(call, servers)
    // What the process sends for a call is what the port's function of that name returned.
    return resultOf(ending, signal) as LookResult<K>
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#idle)
    this.#suspects.end()
    this.#leftAlone.end()
    await Promise.all([this.#all?.[Symbol.asyncDispose](), this.#apart[Symbol.asyncDispose]()])
  }

  async #end(sent: SentCall): Promise<Ending> {
    const key = keyOf(sent.servers)
    const mayBegin = (): boolean => !this.#isClosed && !this.#leftAlone.has(key)
    if (!mayBegin()) return { kind: 'lost' }
    const isApart = hostsOf(sent.servers).some((host) => this.#suspects.has(host))
    const first = isApart ? await this.#apart.call(key, sent) : await this.#callWithAll(sent)
    const isRepeated = first.kind === 'lost' && !changing.has(sent.call.name) && mayBegin()
    return isRepeated ? await this.#apart.call(key, sent) : first
  }

  async #callWithAll(sent: SentCall): Promise<Ending> {
    clearTimeout(this.#idle)
    const there = this.#all?.isThere === true ? this.#all : undefined
    const process = there ?? this.#start(boundsOfAll, (lost) => this.#suspect(lost))
    this.#all = process
    const ending = await process.call(sent)
    if (process === this.#all && process.isIdle) this.#endWhenIdle(process)
    return ending
  }

  #endWhenIdle(process: LooksProcess): void {
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => {
      if (process.isIdle) process.end()
    }, idleMilliseconds).unref()
  }

  #start(bounds: LooksBounds, onLost: (lost: Lost) => void): LooksProcess {
    return new LooksProcess({ outbound: this.#outbound, bounds, onLost })
  }

  /** Whoever was looked at then may have caused it. */
  #suspect({ isUnstarted, reason, underWay }: Lost): void {
    if (this.#isClosed) return
    this.#log(reason, underWay.flat())
    if (isUnstarted) return
    for (const host of new Set(hostsOf(underWay.flat()))) this.#suspects.begin(host)
  }

  /** Nobody else was looked at. */
  #blame(key: string, { isUnstarted, reason, underWay }: Lost): void {
    const [servers] = underWay
    if (this.#isClosed || servers === undefined) return
    this.#log(reason, servers)
    if (isUnstarted) return
    this.#leftAlone.begin(key)
    for (const host of hostsOf(servers)) this.#suspects.begin(host)
  }

  #log(reason: string, servers: readonly ServerAddress[]): void {
    for (const { host, port } of servers) {
      const words = `the process that looked at it was lost: ${reason}`
      this.#outbound.failed({ scheme: 'postgresql', host, port }, words)
    }
  }

  #notSeen(call: LookCall, servers: readonly ServerAddress[]): DatabaseEngineError {
    const where = servers.map(({ host, port }) => `${host}:${port}`).join(' and ')
    const message = this.#isClosed
      ? 'The control plane ends.'
      : changing.has(call.name)
        ? `The process that was at work on ${where} was lost: what it was to do may or may not be done.`
        : `The process that looked at ${where} was lost. It is looked at again later.`
    const kind = this.#isClosed ? 'ended' : 'unavailable'
    return new DatabaseEngineError(kind, message, { number: 603000 })
  }
}

function serversOf(call: LookCall): readonly ServerAddress[] {
  switch (call.name) {
    case 'survey':
    case 'traces':
      return [call.values[1].source, call.values[1].target]
    case 'validate':
      return [call.values[0].source, call.values[0].target]
    default:
      return [call.values[0].address]
  }
}

function hostsOf(servers: readonly ServerAddress[]): readonly string[] {
  return servers.map(({ host }) => canonicalHost(host) ?? host)
}

function keyOf(servers: readonly ServerAddress[]): string {
  const hosts = hostsOf(servers)
  const all = servers.map(({ port }, at) => `${hosts[at]}:${port}`)
  return [...new Set(all)].sort().join(' ')
}

function resultOf(outcome: LookOutcome, signal: AbortSignal | undefined): unknown {
  switch (outcome.kind) {
    case 'done':
      return outcome.value
    case 'failed': {
      const { failure, message, number } = outcome
      throw new DatabaseEngineError(failure, message, { number })
    }
    case 'canceled':
      signal?.throwIfAborted()
      throw new DatabaseEngineError('unavailable', 'The look was broken off.')
    case 'fault':
      throw new Error(`looking at a server failed: ${outcome.message}`)
    default:
      return outcome satisfies never
  }
}
