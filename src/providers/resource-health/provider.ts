/** The namespace `ResourceHealth`: service health events and how available resources are. */

import type { HealthSignals } from '#kernel/health.ts'
import type { Provider } from '#plane/define.ts'
import type { World } from '#plane/world.ts'
import { availabilityStatuses } from './availability.ts'
import { type Background, type Probe, startBackground } from './background.ts'
import { healthErrors } from './errors.ts'
import { events, healthVersion } from './events.ts'
import { openHistory } from './history.ts'
import { impactedResources, openImpactedResources } from './impacted-resources.ts'
import { openLedger } from './ledger.ts'
import { publishedVersions } from './published-versions.ts'
import type { Observers } from './sighting.ts'
import { openSignals } from './signals.ts'
import { createWatch } from './watch.ts'

export interface ResourceHealthParts
  extends Pick<World, 'words' | 'tenantId' | 'sql' | 'clock' | 'ids' | 'timers' | 'log'> {
  readonly services: Pick<World['services'], 'reader' | 'listTracked'>
  /** What the installation depends on; an event is raised while one of them is out of order. */
  readonly probes?: readonly Probe[]
  /** What providers see of their resources. */
  readonly observers?: Observers
}

/** Where those who notice trouble tell of it. */
export function healthSignals(world: Pick<World, 'sql' | 'clock' | 'ids'>): HealthSignals {
  return openSignals(world)
}

export function resourceHealthProvider(parts: ResourceHealthParts): Provider {
  const { words, tenantId, sql, ids, services, observers = {} } = parts
  const ledger = openLedger(sql)
  const history = openHistory(sql)
  const impacted = openImpactedResources({ words, services })
  // What is begun is woken here; nothing is while it has not begun.
  let background: Background | undefined
  return {
    namespace: 'ResourceHealth',
    alikeVersions: publishedVersions,
    description:
      'Service health: events with a life, whom they touch, and how available resources are.',
    errorFamily: 'health',
    errors: healthErrors.entries,
    types: [
      events({ words, tenantId, ledger, sql, ids, impacted, wake: () => background?.wake() }),
      impactedResources({ words, services, ledger, impacted }, [healthVersion]),
      availabilityStatuses({ words, ledger, history, services, observers }, [healthVersion]),
    ],
    start() {
      background = startBackground({
        ...parts,
        ledger,
        signals: openSignals(parts),
        probes: parts.probes ?? [],
        watch: createWatch({ reader: services.reader, observers, history }),
      })
      return background
    },
  }
}
