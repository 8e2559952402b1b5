/**
 * The driver's connection, to servers that users name: whatever such a server sends ends this connection at the most.
 * The driver reads messages where nobody catches what it throws, reads past their ends into memory that was never
 * written, makes each row as wide as the description says, begins a sign-in anew with each message of one, and keeps all
 * that an answer holds. It gets one whole message at a time, and none that it cannot read or did not wait for.
 */

import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import pg from 'pg'
import { ReceivedBytes } from '#kernel/received-bytes.ts'
import { shortWords } from '#kernel/short-words.ts'
import { BoundedHandshake } from '#outbound/bounded-handshake.ts'

/** What a session of this process may use. Workers, which carry the data, have no such bound. */
export interface LookBudget {
  /** The bound of the whole session, in real time. */
  readonly seconds: number
  /** The bound of everything the server sends, including what each message costs. */
  readonly bytes: number
  /** Shared by all sessions. */
  readonly room: LookRoom
}

interface Holder {
  /** The host of its server: many sessions with one are one caller's. */
  readonly host: string
  /** Gives back what it holds. */
  giveWay(): void
}

/** What all sessions together may hold. Where there is no more, a session with whichever host holds most gives way. */
export class LookRoom {
  private free: number
  private readonly held = new Map<Holder, number>()

  constructor(bytes: number) {
    this.free = bytes
  }

  /** The holder itself may be the one that gives way. */
  take(holder: Holder, bytes: number): void {
    this.free -= bytes
    this.held.set(holder, (this.held.get(holder) ?? 0) + bytes)
    while (this.free < 0) {
      const heaviest = this.heaviest()
      if (heaviest === undefined) return
      this.giveBack(heaviest)
      heaviest.giveWay()
    }
  }

  giveBack(holder: Holder): void {
    this.free += this.held.get(holder) ?? 0
    this.held.delete(holder)
  }

  private heaviest(): Holder | undefined {
    const byHost = new Map<string, number>()
    for (const [{ host }, bytes] of this.held) byHost.set(host, (byHost.get(host) ?? 0) + bytes)
    let found: Holder | undefined
    let most: readonly [ofHost: number, own: number] = [-1, -1]
    for (const [holder, own] of this.held) {
      const ofHost = byHost.get(holder.host) ?? 0
      if (ofHost > most[0] || (ofHost === most[0] && own > most[1])) {
        found = holder
        most = [ofHost, own]
      }
    }
    return found
  }
}

/** A session that this code ended because of its server's behaviour. */
export class BrokenOff extends Error {}

/** A row as an object takes more memory than its bytes, and every message takes time. */
const bytesPerMessage = 100
/** The longest error message of the server, in characters. */
const wordsMax = 500
/** How long a polite end is awaited. */
const endMilliseconds = 2000

interface GuardedOptions {
  readonly host: string
  readonly stream: Socket
  readonly ssl: object | false
  /** TLS is preferred, not demanded: with a server that has none, the session goes on without, by the same connection. */
  readonly mayBePlain: boolean
  readonly budget: LookBudget | undefined
}

/** Members of the driver's class that its types leave out. */
type Listening = pg.Connection & {
  attachListeners(stream: object): void
  connect(port: number, host: string): void
}
type Config = ConstructorParameters<typeof pg.Connection>[0]

export class GuardedConnection extends pg.Connection {
  /** Known once the server has answered. */
  isEncrypted: boolean
  private readonly mayBePlain: boolean
  private readonly budget: LookBudget | undefined
  private readonly messages = new Messages()
  private readonly order: MessageOrder
  private readonly holder: Holder
  private held = 0

  constructor({ host, stream, ssl, mayBePlain, budget }: GuardedOptions) {
    let handshake: BoundedHandshake | undefined
    const bounded = {
      ...ssl,
      /** The driver asks when the server has agreed to TLS. */
      get socket() {
        handshake = new BoundedHandshake(stream)
        return handshake
      },
    }
    super({ stream, ssl: ssl === false ? ssl : bounded, keepAlive: true } as unknown as Config)
    this.budget = budget
    this.isEncrypted = ssl !== false
    this.mayBePlain = mayBePlain
    this.once('sslconnect', () => {
      if (!this.isEncrypted) return
      const secure = this.stream as TLSSocket
      handshake?.on('error', (error) => secure.destroy(error))
      secure.once('secureConnect', () => handshake?.endHandshake(() => secure.bytesRead))
    })
    this.holder = {
      host: host.toLowerCase(),
      giveWay: () => this.breakOff('it timed out: too much is being read at once'),
    }
    this.order = new MessageOrder(budget !== undefined)
    // Runs before the message is passed on to records, findings and answers.
    this.on('errorMessage', (error: Error) => {
      error.message = shortWords(error.message, wordsMax)
    })
    if (budget === undefined) return
    const timer = setTimeout(() => this.breakOff('it timed out'), budget.seconds * 1000)
    timer.unref()
    this.once('end', () => {
      clearTimeout(timer)
      budget.room.giveBack(this.holder)
    })
  }

  /** Called by the driver, which would end a connection whose server has no TLS. */
  connect(port: number, host: string): void {
    ;(pg.Connection.prototype as Listening).connect.call(this, port, host)
    if (!this.mayBePlain) return
    const { stream } = this
    const [answered] = stream.listeners('data')
    stream.removeAllListeners('data').once('data', (answer: Buffer) => {
      if (answer.toString('latin1') !== noTls) return answered?.call(stream, answer)
      this.isEncrypted = false
      this.attachListeners(stream)
      // The driver begins the session at this event.
      this.emit('sslconnect')
    })
  }

