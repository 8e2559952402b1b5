/** Events for the benchmark of service health, written through the ledger itself in a stopped installation. */

import { writeEvent } from '../../src/providers/resource-health/domain/event-store.ts'
import { published } from '../../src/providers/resource-health/domain/event-transitions.ts'
import { openStore } from '../contestants/open-store.ts'

const types = ['ServiceIssue', 'PlannedMaintenance', 'HealthAdvisory', 'RCA']
const levels = ['Critical', 'Error', 'Warning', 'Informational']

/** A GUID for each number. */
export function subscriptionAt(at: number): string {
  return `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`
}

interface Seed {
  readonly database: string
  readonly events: number
  readonly subscriptions: number
  /** The subscription of the queries. Every fiftieth event names it besides others. */
  readonly asked: string
  readonly now: number
}

/** One of ten events concerns everybody, the others up to five subscriptions. All are in the time range. */
export async function seedEvents(seed: Seed): Promise<void> {
  await using store = await openStore(seed.database)
  const atOnce = 2000
  for (let from = 0; from < seed.events; from += atOnce) {
    await store.sql.transact(async (tx) => {
      for (let at = from; at < Math.min(from + atOnce, seed.events); at++) {
        const id = `BENCH-${at}`
        const named = Array.from({ length: 1 + (at % 5) }, (_, index) =>
          subscriptionAt((at * 31 + index * 977) % seed.subscriptions),
        )
        const touched = at % 50 === 0 ? [...named, seed.asked] : named
        const made = published(
          { trackingId: id, owner: '/' },
          {
            properties: {
              eventType: types[at % 4],
              eventLevel: levels[(at >> 2) % 4],
              title: `Event ${at}`,
              summary: 'Something takes longer than it should, and is being looked into. '.repeat(
                4,
              ),
              impact: [
                {
                  impactedService: `Service ${at % 200}`,
                  impactedRegions: [
                    {
                      impactedRegion: `Region ${at % 40}`,
                      ...(at % 10 === 0 && at % 50 !== 0 ? {} : { impactedSubscriptions: touched }),
                    },
                  ],
                },
              ],
            },
          },
          seed.now - (seed.events - at) * 2000,
        )
        if (!made.ok) throw new Error(JSON.stringify(made.problems))
        await writeEvent(tx, id.toLowerCase(), made.event, true)
      }
    })
  }
}
