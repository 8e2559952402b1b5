/** A body in a file is read as one in memory is, wherever the steps of reading it end. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UnnamedFile } from '#files/unnamed-file.ts'
import { ApiError } from '#kernel/error.ts'
import { type Bytes, readBytes } from '#kernel/stored-bytes.ts'
import { fc } from '../../../tests/property.ts'
import { turnsOf } from '../../../tests/turns.ts'
import { readJsonBatch, readMultipartBatch } from './batch-parts.ts'
import { JsonList, largeBodyOf } from './large-json.ts'

/** What `read` makes of the bytes in memory and in a file: the same, which is returned. */
async function readTwice<T>(bytes: Uint8Array, read: (bytes: Bytes) => Promise<T>): Promise<T> {
  await using file = await UnnamedFile.create()
  const half = Math.floor(bytes.length / 2)
  await file.append(bytes.subarray(0, half))
  await file.append(bytes.subarray(half))
  const outcomeOf = async (given: Bytes): Promise<unknown> => {
    try {
      return await read(given)
    } catch (error) {
      if (error instanceof ApiError) return error.message
      throw error
    }
  }
  const expected = await outcomeOf(bytes)
  assert.deepEqual(await outcomeOf(file.bytes()), expected)
  return expected as T
}

const plain = (body: Readonly<Record<string, unknown>> = {}): unknown =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      value instanceof JsonList ? [...value] : value,
    ]),
  )

test('a long object has the values that a parser of the whole text finds', async () => {
  // Many of them are longer than a step, and so are strings in them; a character has up to four bytes.
  const unit = fc.constantFrom('a', 'é', '€', '𝄞', '"', '\\', '[', '}', ',')
  const text = fc
    .tuple(unit, fc.integer({ min: 0, max: 40_000 }))
    .map(([one, times]) => one.repeat(times))
  const body = fc.dictionary(fc.constantFrom('a', 'é"', 'c'), fc.array(text, { maxLength: 12 }))
  await fc.assert(
    fc.asyncProperty(body, async (object) => {
      const bytes = Buffer.from(JSON.stringify(object) + ' '.repeat(70_000))
      const read = async (given: Bytes): Promise<unknown> =>
        plain(await largeBodyOf({ method: 'POST', body: given }))
      assert.deepEqual(await readTwice(bytes, read), JSON.parse(bytes.toString()))
    }),
    { numRuns: 40 },
  )
})

test('bytes that are no text are refused, also where a step ends in them', async () => {
  const read = (body: Bytes): Promise<unknown> => largeBodyOf({ method: 'POST', body })
  const step = 128 * 1024
  for (const at of [step - 3, step - 1, step, step + 1, 2 * step - 2]) {
    const bytes = Buffer.from(`{"a":["${'x'.repeat(3 * step)}"]}`)
    bytes[at] = 0xe2
    assert.match(String(await readTwice(bytes, read)), /UTF-8/)
  }
  assert.match(String(await readTwice(Buffer.alloc(step * 2, 0x80), read)), /UTF-8/)
})

test('the requests of a batch are the same', async () => {
  const lines = Array.from({ length: 9_000 }, (_, at) => ({
    sequence: at,
    description: 'é€'.repeat(8),
  }))
  const body = JSON.stringify({ number: 'one', lines })
  const request = `Content-Type: application/http\r\n\r\nPOST a HTTP/1.1\r\nContent-Type: application/json\r\n\r\n`
  const part = `--b\r\n${request}${body}\r\n`
  const contents = async (parts: Awaited<ReturnType<typeof readJsonBatch>>): Promise<unknown> =>
    parts.map(({ body: bytes = new Uint8Array(), ...rest }) => ({
      ...rest,
      text: Buffer.from(readBytes(bytes)).toString(),
    }))
  const multipart = Buffer.from(`${part}${part}--b--\r\n`)
  const parts = await readTwice(multipart, async (given) =>
    contents(await readMultipartBatch(given, 'b')),
  )
  assert.deepEqual(
    (parts as { readonly text: string }[]).map(({ text }) => text),
    [body, body],
  )
  const requests = ['1', '2'].map((id) => ({ id, method: 'POST', url: 'a', body: { lines } }))
  const asJson = Buffer.from(JSON.stringify({ requests }))
  const found = await readTwice(asJson, async (given) => contents(await readJsonBatch(given)))
  assert.deepEqual(
    (found as { readonly text: string }[]).map(({ text }) => JSON.parse(text)),
    [{ lines }, { lines }],
  )
  const nested = `--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n${request}${body}\r\n--c--\r\n--b--\r\n`
  const inner = await readTwice(Buffer.from(nested), async (given) =>
    contents(await readMultipartBatch(given, 'b')),
  )
  assert.equal((inner as { readonly text: string }[])[0]?.text, body)
})

test('others have their turn between the requests of a batch with many lines', async () => {
  const lines = Array.from({ length: 60 }, (_, at) => `X-${at}: y\r\n`).join('')
  const part = `--b\r\nContent-Type: application/http\r\n${lines}\r\nGET a HTTP/1.1\r\n${lines}\r\n`
  await using file = await UnnamedFile.create()
  await file.append(Buffer.from(`${part.repeat(90)}--b--`))
  // Each search for the end of a part has a turn already.
  const { turns } = await turnsOf(() => readMultipartBatch(file.bytes(), 'b'))
  assert.ok(turns >= 180, `${turns} turns`)
})
