/** A large object read in pieces has the values that a parser of the whole text finds, and what is no JSON is refused. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { fc } from '../../../tests/property.ts'
import { turnsOf } from '../../../tests/turns.ts'
import { createListRoom, JsonList, largeBodyOf } from './large-json.ts'
import { odataLimits } from './limits.ts'

/** Behind any text, they make it a large one. */
const blanks = ' '.repeat(64 * 1024)
const encode = (text: string) => new TextEncoder().encode(text)
const read = async (body: Uint8Array) => (await largeBodyOf({ method: 'POST', body })) ?? {}

async function readWhole(text: string): Promise<unknown> {
  const body = await read(encode(text + blanks))
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      value instanceof JsonList ? [...value] : value,
    ]),
  )
}

/** Lists of this length are long enough to be cut out. */
const padding = 'x'.repeat(2_000)

test('lists of any elements are the same, wherever they stand', async () => {
  const text = fc.constantFrom('a', '"', '\\', '[', ']', '{', '}', ',', ':', 'é', padding)
  const scalar = fc.oneof(text, fc.integer(), fc.constantFrom(null, true, 0.5))
  const element = fc.oneof(
    scalar,
    fc.array(scalar, { maxLength: 3 }),
    fc.dictionary(text, scalar, { maxKeys: 3 }),
  )
  const value = fc.oneof(scalar, fc.array(element, { minLength: 9, maxLength: 40 }))
  const body = fc.dictionary(text, value, { maxKeys: 4 })
  const space = fc.constantFrom(undefined, 1)
  await fc.assert(
    fc.asyncProperty(body, space, async (object, indent) => {
      const written = JSON.stringify(object, null, indent)
      assert.deepEqual(await readWhole(written), JSON.parse(written))
    }),
  )
})

test('what is no JSON is refused, and so is what is too long', async () => {
  const long = JSON.stringify(Array.from({ length: 20 }, () => padding))
  const open = long.slice(0, -1)
  for (const [text, reason] of [
    [`{"a":${open}}`, /JSON/],
    [`{"a":${open}}}`, /JSON/],
    [`{"a":${open},]}`, /JSON/],
    [`{"a":${open},{"b":[1}]}`, /JSON/],
    [`{"a" ${long}}`, /JSON/],
    [`{"a":${long}`, /JSON/],
    [`{"a":${long}} {"b":1}`, /JSON/],
    [`{"a":${long},"b":"${padding}}`, /JSON/],
    [`[${long}]`, /object/],
    [`["a",${long}]`, /object/],
    [`{"a":"${padding.repeat(300)}"}`, /bytes/],
    [`{"a":["${padding.repeat(300)}"]}`, /bytes/],
    [`{"a":"${'\\"'.repeat(300_000)}"}`, /bytes/],
    [`{"a":[${'['.repeat(9_000)}${']'.repeat(9_000)}]}`, /levels/],
  ] as const) {
    await assert.rejects(readWhole(text), (error) => {
      assert.ok(error instanceof ApiError, String(error))
      assert.match(error.message, reason, text.slice(0, 40))
      return true
    })
  }
  const invalid = Buffer.concat([encode(`{"a":${long},"b":"`), Buffer.from([0xff]), encode('"}')])
  await assert.rejects(read(Buffer.concat([invalid, encode(blanks)])), /UTF-8/)
})

test('of a list with too many elements one more than may be is counted, and no more', async () => {
  const numbers = `{"a":[${'1,'.repeat(100_000)}1]}`
  const { a } = await read(encode(numbers))
  assert.ok(a instanceof JsonList)
  assert.equal(a.length, odataLimits.nestedLinesMax + 1)
})

test('many long lists are refused, and so are more elements than may be used', async () => {
  const list = `[${'1,'.repeat(9_000)}1]`
  const many = (count: number): string =>
    `{${Array.from({ length: count }, (_, at) => `"a${at}":${list}`).join(',')}}`
  await assert.rejects(read(encode(many(3_000))), /at most 16 long lists/)
  await assert.rejects(read(encode(many(3) + blanks)), /at most 20000 elements/)
  const { a0, a1 } = await read(encode(many(2) + blanks))
  assert.ok(a0 instanceof JsonList && a1 instanceof JsonList)
  assert.deepEqual([a0.length, a1.length], [9_001, 9_001])
})

test('bodies of one change set share the room for elements', async () => {
  const body = encode(`{"a":[${'1,'.repeat(9_000)}1]}${blanks}`)
  const room = createListRoom()
  for (let at = 0; at < 2; at++) await largeBodyOf({ method: 'POST', body }, room)
  await assert.rejects(largeBodyOf({ method: 'POST', body }, room), /at most 20000 elements/)
})

test('others have their turn between any two lists', async () => {
  const lists = Array.from({ length: 16 }, (_, at) => `"a${at}":["${'x'.repeat(60_000)}"]`)
  const { turns } = await turnsOf(() => read(encode(`{${lists.join(',')}}`)))
  assert.ok(turns >= 16, `${turns} turns`)
})
