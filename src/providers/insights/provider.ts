/** The namespace `Insights`: the audit trail, as the family's activity log, and metrics of resources. */

import type { Provider } from '#plane/declare/provider.ts'
import type { ProviderContext } from '#plane/provider-context.ts'
import type { MetricSources } from './domain/metric-sources.ts'
import { values } from './resources/event-type-values/resource.ts'
import { eventTypes } from './resources/event-types/resource.ts'
import { metricDefinitions } from './resources/metric-definitions/resource.ts'
import { metrics } from './resources/metrics/resource.ts'

interface InsightsDependencies extends Pick<ProviderContext, 'words' | 'tenantId' | 'sql'> {
  readonly metricSources: MetricSources
}

export function insightsProvider(deps: InsightsDependencies): Provider {
  return {
    namespace: 'Insights',
    description:
      'The activity log: who did what, from where, when, and what came of it; and metrics of resources.',
    types: [eventTypes(deps), values(deps), metrics(deps), metricDefinitions(deps)],
  }
}
