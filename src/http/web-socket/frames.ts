/** The framing of RFC 6455, the server's side: bytes to frames, frames to bytes. Knows no socket and no extension. */

export interface Frame {
  readonly final: boolean
  readonly opcode: number
  readonly payload: Buffer
}

/** Why the connection must end: a closing code of RFC 6455, section 7.4. */
export interface Fault {
  readonly code: number
  readonly reason: string
}

export interface Pushed {
  readonly frames: readonly Frame[]
  /** After it nothing more is read. */
  readonly fault?: Fault
}

export const opcodes = {
  continuation: 0,
  text: 1,
  binary: 2,
  close: 8,
  ping: 9,
  pong: 10,
} as const

const known: ReadonlySet<number> = new Set(Object.values(opcodes))
const controlPayloadMax = 125

/** Frames of a client, in pieces of any size. What is held is never longer than a frame of `payloadBytesMax`. */
export function createFrameReader(payloadBytesMax: number): { push(chunk: Buffer): Pushed } {
  let held: Buffer = Buffer.alloc(0)
  let broken: Fault | undefined
  return {
    push(chunk) {
      if (broken !== undefined) return { frames: [], fault: broken }
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
      const frames: Frame[] = []
      for (;;) {
        const next = readFrame(held, payloadBytesMax)
        if (next === undefined) return { frames }
        if ('code' in next) {
          broken = next
          held = Buffer.alloc(0)
          return { frames, fault: next }
        }
        frames.push(next.frame)
        held = held.subarray(next.bytes)
      }
    },
  }
}

/** The first frame of `bytes`; undefined while it is not all there. */
function readFrame(
  bytes: Buffer,
  payloadBytesMax: number,
): { readonly frame: Frame; readonly bytes: number } | Fault | undefined {
  if (bytes.length < 2) return undefined
  const first = bytes.readUInt8(0)
  const second = bytes.readUInt8(1)
  const opcode = first & 0x0f
  const final = (first & 0x80) !== 0
  const short = second & 0x7f
  if ((first & 0x70) !== 0) return broken('reserved bits are set')
  if (!known.has(opcode)) return broken('the opcode is unknown')
  if ((second & 0x80) === 0) return broken('a client masks its frames')
  if (opcode >= opcodes.close && (!final || short > controlPayloadMax)) {
    return broken('control frames are short and whole')
  }
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0
  const start = 2 + lengthBytes + 4
  if (bytes.length < 2 + lengthBytes) return undefined
  const length =
    lengthBytes === 0
      ? short
      : lengthBytes === 2
        ? bytes.readUInt16BE(2)
        : Number(bytes.readBigUInt64BE(2))
  const least = lengthBytes === 0 ? 0 : lengthBytes === 2 ? 126 : 65_536
  if (length < least) return broken('a length takes the fewest bytes')
  if (length > payloadBytesMax) {
    return { code: 1009, reason: `a message has at most ${payloadBytesMax} bytes` }
  }
  if (bytes.length < start + length) return undefined
  const payload = Buffer.from(bytes.subarray(start, start + length))
  for (let at = 0; at < length; at++) {
    payload.writeUInt8(payload.readUInt8(at) ^ bytes.readUInt8(start - 4 + (at & 3)), at)
  }
  return { frame: { final, opcode, payload }, bytes: start + length }
}

function broken(reason: string): Fault {
  return { code: 1002, reason }
}

/** A frame of the server: whole and not masked. */
export function encodeFrame(opcode: number, payload: Uint8Array): Buffer {
  const { length } = payload
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10)
  head.writeUInt8(0x80 | opcode, 0)
  if (length < 126) {
    head.writeUInt8(length, 1)
  } else if (length < 65_536) {
    head.writeUInt8(126, 1)
    head.writeUInt16BE(length, 2)
  } else {
    head.writeUInt8(127, 1)
    head.writeBigUInt64BE(BigInt(length), 2)
  }
  return Buffer.concat([head, payload])
}

const reasonBytesMax = 123

/** The payload of a closing frame; a long reason is cut between characters. */
export function encodeClose({ code, reason }: Fault): Buffer {
  let text: Buffer = Buffer.from(reason, 'utf8').subarray(0, reasonBytesMax)
  // A character cut in two decodes to the mark of replacement, which is not what was said.
  while (text.length > 0 && !reason.startsWith(text.toString('utf8'))) text = text.subarray(0, -1)
  const head = Buffer.alloc(2)
  head.writeUInt16BE(code, 0)
  return Buffer.concat([head, text])
}
