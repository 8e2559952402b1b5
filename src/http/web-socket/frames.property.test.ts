/** Frames, however they are cut, come out as they went in; and no bytes make the reader throw or hold much. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { createFrameReader, encodeClose, encodeFrame, type Frame, opcodes } from './frames.ts'

const most = 70_000

/** As a client sends it. */
function masked({ final, opcode, payload }: Frame, mask: Buffer): Buffer {
  const plain = encodeFrame(opcode, payload)
  const headBytes = plain.length - payload.length
  const head = Buffer.from(plain.subarray(0, headBytes))
  head.writeUInt8((final ? 0x80 : 0) | opcode, 0)
  head.writeUInt8(head.readUInt8(1) | 0x80, 1)
  return Buffer.concat([head, mask, payload.map((byte, at) => byte ^ mask.readUInt8(at & 3))])
}

const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((given) => Buffer.from(given))
const payload = fc.oneof(
  bytes(200),
  fc.constantFrom(125, 126, 65_535, 65_536).map((length) => Buffer.alloc(length, 7)),
)
const frame: fc.Arbitrary<Frame> = fc.oneof(
  fc.record(
    { final: fc.boolean(), opcode: fc.constantFrom(0, 1, 2), payload },
    { noNullPrototype: true },
  ),
  fc.record(
    {
      final: fc.constant(true),
      opcode: fc.constantFrom(8, 9, 10),
      payload: bytes(125),
    },
    { noNullPrototype: true },
  ),
)
const mask = fc.uint8Array({ minLength: 4, maxLength: 4 }).map((given) => Buffer.from(given))

describe('frames', () => {
  test('of any size, in pieces of any size', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(frame, mask), { maxLength: 4 }),
        fc.array(fc.integer({ min: 1, max: 40_000 }), { minLength: 1, maxLength: 20 }),
        (given, cuts) => {
          const whole = Buffer.concat(given.map(([one, key]) => masked(one, key)))
          const reader = createFrameReader(most)
          const seen: Frame[] = []
          for (let from = 0, at = 0; from < whole.length; at++) {
            const size = cuts[at % cuts.length] ?? 1
            const { frames, fault } = reader.push(whole.subarray(from, from + size))
            assert.equal(fault, undefined)
            seen.push(...frames)
            from += size
          }
          assert.deepEqual(
            seen,
            given.map(([one]) => one),
          )
        },
      ),
      { numRuns: 60 },
    )
  })

  test('any bytes: frames or a fault, and a fault stays', () => {
    fc.assert(
      fc.property(fc.array(bytes(40), { maxLength: 10 }), (chunks) => {
        const reader = createFrameReader(100)
        let broken = false
        for (const chunk of chunks) {
          const { frames, fault } = reader.push(chunk)
          for (const one of frames) assert.ok(one.payload.length <= 100)
          if (broken) assert.ok(fault !== undefined && frames.length === 0)
          if (fault !== undefined) {
            broken = true
            assert.ok([1002, 1009].includes(fault.code))
          }
        }
      }),
    )
  })

  test('what RFC 6455 forbids, told by its code', () => {
    const key = Buffer.from([1, 2, 3, 4])
    const text = masked({ final: true, opcode: opcodes.text, payload: Buffer.from('x') }, key)
    const changed = (at: number, to: number): Buffer => {
      const copy = Buffer.from(text)
      copy.writeUInt8(to, at)
      return copy
    }
    const long = (length: number) => {
      const head = Buffer.alloc(14)
      head.writeUInt8(0x82, 0)
      head.writeUInt8(0xff, 1)
      head.writeBigUInt64BE(BigInt(length), 2)
      return head
    }
    for (const [name, given, code] of [
      ['reserved bits', changed(0, 0xc1), 1002],
      ['an unknown opcode', changed(0, 0x83), 1002],
      ['no mask', changed(1, 0x01), 1002],
      ['a control frame in pieces', changed(0, 0x09), 1002],
      ['a long control frame', Buffer.from([0x89, 0xfe, 0, 200]), 1002],
      ['a length of too many bytes', long(5), 1002],
      ['too long a message, told by its head', long(2 ** 40), 1009],
    ] as const) {
      assert.equal(createFrameReader(most).push(given).fault?.code, code, name)
    }
  })

  test('a long reason is cut between characters', () => {
    const payload = encodeClose({ code: 1011, reason: '€'.repeat(100) })
    assert.ok(payload.length <= 125)
    assert.equal(payload.readUInt16BE(0), 1011)
    assert.equal(payload.subarray(2).toString('utf8'), '€'.repeat(41))
  })
})
