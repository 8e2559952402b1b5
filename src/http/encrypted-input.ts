/**
 * The socket below a connection of https. What a client sends reaches TLS in slices, some milliseconds of them in a turn of the
 * loop, and addresses take turns: a slice may hold messages without any data, which take a hundred times longer than data.
 * While TLS reads nothing, because nobody reads what it has, nothing is taken from the socket either.
 */

import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { ticks } from '#plane/next-turn.ts'
import { addressGroupOf } from './client-address.ts'

export const sliceBytes = 4096
/** What may wait for TLS beside one chunk of the socket. */
const unreadBytesMax = 4 * sliceBytes
/** What the slices of one turn of the loop may take. */
const turnMilliseconds = 5

type Done = (error?: Error | null) => void

export class EncryptedInput extends Duplex {
  readonly #socket: Socket
  readonly #address: string
  #isTaking = false
  /** While a handshake is under way. */
  #late: NodeJS.Timeout | undefined

  constructor(socket: Socket) {
    super({ readableHighWaterMark: unreadBytesMax })
    this.#socket = socket
    this.#address = addressGroupOf(socket.remoteAddress ?? '')
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => {
      // Until all of it has been taken.
      socket.pause()
      this.#isTaking = true
      this.#take(chunk)
    })
    socket.once('end', () => {
      // TLS would wait for the rest of the handshake.
      if (this.#late !== undefined) this.destroy()
      else this.push(null)
    })
    socket.on('error', (error) => this.destroy(error))
    socket.once('close', () => this.destroy())
  }

  /** The one whose slice is being taken. */
  static get current(): EncryptedInput | undefined {
    return current
  }

  /** The timeout of TLS itself begins anew with each byte. */
  beginHandshake(milliseconds: number): void {
    this.#late = setTimeout(() => this.destroy(), milliseconds)
  }

  endHandshake(): void {
    clearTimeout(this.#late)
    this.#late = undefined
  }

  /** The connection below. */
  get below(): Socket {
    return this.#socket
  }

  #take(chunk: Buffer): void {
    inTurn(this.#address, () => {
      if (this.destroyed) return
      current = this
      // What listens to this stream takes the slice at once, and does what follows from it.
      const takesMore = this.push(chunk.subarray(0, sliceBytes))
      current = undefined
      this.#isTaking = chunk.length > sliceBytes
      if (this.#isTaking) this.#take(chunk.subarray(sliceBytes))
      else if (takesMore) this.#socket.resume()
    })
  }

  override _read(): void {
    if (!this.#isTaking) this.#socket.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#socket.write(chunk, done)
  }

  override _final(done: Done): void {
    this.#socket.end()
    done()
  }

  override _destroy(error: Error | null, done: Done): void {
    this.endHandshake()
    this.#socket.destroy()
    done(error)
  }
}

let current: EncryptedInput | undefined

/** The slices that wait for another turn of the loop, by address; the address that was served last is the last. */
const waiting = new Map<string, (() => void)[]>()
let spent = 0
let isScheduled = false

export function inTurn(address: string, step: () => void): void {
  const steps = waiting.get(address)
  if (steps !== undefined) steps.push(step)
  else if (spent < turnMilliseconds) measured(step)
  else waiting.set(address, [step])
  if (isScheduled) return
  isScheduled = true
  setImmediate(nextTurn)
}

function measured(step: () => void): void {
  const [spentBefore, before] = [spent, ticks()]
  // It may take further slices.
  step()
  spent = spentBefore + ticks() - before
}

function nextTurn(): void {
  isScheduled = false
  spent = 0
  try {
    for (const [address, steps] of waiting) {
      if (spent >= turnMilliseconds) break
      const step = steps.shift()
      waiting.delete(address)
      if (steps.length > 0) waiting.set(address, steps)
      if (step !== undefined) measured(step)
    }
  } finally {
    if (waiting.size > 0 && !isScheduled) {
      isScheduled = true
      setImmediate(nextTurn)
    }
  }
}
