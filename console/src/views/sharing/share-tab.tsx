/** A share that is given: its datasets, its invitations, and its subscribers, who can be stopped. */

import { Button, makeStyles, Text, tokens } from '@fluentui/react-components'
import { send } from '../../api/client.ts'
import { type Envelope, useListAt, useWrite } from '../../api/queries.ts'
import { Card, CardGrid } from '../../components/card.tsx'
import { EmptyText } from '../../components/empty-text.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { momentText, State } from '../../components/state.tsx'
import { sharingTexts } from '../../texts/sharing.ts'
import type { TabProps } from '../resource/resource.tsx'

const useStyles = makeStyles({
  list: { listStyle: 'none', margin: 0, padding: 0, display: 'grid', gap: tokens.spacingVerticalS },
  line: { display: 'flex', flexWrap: 'wrap', gap: tokens.spacingHorizontalS, alignItems: 'center' },
  name: { flexGrow: 1, overflowWrap: 'anywhere', minWidth: 0 },
})

/** The properties that these views read of the lists below a share. */
interface Below extends Envelope {
  readonly kind?: string
  readonly properties: {
    readonly invitationStatus?: string
    readonly targetEmail?: string
    readonly targetObjectId?: string
    readonly targetActiveDirectoryId?: string
    readonly consumerName?: string
    readonly consumerEmail?: string
    readonly shareSubscriptionStatus?: string
    readonly sharedAt?: string
  }
}

export function ShareTab({ id, version }: TabProps) {
  const styles = useStyles()
  const query = { 'api-version': version }
  const dataSets = useListAt<Below>(`${id}/dataSets`, query)
  const invitations = useListAt<Below>(`${id}/invitations`, query)
  const consumers = useListAt<Below>(`${id}/providerShareSubscriptions`, query)
  const order = useWrite(({ path }: { readonly path: string }) => send('POST', path, { query }))
  const failure = order.error ?? dataSets.error ?? invitations.error ?? consumers.error
  return (
    <>
      {failure !== null && <Refusal failure={failure} />}
      <CardGrid>
        <Card title={sharingTexts.dataSets}>
          <ul className={styles.list}>
            {dataSets.rows.map((one) => (
              <li key={one.id} className={styles.line}>
                <Text className={styles.name}>
                  <bdi>{one.name}</bdi>
                </Text>
                <Text>{sharingTexts.kinds[one.kind ?? ''] ?? one.kind}</Text>
              </li>
            ))}
          </ul>
        </Card>
        <Card title={sharingTexts.invited}>
          <ul className={styles.list}>
            {invitations.rows.map(({ id: key, name, properties }) => (
              <li key={key} className={styles.line}>
                <Text className={styles.name}>
                  <bdi>{properties.targetEmail ?? properties.targetObjectId ?? name}</bdi>
                </Text>
                <State value={properties.invitationStatus} />
              </li>
            ))}
          </ul>
        </Card>
        <Card title={sharingTexts.consumers}>
          <EmptyText found={consumers} rows={consumers.rows} text={sharingTexts.noConsumers} />
          <ul className={styles.list}>
            {consumers.rows.map(({ id: key, name, properties }) => {
              const { shareSubscriptionStatus: status = '' } = properties
              const action = status === 'Revoked' ? 'reinstate' : 'revoke'
              const path = `${id}/providerShareSubscriptions/${encodeURIComponent(name)}/${action}`
              return (
                <li key={key} className={styles.line}>
                  <Text className={styles.name}>
                    <bdi>{properties.consumerName ?? properties.consumerEmail ?? name}</bdi>{' '}
                    {momentText(properties.sharedAt)}
                  </Text>
                  <State value={status} />
                  <Button
                    size="small"
                    disabled={order.isPending}
                    onClick={() => order.mutate({ path })}
                  >
                    {sharingTexts[action]}
                  </Button>
                </li>
              )
            })}
          </ul>
        </Card>
      </CardGrid>
    </>
  )
}
