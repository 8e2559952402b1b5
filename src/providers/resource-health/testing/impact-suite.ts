/** Tests of impacted resources, of pages that change, and of availability, for every store. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { incident, names, publish, refused, vault } from './ask.ts'
import { events, type startHealth, subscription, type Wire } from './start.ts'

export function impactSuite(start: typeof startHealth): void {
  test('impacted resources: those named and those reached, by page and by name', async () => {
    await using started = await start()
    for (const name of ['v', 'w', 'x']) {
      await started.call('PUT', `${vault.slice(0, -1)}${name}`, {
        location: 'westus',
        properties: {},
      })
    }
    await started.post(`${events}/E/publish`, {
      properties: incident,
      impactedResources: [{ targetResourceId: vault, status: 'Impacted', info: [{ key: 'a' }] }],
    })
    const at = `${subscription}${events}/E/impactedResources`
    const list = await started.all(`${at}?$top=2`)
    assert.deepEqual(
      list.map((one) => one.properties.resourceName),
      ['v', 'w', 'x'],
    )
    assert.deepEqual(list[0].properties, {
      targetResourceType: 'Vendor.Secrets/vaults',
      targetResourceId: vault,
      targetRegion: 'westus',
      resourceName: 'v',
      resourceGroup: 'rg',
      status: 'Impacted',
      info: [{ key: 'a' }],
    })
    assert.deepEqual(await started.get(`${at}/${list[1].name}`), list[1])
    const filter = encodeURIComponent("resourceName eq 'w'")
    assert.equal((await started.all(`${at}?$filter=${filter}`)).length, 1)
    await refused(
      started.post(`${subscription}${events}/E/listSecurityAdvisoryImpactedResources`),
      'NotASecurityAdvisory',
      400,
    )
    await publish(started, 'S', { eventType: 'SecurityAdvisory' })
    const advisory = await started.post(
      `${subscription}${events}/S/listSecurityAdvisoryImpactedResources`,
    )
    assert.equal(advisory.value.length, 3)
  })

  test('pages hold while events are published and updated meanwhile', async () => {
    await using started = await start()
    for (let at = 0; at < 25; at++) {
      await publish(started, `E${at}`, at % 3 === 0 ? {} : { eventType: 'RCA' })
      if (at % 4 !== 0) started.clock.pass(1000)
    }
    const path = `${subscription}${events}?$top=4`
    const first = await started.get(path)
    await publish(started, 'late')
    await started.post(`${events}/E3/annotate`, { summary: 'moves to the front' })
    const rest = await started.all(`${path}&$skipToken=${encodeURIComponent(first.nextToken)}`)
    const seen = [...names(first.value), ...names(rest)]
    assert.equal(new Set(seen).size, seen.length)
    assert.equal(seen.length, 24, 'all but the one that moved')
    const filter = encodeURIComponent("eventType eq 'RCA'")
    assert.equal((await started.all(`${path}&$filter=${filter}`)).length, 16)
    const all = await started.all(`${events}?$top=3`)
    assert.equal(all.length, 26)
    const times = all.map((one) => one.properties.lastUpdateTime)
    assert.deepEqual(times, times.toSorted().toReversed())
  })

  test('availability: what is seen of a resource, and the events that touch it', async () => {
    await using started = await start()
    await started.call('PUT', vault, { location: 'westus', properties: {} })
    await publish(started, 'E')
    const path = `${vault}/providers/Vendor.ResourceHealth/availabilityStatuses`
    const current = await started.get(`${path}/current?$expand=recommendedactions`)
    assert.equal(current.name, 'current')
    assert.equal(current.location, 'westus')
    assert.equal(current.properties.availabilityState, 'Unknown')
    assert.equal(current.properties.healthEventId, 'E')
    assert.equal(current.properties.serviceImpactingEvents.length, 1)
    assert.equal(current.properties.recommendedActions.length, 1)
    assert.deepEqual((await started.get(path)).value[0].id, current.id)
    const list = await started.all(
      `${subscription}/providers/Vendor.ResourceHealth/availabilityStatuses`,
    )
    assert.deepEqual(
      list.map((one) => one.id),
      [current.id],
    )
    const child = await started.get(
      path.replace('availabilityStatuses', 'childAvailabilityStatuses/current'),
    )
    const { recommendedActions: _advice, ...withoutAdvice } = current.properties
    assert.deepEqual(child.properties, withoutAdvice)
    assert.match(child.id, /childAvailabilityStatuses\/current$/)
    const below = path.replace('availabilityStatuses', 'childResources')
    assert.deepEqual((await started.get(below)).value, [])
    await assert.rejects(started.get(below.replace('vaults/v', 'vaults/none')), { status: 404 })
  })

  test('emerging issues are the current events of that type that concern everybody', async () => {
    await using started = await start()
    const eventType = 'EmergingIssues'
    const level = { eventType, eventLevel: 'Critical' }
    await publish(started, 'E', level)
    await publish(started, 'other')
    await publish(started, 'hidden', { ...level, isEventSensitive: true })
    await publish(started, 'mine', level, subscription)
    const issues = '/providers/Vendor.ResourceHealth/emergingIssues'
    const [one] = (await started.get(issues)).value
    const { statusActiveEvents } = one.properties
    assert.deepEqual(
      statusActiveEvents.map((event: Wire) => [event.trackingId, event.severity]),
      [['E', 'Error']],
    )
    assert.equal(statusActiveEvents[0].impacts[0].regions[0].name, 'West US')
    await started.post(`${events}/E/resolve`, {})
    const after = await started.get(`${issues}/default`)
    assert.deepEqual(after.properties.statusActiveEvents, [])
    await assert.rejects(started.get(`${issues}/other`), { status: 404 })
    const words = await started.get('/providers/Vendor.ResourceHealth/metadata/eventTypes')
    const [first] = words.properties.supportedValues
    assert.deepEqual(first, { id: 'ServiceIssue', displayName: 'Service issue' })
  })
}