  /** Called by the driver when it knows its stream: the socket, or TLS over it. */
  attachListeners(stream: Duplex): void {
    ;(pg.Connection.prototype as Listening).attachListeners.call(this, {
      on: (event: string, listener: (chunk: Buffer) => void) =>
        stream.on(event, event === 'data' ? (chunk) => this.take(chunk, listener) : listener),
    })
  }

  /** Closes it for good, even if the server never closes its half. */
  closeSoon(): void {
    setTimeout(() => this.stream.destroy(), endMilliseconds).unref()
  }

  private take(chunk: Buffer, listener: (message: Buffer) => void): void {
    // Counted before it is looked at: a long message is held until it is whole.
    if (this.stream.destroyed || !this.pay(chunk.length)) return
    try {
      for (const message of this.messages.cut(chunk)) {
        requireEnds(message)
        this.order.require(message)
        if (!this.pay(bytesPerMessage)) return
        listener(message)
        if (this.stream.destroyed) return
      }
    } catch (error) {
      this.breakOff('what it sent cannot be read', error)
    }
  }

  /** False when the budget is used up: then the connection is broken off. */
  private pay(bytes: number): boolean {
    if (this.budget === undefined) return true
    this.held += bytes
    this.budget.room.take(this.holder, bytes)
    if (this.held > this.budget.bytes) this.breakOff('it sent more than a look may read')
    return !this.stream.destroyed
  }

  private breakOff(reason: string, cause?: unknown): void {
    this.stream.destroy(new BrokenOff(reason, { cause }))
  }
}

/** All that a server without TLS answers to the question for it. */
const noTls = 'N'
const headerBytes = 5
/** No value of a server is longer. */
const messageBytesMax = 2 ** 30
const errorResponse = 0x45
const noticeResponse = 0x4e

/** Splits the stream into whole messages. */
class Messages {
  private held = new ReceivedBytes();

  *cut(chunk: Buffer): Generator<Buffer> {
    this.held.add(chunk)
    while (this.held.length >= headerBytes) {
      const { buffer, byteOffset, byteLength } = this.held.all()
      const all = Buffer.from(buffer, byteOffset, byteLength)
      const length = 1 + all.readUInt32BE(1)
      if (length < headerBytes || length > messageBytesMax) throw new RangeError('its length')
      if (all.length < length) return
      this.held = new ReceivedBytes()
      if (all.length > length) this.held.add(all.subarray(length))
      yield all.subarray(0, length)
    }
  }
}

/** What PostgreSQL itself allows of an answer. */
const columnsMax = 1664
/** The queries of a look name their columns, and none has as many. */
const columnsOfLookMax = 64
const rowDescription = 0x54
const dataRow = 0x44
const authenticationRequest = 0x52
const authenticationOk = 0
const authenticationBytesMax = 4096

/** Refuses messages that do not fit those before them. */
class MessageOrder {
  private readonly isLook: boolean
  private readonly authentications = new Set<number>()
  private columns = 0

  constructor(isLook: boolean) {
    this.isLook = isLook
  }

  require(message: Buffer): void {
    switch (message[0]) {
      case rowDescription:
        this.columns = message.readUInt16BE(headerBytes)
        if (this.columns > (this.isLook ? columnsOfLookMax : columnsMax)) {
          throw new RangeError('too many columns')
        }
        if (this.isLook) requireNames(message, this.columns)
        return
      case dataRow:
        // The driver makes all columns of a row, however few it has.
        if (message.readUInt16BE(headerBytes) === this.columns) return
        throw new RangeError('a row of other columns')
      case authenticationRequest:
        this.requireOnce(message)
    }
  }

  /** The driver derives a key for each message that continues a sign-in, and waits for none. */
  private requireOnce(message: Buffer): void {
    const kind = message.readUInt32BE(headerBytes)
    const { authentications } = this
    const isLate = authentications.has(authenticationOk) || authentications.has(kind)
    if (isLate || message.length > authenticationBytesMax) throw new RangeError('its sign-in')
    authentications.add(kind)
  }
}

/** The object identifiers, sizes and formats behind the name of a column. */
const columnBytes = 18
const [zero, nine] = [0x30, 0x39]

/**
 * The driver makes an object of each row. Where the names of columns are numbers, that is an array with gaps, which takes many times
 * longer. No query of a look names one so.
 */
function requireNames(message: Buffer, columns: number): void {
  let at = headerBytes + 2
  for (let column = 0; column < columns; column++) {
    const end = message.indexOf(0, at)
    if (end < 0) throw new RangeError('columns without an end')
    const first = message[at] ?? 0
    if (first >= zero && first <= nine) throw new RangeError('a column that is named by a number')
    at = end + 1 + columnBytes
  }
}

/** Bytes of an error or a notice: their text is kept, cleaned and shown. */
const wordsBytesMax = 256 * 1024

/** The driver would look for the end of an error's fields for ever. */
function requireEnds(message: Buffer): void {
  if (message[0] !== errorResponse && message[0] !== noticeResponse) return
  if (message.length > wordsBytesMax) throw new RangeError('words without an end')
  for (let at = headerBytes; message[at] !== 0; ) {
    const end = message.indexOf(0, at + 1)
    if (end < 0) throw new RangeError('fields without an end')
    at = end + 1
  }
}
