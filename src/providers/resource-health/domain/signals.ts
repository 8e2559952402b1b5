/** The installation's own events: a signal is published once, and resolved when it is cleared. */

import type { HealthSignal, HealthSignals } from '#kernel/health.ts'
import type { Clock, Ids } from '#kernel/ports.ts'
import { parseResourceId, subscriptionOf } from '#kernel/resource-id.ts'
import type { Sql } from '#stores/store.ts'
import { type EventStore, openEventStore } from './event-store.ts'
import { takeStep } from './lifecycle.ts'

interface SignalDependencies {
  readonly sql: Sql
  readonly clock: Clock
  readonly ids: Ids
}

export function openSignals({ sql, clock, ids }: SignalDependencies): HealthSignals {
  const eventStore: EventStore = openEventStore(sql)
  const raised = async (key: string): Promise<string | undefined> => {
    const [row] = await sql.all('select tracking_id from health_signals where signal = ?', key)
    return row === undefined ? undefined : String(row['tracking_id'])
  }
  return {
    async raise(signal) {
      if ((await raised(signal.key)) !== undefined) return
      const trackingId = `OWN-${ids.uuid().slice(0, 8).toUpperCase()}`
      const asking = { trackingId, owner: '/', now: clock.now() }
      // Two replicas may notice at once: the second finds the signal taken, and does not write its event.
      await takeStep(eventStore, asking, { name: 'publish', body: eventOf(signal) }, async (tx) => {
        await tx.run(
          'insert into health_signals (signal, tracking_id) values (?, ?)',
          ...[signal.key, trackingId.toLowerCase()],
        )
      })
    },
    async clear(key, summary) {
      const trackingId = await raised(key)
      if (trackingId === undefined) return
      const forget = async (tx: { run(text: string, key: string): Promise<number> }) => {
        await tx.run('delete from health_signals where signal = ?', key)
      }
      const event = await eventStore.find(trackingId)
      // An operator may have resolved it meanwhile.
      const name = event?.properties.status === 'Resolved' ? 'annotate' : 'resolve'
      const asking = { trackingId, owner: '/', now: clock.now() }
      await takeStep(eventStore, asking, { name, body: { summary } }, forget)
    },
  }
}

function eventOf({ service, title, summary, level, resourceIds = [] }: HealthSignal) {
  const subscriptions = [...new Set(resourceIds.flatMap((one) => subscriptionAt(one) ?? []))]
  return {
    properties: {
      eventType: 'ServiceIssue',
      eventSource: 'ResourceHealth',
      eventLevel: level,
      title,
      summary,
      platformInitiated: true,
      impact: [
        {
          impactedService: service,
          impactedRegions: [
            {
              impactedRegion: 'Global',
              ...(subscriptions.length === 0 ? {} : { impactedSubscriptions: subscriptions }),
            },
          ],
        },
      ],
    },
    impactedResources: resourceIds.map((targetResourceId) => ({ targetResourceId })),
  }
}

function subscriptionAt(text: string): string | undefined {
  const id = parseResourceId(text)
  return id === undefined ? undefined : subscriptionOf(id)
}
