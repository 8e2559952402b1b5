import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../tests/property.ts'
import { ReceivedBytes, receiveAll } from './received-bytes.ts'

async function* chunks(...all: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  yield* all
}

test('chunks of any size are put together as they were, with or without a buffer', () => {
  const chunk = fc.uint8Array({ maxLength: 40_000, size: 'max' })
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 8 }), fc.nat(50_000), fc.nat(8), (all, room, at) => {
      const received = new ReceivedBytes(new Uint8Array(room))
      for (const [index, one] of all.entries()) {
        if (index === at) received.moveTo(new Uint8Array(received.length + 1))
        received.add(one)
      }
      assert.ok(Buffer.concat(all).equals(received.all()))
    }),
    { numRuns: 50 },
  )
})

test('a chunk that was given is not written to', () => {
  const first = Uint8Array.of(1, 2)
  const received = new ReceivedBytes()
  for (const one of [first, Uint8Array.of(3), Uint8Array.of(4)]) received.add(one)
  assert.deepEqual(
    [[...first], [...received.all()]],
    [
      [1, 2],
      [1, 2, 3, 4],
    ],
  )
})

test('more bytes than may be are refused, and so are very many tiny chunks', async () => {
  assert.deepEqual(
    await receiveAll(chunks(Uint8Array.of(1), Uint8Array.of(2)), 2),
    Uint8Array.of(1, 2),
  )
  assert.equal(await receiveAll(chunks(Uint8Array.of(1), Uint8Array.of(2)), 1), undefined)
  const tiny = Array.from({ length: 5_001 }, () => Uint8Array.of(1))
  assert.equal(await receiveAll(chunks(...tiny), 1_000_000), undefined)
  const few = tiny.slice(1)
  assert.equal((await receiveAll(chunks(...few), 1_000_000))?.length, 5_000)
})
