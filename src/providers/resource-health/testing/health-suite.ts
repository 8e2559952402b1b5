/** Tests of service health, for every store. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Access } from '#plane/access.ts'
import { nobody, owner } from '#plane/testing/start.ts'
import { names, publish, refused, vault } from './ask.ts'
import {
  events,
  firstMoment,
  otherSubscriptionId as other,
  type startHealth,
  subscription,
  subscriptionId,
  type Wire,
} from './start.ts'

export function healthSuite(start: typeof startHealth): void {
  test('an event holds every field of the contract, as it was written or computed', async () => {
    await using started = await start()
    const written = {
      eventType: 'Billing',
      eventSubType: 'PriceChanges',
      eventSource: 'ServiceHealth',
      eventLevel: 'Error',
      level: 'Warning',
      title: 'Prices change',
      header: 'Your prices change',
      summary: 'They rise.',
      description: 'From next month on.',
      article: { articleContent: '<p>…</p>', articleId: 'A1', parameters: { a: 1 } },
      additionalInformation: { message: 'More.' },
      links: [
        {
          type: 'Button',
          displayText: { value: 'Go', localizedValue: 'Los' },
          extensionName: 'E',
          bladeName: 'B',
          parameters: { x: 'y' },
        },
      ],
      eventTags: ['Action Recommended'],
      recommendedActions: {
        message: 'Do this',
        localeCode: 'en',
        actions: [{ actionText: 'Read', groupId: 23 }],
      },
      faqs: [{ question: 'Why?', answer: 'So.', localeCode: 'en' }],
      impactStartTime: '2026-10-14T12:00:00.000Z',
      impactMitigationTime: '2026-10-14T13:00:00.000Z',
      isEventSensitive: false,
      isHIR: true,
      hirStage: 'active',
      platformInitiated: true,
      enableVendorSupport: true,
      enableChatWithUs: false,
      impactType: 'None',
      reason: 'Costs',
      externalIncidentId: 'X-1',
      billingId: 'B-1',
      currencyType: 'USD',
      newRate: 1.25,
      oldRate: 1,
    }
    const impact = [
      {
        impactedService: 'Secrets',
        impactedServiceGuid: '0f9c',
        impactedRegions: [
          {
            impactedRegion: 'West US',
            status: 'Active',
            impactedSubscriptions: [subscriptionId],
            impactedTenants: ['t'],
            updates: [{ summary: 'First', eventTags: ['Preliminary PIR'] }],
          },
        ],
      },
    ]
    await started.post(`${events}/B-1/publish`, { properties: { ...written, impact } })
    const [seen] = (await started.get(`${subscription}${events}`)).value
    assert.equal(seen.id, '/providers/Vendor.ResourceHealth/events/B-1')
    assert.equal(seen.name, 'B-1')
    assert.equal(seen.type, 'Vendor.ResourceHealth/events')
    const at = new Date(firstMoment).toISOString()
    const moments = { createdAt: at, lastModifiedAt: at }
    assert.deepEqual(seen.systemData, moments)
    const { systemData } = await started.get(`${events}/B-1`)
    assert.deepEqual(systemData, { ...moments, createdBy: owner.id, lastModifiedBy: owner.id })
    assert.deepEqual(seen.properties, {
      ...written,
      status: 'Active',
      lastUpdateTime: at,
      duration: 3600,
      priority: 18,
      impact: [
        {
          ...impact[0],
          impactedRegions: [
            {
              impactedRegion: 'West US',
              status: 'Active',
              impactedSubscriptions: [subscriptionId],
              impactedTenants: [owner.tenantId],
              lastUpdateTime: at,
              updates: [{ summary: 'First', eventTags: ['Preliminary PIR'], updateDateTime: at }],
            },
          ],
        },
      ],
    })
  })

  test('what the contract has no room for is refused, with its path', async () => {
    await using started = await start()
    for (const [properties, path] of [
      [{ priority: 24 }, 'properties.priority'],
      [{ priority: -1 }, 'properties.priority'],
      [{ priority: 1.5 }, 'properties.priority'],
      [{ eventType: 'Outage' }, 'properties.eventType'],
      [{ eventLevel: 'Fatal' }, 'properties.eventLevel'],
      [{ eventTags: ['Whatever'] }, 'properties.eventTags[0]'],
      [{ links: [{ type: 'Text' }] }, 'properties.links[0].type'],
      [{ impactStartTime: 'yesterday' }, 'properties.impactStartTime'],
      [{ surprise: true }, 'properties.surprise'],
      [{ status: 'Resolved' }, 'properties.status'],
    ] as const) {
      const error = await refused(publish(started, 'E', properties), 'InvalidRequestContent', 400)
      assert.equal(error.extra.target ?? error.extra.details?.[0]?.target, path)
    }
    await refused(
      started.post(`${events}/E/publish`, { properties: { title: 'x' } }),
      'InvalidEvent',
      400,
    )
    await refused(
      publish(started, 'E', {
        impactStartTime: '2026-10-14T12:00:00Z',
        impactMitigationTime: '2026-10-14T11:00:00Z',
      }),
      'InvalidEvent',
      400,
    )
    await refused(publish(started, 'no%20blank'), 'InvalidEvent', 400)
    assert.deepEqual((await started.get(events)).value, [])
  })

  test('priority follows type, then level, then status, over all 24; a given one stays', async () => {
    await using started = await start()
    const seen: number[] = []
    for (const eventType of ['ServiceIssue', 'PlannedMaintenance', 'HealthAdvisory']) {
      for (const eventLevel of ['Critical', 'Error', 'Warning', 'Informational']) {
        const name = `${eventType}-${eventLevel}`
        const made = await publish(started, name, { eventType, eventLevel })
        const over = await started.post(`${events}/${name}/resolve`, {})
        seen.push(made.properties.priority, over.properties.priority)
      }
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 24 }, (_, at) => at),
    )
    await publish(started, 'fixed', { priority: 7 })
    const over = await started.post(`${events}/fixed/resolve`, {})
    assert.equal(over.properties.priority, 7)
  })

  test('updated, mitigated by region, annotated, resolved: every step moves the last update', async () => {
    await using started = await start()
    const two = [
      {
        impactedService: 'Secrets',
        impactedRegions: [{ impactedRegion: 'West US' }, { impactedRegion: 'East US' }],
      },
    ]
    await publish(started, 'E1', { impact: two })
    await refused(publish(started, 'e1'), 'EventExists', 409)
    started.clock.pass(60_000)
    const updated = await started.post(`${events}/E1/update`, { properties: { title: 'Slower' } })
    assert.equal(updated.properties.title, 'Slower')
    assert.equal(updated.properties.eventType, 'ServiceIssue')
    assert.equal(updated.properties.lastUpdateTime, new Date(firstMoment + 60_000).toISOString())
    started.clock.pass(60_000)
    const one = await started.post(`${events}/E1/mitigate`, {
      regions: ['westus'],
      summary: 'West is well.',
    })
    const regions = one.properties.impact[0].impactedRegions
    assert.deepEqual(
      regions.map((region: Wire) => [region.status, region.updates.length, region.lastUpdateTime]),
      [
        ['Resolved', 1, new Date(firstMoment + 120_000).toISOString()],
        ['Active', 0, new Date(firstMoment + 60_000).toISOString()],
      ].map(([status, count, at], index) => [
        status,
        count,
        // A region that an update does not change keeps its time.
        index === 1 ? new Date(firstMoment).toISOString() : at,
      ]),
    )
    assert.equal(one.properties.impactMitigationTime, undefined)
    assert.equal(one.properties.status, 'Active')
    await refused(started.post(`${events}/E1/mitigate`, { regions: ['Mars'] }), 'InvalidEvent', 400)
    started.clock.pass(60_000)
    const all = await started.post(`${events}/E1/mitigate`, {})
    assert.equal(all.properties.impactMitigationTime, new Date(firstMoment + 180_000).toISOString())
    assert.equal(all.properties.duration, 180)
    assert.equal(all.properties.status, 'Active')
    const over = await started.post(`${events}/E1/resolve`, { summary: 'Over.' })
    assert.equal(over.properties.status, 'Resolved')
    await refused(started.post(`${events}/E1/update`, { properties: {} }), 'EventResolved', 409)
    started.clock.pass(60_000)
    const told = await started.post(`${events}/E1/annotate`, {
      summary: 'What happened.',
      eventTags: ['Final PIR'],
    })
    assert.deepEqual(told.properties.eventTags, ['Final PIR'])
    assert.equal(told.properties.status, 'Resolved')
    assert.equal(told.properties.lastUpdateTime, new Date(firstMoment + 240_000).toISOString())
    await refused(started.post(`${events}/none/resolve`, {}), 'EventNotFound', 404)
  })

  test('a subscription hears of what touches it and of nobody else', async () => {
    await using started = await start()
    const only = (...ids: readonly string[]) => ({
      impact: [
        {
          impactedService: 'Secrets',
          impactedRegions: [{ impactedRegion: 'West US', impactedSubscriptions: ids }],
        },
      ],
    })
    await publish(started, 'everybody')
    await publish(started, 'mine', only(subscriptionId.toUpperCase(), other))
    await publish(started, 'theirs', only(other))
    await publish(started, 'own', {}, subscription)
    const list = await started.all(`${subscription}${events}`)
    assert.deepEqual(names(list).toSorted(), ['everybody', 'mine', 'own'])
    for (const one of list) {
      const [region] = one.properties.impact[0].impactedRegions
      assert.deepEqual(region.impactedSubscriptions, [subscriptionId])
      assert.ok(!JSON.stringify(one).includes(other))
    }
    assert.equal((await started.all(events)).length, 4)
    await refused(started.get(`${subscription}${events}/theirs`), 'EventNotFound', 404)
    assert.equal((await started.get(`${subscription}${events}/MINE`)).name, 'mine')
    assert.equal((await started.get(`${events}/theirs`)).name, 'theirs')
    // A subscription's operator changes only its own events.
    await refused(started.post(`${subscription}${events}/mine/resolve`, {}), 'EventNotFound', 404)
    await started.post(`${subscription}${events}/own/resolve`, {})
    await started.post(`${events}/own/annotate`, { summary: 'seen' })
    const strange = `/subscriptions/${other}${events}`
    assert.deepEqual(names(await started.all(strange)).toSorted(), ['everybody', 'mine', 'theirs'])
  })

  test('the window: three days back by the last update, or from queryStartTime in either form', async () => {
    await using started = await start()
    await publish(started, 'old')
    started.clock.pass(2 * 86_400_000)
    await publish(started, 'new')
    const at = `${subscription}${events}`
    assert.deepEqual(names(await started.all(at)), ['new', 'old'])
    started.clock.pass(86_400_001)
    assert.deepEqual(names(await started.all(at)), ['new'])
    for (const [start, expected] of [
      ['10/15/2026', ['new', 'old']],
      ['10%2F16%2F2026', ['new']],
      ['10/18/2026', []],
      ['2026-10-15T11:59:59Z', ['new', 'old']],
      ['2026-10-15T12:00:01Z', ['new']],
      ['2026-10-17', ['new']],
    ] as const) {
      assert.deepEqual(names(await started.all(`${at}?queryStartTime=${start}`)), expected, start)
    }
    for (const wrong of ['yesterday', '13/40/2026', '15/10/2026']) {
      await refused(
        started.get(`${at}?queryStartTime=${encodeURIComponent(wrong)}`),
        'InvalidQueryStartTime',
        400,
      )
    }
    await started.post(`${events}/old/annotate`, { summary: 'still' })
    assert.deepEqual(names(await started.all(at)), ['old', 'new'])
  })

  test('filters: properties with and without prefix, service and region, comparisons, logic', async () => {
    await using started = await start()
    await publish(started, 'a')
    await publish(started, 'b', {
      eventType: 'PlannedMaintenance',
      impact: [
        { impactedService: 'Virtual Machines', impactedRegions: [{ impactedRegion: 'East US' }] },
        { impactedService: 'Secrets', impactedRegions: [{ impactedRegion: 'North Europe' }] },
      ],
    })
    await publish(started, 'c', { eventType: 'HealthAdvisory', impact: [], summary: 'Read this' })
    await started.post(`${events}/a/resolve`, {})
    for (const [filter, expected] of [
      ["eventType eq 'ServiceIssue'", 'a'],
      [
        "Properties/EventType eq 'serviceissue' or properties.eventType eq 'PlannedMaintenance'",
        'ab',
      ],
      ["eventType ne 'ServiceIssue'", 'bc'],
      ["not (eventType eq 'ServiceIssue')", 'bc'],
      ["eventType in ('ServiceIssue','HealthAdvisory')", 'ac'],
      ["status eq 'Active'", 'bc'],
      ["service eq 'Virtual Machines' or region eq 'West US'", 'ab'],
      ["service eq 'Virtual Machines' and region eq 'East US'", 'b'],
      // Service and region must belong to the same impact.
      ["service eq 'Virtual Machines' and region eq 'North Europe'", ''],
      ["priority le 4 and eventLevel eq 'Warning'", ''],
      ['priority ge 12', 'bc'],
      [`lastUpdateTime ge '${new Date(firstMoment).toISOString()}'`, 'abc'],
      ['properties.impactStartTime ge 2026-10-16', ''],
      ['impactStartTime ge 2026-10-15', 'abc'],
      ["contains(summary, 'read')", 'c'],
      ["trackingId eq 'B'", 'b'],
    ] as const) {
      const path = `${subscription}${events}?$filter=${encodeURIComponent(filter)}`
      assert.equal(
        names(await started.all(path))
          .toSorted()
          .join(''),
        expected,
        filter,
      )
    }
    for (const wrong of [
      "colour eq 'red'",
      'eventType eq',
      "eventType eq 'Outage'",
      "status has 'x'",
    ]) {
      const path = `${subscription}${events}?$filter=${encodeURIComponent(wrong)}`
      const error = await refused(started.get(path), 'InvalidFilter', 400)
      assert.match(error.message, /position|character|\d/, wrong)
    }
  })

  test('sensitive events keep texts back, also from filters, and give them to those with the right', async () => {
    const access: Access = {
      allows: ({ principal, action }) =>
        principal.id === owner.id || !/fetchEventDetails|events\/action/i.test(action),
    }
    await using started = await start({ access })
    await publish(started, 'S', {
      eventType: 'SecurityAdvisory',
      isEventSensitive: true,
      summary: 'the secret text',
      description: 'more of it',
    })
    await started.post(`${events}/S/annotate`, { summary: 'news of the secret' })
    for (const path of [`${subscription}${events}`, `${subscription}${events}/S`, events]) {
      assert.ok(!JSON.stringify(await started.get(path)).includes('secret'), path)
    }
    const guess = encodeURIComponent("contains(summary, 'secret')")
    assert.deepEqual(await started.all(`${subscription}${events}?$filter=${guess}`), [])
    const whole = await started.post(`${subscription}${events}/S/fetchEventDetails`)
    assert.equal(whole.properties.summary, 'the secret text')
    assert.equal(whole.properties.description, 'more of it')
    assert.equal(
      whole.properties.impact[0].impactedRegions[0].updates[0].summary,
      'news of the secret',
    )
    assert.equal((await started.post(`${events}/S/fetchEventDetails`)).name, 'S')
    await refused(
      started.post(`${subscription}${events}/S/fetchEventDetails`, undefined, nobody),
      'AuthorizationFailed',
      403,
    )
  })

  test('one resource: by its subscription, place and service, current ones only, with its location', async () => {
    await using started = await start()
    await started.call('PUT', vault, { location: 'westus', properties: {} })
    const at = `${vault}${events}`
    await publish(started, 'here')
    await publish(started, 'elsewhere', {
      impact: [{ impactedService: 'Secrets', impactedRegions: [{ impactedRegion: 'East US' }] }],
    })
    await publish(started, 'another', {
      impact: [
        { impactedService: 'Virtual Machines', impactedRegions: [{ impactedRegion: 'West US' }] },
      ],
    })
    await publish(started, 'global', {
      impact: [
        {
          impactedService: 'Vendor.Secrets/vaults',
          impactedRegions: [{ impactedRegion: 'Global' }],
        },
      ],
    })
    await publish(started, 'theirs', {
      impact: [
        {
          impactedService: 'Secrets',
          impactedRegions: [{ impactedRegion: 'West US', impactedSubscriptions: [other] }],
        },
      ],
    })
    await started.post(`${events}/named/publish`, {
      properties: { eventType: 'HealthAdvisory', title: 'About one vault' },
      impactedResources: [{ targetResourceId: vault.toUpperCase() }],
    })
    const list = await started.all(at)
    assert.deepEqual(names(list).toSorted(), ['global', 'here', 'named'])
    for (const one of list) assert.equal(one.location, 'westus')
    // Even when it began long ago.
    started.clock.pass(30 * 86_400_000)
    assert.equal((await started.all(at)).length, 3)
    await started.post(`${events}/here/resolve`, {})
    assert.deepEqual(names(await started.all(at)).toSorted(), ['global', 'named'])
    const filter = encodeURIComponent("eventType eq 'HealthAdvisory'")
    assert.deepEqual(names(await started.all(`${at}?$filter=${filter}`)), ['named'])
    await refused(started.get(`${vault}none${events}`), 'ResourceNotFound', 404)
  })
}
