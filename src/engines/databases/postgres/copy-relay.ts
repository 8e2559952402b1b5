/**
 * COPY from one server straight into another: the rows' messages have the same form in both directions, so
 * they are handed on as they come, never taken apart. Knows nothing of tables; counts bytes, and stops both
 * sides when one fails.
 */

import type { Duplex } from 'node:stream'
import type { Connection, Submittable } from 'pg'
import type { Session } from './connect.ts'

interface Relay {
  readonly source: Session
  readonly copyOut: string
  readonly target: Session
  readonly copyIn: string
  /** Called with the bytes of each chunk. */
  onBytes(bytes: number): void
}

const copyData = 0x64
const copyDone = 0x63
const errorResponse = 0x45
const commandComplete = 0x43
const headerBytes = 5

/**
 * Returns the number of rows. After a failure neither session can be trusted: discard both. Rejects with the first
 * error.
 */
export async function relayCopy(relay: Relay): Promise<number> {
  const into = new CopyIn(relay.copyIn)
  const out = new CopyOut(relay.copyOut, into, relay.onBytes)
  // A lost connection is reported only to the query of its own session; the other must be woken.
  relay.target.client.query(into)
  relay.source.client.query(out)
  /** The other side's later failure is only that it was woken. */
  let first: unknown
  const other = (session: Session) => (error: unknown) => {
    first ??= error
    // `stream` is the connection's socket: ending it wakes the other side's query.
    streamOf(session)?.destroy(error instanceof Error ? error : undefined)
    throw error
  }
  const [copied] = await Promise.allSettled([
    Promise.race([into.done, out.failed]).catch(other(relay.source)),
    out.done.catch(other(relay.target)),
  ]).then((outcomes) => {
    if (outcomes.some(({ status }) => status === 'rejected')) throw first
    return [into.rows]
  })
  return copied ?? 0
}

function streamOf(session: Session): Duplex | undefined {
  // The driver stores its connection under this name; its types leave it out.
  return (session.client as unknown as { connection?: Connection }).connection?.stream
}

/** The other side writes through it while the server accepts rows. */
class CopyIn implements Submittable {
  readonly done: Promise<void>
  failure: Error | undefined
  rows = 0
  private readonly text: string
  private stream: Duplex | undefined
  private connection: CopyConnection | undefined
  private ready = false
  private held: Buffer[] = []
  private ended = false
  private wake: () => void = () => undefined
  private readonly settle: PromiseWithResolvers<void> = Promise.withResolvers()

  constructor(text: string) {
    this.text = text
    this.done = this.settle.promise
  }

  submit(connection: Connection): void {
    this.connection = connection as CopyConnection
    this.stream = connection.stream
    this.connection.query(this.text)
  }

  /** False when the writer should wait for `onRoom`. */
  write(bytes: Buffer): boolean {
    if (this.failure !== undefined) return true
    if (!this.ready) {
      this.held.push(bytes)
      return false
    }
    return this.stream?.write(bytes) ?? true
  }

  onRoom(wake: () => void): void {
    this.wake = wake
    if (this.ready) this.stream?.once('drain', wake)
  }

  end(): void {
    this.ended = true
    if (this.ready) this.connection?.endCopyFrom()
  }

  handleCopyInResponse(): void {
    this.ready = true
    for (const bytes of this.held) this.stream?.write(bytes)
    this.held = []
    if (this.ended) this.connection?.endCopyFrom()
    this.wake()
  }

  handleCommandComplete(message: { text: string }): void {
    this.rows = Number(/^COPY (\d+)/.exec(message.text)?.[1] ?? 0)
  }

  handleReadyForQuery(): void {
    if (this.failure === undefined) this.settle.resolve()
  }

  handleError(error: Error): void {
    this.failure ??= error
    this.wake()
    this.settle.reject(error)
  }
}

/** What is used of the driver's connection beyond its types. */
type CopyConnection = Connection & { query(text: string): void; endCopyFrom(): void }

