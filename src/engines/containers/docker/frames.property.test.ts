import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../../../tests/property.ts'
import { splitFrames } from './frames.ts'

const frames = fc.array(
  fc.record({ error: fc.boolean(), bytes: fc.uint8Array({ maxLength: 50 }) }),
  { maxLength: 20 },
)

test('frames come apart as they were put together, however the bytes are cut', async () => {
  await fc.assert(
    fc.asyncProperty(frames, fc.array(fc.nat(60), { maxLength: 40 }), async (written, cuts) => {
      const whole = Buffer.concat(
        written.map(({ error, bytes }) => {
          const header = Buffer.alloc(8)
          header[0] = error ? 2 : 1
          header.writeUInt32BE(bytes.length, 4)
          return Buffer.concat([header, bytes])
        }),
      )
      const read = { out: Buffer.alloc(0), error: Buffer.alloc(0) }
      for await (const { stream, bytes } of splitFrames(cutUp(whole, cuts))) {
        read[stream] = Buffer.concat([read[stream], bytes])
      }
      for (const stream of ['out', 'error'] as const) {
        const mine = written.filter(({ error }) => error === (stream === 'error'))
        assert.deepEqual(read[stream], Buffer.concat(mine.map(({ bytes }) => bytes)))
      }
    }),
  )
})

async function* cutUp(whole: Buffer, sizes: readonly number[]): AsyncIterable<Uint8Array> {
  let offset = 0
  for (const size of sizes) {
    yield whole.subarray(offset, offset + size)
    offset += size
  }
  yield whole.subarray(offset)
}
