/** A share that is received: where its copies go, and its synchronizations, which can be started and cancelled. */

import { Button, makeStyles, Text, tokens } from '@fluentui/react-components'
import { useEffect, useState } from 'react'
import { call } from '../../api/client.ts'
import { readId } from '../../api/ids.ts'
import { type Envelope, refusalOf, useCall, useListAt, useWrite } from '../../api/queries.ts'
import { useSearch, useSetSearch } from '../../app/address.ts'
import { Card, CardGrid } from '../../components/card.tsx'
import { EmptyText } from '../../components/empty-text.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { sizeText, spanText } from '../../components/sizes.ts'
import { momentText, State } from '../../components/state.tsx'
import { sharingTexts } from '../../texts/sharing.ts'
import type { TabProps } from '../resource/resource.tsx'

const lookEvery = 1_500
const running = ['Queued', 'InProgress', 'Running', 'Cancelling']

const useStyles = makeStyles({
  bar: { display: 'flex', flexWrap: 'wrap', gap: tokens.spacingHorizontalS },
  list: { listStyle: 'none', margin: 0, padding: 0, display: 'grid', gap: tokens.spacingVerticalS },
  line: { display: 'flex', flexWrap: 'wrap', gap: tokens.spacingHorizontalS, alignItems: 'center' },
  name: { flexGrow: 1, overflowWrap: 'anywhere', minWidth: 0 },
  soft: { color: tokens.colorNeutralForeground2, overflowWrap: 'anywhere' },
})

interface Mapping extends Envelope {
  readonly kind?: string
  readonly properties: { readonly dataSetMappingStatus?: string }
}

export function SynchronizationsTab({ id, version }: TabProps) {
  const styles = useStyles()
  const { run } = useSearch()
  const setSearch = useSetSearch()
  const { subscriptionId = '', group = '', name } = readId(id)
  const account = id.split('/').at(-3) ?? ''
  const path = {
    subscriptionId,
    resourceGroupName: group,
    accountName: account,
    shareSubscriptionName: name,
  }
  const mappings = useListAt<Mapping>(`${id}/dataSetMappings`, { 'api-version': version })
  const [isRunning, setRunning] = useState(true)
  const runs = useCall('listSynchronizations', { path }, { every: isRunning ? lookEvery : false })
  const goesOn = runs.data?.value.some(({ status }) => running.includes(status)) ?? true
  useEffect(() => setRunning(goesOn), [goesOn])
  const order = useWrite((begin: () => Promise<unknown>) => begin())
  const start = (mode: 'FullSync' | 'Incremental') => () =>
    order.mutate(() => call('synchronize', { path, body: { synchronizationMode: mode } }))
  const failure = order.error ?? runs.error ?? mappings.error
  const all = runs.data?.value ?? []
  return (
    <>
      <div className={styles.bar}>
        <Button appearance="primary" disabled={order.isPending} onClick={start('Incremental')}>
          {sharingTexts.copyChanges}
        </Button>
        <Button disabled={order.isPending} onClick={start('FullSync')}>
          {sharingTexts.copyAll}
        </Button>
      </div>
      {failure !== null && <Refusal failure={failure} />}
      <CardGrid>
        <Card title={sharingTexts.mappings}>
          <EmptyText found={mappings} rows={mappings.rows} text={sharingTexts.noMappings} />
          <ul className={styles.list}>
            {mappings.rows.map((one) => (
              <li key={one.id} className={styles.line}>
                <Text className={styles.name}>
                  <bdi>{one.name}</bdi> {sharingTexts.kinds[one.kind ?? ''] ?? one.kind}
                </Text>
                <State value={one.properties.dataSetMappingStatus} />
              </li>
            ))}
          </ul>
        </Card>
        <Card title={sharingTexts.runs}>
          <EmptyText
            found={{ loading: runs.isLoading, error: runs.error }}
            rows={all}
            text={sharingTexts.noRuns}
          />
          <ul className={styles.list}>
            {all.map((one) => (
              <li key={one.synchronizationId} className={styles.line}>
                <Button
                  size="small"
                  aria-expanded={run === one.synchronizationId}
                  aria-label={sharingTexts.details(momentText(one.startTime))}
                  onClick={() =>
                    setSearch({
                      run: run === one.synchronizationId ? undefined : one.synchronizationId,
                    })
                  }
                >
                  {momentText(one.startTime)}
                </Button>
                <Text className={styles.name}>
                  {sharingTexts.modes[one.synchronizationMode] ?? one.synchronizationMode} ·{' '}
                  {spanText(one.durationMs)}
                </Text>
                <State value={one.status} />
                {running.includes(one.status) && (
                  <Button
                    size="small"
                    onClick={() =>
                      order.mutate(() =>
                        call('cancelSynchronization', {
                          path,
                          body: { synchronizationId: one.synchronizationId },
                        }),
                      )
                    }
                  >
                    {sharingTexts.cancel}
                  </Button>
                )}
              </li>
            ))}
          </ul>
        </Card>
      </CardGrid>
      {run !== undefined && <Details key={run} path={path} run={run} />}
    </>
  )
}

function Details({
  path,
  run,
}: {
  readonly path: Parameters<typeof useCall<'listSynchronizationDetails'>>[1]['path']
  readonly run: string
}) {
  const styles = useStyles()
  const found = useCall('listSynchronizationDetails', { path, body: { synchronizationId: run } })
  const refused = refusalOf(found)
  if (refused !== null) return <Refusal failure={refused} onRetry={() => void found.refetch()} />
  return (
    <Card title={sharingTexts.detailsTitle}>
      <ul className={styles.list}>
        {(found.data?.value ?? []).map((one) => (
          <li key={one.dataSetId}>
            <div className={styles.line}>
              <Text className={styles.name}>
                <bdi>{one.name}</bdi> {one.dataSetType}
              </Text>
              <State value={one.status} />
            </div>
            <Text size={200} className={styles.soft}>
              {[
                one.rowsCopied > 0 ? `${one.rowsCopied.toLocaleString()} ${sharingTexts.rows}` : '',
                one.filesWritten > 0
                  ? `${one.filesWritten.toLocaleString()} ${sharingTexts.files}`
                  : '',
                sizeText(one.sizeWritten),
                spanText(one.durationMs),
                one.message ?? '',
              ]
                .filter((text) => text !== '')
                .join(' · ')}
            </Text>
          </li>
        ))}
      </ul>
    </Card>
  )
}
