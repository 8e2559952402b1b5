/** The namespace `Insights`: the audit trail, as the family's activity log. */

import type { Provider } from '#plane/declare/provider.ts'
import type { ProviderContext } from '#plane/provider-context.ts'
import { values } from './resources/event-type-values/resource.ts'
import { eventTypes } from './resources/event-types/resource.ts'

export function insightsProvider(
  context: Pick<ProviderContext, 'words' | 'tenantId' | 'sql'>,
): Provider {
  return {
    namespace: 'Insights',
    description: 'The activity log: who did what, from where, when, and what came of it.',
    types: [eventTypes(context), values(context)],
  }
}
