/** Cells of an invoice's CSV, as a spreadsheet program reads them. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
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
