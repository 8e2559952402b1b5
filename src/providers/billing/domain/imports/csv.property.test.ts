/** Our CSV reader against another one, and the cost of a misplaced quote. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { fc, runsOf } from '../../../../../tests/property.ts'
import { readCsvRecords, recordLengthMax } from './csv.ts'

const cell = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.stringMatching(/^[ab,"\n\r]{0,6}$/),
  fc.constantFrom('', '"', '""', 'a\nb', 'a\r\nb', ',', ' x '),
)
const row = fc.array(cell, { minLength: 1, maxLength: 4 })

/** `always`: quotes even if not needed. */
const written = (text: string, always: boolean): string =>
  always || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

test('what is written as CSV is read as it was, with the line each record begins on', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(row, fc.boolean()), { maxLength: 6 }),
      fc.constantFrom('\n', '\r\n'),
      fc.boolean(),
      (rows, newline, isEnded) => {
        const lines = rows.map(([cells, always]) => cells.map((one) => written(one, always)))
        const text = lines.map((one) => one.join(',')).join(newline) + (isEnded ? newline : '')
        let line = 10
        const expected = rows.flatMap(([cells], at) => {
          const here = line
          const shown = lines[at]?.join(',') ?? ''
          line += shown.split('\n').length
          return shown === '' ? [] : [{ line: here, cells }]
        })
        assert.deepEqual(
          [...readCsvRecords(text, 10)].map(({ length: _, ...one }) => one),
          expected,
        )
      },
    ),
    { numRuns: runsOf(2000) },
  )
})

test('where another reader reads a text, ours reads the same', () => {
  const text = fc.stringMatching(/^[ab,"\n]{0,16}$/)
  let read = 0
  fc.assert(
    fc.property(text, (given) => {
      let expected: unknown
      try {
        expected = parse(given, { relax_column_count: true, skip_empty_lines: true })
      } catch {
        // It refuses the whole text where we refuse one record.
        return
      }
      read++
      const records = [...readCsvRecords(given, 1)]
      assert.deepEqual(
        records.map((one) => ('cells' in one ? one.cells : one.reason)),
        expected,
      )
    }),
    { numRuns: runsOf(5000) },
  )
  assert.ok(read > 500, `only ${read} texts were CSV`)
})

test('a quote out of place costs its line, and nothing else', () => {
  const shown = (text: string): readonly unknown[] =>
    [...readCsvRecords(text, 1)].map((one) => ('cells' in one ? one.cells : one.line))
  assert.deepEqual(shown('a,b\n5" wide,1\nc,d'), [['a', 'b'], 2, ['c', 'd']])
  assert.deepEqual(shown('a,b\n"open,1\nc,d\n'), [['a', 'b'], 2, ['c', 'd']])
  assert.deepEqual(shown('"a"x,b\n"c",d'), [1, ['c', 'd']])
  assert.deepEqual(shown('"a\nb"x,1\nc,d'), [1, 2, ['c', 'd']])
})

test('a text of quotes out of place is read in a time that grows with it, not with its square', () => {
  const lines = 50_000
  // Reading ten characters in vain a million times would take minutes. The runner's limit would report it.
  for (const line of ['"a""', '",",', '"",""x', '"""', ',"""', '"']) {
    const records = [...readCsvRecords(`${line}\n`.repeat(lines), 1)]
    assert.ok(records.length >= lines / 2 - 1 && records.length <= lines, line)
  }
})

test('a record is bounded, quoted or not, and costs its line alone', () => {
  for (const long of [`a${','.repeat(recordLengthMax)}`, `"${'x,'.repeat(recordLengthMax)}",1`]) {
    const reasons = [...readCsvRecords(`${long}\na,b\n`, 1)].map((one) => 'reason' in one)
    assert.deepEqual(reasons, [true, false])
  }
})
