/**
 * COPY out of one server and into another as streams of the protocol's own frames, which have one form in both
 * directions: they are handed on as they come, and no row is taken apart. Opens and closes no connection.
 */

import { Readable, Writable } from 'node:stream'
import type { Connection, Submittable } from 'pg'

/** What is used of the driver's connection beyond its types. */
type CopyConnection = Connection & {
  query(text: string): void
  endCopyFrom(): void
}

type Done = (error?: Error | null) => void
type Listener = (chunk: Buffer) => void

const headerBytes = 5
const [copyData, copyDone, commandComplete, errorResponse] = [0x64, 0x63, 0x43, 0x45]
const chunksBytes = 1024 * 1024

/** Gives whole and cut frames of rows, and nothing else. To be submitted to a client that has nothing else to do. */
export class CopyOut extends Readable implements Submittable {
  /** As the server counts them, once all are read. */
  rowCount = 0
  /** Seen so far. In the binary form one more than there are rows. */
  frames = 0
  /** Of the frames seen so far, without their headers. */
  bytes = 0
  /** What this side failed with, where it was this one. */
  failure: Error | undefined
  readonly #text: string
  #socket: Connection['stream'] | undefined
  #driver: Listener | undefined
  readonly #listener: Listener = (chunk) => this.#take(chunk)
  /** Of a header that the end of a chunk cut. */
  #carried: Buffer | undefined
  /** Of the frame's body, still to come; and whether it is a row's. */
  #left = 0
  #isRow = false

  constructor(text: string) {
    super({ highWaterMark: chunksBytes })
    this.#text = text
  }

  submit(connection: Connection): void {
    this.#socket = connection.stream
    const [driver] = this.#socket.listeners('data')
    // The driver listens with one function of a chunk; nothing else does.
    this.#driver = driver as Listener
    this.#socket.removeListener('data', this.#driver)
    this.#socket.on('data', this.#listener)
    // The driver's own way to ask, which its types leave out.
    ;(connection as CopyConnection).query(this.#text)
  }

  override _read(): void {
    if (this.#driver !== undefined) this.#socket?.resume()
  }

  #take(chunk: Buffer): void {
    const bytes = this.#carried === undefined ? chunk : Buffer.concat([this.#carried, chunk])
    this.#carried = undefined
    let at = 0
    let from = 0
    while (at < bytes.length) {
      if (this.#left > 0) {
        const step = Math.min(this.#left, bytes.length - at)
        at += step
        this.#left -= step
        if (this.#isRow) this.bytes += step
        else from = at
        continue
      }
      const kind = bytes[at]
      if (kind === copyDone || kind === commandComplete || kind === errorResponse) {
        this.#handOn(bytes.subarray(from, at))
        this.#giveBack(bytes.subarray(at))
        return
      }
      if (bytes.length - at < headerBytes) {
        this.#carried = bytes.subarray(at)
        break
      }
      this.#isRow = kind === copyData
      if (this.#isRow) this.frames++
      // The length counts itself, which is part of the header.
      this.#left = bytes.readUInt32BE(at + 1) - 4
      at += headerBytes
      if (!this.#isRow) from = at
    }
    this.#handOn(bytes.subarray(from, at))
  }

  #handOn(frames: Buffer): void {
    if (frames.length > 0 && !this.push(frames)) this.#socket?.pause()
  }

  /** The end of the rows, or an error: the driver reads on from here. */
  #giveBack(rest: Buffer): void {
    const driver = this.#driver
    this.#driver = undefined
    this.#socket?.removeListener('data', this.#listener)
    if (driver !== undefined) {
      this.#socket?.on('data', driver)
      driver(rest)
    }
    this.#socket?.resume()
  }

  /** The driver passes over what it does not know of a copy. */
  handleCopyData(): void {}

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.rowCount = counted(text)
  }

  handleReadyForQuery(): void {
    this.push(null)
  }

  /** Of the server, or of a connection that is gone. */
  handleError(error: Error): void {
    this.failure = error
    this.destroy(error)
  }
}

/** Takes such frames. Ended in the middle, of a frame as likely as not, its connection is of no more use but to be ended. */
export class CopyIn extends Writable implements Submittable {
  rowCount = 0
  readonly #text: string
  #connection: CopyConnection | undefined
  #isOpen = false
  /** Waits for the server to be ready for rows. */
  #begin: (() => void) | undefined
  #final: Done | undefined

  constructor(text: string) {
    super({ highWaterMark: chunksBytes })
    this.#text = text
  }

  submit(connection: Connection): void {
    // The driver's own way to ask, which its types leave out.
    this.#connection = connection as CopyConnection
    this.#connection.query(this.#text)
  }

  handleCopyInResponse(): void {
    this.#isOpen = true
    this.#begin?.()
  }

  override _write(frames: Buffer, _encoding: string, done: Done): void {
    this.#onceOpen(() => {
      const socket = this.#connection?.stream
      if (socket === undefined || socket.write(frames)) done()
      else socket.once('drain', () => done())
    })
  }

  override _final(done: Done): void {
    this.#final = done
    this.#onceOpen(() => this.#connection?.endCopyFrom())
  }

  #onceOpen(work: () => void): void {
    if (this.#isOpen) work()
    else this.#begin = work
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.rowCount = counted(text)
  }

  handleReadyForQuery(): void {
    this.#final?.()
  }

  handleError(error: Error): void {
    this.destroy(error)
  }
}

function counted(commandTag: string): number {
  return Number(/^COPY (\d+)/.exec(commandTag)?.[1] ?? 0)
}
