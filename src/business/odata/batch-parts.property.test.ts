/** Multipart batches are split as by splitting the text at its boundary, but never beyond the limit of a batch. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { fc } from '../../../tests/property.ts'
import { readMultipartBatch } from './batch-parts.ts'

const refusalOf = (work: () => unknown): string => {
  try {
    work()
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

test('parts are those between the boundaries, with either kind of line ends', () => {
  const lineEnd = fc.constantFrom('\r\n', '\n')
  const part = fc.record({
    url: fc.stringMatching(/^[a-z]{1,4}$/),
    blanks: fc.constantFrom('', ' ', '\t '),
    body: fc.constantFrom('', '{}', '--c', ' --b', '\r\n\n{}'),
  })
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 5 }),
      fc.infiniteStream(lineEnd),
      fc.constantFrom('', 'preamble\n'),
      fc.boolean(),
      (parts, ends, preamble, isClosed) => {
        const end = (): string => ends.next().value
        const written = parts.map(
          ({ url, blanks, body }) =>
            `--b${blanks}${end()}Content-Type: application/http${end()}${end()}GET ${url} HTTP/1.1${end()}${end()}${body}${end()}`,
        )
        const text = `${preamble}${written.join('')}${isClosed ? `--b--${end()}rest` : ''}`
        const expected = urlsBySplitting(text)
        if (expected === undefined)
          assert.match(
            refusalOf(() => read(text)),
            /closing boundary/,
          )
        else
          assert.deepEqual(
            read(text).map(({ url }) => url),
            expected,
          )
      },
    ),
    { numRuns: 500 },
  )
})

test('more parts than a batch may hold are refused, but only where the batch is closed', () => {
  const empty = '--b\r\n'.repeat(800_000)
  assert.match(
    refusalOf(() => read(`${empty}--b--`)),
    /more than 100 requests/,
  )
  assert.match(
    refusalOf(() => read(empty)),
    /closing boundary/,
  )
})
