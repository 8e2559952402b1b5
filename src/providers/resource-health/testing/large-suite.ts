/** Tests of events as large as they may be, and of many of them, for every store. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { realIds } from '#plane/testing/provider-context.ts'
import { openSignals } from '../domain/signals.ts'
import { incident, publish, refused, vault } from './ask.ts'
import { events, otherSubscriptionId, type startHealth, subscription } from './start.ts'

/** As many as an event may name. */
const everywhere = Array.from({ length: 50 }, (_, service) => ({
  impactedService: `Service ${service}`,
  impactedRegions: Array.from({ length: 100 }, (_, region) => ({ impactedRegion: `R${region}` })),
}))

export function largeSuite(start: typeof startHealth): void {
  test('a note at thousands of regions makes no event larger than its bound', async () => {
    await using started = await start()
    await publish(started, 'E', { impact: everywhere })
    const note = (summary: string) => started.post(`${events}/E/annotate`, { summary })
    await refused(note('x'.repeat(100_000)), 'InvalidEvent', 400)
    const notes = async (): Promise<readonly string[]> => {
      const { properties } = await started.get(`${events}/E`)
      const [{ updates }] = properties.impact[49].impactedRegions
      return updates.map(({ summary }: { summary: string }) => summary)
    }
    assert.deepEqual(await notes(), [])
    const before = []
    for (let at = 0; at < 12; at++) {
      before.unshift(`${at}`)
      await note(`${at}`)
      const now = await notes()
      // The newest ones.
      assert.deepEqual(now, before.slice(0, now.length))
    }
    assert.ok((await notes()).length < 12)
    await started.post(`${events}/E/resolve`, {})
    assert.equal((await started.get(`${events}/E`)).properties.status, 'Resolved')
  })

  test('many subscriptions and many regions together make no more rows than the bound', async () => {
    await using started = await start()
    const subscriptions = (count: number) => Array.from({ length: count }, (_, at) => `s-${at}`)
    const named = (regions: number, count: number) => [
      {
        impactedService: 'S',
        impactedRegions: Array.from({ length: regions }, (_, at) => ({
          impactedRegion: `R${at}`.padEnd(250, 'x'),
          ...(at === 0 ? { impactedSubscriptions: subscriptions(count) } : {}),
        })),
      },
    ]
    await refused(publish(started, 'E', { impact: named(100, 100) }), 'InvalidEvent', 400)
    await publish(started, 'E', { impact: named(1, 5_000) })
    const update = (impact: readonly object[]) =>
      started.post(`${events}/E/update`, { properties: { impact } })
    await refused(update(named(3, 5_000)), 'InvalidEvent', 400)
    await update(named(100, 50))
    // Rows have each name once.
    const others = ['T', 'U'].map((impactedService) => ({ ...named(100, 0)[0], impactedService }))
    await publish(started, 'repeated', { impact: [...named(100, 50), ...others] })
    // One of a subscription is for that one alone.
    await publish(started, 'own', { impact: named(100, 100) }, subscription)
  })

  test('what the installation reports is over when it says so, however large its event was made', async () => {
    await using started = await start()
    const { clock, store } = started
    const signals = openSignals({ sql: store.sql, clock, ids: realIds })
    const signal = { key: 'k', service: 'S', title: 't', summary: 's', level: 'Critical' } as const
    const description = 'x'.repeat(90_000)
    const faqs = Array.from({ length: 5 }, () => ({ answer: description }))
    for (const isResolvedBefore of [false, true]) {
      await signals.raise(signal)
      const all = await started.all(events)
      const { name } = all.find((one) => one.properties.status === 'Active')
      await started.post(`${events}/${name}/update`, { properties: { impact: everywhere, faqs } })
      if (isResolvedBefore) await started.post(`${events}/${name}/resolve`, {})
      await signals.clear(signal.key, 'over')
      assert.equal((await started.get(`${events}/${name}`)).properties.status, 'Resolved')
    }
    await signals.raise(signal)
    assert.equal((await started.all(events)).length, 3)
  })

  test('whoever has as many steps waiting as may wait keeps nobody else from a timeline', async () => {
    await using started = await start()
    const play = (at: string, count: number) =>
      started.post(`${at}${events}/E/play`, {
        steps: Array.from({ length: count }, () => ({ after: 'P900D', step: 'resolve', body: {} })),
      })
    for (let at = 0; at < 10; at++) await play(subscription, 1_000)
    await refused(play(subscription, 1), 'TooManySteps', 400)
    await play('', 1)
    await play(`/subscriptions/${otherSubscriptionId}`, 1)
  })

  test('a page of large events comes back short, with a link that goes on', async () => {
    await using started = await start()
    const description = 'x'.repeat(90_000)
    const faqs = Array.from({ length: 8 }, () => ({ answer: description }))
    const all = Array.from({ length: 9 }, (_, at) => `E${at}`)
    for (const name of all) await publish(started, name, { faqs })
    const at = `${subscription}${events}`
    const { value } = await started.get(at)
    assert.ok(value.length > 0 && value.length < all.length)
    const found = await started.all(at)
    assert.deepEqual(
      found.map((one) => one.name),
      all,
    )
  })

  test('a page of resources that many events touch comes back short, with a link that goes on', async () => {
    await using started = await start()
    for (let at = 0; at < 200; at++) await publish(started, `E${at}`, incident)
    const vaults = Array.from({ length: 40 }, (_, at) => `${vault}${String(at).padStart(2, '0')}`)
    for (const one of vaults) await started.call('PUT', one, { location: 'westus', properties: {} })
    const at = `${subscription}/providers/Vendor.ResourceHealth/availabilityStatuses`
    const { value } = await started.get(at)
    assert.ok(value.length > 0 && value.length < vaults.length)
    const found = await started.all(at)
    assert.deepEqual(
      found.map(({ id }) => id.slice(0, vault.length + 2)),
      vaults,
    )
    for (const { properties } of found) assert.equal(properties.serviceImpactingEvents.length, 200)
  })
}
