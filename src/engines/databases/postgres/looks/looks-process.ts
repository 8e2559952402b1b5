/**
 * One process that looks at servers, as its parent sees it: it is sent calls, its loop is watched, and it is ended with the
 * programs it started. It starts no other in its place, and blames nobody.
 */

import { type ChildProcess, fork } from 'node:child_process'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import * as tls from 'node:tls'
import type { Destination } from '#outbound/outbound.ts'
import { decide, type WayOut } from '#outbound/way-of-parent.ts'
import type { ServerAddress } from '../../engine.ts'
import {
  beatMilliseconds,
  type FromLooks,
  type LookCall,
  type LookOutcome,
  type ToLooks,
} from './messages.ts'

/** A loop that does not turn for so many beats is held. On a busy machine a large structure takes some of them. */
const beatsMissedMax = 10
/** One without calls that does not end by itself so soon is ended. */
const leavingMilliseconds = 3000
/** A start takes longer on a busy machine, and holds up nobody but those who wait for it. */
const beatsOfStartMax = 60

export interface LooksBounds {
  readonly roomMegabytes: number
  readonly heapMegabytes: number
  readonly residentMegabytes: number
}

interface LooksProcessOptions {
  readonly outbound: WayOut
  readonly bounds: LooksBounds
  /** Called before the calls that were under way end as lost. */
  onLost(lost: Lost): void
}

export interface Lost {
  readonly reason: string
  /** It never got to listen: that is no server's doing. */
  readonly isUnstarted: boolean
  /** The servers of each call that was under way. */
  readonly underWay: readonly (readonly ServerAddress[])[]
}

export interface SentCall {
  /** Whom it is for. */
  readonly owner: string
  readonly call: LookCall
  readonly servers: readonly ServerAddress[]
  readonly now: number
  readonly signal?: AbortSignal | undefined
}

/** `lost`: the process ended before the call did. */
export type Ending = LookOutcome | { readonly kind: 'lost' }

interface UnderWay {
  readonly servers: readonly ServerAddress[]
  end(ending: Ending): void
}

const lost: Ending = { kind: 'lost' }

export class LooksProcess implements AsyncDisposable {
  readonly #outbound: WayOut
  readonly #onLost: (lost: Lost) => void
  readonly #child: ChildProcess
  readonly #underWay = new Map<number, UnderWay>()
  readonly #gone = Promise.withResolvers<void>()
  #calls = 0
  #isStarted = false
  #isGone = false
  #knowsAuthorities = false
  #beatsMissed = 0
  #watch: NodeJS.Timeout | undefined