class CopyOut implements Submittable {
  readonly done: Promise<void>
  /** Never resolves; rejects with `done`. */
  readonly failed: Promise<never>
  failure: Error | undefined
  private readonly text: string
  private readonly into: CopyIn
  private readonly onBytes: (bytes: number) => void
  private stream: Duplex | undefined
  private driver: ((bytes: Buffer) => void) | undefined
  private readonly listener = (bytes: Buffer): void => this.take(bytes)
  /** The part of a message header that the end of a chunk cut off. */
  private carried: Buffer | undefined
  /** The remaining bytes of the current message's body, and whether it is a row's. */
  private remaining = 0
  private inRow = false
  private readonly settle: PromiseWithResolvers<void> = Promise.withResolvers()
  private readonly fail: PromiseWithResolvers<never> = Promise.withResolvers()

  constructor(text: string, into: CopyIn, onBytes: (bytes: number) => void) {
    this.text = text
    this.into = into
    this.onBytes = onBytes
    this.done = this.settle.promise
    this.failed = this.fail.promise
    // The other side's race observes it only while that runs.
    this.failed.catch(() => undefined)
  }

  submit(connection: Connection): void {
    this.stream = connection.stream
    const [driver] = this.stream.listeners('data')
    // The driver has one listener, a function of a chunk.
    this.driver = driver as (bytes: Buffer) => void
    this.stream.removeListener('data', this.driver)
    this.stream.on('data', this.listener)
    ;(connection as CopyConnection).query(this.text)
  }

  /** Passes on whole runs of row messages; irrelevant messages are skipped. */
  private take(chunk: Buffer): void {
    let bytes = chunk
    if (this.carried !== undefined) {
      bytes = Buffer.concat([this.carried, chunk])
      this.carried = undefined
    }
    let at = 0
    let runStart = this.inRow ? 0 : -1
    let flowing = true
    const handOn = (end: number): void => {
      if (runStart < 0 || end === runStart) return
      this.onBytes(end - runStart)
      flowing = this.into.write(bytes.subarray(runStart, end)) && flowing
      runStart = -1
    }
    while (at < bytes.length) {
      if (this.remaining > 0) {
        const step = Math.min(this.remaining, bytes.length - at)
        at += step
        this.remaining -= step
        continue
      }
      const kind = bytes[at]
      if (kind === copyDone || kind === errorResponse || kind === commandComplete) {
        handOn(at)
        this.giveBack(bytes, at, kind === copyDone)
        return
      }
      if (bytes.length - at < headerBytes) {
        handOn(at)
        this.inRow = false
        this.carried = bytes.subarray(at)
        this.waitForRoom(flowing)
        return
      }
      this.inRow = kind === copyData
      if (this.inRow && runStart < 0) runStart = at
      if (!this.inRow) handOn(at)
      // The length includes itself, which is part of the header.
      this.remaining = bytes.readUInt32BE(at + 1) - 4
      at += headerBytes
    }
    if (this.inRow || runStart >= 0) handOn(at)
    if (this.remaining === 0) this.inRow = false
    this.waitForRoom(flowing)
  }

  private waitForRoom(flowing: boolean): void {
    if (flowing) return
    this.stream?.pause()
    this.into.onRoom(() => this.stream?.resume())
  }

  /** The end of the rows, or an error: the driver reads on from here. */
  private giveBack(bytes: Buffer, at: number, complete: boolean): void {
    this.stream?.removeListener('data', this.listener)
    if (this.driver !== undefined) {
      this.stream?.on('data', this.driver)
      this.driver(bytes.subarray(at))
    }
    if (complete) this.into.end()
  }

  handleCommandComplete(): void {}

  /** The driver ignores unknown copy messages; `copyDone` returns to it. */
  handleCopyData(): void {}

  handleReadyForQuery(): void {
    if (this.failure === undefined) this.settle.resolve()
  }

  handleError(error: Error): void {
    this.failure ??= error
    this.settle.reject(error)
    this.fail.reject(error)
  }
}
