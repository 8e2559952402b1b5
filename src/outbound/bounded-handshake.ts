/**
 * The socket below a TLS connection until its handshake is over. A step of a handshake cannot be interrupted, so the bytes of all have a
 * bound, one step is made in a turn of the loop, and addresses take turns. What the steps take is measured.
 */

import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'

/** Four certificates with keys of 4,096 bits have 8 KB. */
const handshakeBytesMax = 32 * 1024
/** Of processor time. A handshake takes one or two milliseconds, those of old and large keys ten. */
const slowMicroseconds = 30_000

type Done = (error?: Error | null) => void

export class BoundedHandshake extends Duplex {
  readonly #socket: Socket
  readonly #onSlow: (address: string) => void
  #address = ''
  #bytes = 0
  #spent = 0
  #waiting = 0
  #isOver = false
  #hasEnded = false

  /** `onSlow`: the handshake took long. */
  constructor(socket: Socket, onSlow: (address: string) => void = () => undefined) {
    super()
    this.#onSlow = onSlow
    this.#socket = socket
    const setAddress = (): void => {
      this.#address = socket.remoteAddress ?? ''
    }
    if (socket.connecting) socket.once('connect', setAddress)
    else setAddress()
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.once('end', () => {
      this.#hasEnded = true
      this.#inTurn(() => this.push(null))
    })
    socket.on('error', (error) => this.destroy(error))
    // After an end, what has come is still read.
    socket.once('close', () => this.#hasEnded || this.destroy())
  }

  /** All that comes from now on goes through at once. */
  endHandshake(): void {
    this.#isOver = true
  }

  #take(chunk: Buffer): void {
    if (!this.#isOver) this.#bytes += chunk.length
    if (this.#bytes > handshakeBytesMax) {
      const message = `its TLS handshake is larger than ${handshakeBytesMax} bytes`
      this.destroy(Object.assign(new Error(message), { code: 'ERR_TLS_HANDSHAKE_SIZE' }))
      return
    }
    this.#socket.pause()
    this.#inTurn(() => {
      const isMeasured = !this.#isOver
      const before = isMeasured ? processorTime() : 0
      // What listens to this stream takes the chunk at once, and does what follows from it.
      if (this.push(chunk)) this.#socket.resume()
      if (isMeasured) this.#spend(processorTime() - before)
    })
  }

  /** What came before goes first, also when the handshake is over meanwhile. */
  #inTurn(step: () => void): void {
    if (this.#isOver && this.#waiting === 0) {
      step()
      return
    }
    this.#waiting++
    takeTurn(this.#address, () => {
      this.#waiting--
      if (!this.destroyed) step()
    })
  }

  #spend(microseconds: number): void {
    const isSlow = this.#spent >= slowMicroseconds
    this.#spent += microseconds
    if (!isSlow && this.#spent >= slowMicroseconds) this.#onSlow(this.#address)
  }

  override _read(): void {
    if (this.#waiting === 0) this.#socket.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#socket.write(chunk, done)
  }

  override _final(done: Done): void {
    this.#socket.end()
    done()
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#socket.destroy()
    done(error)
  }
}

/** The steps that wait, by address; the address that had a turn last is the last. */
const turns = new Map<string, (() => void)[]>()
let isScheduled = false
let restFactor = 0

/** After each step none is made for so many times the processor time that it took. */
export function restAfterSteps(factor: number): void {
  restFactor = factor
}

function takeTurn(address: string, step: () => void): void {
  const steps = turns.get(address)
  if (steps === undefined) turns.set(address, [step])
  else steps.push(step)
  schedule(0)
}

function schedule(milliseconds: number): void {
  if (isScheduled) return
  isScheduled = true
  if (milliseconds < 1) setImmediate(nextTurn)
  else setTimeout(nextTurn, milliseconds)
}

/** Of the addresses that wait, the one whose steps took least; of several, the one that waits longest. */
function nextAddress(): string | undefined {
  let next: string | undefined
  for (const address of turns.keys()) {
    if (next === undefined || (taken.get(address) ?? 0) < (taken.get(next) ?? 0)) next = address
  }
  return next
}

/** What steps took fades: it is halved for all where the sum has come to this. */
const takenMicrosecondsMax = 10_000_000
const addressesMax = 1000
const taken = new Map<string, number>()
let takenSum = 0

function count(address: string, microseconds: number): void {
  taken.set(address, (taken.get(address) ?? 0) + microseconds)
  takenSum += microseconds
  if (takenSum <= takenMicrosecondsMax && taken.size <= addressesMax) return
  takenSum = 0
  for (const [one, all] of taken) {
    if (all < slowMicroseconds) taken.delete(one)
    else taken.set(one, all / 2)
    takenSum += taken.get(one) ?? 0
  }
}

function nextTurn(): void {
  const address = nextAddress()
  if (address === undefined) {
    isScheduled = false
    return
  }
  const [step, ...others] = turns.get(address) ?? []
  turns.delete(address)
  if (others.length > 0) turns.set(address, others)
  const before = processorTime()
  step?.()
  const spent = processorTime() - before
  count(address, spent)
  const rest = (spent * restFactor) / 1000
  isScheduled = false
  // A step that comes meanwhile waits for the end of the rest, too.
  if (turns.size > 0 || rest >= 1) schedule(rest)
}

/** Of this thread. Versions of Node before 23.9 do not measure it. */
function processorTime(): number {
  const used = process.threadCpuUsage?.()
  return used === undefined ? 0 : used.user + used.system
}
