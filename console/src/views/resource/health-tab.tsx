/** The availability of a resource, now and before. */

import { Text } from '@fluentui/react-components'
import { type Envelope, useList } from '../../api/queries.ts'
import { AppLink } from '../../components/app-link.tsx'
import { Card, Pairs } from '../../components/card.tsx'
import { Loading } from '../../components/page.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { momentText, State } from '../../components/state.tsx'
import { resourceHealthTexts, resourceTexts } from '../../texts/resources.ts'
import type { TabProps } from './resource.tsx'

/** The properties of an availability status that the documents leave open. */
interface Availability extends Envelope {
  readonly properties: {
    readonly availabilityState: string
    readonly summary?: string
    readonly reasonType?: string
    readonly occuredTime?: string
    readonly healthEventId?: string
  }
}

/** The states of an engine leave no record. */
const lookEvery = 10_000

export function HealthTab({ id }: TabProps) {
  const path = { scope: id }
  const found = useList<'listAvailability', Availability>(
    'listAvailability',
    { path },
    { every: lookEvery },
  )
  if (found.error !== null && found.rows.length === 0) {
    return <Refusal failure={found.error} onRetry={found.reload} />
  }
  if (found.loading && found.rows.length === 0) return <Loading />
  const [now, ...before] = found.rows
  if (now === undefined) return <Text>{resourceHealthTexts.none}</Text>
  return (
    <>
      <Card title={resourceHealthTexts.now}>
        <Status of={now} />
      </Card>
      {before.length > 0 && (
        <Card title={resourceHealthTexts.before}>
          {before.map((one) => (
            <Status key={one.name} of={one} />
          ))}
        </Card>
      )}
    </>
  )
}

function Status({ of: { properties } }: { readonly of: Availability }) {
  const { healthEventId: event } = properties
  return (
    <Pairs
      pairs={[
        [resourceTexts.state, <State key="state" value={properties.availabilityState} />],
        [resourceHealthTexts.since, momentText(properties.occuredTime)],
        [resourceHealthTexts.cause, properties.summary ?? properties.reasonType],
        [
          resourceHealthTexts.event,
          event === undefined ? undefined : (
            <AppLink key="event" to={`/health?event=${encodeURIComponent(event)}`}>
              {event}
            </AppLink>
          ),
        ],
      ]}
    />
  )
}
