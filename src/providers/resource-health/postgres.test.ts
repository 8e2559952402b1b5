/** Everything on PostgreSQL: published, listed by page and filter, changed concurrently, played. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { silentLog } from '#kernel/ports.ts'
import { contractWords } from '#kernel/vendor.ts'
import { openPostgres } from '#stores/postgres/open.ts'
import { findPostgres, howToGetPostgres, startPostgres } from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../../tests/require.ts'
import { takeDue } from './domain/background.ts'
import { openEventStore } from './domain/event-store.ts'
import { healthMigrations } from './domain/migrations.ts'
import { events, firstMoment, startHealth, subscription } from './testing/start.ts'

test('events, pages, filters, writers at once and timelines', async (t: TestContext) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  await using store = await openPostgres({
    url: await server.createDatabase(),
    poolSize: 4,
    clock: { now: () => firstMoment },
    migrations: healthMigrations,
    words: contractWords,
    transactionRetriesMax: 8,
  })
  await using started = await startHealth({ store })
  const at = `${subscription}${events}`
  for (let number = 0; number < 12; number++) {
    await started.post(`${events}/E${number}/publish`, {
      properties: {
        eventType: number % 2 === 0 ? 'ServiceIssue' : 'RCA',
        title: `Number ${number}`,
        impact: [
          {
            impactedService: '100 % Secrets_',
            impactedRegions: [{ impactedRegion: number % 3 === 0 ? 'West US' : 'East US' }],
          },
        ],
      },
    })
    if (number % 2 === 0) started.clock.pass(1)
  }
  assert.equal((await started.all(`${at}?$top=5`)).length, 12)
  for (const [filter, count] of [
    ["eventType eq 'RCA' and region eq 'westus'", 0],
    ["eventType eq 'RCA' and region eq 'West US'", 2],
    ["service eq '100 % Secrets_' and status eq 'Active'", 12],
    ["service eq '100 x SecretsY'", 0],
  ] as const) {
    const found = await started.all(`${at}?$top=2&$filter=${encodeURIComponent(filter)}`)
    assert.equal(found.length, count, filter)
  }
  // The second writer sees what the first wrote: no note is lost.
  await Promise.all(
    Array.from({ length: 10 }, (_, note) =>
      started.post(`${events}/E0/annotate`, { summary: `note ${note}` }),
    ),
  )
  const { properties } = await started.get(`${events}/E0`)
  assert.equal(properties.impact[0].impactedRegions[0].updates.length, 10)
  const twice = await Promise.allSettled(
    [1, 2, 3].map(() => started.post(`${events}/E1/resolve`, {})),
  )
  assert.equal(twice.filter(({ status }) => status === 'fulfilled').length, 1)
  for (let round = 0; round < 5; round++) {
    const impact = [{ impactedService: 'S', impactedRegions: [{ impactedRegion: 'R' }] }]
    const body = { properties: { eventType: 'RCA', title: 'One of four', impact } }
    const published = await Promise.allSettled(
      [1, 2, 3, 4].map(() => started.post(`${events}/NEW${round}/publish`, body)),
    )
    const codes = published.map((one) => (one.status === 'rejected' ? one.reason.code : 'made'))
    assert.deepEqual(codes.sort(), ['EventExists', 'EventExists', 'EventExists', 'made'])
  }
  const step = { after: 'PT0S', step: 'annotate', body: { summary: 'played' } }
  await started.post(`${events}/E2/play`, { steps: [step, step, step] })
  const parts = { sql: store.sql, eventStore: openEventStore(store.sql), log: silentLog }
  await Promise.all([1, 2, 3].map(() => takeDue({ ...parts, clock: started.clock })))
  const played = await started.get(`${events}/E2`)
  assert.equal(played.properties.impact[0].impactedRegions[0].updates.length, 3)
})
