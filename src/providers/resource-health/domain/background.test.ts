/**
 * Timelines become due by the installation's clock, each step once. Unhealthy resources are reported, and their
 * recovery, too.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '#kernel/ports.ts'
import { realIds } from '#plane/testing/provider-context.ts'
import { realTimers } from '#plane/testing/start.ts'
import { until } from '../../../../tests/until.ts'
import { events, type Started, startHealth } from '../testing/start.ts'
import { startBackground, takeDue } from './background.ts'
import { openEventStore } from './event-store.ts'
import { openSignals } from './signals.ts'

const timeline = {
  steps: [
    {
      after: 'PT0S',
      step: 'publish',
      body: {
        properties: {
          eventType: 'ServiceIssue',
          title: 'A rehearsal',
          impact: [
            { impactedService: 'Secrets', impactedRegions: [{ impactedRegion: 'West US' }] },
          ],
        },
      },
    },
    { after: 'PT10M', step: 'annotate', body: { summary: 'We look into it.' } },
    { after: 'PT20M', step: 'mitigate', body: {} },
    { after: 'PT30M', step: 'resolve', body: { summary: 'Over.' } },
    // Refused, because it has ended: a refused step is dropped.
    { after: 'PT31M', step: 'update', body: { properties: { title: 'late' } } },
  ],
}

const due = (started: Started) => {
  const { clock, store } = started
  return takeDue({ sql: store.sql, eventStore: openEventStore(store.sql), clock, log: silentLog })
}

test('a timeline is played step by step, and nothing before it is due', async () => {
  await using started = await startHealth()
  const kept = await started.post(`${events}/R/play`, timeline)
  assert.equal(kept.steps.length, 5)
  await assert.rejects(() => started.get(`${events}/R`))
  await due(started)
  const look = async () => {
    const { properties } = await started.get(`${events}/R`)
    const [region] = properties.impact[0].impactedRegions
    return [properties.status, region.status, region.updates.length]
  }
  assert.deepEqual(await look(), ['Active', 'Active', 0])
  started.clock.pass(10 * 60_000 - 1)
  await due(started)
  assert.deepEqual(await look(), ['Active', 'Active', 0])
  started.clock.pass(1)
  await due(started)
  assert.deepEqual(await look(), ['Active', 'Active', 1])
  started.clock.pass(10 * 60_000)
  // Two replicas at once: each step is taken by one of them.
  await Promise.all([due(started), due(started)])
  assert.deepEqual(await look(), ['Active', 'Resolved', 1])
  started.clock.pass(60 * 60_000)
  assert.equal(await due(started), undefined)
  assert.deepEqual(await look(), ['Resolved', 'Resolved', 2])
  assert.equal((await started.get(`${events}/R`)).properties.title, 'A rehearsal')
})

test('a length of time that is none is refused with its place; nothing is kept', async () => {
  await using started = await startHealth()
  const steps = [timeline.steps[0], { ...timeline.steps[1], after: 'P1M' }]
  await assert.rejects(
    () => started.post(`${events}/R/play`, { steps }),
    (error: Error) => error.message.includes('steps[1].after'),
  )
  assert.equal(await due(started), undefined)
})

test('the background plays by itself, woken by what is kept', async () => {
  await using started = await startHealth({ background: true })
  await started.post(`${events}/R/play`, timeline)
  await until(async () => (await started.all(events)).length === 1)
})

test('a signal is published once, seen by all, resolved when cleared, and can come again', async () => {
  await using started = await startHealth()
  const { clock, store } = started
  const signals = openSignals({ sql: store.sql, clock, ids: realIds })
  const signal = {
    key: 'containers/engine',
    service: 'Container Instances',
    title: 'The container engine does not answer',
    summary: 'connect ENOENT',
    level: 'Critical',
  } as const
  await signals.clear(signal.key, 'nothing was raised')
  assert.deepEqual(await started.all(events), [])
  await signals.raise(signal)
  await signals.raise(signal)
  const [event, ...more] = await started.all(events)
  assert.deepEqual(more, [])
  assert.equal(event.properties.status, 'Active')
  assert.equal(event.properties.priority, 0)
  assert.equal(event.properties.eventSource, 'ResourceHealth')
  assert.equal(event.properties.platformInitiated, true)
  clock.pass(60_000)
  await signals.clear(signal.key, 'It answers again.')
  const over = await started.get(`${events}/${event.name}`)
  assert.equal(over.properties.status, 'Resolved')
  assert.equal(over.properties.duration, 60)
  await signals.raise(signal)
  assert.equal((await started.all(events)).length, 2)
  // An operator was quicker: clearing only reports it.
  const again = (await started.all(events)).find((one) => one.properties.status === 'Active')
  await started.post(`${events}/${again.name}/resolve`, {})
  await signals.clear(signal.key, 'It answers again.')
  await signals.raise(signal)
  assert.equal((await started.all(events)).length, 3)
})

test('a probe that fails twice raises an event about its service; when it answers, that is over', async () => {
  let broken = true
  const probe = {
    key: 'k',
    service: 'Container Instances',
    title: 'The engine does not answer',
    level: 'Critical',
    check: async () => {
      if (broken) throw new Error('nobody answers at the socket')
    },
  } as const
  await using started = await startHealth({ background: true, probes: [probe] })
  const becomes = (status: string) =>
    until(async () => {
      // Moves the time of the probes, which follow the clock. The background polls every two seconds.
      started.clock.pass(11_000)
      const [event] = await started.all(events)
      return event?.properties.status === status && event
    }, 100)
  const active = await becomes('Active')
  assert.equal(active.properties.summary, 'nobody answers at the socket')
  broken = false
  await becomes('Resolved')
})

test('where a clock that was ahead is set right, probes and rounds go on at once', async () => {
  await using started = await startHealth()
  const { clock, store } = started
  const done = { probes: 0, rounds: 0 }
  const probe = {
    key: 'k',
    service: 'Container Instances',
    title: 'The engine does not answer',
    level: 'Critical',
    check: async () => ++done.probes,
  } as const
  await using background = startBackground({
    sql: store.sql,
    eventStore: openEventStore(store.sql),
    signals: openSignals({ sql: store.sql, clock, ids: realIds }),
    probes: [probe],
    watch: async () => ++done.rounds === 0,
    clock,
    timers: realTimers,
    log: silentLog,
  })
  await until(() => done.rounds === 1)
  clock.pass(-10 * 60 * 60_000)
  background.wake()
  await until(() => done.rounds === 2)
  assert.deepEqual(done, { probes: 2, rounds: 2 })
})
