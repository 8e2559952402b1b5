/**
 * TLS of connections to servers that callers name, in a thread of its own: a handshake takes as long as the certificates of
 * the server want, and nothing interrupts it. Here are the plain bytes, before they go there and after they come.
 */

import { Duplex } from 'node:stream'
import * as tls from 'node:tls'
import { Worker } from 'node:worker_threads'
import { takeTurn } from '../bounded-handshake.ts'
import { type FromThread, ownBytes, type SecureTarget, type ToThread } from './messages.ts'

/** A thread ends after this long without a connection. */
const idleMilliseconds = 60_000
const heapMegabytes = 64

/** The thread of long handshakes makes none for so many times what each took: that leaves a fifth of a processor for them. */
const restFactorApart = 4

type Done = (error?: Error | null) => void

/** The number of addresses that are known for long handshakes. */
const addressesMax = 1000

/**
 * Connections over a thread, which starts with the first of them. Addresses whose handshakes took long have another thread
 * to themselves from then on, so that they hold up each other alone.
 */
export class SecureConnections {
  #thread: SecureThread | undefined
  #apart: SecureThread | undefined
  readonly #slow = new Set<string>()

  open(target: SecureTarget): Duplex {
    const isSlow = target.addresses.some((address) => this.#slow.has(address))
    const before = isSlow ? this.#apart : this.#thread
    const thread = before?.isThere === true ? before : this.#start(isSlow)
    if (isSlow) this.#apart = thread
    else this.#thread = thread
    return thread.open(target)
  }

  #start(isApart: boolean): SecureThread {
    return new SecureThread(isApart, (address) => {
      this.#slow.add(address)
      const [oldest = ''] = this.#slow
      if (this.#slow.size > addressesMax) this.#slow.delete(oldest)
    })
  }
}

class SecureThread {
  readonly #onSlow: (address: string) => void
  readonly #worker: Worker
  readonly #connections = new Map<number, SecureConnection>()
  #isGone = false
  #last = 0
  #idle: NodeJS.Timeout | undefined
  #trusted: readonly string[] | undefined

  constructor(isApart: boolean, onSlow: (address: string) => void) {
    this.#onSlow = onSlow
    // In a package the files are JavaScript; in a checkout they are TypeScript.
    const file = import.meta.url.endsWith('.ts') ? './main.ts' : './main.js'
    this.#worker = new Worker(new URL(file, import.meta.url), {
      workerData: isApart ? restFactorApart : 0,
      // The launcher leaves this warning out of the main thread alone.
      execArgv: ['--disable-warning=ExperimentalWarning'],
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytes, maxYoungGenerationSizeMb: 24 },
    })
    this.#worker.on('message', (message: FromThread) => this.#hear(message))
    this.#worker.on('error', (error: unknown) =>
      this.#lose(error instanceof Error ? error.message : String(error)),
    )
    this.#worker.on('exit', () => this.#lose('it ended'))
  }

  get isThere(): boolean {
    return !this.#isGone
  }

  open(target: SecureTarget): Duplex {
    clearTimeout(this.#idle)
    const id = ++this.#last
    const connection = new SecureConnection({
      say: (message) => this.#say(message),
      gone: () => this.#forget(id),
      id,
      owner: target.owner ?? target.name,
    })
    this.#connections.set(id, connection)
    // What is under way keeps the process running, as any connection does.
    this.#worker.ref()
    if (target.isChecked) this.#tellAuthorities()
    this.#say({ kind: 'open', id, target })
    return connection
  }

  #hear(message: FromThread): void {
    if (message.kind === 'slow') this.#onSlow(message.address)
    else this.#connections.get(message.id)?.hear(message)
  }

  #forget(id: number): void {
    this.#connections.delete(id)
    if (this.#connections.size > 0 || this.#isGone) return
    this.#worker.unref()
    this.#idle = setTimeout(() => this.#lose('nobody needs it'), idleMilliseconds).unref()
  }

  #lose(reason: string): void {
    if (this.#isGone) return
    this.#isGone = true
    clearTimeout(this.#idle)
    void this.#worker.terminate()
    for (const connection of this.#connections.values()) {
      connection.destroy(new Error(`the thread of TLS is lost: ${reason}`))
    }
  }

  /** Versions of Node before 22.19 cannot: there the thread trusts those that Node brings and those named at its start. */
  #tellAuthorities(): void {
    if (typeof tls.getCACertificates !== 'function') return
    const authorities = tls.getCACertificates('default')
    if (authorities === this.#trusted) return
    this.#trusted = authorities
    this.#say({ kind: 'trust', authorities })
  }

  #say(message: ToThread): void {
    if (this.#isGone) return
    if (message.kind === 'write') this.#worker.postMessage(message, [message.bytes.buffer])
    else this.#worker.postMessage(message)
  }
}

type Heard = Exclude<FromThread, { kind: 'slow' }>

interface Thread {
  readonly id: number
  readonly owner: string
  say(message: ToThread): void
  gone(): void
}

/** The plain side of one connection. It takes bytes one read at a time, so that none gather in between. */
class SecureConnection extends Duplex {
  readonly #thread: Thread
  #written: Done | undefined
  #hasEnded = false

  constructor(thread: Thread) {
    super({ allowHalfOpen: false })
    this.#thread = thread
  }

  /** What came takes turns, each with all that follows from it. */
  hear(message: Heard): void {
    if (message.kind === 'written') this.#take(message)
    else
      takeTurn({ owner: this.#thread.owner, address: String(this.#thread.id) }, () => {
        if (!this.destroyed) this.#take(message)
      })
  }

  #take(message: Heard): void {
    switch (message.kind) {
      case 'bytes':
        this.push(Buffer.from(message.bytes.buffer))
        return
      case 'end':
        this.#hasEnded = true
        this.push(null)
        return
      case 'written': {
        const done = this.#written
        this.#written = undefined
        done?.()
        return
      }
      case 'failed': {
        const { message: text, code } = message
        this.destroy(Object.assign(new Error(text), { code }))
        return
      }
      case 'closed':
        // After an end, what has come is still read.
        if (!this.#hasEnded) this.destroy(new Error('the connection ended'))
        return
    }
  }

  override _read(): void {
    this.#thread.say({ kind: 'read', id: this.#thread.id })
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#written = done
    this.#thread.say({ kind: 'write', id: this.#thread.id, bytes: ownBytes(chunk) })
  }

  override _final(done: Done): void {
    this.#thread.say({ kind: 'end', id: this.#thread.id })
    done()
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#thread.say({ kind: 'close', id: this.#thread.id })
    this.#thread.gone()
    done(error)
  }
}
