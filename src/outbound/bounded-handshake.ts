/**
 * The socket below a TLS connection, or below HTTP without TLS, whose parser makes thousands of steps of what is read at once. A step of a handshake cannot be interrupted, so the bytes of all have a bound, one step is made
 * in a turn of the loop, and owners take turns, and addresses of each. What the steps take is measured. After the handshake data goes through at once, and
 * what is no data has a bound and takes turns too.
 */

import { isIPv4, type Socket } from 'node:net'
import { Duplex } from 'node:stream'

/** Four certificates with keys of 4,096 bits have 8 KB. */
const handshakeBytesMax = 32 * 1024
/**
 * Of what a server sends after the handshake, beside twice its data. Changes of keys, tickets and wishes for another handshake take TLS a
 * hundred times longer than data, and OpenSSL has no bound for them. A record may have 16 KB before its data is there.
 */
const besideDataBytesMax = 32 * 1024
const sliceBytes = 16 * 1024
/** Of processor time. A handshake takes one or two milliseconds, those of old and large keys ten. */
const slowMicroseconds = 30_000

type Done = (error?: Error | null) => void

interface HandshakeOptions {
  /** Whose connection it is. Undefined: the network of its address counts as an owner. */
  readonly owner?: string | undefined
  /** There is no TLS above it: nothing has a bound here, and all that comes takes turns. */
  readonly isPlain?: boolean
  /** The handshake took long. */
  readonly onSlow?: (address: string) => void
}

export class BoundedHandshake extends Duplex {
  readonly #socket: Socket
  readonly #options: HandshakeOptions
  #address = ''
  #bytes = 0
  /** All that TLS has found in what came after the handshake. */
  #dataBytes: (() => number) | undefined
  #dataBefore = 0
  #isFree = false
  #spent = 0
  #waiting = 0
  /** Bytes of what came last that TLS has not been given. */
  #untaken = 0
  #hasEnded = false

