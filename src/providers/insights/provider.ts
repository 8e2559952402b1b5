/** The namespace `Insights`: the audit trail, as the family's activity log. */

import type { Provider } from '#plane/define.ts'
import type { World } from '#plane/world.ts'
import { eventTypes, values } from './event-types.ts'

export function insightsProvider(parts: Pick<World, 'words' | 'tenantId' | 'sql'>): Provider {
  return {
    namespace: 'Insights',
    description: 'The activity log: who did what, from where, when, and what came of it.',
    types: [eventTypes(parts), values(parts)],
  }
}
