/** The containers of a group: states, events, logs, and a shell. */

import { Button, makeStyles, Text, tokens } from '@fluentui/react-components'
import { call } from '../../api/client.ts'
import { readId } from '../../api/ids.ts'
import { refusalOf, useCall, useWrite } from '../../api/queries.ts'
import { Card, CardGrid, Pairs } from '../../components/card.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { momentText, State } from '../../components/state.tsx'
import { containerTexts } from '../../texts/work.ts'
import type { TabProps } from '../resource/resource.tsx'
import { LogCard } from './log-card.tsx'
import { ShellCard } from './shell-card.tsx'

/** Milliseconds between two fetches of what changes without a record. */
const lookEvery = 3_000

const useStyles = makeStyles({
  bar: { display: 'flex', flexWrap: 'wrap', gap: tokens.spacingHorizontalM, alignItems: 'end' },
  events: { margin: 0, paddingLeft: tokens.spacingHorizontalL, overflowWrap: 'anywhere' },
})

const actions = ['restart', 'start', 'stop'] as const
const operationOf = {
  restart: 'restartContainerGroup',
  start: 'startContainerGroup',
  stop: 'stopContainerGroup',
} as const

export function ContainersTab({ id }: TabProps) {
  const styles = useStyles()
  const { subscriptionId = '', group = '', name } = readId(id)
  const path = { subscriptionId, resourceGroupName: group, containerGroupName: name }
  const found = useCall('getContainerGroup', { path }, { every: lookEvery })
  const act = useWrite((action: (typeof actions)[number]) => call(operationOf[action], { path }))
  const refused = refusalOf(found)
  // A look that fails later must not end a shell that is open below.
  if (refused !== null) return <Refusal failure={refused} onRetry={() => void found.refetch()} />
  const containers = found.data?.properties.containers ?? []
  return (
    <>
      <div className={styles.bar}>
        {actions.map((action) => (
          <Button key={action} disabled={act.isPending} onClick={() => act.mutate(action)}>
            {containerTexts[action]}
          </Button>
        ))}
      </div>
      {act.error !== null && <Refusal failure={act.error} />}
      <CardGrid>
        {containers.map(({ name: container, properties }) => {
          const { image } = properties as { readonly image?: string }
          const { instanceView } = properties
          return (
            <Card key={container} title={container}>
              <Pairs
                pairs={[
                  [
                    containerTexts.state,
                    <State key="state" value={instanceView?.currentState.state} />,
                  ],
                  [containerTexts.image, image],
                  [containerTexts.restarts, instanceView?.restartCount],
                  [containerTexts.started, momentText(instanceView?.currentState.startTime)],
                ]}
              />
              <Text weight="semibold">{containerTexts.events}</Text>
              {(instanceView?.events ?? []).length === 0 && <Text>{containerTexts.noEvents}</Text>}
              <ul className={styles.events}>
                {instanceView?.events.map((event) => (
                  <li key={`${event.name} ${event.firstTimestamp} ${event.message}`}>
                    {event.name}: {event.message} ({momentText(event.lastTimestamp)})
                  </li>
                ))}
              </ul>
            </Card>
          )
        })}
      </CardGrid>
      {containers.length > 0 && <LogCard path={path} names={containers.map((one) => one.name)} />}
      {containers.length > 0 && <ShellCard path={path} names={containers.map((one) => one.name)} />}
    </>
  )
}

export interface GroupPath {
  readonly subscriptionId: string
  readonly resourceGroupName: string
  readonly containerGroupName: string
}
