/** Multipart batches are split as by splitting the text at its boundary, but never beyond the limit of a batch. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { fc, runsOf } from '../../../tests/property.ts'
import { turnsOf } from '../../../tests/turns.ts'
import { readMultipartBatch } from './batch-parts.ts'

const refusalOf = async (work: () => Promise<unknown>): Promise<string> => {
  try {
    await work()
  } catch (error) {
    if (error instanceof ApiError) return error.message
    throw error
  }
  return ''
}

const read = (text: string): ReturnType<typeof readMultipartBatch> =>
  readMultipartBatch(new TextEncoder().encode(text), 'b')

/** Normalizes line ends, then splits by the boundary: simple, and slow. */
function urlsBySplitting(text: string): readonly string[] | undefined {
  const pieces = `\r\n${text.replaceAll(/\r?\n/g, '\r\n')}`.split('\r\n--b')
  const end = pieces.findIndex((one, at) => at > 0 && one.startsWith('--'))
  if (end < 0) return undefined
  return pieces.slice(1, end).flatMap((one) => /GET (\S+)/.exec(one)?.[1] ?? [])
}

test('parts are those between the boundaries, with either kind of line ends', async () => {
  const lineEnd = fc.constantFrom('\r\n', '\n')
  const part = fc.record({
    url: fc.stringMatching(/^[a-z]{1,4}$/),
    blanks: fc.constantFrom('', ' ', '\t '),
    body: fc.constantFrom('', '{}', '--c', ' --b', '\r\n\n{}'),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, { maxLength: 5 }),
      fc.infiniteStream(lineEnd),
      fc.constantFrom('', 'preamble\n'),
      fc.boolean(),
      async (parts, ends, preamble, isClosed) => {
        const end = (): string => ends.next().value
        const written = parts.map(
          ({ url, blanks, body }) =>
            `--b${blanks}${end()}Content-Type: application/http${end()}${end()}GET ${url} HTTP/1.1${end()}${end()}${body}${end()}`,
        )
        const text = `${preamble}${written.join('')}${isClosed ? `--b--${end()}rest` : ''}`
        const expected = urlsBySplitting(text)
        if (expected === undefined)
          assert.match(await refusalOf(() => read(text)), /closing boundary/)
        else {
          const found = await read(text)
          assert.deepEqual(
            found.map(({ url }) => url),
            expected,
          )
        }
      },
    ),
    { numRuns: runsOf(500) },
  )
})

test('more parts than a batch may hold are refused, also where they stand in many change sets', async () => {
  const empty = '--b\r\n'.repeat(800_000)
  for (const text of [`${empty}--b--`, empty]) {
    assert.match(await refusalOf(() => read(text)), /more than 100 requests/)
  }
  const request = '--c\r\nContent-Type: application/http\r\n\r\nDELETE x HTTP/1.1\r\n\r\n'
  const set = `--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n${request.repeat(60)}\r\n--c--\r\n`
  assert.match(await refusalOf(() => read(`${set.repeat(2)}--b--`)), /more than 100 requests/)
})

test('others have their turn while a long batch is searched, whatever it is made of', async () => {
  const head = '--b\r\nContent-Type: application/http\r\n\r\nPOST companies HTTP/1.1\r\n\r\n'
  const size = 4 * 1024 * 1024
  for (const filling of [' ', '\n', '\n--']) {
    const text = `${head}${filling.repeat(size / filling.length)}\r\n--b--`
    const { turns, result } = await turnsOf(() => read(text))
    const [part] = result
    assert.ok(turns >= size / (512 * 1024), `${turns} turns for ${JSON.stringify(filling)}`)
    // What is no JSON is refused where it is read: a part of blanks alone is looked at as little.
    assert.ok((part?.body?.length ?? 0) > size / 2)
  }
})
