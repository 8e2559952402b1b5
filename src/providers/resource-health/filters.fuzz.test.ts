/** Hostile filters and start times: an answer or a refusal of the right family, never a fault. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { fc } from '../../../tests/property.ts'
import { events, startHealth, subscription } from './testing/start.ts'

const long = process.env['ARMATURE_TEST_LONG'] === '1'
const words = [
  ...['eventType', 'Properties/EventType', 'service', 'region', 'priority', 'lastUpdateTime'],
  ...['eq', 'ne', 'gt', 'and', 'or', 'not', 'in', '(', ')', ',', "'ServiceIssue'", "'West US'"],
  ...['7', '-1', 'null', 'true', '2026-10-15', "'10/15/2026'", 'impact/any(i: i/x eq 1)', "'%_\\'"],
  ...['eventTags', "contains(title,'a')", 'tolower(', '$', "'", '\u0000', '𝔘', '__proto__'],
]

test('any filter and any start are answered or refused with 400', async () => {
  await using started = await startHealth()
  const properties = {
    eventType: 'ServiceIssue',
    title: 'a',
    impact: [{ impactedService: 'S', impactedRegions: [{ impactedRegion: 'West US' }] }],
  }
  await started.post(`${events}/E/publish`, { properties })
  const filter = fc.oneof(
    fc.array(fc.constantFrom(...words), { maxLength: 12 }).map((list) => list.join(' ')),
    fc.string({ maxLength: 60, unit: 'binary' }),
  )
  await fc.assert(
    fc.asyncProperty(filter, fc.option(fc.string({ maxLength: 20 })), async (given, start) => {
      const query = new URLSearchParams({ $filter: given })
      if (start !== null) query.set('queryStartTime', start)
      for (const at of [`${subscription}${events}`, `${events}/E/impactedResources`]) {
        const error = await started.get(`${at}?${query}`).then(
          () => undefined,
          (reason: unknown) => reason,
        )
        if (error === undefined) continue
        assert.ok(error instanceof ApiError, String(error))
        assert.equal(error.status, 400, error.message)
      }
    }),
    { numRuns: long ? 5000 : 100 },
  )
})