  constructor(socket: Socket, options: HandshakeOptions = {}) {
    super()
    this.#options = options
    this.#socket = socket
    const setAddress = (): void => {
      this.#address = socket.remoteAddress ?? ''
    }
    if (socket.connecting) socket.once('connect', setAddress)
    else setAddress()
    socket.on('data', (chunk: Buffer) => {
      this.#untaken += chunk.length
      this.#take(chunk)
    })
    socket.once('end', () => {
      this.#hasEnded = true
      this.#end()
    })
    socket.on('error', (error) => this.destroy(error))
    // After an end, what has come is still read.
    socket.once('close', () => this.#hasEnded || this.destroy())
  }

  /** `dataBytes`: how much data TLS has found so far. Without it what follows has no bound and takes no turns. */
  endHandshake(dataBytes?: () => number): void {
    this.#isFree = dataBytes === undefined
    this.#dataBytes = dataBytes
    this.#bytes = 0
  }

  /** After all that came: what is left of a chunk begins to wait when the slice before it was taken, which is behind an end. */
  #end(): void {
    this.#inTurn(() => {
      if (this.destroyed) return
      if (this.#untaken > 0) this.#end()
      else this.push(null)
    })
  }

  #take(chunk: Buffer): void {
    const slice = chunk.subarray(0, sliceBytes)
    const rest = chunk.subarray(sliceBytes)
    this.#socket.pause()
    this.#inTurn(() => {
      this.#untaken -= slice.length
      if (!this.#count(slice.length)) return
      const isMeasured = this.#dataBytes === undefined && !this.#isFree
      const before = isMeasured ? processorTime() : 0
      this.#dataBefore = this.#dataBytes?.() ?? 0
      // What listens to this stream takes the slice at once, and does what follows from it.
      const takesMore = this.push(slice)
      if (isMeasured) this.#spend(processorTime() - before)
      if (rest.length > 0) this.#take(rest)
      else if (takesMore) this.#socket.resume()
    })
  }

  /** False where that is too much: then it is over. */
  #count(bytes: number): boolean {
    if (this.#isFree || this.#options.isPlain === true) return true
    this.#bytes += bytes
    const data = this.#dataBytes?.()
    if (data === undefined) {
      if (this.#bytes <= handshakeBytesMax) return true
      return this.#refuse(`its TLS handshake is larger than ${handshakeBytesMax} bytes`)
    }
    // What waits for its reader has not been looked at.
    const beside = this.#bytes - this.readableLength - 2 * data
    if (beside <= besideDataBytesMax + bytes) return true
    return this.#refuse('it sends much beside data in its TLS connection')
  }

  #refuse(message: string): false {
    this.destroy(Object.assign(new Error(message), { code: 'ERR_TLS_HANDSHAKE_SIZE' }))
    return false
  }

  /** At once where data was in what came last. What came before goes first, also when the handshake is over meanwhile. */
  #inTurn(step: () => void): void {
    const data = this.#dataBytes?.() ?? 0
    if ((this.#isFree || data > this.#dataBefore) && this.#waiting === 0) {
      step()
      return
    }
    this.#waiting++
    takeTurn({ owner: this.#options.owner, address: this.#address }, () => {
      this.#waiting--
      if (!this.destroyed) step()
    })
  }

  #spend(microseconds: number): void {
    const isSlow = this.#spent >= slowMicroseconds
    this.#spent += microseconds
    if (!isSlow && this.#spent >= slowMicroseconds) this.#options.onSlow?.(this.#address)
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

/** The steps that wait at one address of one owner. */
interface Line {
  /** The owner, or the network of the address. */
  readonly owner: string
  readonly address: string
  readonly steps: (() => void)[]
}

/** By owner and address; the line that had a turn last is the last. */
const lines = new Map<string, Line>()
let isScheduled = false
let restFactor = 0

/** After each step none is made for so many times the processor time that it took. */
export function restAfterSteps(factor: number): void {
  restFactor = factor
}

export function takeTurn(
  { owner: known, address }: { readonly owner: string | undefined; readonly address: string },
  step: () => void,
): void {
  const owner = known === undefined ? networkOf(address) : `owner ${known}`
  const key = lineKey({ owner, address })
  const line = lines.get(key)
  if (line === undefined) lines.set(key, { owner, address, steps: [step] })
  else line.steps.push(step)
  schedule(0)
}

function lineKey({ owner, address }: Pick<Line, 'owner' | 'address'>): string {
  return `${owner} ${address}`
}

function schedule(milliseconds: number): void {
  if (isScheduled) return
  isScheduled = true
  if (milliseconds < 1) setImmediate(nextTurn)
  else setTimeout(nextTurn, milliseconds)
}

/**
 * Of the owners that wait, the one whose steps took least, as an owner may use a new address each time; of its addresses the one
 * whose steps took least, and of several the one that waits longest.
 */
function nextLine(): Line | undefined {
  let next: Line | undefined
  let least: readonly [ofOwner: number, own: number] = [0, 0]
  for (const line of lines.values()) {
    const ofOwner = takenByOwner.get(line.owner) ?? 0
    const own = takenByLine.get(lineKey(line)) ?? 0
    if (next !== undefined && ofOwner > least[0]) continue
    if (next !== undefined && ofOwner === least[0] && own >= least[1]) continue
    next = line
    least = [ofOwner, own]
  }
  return next
}

/** What one owner usually has: 256 addresses of IPv4, or a /48 of IPv6. */
function networkOf(address: string): string {
  if (isIPv4(address)) return `${address.slice(0, address.lastIndexOf('.'))}.0/24`
  const groups = (address.split('::', 1)[0] ?? '').split(':')
  return `${[0, 1, 2].map((at) => groups[at] || '0').join(':')}::/48`
}

/** What steps took fades: it is halved for all where the sum has come to this. */
const takenMicrosecondsMax = 10_000_000
/** Of owners, and of their addresses. */
const rememberedMax = 1000
const takenByOwner = new Map<string, number>()
const takenByLine = new Map<string, number>()
let takenSum = 0

function count(line: Line, microseconds: number): void {
  add(takenByOwner, line.owner, microseconds)
  add(takenByLine, lineKey(line), microseconds)
  takenSum += microseconds
  if (takenSum <= takenMicrosecondsMax && takenByLine.size <= rememberedMax) return
  fade(takenByLine)
  takenSum = fade(takenByOwner)
}

function add(taken: Map<string, number>, key: string, microseconds: number): void {
  taken.set(key, (taken.get(key) ?? 0) + microseconds)
}

/** Returns the sum of what is left. */
function fade(taken: Map<string, number>): number {
  let sum = 0
  for (const [key, all] of taken) {
    if (all < slowMicroseconds) taken.delete(key)
    else {
      taken.set(key, all / 2)
      sum += all / 2
    }
  }
  return sum
}

function nextTurn(): void {
  const line = nextLine()
  if (line === undefined) {
    isScheduled = false
    return
  }
  const key = lineKey(line)
  const [step, ...others] = line.steps
  lines.delete(key)
  if (others.length > 0) lines.set(key, { ...line, steps: others })
  const before = processorTime()
  step?.()
  const spent = processorTime() - before
  count(line, spent)
  const rest = (spent * restFactor) / 1000
  isScheduled = false
  // A step that comes meanwhile waits for the end of the rest, too.
  if (lines.size > 0 || rest >= 1) schedule(rest)
}

/** Of this thread. Versions of Node before 23.9 do not measure it. */
function processorTime(): number {
  const used = process.threadCpuUsage?.()
  return used === undefined ? 0 : used.user + used.system
}
