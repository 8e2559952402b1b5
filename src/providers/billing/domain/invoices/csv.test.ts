/** Cells of an invoice's CSV, as a spreadsheet program reads them. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { invoice, put, row } from '../../testing/rows.ts'
import { account, startBilling } from '../../testing/start.ts'
import { cell } from './csv.ts'

test('a text that a spreadsheet program would run begins with an apostrophe; numbers stay numbers', () => {
  const cells: readonly (readonly [unknown, string])[] = [
    ['=HYPERLINK("http://evil.example/")', `"'=HYPERLINK(""http://evil.example/"")"`],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['+1+cmd', "'+1+cmd"],
    ['\t=1', "'\t=1"],
    ['-a', "'-a"],
    ['-12.5', '-12.5'],
    [-12.5, '-12.5'],
    ['A seat', 'A seat'],
    [undefined, ''],
  ]
  for (const [value, text] of cells) assert.equal(cell(value), text)
})

test('while a file is read, others have their turns', async () => {
  await using started = await startBilling()
  const rows = Array.from({ length: 2000 }, () => row({ invoice }))
  assert.deepEqual(await put(started, rows), [])
  const begun = await started.call('POST', `${account}/invoices/${invoice}/transactionsDownload`)
  const { url } = await started.get(begun.headers?.['Location'] ?? '')
  const { pathname, search } = new URL(url)
  const { body } = await started.call('GET', pathname + search)
  const reading = { lines: 0, isOver: false }
  const whole = (async () => {
    // A file is a stream.
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      reading.lines += Buffer.from(chunk).toString().split('\r\n').length - 1
    }
    reading.isOver = true
  })()
  let turns = 0
  for (; !reading.isOver; turns++) await new Promise((resolve) => setImmediate(resolve))
  await whole
  assert.equal(reading.lines, 2001)
  assert.ok(turns >= 40, `${turns} turns`)
})
