/** Dates, times and durations: which texts are one, and which moment they mean. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../../tests/property.ts'
import { parseAnyMoment, parseDate, parseDateTime, parseDuration, parseTime } from './moments.ts'

test('moments as filters and query parameters write them', () => {
  const table: readonly (readonly [string, string | undefined])[] = [
    ['2026-11-20', '2026-11-20T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2026-02-29', undefined],
    ['2026-00-10', undefined],
    ['2026-13-10', undefined],
    ['2026-11-31', undefined],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
    ['7/24/2020', '2020-07-24T00:00:00.000Z'],
    ['07-24-2020', '2020-07-24T00:00:00.000Z'],
    ['10/05/2019 09:00', '2019-10-05T09:00:00.000Z'],
    ['10/05/2019 24:00', undefined],
    ['10/05/2019 09:00 late', undefined],
    ['24/7/2020', undefined],
    ['2026-11-20T10:30:00Z', '2026-11-20T10:30:00.000Z'],
    ['2026-11-20t10:30z', '2026-11-20T10:30:00.000Z'],
    ['2026-11-20T10:30:00', '2026-11-20T10:30:00.000Z'],
    ['2026-11-20T10:30:00.1234567-08:00', '2026-11-20T18:30:00.123Z'],
    ['2026-11-20T24:00:00Z', undefined],
    ['2026-11-20T10:60:00Z', undefined],
    ['2026-11-20T10:30:00+15:00', undefined],
    ['2026-11-20T', undefined],
    ['2026-11-20 10:30:00', undefined],
    ['20261120', undefined],
    ['', undefined],
    ['now', undefined],
  ]
  for (const [text, want] of table) {
    const moment = parseAnyMoment(text)
    assert.equal(moment === undefined ? undefined : new Date(moment).toISOString(), want, text)
  }
  assert.equal(parseDateTime('2026-11-20T10:30:00', 'required'), undefined)
})

test('durations have a fixed length or are none', () => {
  const table: readonly (readonly [string, number | undefined])[] = [
    ['P1D', 86_400_000],
    ['P3652500D', 315_576_000_000_000],
    ['P3652501D', undefined],
    ['-P999999999D', undefined],
    ['PT1H30M', 5_400_000],
    ['-PT0.5S', -500],
    ['P1DT1S', 86_401_000],
    ['P', undefined],
    ['PT', undefined],
    ['P1DT', undefined],
    ['P1Y', undefined],
    ['P1M', undefined],
    ['1D', undefined],
  ]
  for (const [text, want] of table) assert.equal(parseDuration(text), want, text)
})

test('every moment the language writes is read back', () => {
  const dates = fc.date({
    min: new Date('0001-01-01'),
    max: new Date('9999-12-31'),
    noInvalidDate: true,
  })
  fc.assert(
    fc.property(dates, (date) => {
      const iso = date.toISOString()
      assert.equal(parseDateTime(iso, 'required'), date.getTime())
      assert.equal(parseDate(iso.slice(0, 10)), Date.parse(iso.slice(0, 10)))
      const start = parseDate(iso.slice(0, 10)) ?? Number.NaN
      assert.equal(parseTime(iso.slice(11, 23)), date.getTime() - start)
    }),
  )
})
