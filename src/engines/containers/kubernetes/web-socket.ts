/**
 * The frames of a web socket (RFC 6455), written and read. It makes no connection and knows no channel of
 * Kubernetes; compression and other extensions are never asked for, so never spoken.
 */

import { randomBytes } from 'node:crypto'
import { EngineError } from '../engine.ts'

export const opcodes = { continued: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

export interface Message {
  readonly opcode: number
  readonly payload: Buffer
}

const messageBytesMax = 16 * 1024 * 1024
const shortMax = 125
const mediumMark = 126
const longMark = 127
const mediumMax = 0xffff
const maskLength = 4

/** A whole message in one frame; a client's is masked, as the protocol demands. */
export function encodeMessage(opcode: number, payload: Uint8Array, masked: boolean): Buffer {
  const { length } = payload
  const extra = length <= shortMax ? 0 : length <= mediumMax ? 2 : 8
  const head = Buffer.alloc(2 + extra)
  head[0] = 0x80 | opcode
  head[1] = (masked ? 0x80 : 0) | (extra === 0 ? length : extra === 2 ? mediumMark : longMark)
  if (extra === 2) head.writeUInt16BE(length, 2)
  if (extra === 8) head.writeBigUInt64BE(BigInt(length), 2)
  if (!masked) return Buffer.concat([head, payload])
  // Not a secret: it keeps what is between from taking the bytes for something else.
  const mask = randomBytes(maskLength)
  return Buffer.concat([head, mask, applyMask(payload, mask)])
}

function applyMask(payload: Uint8Array, mask: Uint8Array): Buffer {
  return Buffer.from(payload.map((byte, index) => byte ^ (mask[index % maskLength] ?? 0)))
}

/** Messages as they come, fragments joined. Ends with the bytes; `unavailable` for a malformed stream. */
export async function* readMessages(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Message> {
  let waiting: Buffer = Buffer.alloc(0)
  let begun: Message | undefined
  for await (const piece of bytes) {
    waiting = Buffer.concat([waiting, piece])
    for (let frame = takeFrame(waiting); frame !== undefined; frame = takeFrame(waiting)) {
      waiting = waiting.subarray(frame.size)
      if (frame.opcode >= opcodes.close) {
        yield frame
        continue
      }
      const joined: Message =
        begun === undefined || frame.opcode !== opcodes.continued
          ? frame
          : { opcode: begun.opcode, payload: Buffer.concat([begun.payload, frame.payload]) }
      if (joined.payload.length > messageBytesMax) throw tooLong()
      begun = frame.final ? undefined : joined
      if (frame.final) yield joined
    }
  }
}

function takeFrame(
  bytes: Buffer,
): (Message & { readonly final: boolean; readonly size: number }) | undefined {
  if (bytes.length < 2) return undefined
  const [first = 0, second = 0] = bytes
  const mark = second & 0x7f
  const extra = mark === mediumMark ? 2 : mark === longMark ? 8 : 0
  const masked = (second & 0x80) !== 0
  const start = 2 + extra + (masked ? maskLength : 0)
  if (bytes.length < start) return undefined
  const length =
    extra === 0 ? mark : extra === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
  if (length > messageBytesMax) throw tooLong()
  if (bytes.length < start + length) return undefined
  const payload = bytes.subarray(start, start + length)
  return {
    final: (first & 0x80) !== 0,
    opcode: first & 0x0f,
    payload: masked ? applyMask(payload, bytes.subarray(start - maskLength, start)) : payload,
    size: start + length,
  }
}

function tooLong(): EngineError {
  return new EngineError('unavailable', 'a message of the web socket is too long')
}
