/** The namespace `ResourceHealth`: service health events, and the availability of resources. */

import type { HealthSignals } from '#kernel/health.ts'
import type { Rounds } from '#kernel/rounds.ts'
import type { Provider } from '#plane/declare/provider.ts'
import type { ProviderContext } from '#plane/provider-context.ts'
import type { Observers } from './domain/availability-check.ts'
import { type Probe, startBackground } from './domain/background.ts'
import { openEventStore } from './domain/event-store.ts'
import { openHistory } from './domain/history.ts'
import { serviceNamesOf } from './domain/impact-match.ts'
import { openSignals } from './domain/signals.ts'
import { createWatch } from './domain/watch.ts'
import { healthErrors } from './errors.ts'
import { publishedVersions } from './published-versions.ts'
import { availabilityStatuses } from './resources/availability-statuses/resource.ts'
import { emergingIssues } from './resources/emerging-issues/resource.ts'
import { events, healthVersion } from './resources/events/resource.ts'
import {
  impactedResources,
  openImpactedResources,
} from './resources/impacted-resources/resource.ts'
import { metadata } from './resources/metadata/resource.ts'

interface ResourceHealthDependencies
  extends Pick<ProviderContext, 'words' | 'tenantId' | 'sql' | 'clock' | 'ids' | 'timers' | 'log'> {
  /** All providers, this one too; called when they are all declared. */
  readonly served: () => readonly Provider[]
  readonly services: Pick<ProviderContext['services'], 'reader' | 'listTracked'>
  /** What the installation depends on; an event exists while one of them fails. */
  readonly probes?: readonly Probe[]
  /** How providers see the availability of their resources. */
  readonly observers?: Observers
}

/** The port for reporting an issue. */
export function healthSignals(
  context: Pick<ProviderContext, 'sql' | 'clock' | 'ids'>,
): HealthSignals {
  return openSignals(context)
}

export function resourceHealthProvider(deps: ResourceHealthDependencies): Provider {
  const { words, tenantId, sql, ids, services, observers = {} } = deps
  const serviceNames = serviceNamesOf(deps.served)
  const eventStore = openEventStore(sql)
  const history = openHistory(sql)
  const impacted = openImpactedResources({ words, services, serviceNames })
  // The running background work, which is woken here; undefined before it starts.
  let background: Rounds | undefined
  return {
    namespace: 'ResourceHealth',
    compatibleVersions: publishedVersions,
    description:
      'Service health: events with a life, whom they touch, and how available resources are.',
    errorFamily: 'health',
    errors: healthErrors.entries,
    types: [
      events({
        words,
        tenantId,
        eventStore,
        sql,
        ids,
        impacted,
        serviceNames,
        wake: () => background?.wake(),
      }),
      impactedResources({ words, services, eventStore, impacted, serviceNames }, [healthVersion]),
      emergingIssues({ words, eventStore }, [healthVersion]),
      metadata(words, [healthVersion]),
      ...availabilityStatuses({ words, eventStore, history, services, observers, serviceNames }, [
        healthVersion,
      ]),
    ],
    start() {
      background = startBackground({
        ...deps,
        eventStore,
        signals: openSignals(deps),
        probes: deps.probes ?? [],
        watch: createWatch({ reader: services.reader, observers, history }),
      })
      return background
    },
  }
}
