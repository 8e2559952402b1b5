/** The containers of a group: states, events, logs, and a shell. */

import {
  Button,
  Field,
  Input,
  makeStyles,
  Select,
  Switch,
  Text,
  tokens,
} from '@fluentui/react-components'
import { useEffect, useRef, useState } from 'react'
import { call } from '../../api/client.ts'
import { readId } from '../../api/ids.ts'
import { useCall, useWrite } from '../../api/queries.ts'
import { Card, CardGrid, Pairs } from '../../components/card.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { momentText, State } from '../../components/state.tsx'
import { containerTexts } from '../../texts/work.ts'
import type { TabProps } from '../resource/resource.tsx'
import { ShellCard } from './shell-card.tsx'

/** Milliseconds between two fetches of what changes without a record. */
const lookEvery = 3_000

const useStyles = makeStyles({
  bar: { display: 'flex', flexWrap: 'wrap', gap: tokens.spacingHorizontalM, alignItems: 'end' },
  log: {
    margin: 0,
    padding: tokens.spacingHorizontalM,
    minHeight: '64px',
    maxHeight: '320px',
    overflow: 'auto',
    fontFamily: tokens.fontFamilyMonospace,
    fontSize: tokens.fontSizeBase200,
    lineHeight: tokens.lineHeightBase300,
    backgroundColor: tokens.colorNeutralBackground3,
    whiteSpace: 'pre-wrap',
    overflowWrap: 'anywhere',
    borderRadius: tokens.borderRadiusMedium,
  },
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
  if (found.error !== null) return <Refusal failure={found.error} />
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
      {containers.length > 0 && <Log path={path} names={containers.map((one) => one.name)} />}
      {containers.length > 0 && <ShellCard path={path} names={containers.map((one) => one.name)} />}
    </>
  )
}

export interface GroupPath {
  readonly subscriptionId: string
  readonly resourceGroupName: string
  readonly containerGroupName: string
}

function Log({ path, names }: { readonly path: GroupPath; readonly names: readonly string[] }) {
  const styles = useStyles()
  const [chosen, setChosen] = useState(names[0] ?? '')
  const [follow, setFollow] = useState(true)
  const [filter, setFilter] = useState('')
  const box = useRef<HTMLPreElement>(null)
  const found = useCall(
    'getContainerLog',
    { path: { ...path, containerName: chosen }, query: { tail: '2000' } },
    { every: follow ? lookEvery : false },
  )
  const content = found.data?.content ?? ''
  const lines = content
    .split('\n')
    .filter((line) => line.toLowerCase().includes(filter.toLowerCase()))
    .join('\n')
  // biome-ignore lint/correctness/useExhaustiveDependencies: what came is shown
  useEffect(() => {
    if (follow) box.current?.scrollTo({ top: box.current.scrollHeight })
  }, [lines, follow])
  return (
    <Card title={containerTexts.logs}>
      <div className={styles.bar}>
        {names.length > 1 && (
          <Field label={containerTexts.container}>
            <Select value={chosen} onChange={(_, { value }) => setChosen(value)}>
              {names.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </Select>
          </Field>
        )}
        <Field label={containerTexts.filter}>
          <Input type="search" value={filter} onChange={(_, { value }) => setFilter(value)} />
        </Field>
        <Switch
          label={containerTexts.follow}
          checked={follow}
          onChange={(_, { checked }) => setFollow(checked)}
        />
      </div>
      {found.error !== null ? (
        <Refusal failure={found.error} />
      ) : (
        <pre
          ref={box}
          className={styles.log}
          tabIndex={0}
          role="region"
          aria-label={containerTexts.logOf(chosen)}
        >
          {lines === '' ? containerTexts.emptyLog : lines}
        </pre>
      )}
    </Card>
  )
}
