/** Service health events that are active now, the worst first. */

import { useState } from 'react'
import { qualified } from '../../api/place.ts'
import { useAllOf, useListsAt } from '../../api/queries.ts'
import { AppLink } from '../../components/app-link.tsx'
import { Card } from '../../components/card.tsx'
import { EmptyText } from '../../components/empty-text.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { State } from '../../components/state.tsx'
import { homeTexts } from '../../texts/resources.ts'
import { eventLink, type HealthEvent, healthVersion, worstFirst } from '../health/health-event.ts'
import { Lines } from './lines.tsx'

/** An event that is still active may have been updated last long ago. */
const lookedBackDays = 90
const day = 86_400_000
const readMax = 200
const shownMax = 8

export function HealthEvents({ subscriptionIds }: { readonly subscriptionIds: readonly string[] }) {
  const [openedAt] = useState(() => Date.now())
  const since = new Date(openedAt - lookedBackDays * day).toISOString().slice(0, 10)
  const list = `providers/${qualified('ResourceHealth/events')}`
  const found = useAllOf(
    useListsAt<HealthEvent>(
      subscriptionIds.map((id) => `/subscriptions/${id}/${list}`),
      { ...healthVersion, queryStartTime: since, $filter: "properties/status eq 'Active'" },
    ),
    readMax,
  )
  const events = worstFirst(found.rows)
  return (
    <Card title={homeTexts.health}>
      <Lines
        lines={events.slice(0, shownMax).map(({ name, properties }) => ({
          id: name,
          to: eventLink(name, ''),
          name: properties.title ?? name,
          where: (properties.impact ?? []).map(({ impactedService }) => impactedService).join(', '),
          state: <State value={properties.eventLevel} />,
        }))}
      />
      {found.error !== null && <Refusal failure={found.error} quiet />}
      <EmptyText found={found} rows={events} text={homeTexts.noEvents} />
      <AppLink to="/health">
        {events.length > shownMax ? homeTexts.moreEvents(events.length) : homeTexts.allEvents}
      </AppLink>
    </Card>
  )
}
