/**
 * COPY from one server and into another as streams of the protocol's own frames. They have the same form in both
 * directions, so they are passed on as they arrive and no row is parsed. It opens and closes no connection.
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
const lengthBytes = 4
const [copyData, copyDone, commandComplete, errorResponse] = [0x64, 0x63, 0x43, 0x45]
const chunksBytes = 1024 * 1024

/** Yields whole and partial frames of rows, and nothing else. Submit it to a client that has nothing else to do. */
export class CopyOut extends Readable implements Submittable {
  /** The server's count, once all are read. */
  rowCount = 0
  /** The number of frames so far. The binary format has one more than there are rows. */
  frames = 0
  /** The bytes of the frames so far, without their headers. */
  bytes = 0
  /** The error of this side, if this side failed. */
  failure: Error | undefined
  readonly #text: string
  #socket: Connection['stream'] | undefined
  #driver: Listener | undefined
  readonly #listener: Listener = (chunk) => this.#take(chunk)
  /** The part of a header that the end of a chunk cut off. */
  #carried: Buffer | undefined
  /** The remaining bytes of the frame's body, and whether it is a row's. */
  #left = 0
  #isRow = false

  constructor(text: string) {
    super({ highWaterMark: chunksBytes })
    this.#text = text
  }

  submit(connection: Connection): void {
    this.#socket = connection.stream
    const [driver] = this.#socket.listeners('data')
    // The driver has one listener, a function of a chunk.
    this.#driver = driver as Listener
    this.#socket.removeListener('data', this.#driver)
    this.#socket.on('data', this.#listener)
    // The driver's own method for queries, which its types leave out.
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
      // The length includes itself, which is part of the header.
      this.#left = bytes.readUInt32BE(at + 1) - lengthBytes
      if (this.#left < 0) {
        this.#socket?.destroy(new Error('it sent what is no message'))
        return
      }
      this.#isRow = kind === copyData
      if (this.#isRow) this.frames++
      // What of a row is missing, the other side would take from the next one, and rows for messages.
      else this.#handOn(bytes.subarray(from, at))
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

  /** The driver ignores copy messages it does not know. */
  handleCopyData(): void {}

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.rowCount = counted(text)
  }

  handleReadyForQuery(): void {
    this.push(null)
  }

  /** An error of the server, or of a lost connection. */
  handleError(error: Error): void {
    this.failure = error
    this.destroy(error)
  }
}

/** Takes such frames. When it is ended in the middle, usually of a frame, its connection can only be closed. */
export class CopyIn extends Writable implements Submittable {
  rowCount = 0
  readonly #text: string
  #connection: CopyConnection | undefined
  #isOpen = false
  /** Waits until the server is ready for rows. */
  #begin: (() => void) | undefined
  #final: Done | undefined

  constructor(text: string) {
    super({ highWaterMark: chunksBytes })
    this.#text = text
  }

  submit(connection: Connection): void {
    // The driver's own method for queries, which its types leave out.
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