  constructor({ outbound, bounds, onLost }: LooksProcessOptions) {
    this.#outbound = outbound
    this.#onLost = onLost
    // In a package the files are JavaScript; in a checkout they are TypeScript.
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    const { roomMegabytes, heapMegabytes, residentMegabytes } = bounds
    const given = [String(roomMegabytes), String(residentMegabytes)]
    this.#child = fork(new URL(`./main.${extension}`, import.meta.url), given, {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      // A process group of its own, so that programs it started can be ended with it.
      detached: true,
      execArgv: [
        '--disable-warning=ExperimentalWarning',
        `--max-old-space-size=${heapMegabytes}`,
        // What a look leaves is soon gone, so that little memory is taken for it.
        '--max-semi-space-size=4',
      ],
      // The server's environment is not passed on; the compile cache halves the start.
      env: compiledBefore(),
    })
    this.#child.on('message', (message: FromLooks) => this.#hear(message))
    this.#child.once('error', () => this.#lose('it could not be started'))
    this.#child.once('exit', (code, signal) => {
      this.#lose(`it ended (${signal ?? code})`)
      this.#gone.resolve()
    })
    this.#hold(false)
  }

  /** False once it takes no calls any more. */
  get isThere(): boolean {
    return !this.#isGone && this.#child.connected
  }

  get isIdle(): boolean {
    return this.#underWay.size === 0
  }

  async call({ call, servers, now, signal }: SentCall): Promise<Ending> {
    if (!this.isThere) return lost
    const id = ++this.#calls
    const ended = Promise.withResolvers<Ending>()
    this.#underWay.set(id, { servers, end: ended.resolve })
    if (this.#underWay.size === 1) this.#hold(true)
    const cancel = (): void => this.#say({ kind: 'cancel', id })
    signal?.addEventListener('abort', cancel, { once: true })
    if (!this.#knowsAuthorities && servers.some(trustsOurs)) this.#tellAuthorities()
    this.#say({ kind: 'call', id, now, call })
    if (signal?.aborted === true) cancel()
    const ending = await ended.promise
    signal?.removeEventListener('abort', cancel)
    return ending
  }

  /** Ends it at once. What is under way is lost. */
  end(): void {
    this.#lose('it was ended')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.end()
    if (this.#child.pid === undefined) return
    this.#child.ref()
    await this.#gone.promise
  }

  /** It keeps this process running, and is watched, for as long as a call is under way. */
  #hold(isHeld: boolean): void {
    clearInterval(this.#watch)
    this.#beatsMissed = 0
    if (isHeld) {
      this.#child.ref()
      this.#child.channel?.ref()
      this.#watch = setInterval(() => this.#missBeat(), beatMilliseconds)
    } else {
      this.#child.unref()
      this.#child.channel?.unref()
    }
  }

  /** Counted by this process's own turns: one that was held up itself counts little. */
  #missBeat(): void {
    this.#beatsMissed++
    const max = this.#isStarted ? beatsMissedMax : beatsOfStartMax
    if (this.#beatsMissed > max) this.#lose(`its loop stood still for ${max} seconds`)
  }

  #lose(reason: string): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#hold(false)
    const calls = [...this.#underWay.values()]
    this.#underWay.clear()
    if (this.#isStarted && calls.length === 0 && this.#child.connected) this.#leave()
    else this.#kill()
    const underWay = calls.map(({ servers }) => servers)
    this.#onLost({ reason, isUnstarted: !this.#isStarted, underWay })
    for (const call of calls) call.end(lost)
  }

  #leave(): void {
    this.#child.disconnect()
    const timer = setTimeout(() => this.#kill(), leavingMilliseconds).unref()
    this.#child.once('exit', () => clearTimeout(timer))
  }

  /** With the programs it started. */
  #kill(): void {
    const { pid } = this.#child
    if (pid === undefined) return
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      // Nobody of that group is left.
    }
  }

  #hear(message: FromLooks): void {
    this.#isStarted = true
    this.#beatsMissed = 0
    switch (message.kind) {
      case 'beat':
        return
      case 'failed':
        this.#outbound.failed(message.destination, message.reason)
        return
      case 'decide':
        void this.#decide(message.id, message.destination)
        return
      case 'ended': {
        const call = this.#underWay.get(message.id)
        this.#underWay.delete(message.id)
        if (this.#underWay.size === 0) this.#hold(false)
        call?.end(message.outcome)
        return
      }
    }
  }

  async #decide(id: number, destination: Destination): Promise<void> {
    const decision = await decide(this.#outbound, destination)
    this.#say({ kind: 'decision', id, decision })
  }

  #tellAuthorities(): void {
    this.#knowsAuthorities = true
    if (typeof tls.getCACertificates !== 'function') return
    this.#say({ kind: 'trust', authorities: tls.getCACertificates('default') })
  }

  #say(message: ToLooks): void {
    // A process that is gone receives nothing; its exit ends the calls.
    if (this.#child.connected) this.#child.send(message, () => undefined)
  }
}

/** Does a session with it check certificates by the authorities of this process? */
function trustsOurs({ sslMode, rootCertificates }: ServerAddress): boolean {
  return sslMode.startsWith('verify') && rootCertificates === undefined
}

/** This process's compile cache, from which a child starts. */
function compiledBefore(): NodeJS.ProcessEnv {
  const folder = getCompileCacheDir()
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) }
}
