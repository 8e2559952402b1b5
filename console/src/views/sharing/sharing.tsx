/** Data sharing: invitations to the person, shares given from this subscription, and shares received. */

import { Button, Field, Input, makeStyles, Select, Text, tokens } from '@fluentui/react-components'
import { useState } from 'react'
import { type Answer, call, send } from '../../api/client.ts'
import { groupId, readId } from '../../api/ids.ts'
import { qualified } from '../../api/place.ts'
import {
  type Envelope,
  type Rows,
  useAllOf,
  useList,
  useLists,
  useWrite,
} from '../../api/queries.ts'
import { useGroups, useSubscriptions } from '../../app/subscription.ts'
import { AppLink, resourcePath, useGo } from '../../components/app-link.tsx'
import { Card, CardGrid } from '../../components/card.tsx'
import { EmptyText } from '../../components/empty-text.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { Page } from '../../components/page.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { State } from '../../components/state.tsx'
import { appTexts } from '../../texts/app.ts'
import { sharingTexts } from '../../texts/sharing.ts'

const version = { 'api-version': '2021-08-01' }

const useStyles = makeStyles({
  list: { listStyle: 'none', margin: 0, padding: 0, display: 'grid', gap: tokens.spacingVerticalM },
  line: { display: 'flex', flexWrap: 'wrap', gap: tokens.spacingHorizontalS, alignItems: 'center' },
  name: { flexGrow: 1, overflowWrap: 'anywhere', minWidth: 0 },
  soft: { color: tokens.colorNeutralForeground2 },
})

/** The properties of an invitation that the documents leave open. */
interface Invitation extends Envelope {
  readonly properties: {
    readonly invitationId: string
    readonly shareName?: string
    readonly providerName?: string
    readonly description?: string
    readonly location?: string
    readonly invitationStatus?: string
  }
}

/** As many cards as one looks through. Search finds the others. */
const shownMax = 200

export function Sharing() {
  const { looked } = useSubscriptions()
  const accounts = useAllOf(
    useLists<'listResources', Envelope>(
      'listResources',
      looked.map(({ subscriptionId }) => ({
        path: { subscriptionId },
        query: { $filter: `resourceType eq '${qualified('DataShare/accounts')}'` },
      })),
      { enabled: looked.length > 0 },
    ),
    shownMax,
  )
  return (
    <Page title={sharingTexts.title} lead={sharingTexts.lead}>
      <Invitations />
      {accounts.error !== null && <Refusal failure={accounts.error} />}
      {!accounts.loading && accounts.error === null && accounts.rows.length === 0 && (
        <Text>{sharingTexts.noAccounts}</Text>
      )}
      {accounts.rows.map(({ id }) => (
        <Account key={id} id={id} />
      ))}
    </Page>
  )
}

function Invitations() {
  const styles = useStyles()
  const found = useList<'listInvitations', Invitation>('listInvitations', { path: {} })
  const [accepting, setAccepting] = useState<Invitation>()
  const reject = useWrite(({ properties }: Invitation) =>
    call('rejectInvitation', {
      path: { locationName: properties.location ?? 'local' },
      body: { properties: { invitationId: properties.invitationId } },
    }),
  )
  const open = found.rows.filter(
    ({ properties }) => (properties.invitationStatus ?? 'Pending') === 'Pending',
  )
  const failure = found.error ?? reject.error
  return (
    <Card title={sharingTexts.invitations}>
      {failure !== null && <Refusal failure={failure} />}
      <EmptyText found={found} rows={open} text={sharingTexts.noInvitations} />
      <ul className={styles.list}>
        {open.map((one) => (
          <li key={one.properties.invitationId} className={styles.line}>
            <span className={styles.name}>
              <Text weight="semibold">{one.properties.shareName}</Text>{' '}
              <Text className={styles.soft}>
                {[
                  one.properties.providerName &&
                    `${sharingTexts.from} ${one.properties.providerName}`,
                  one.properties.description,
                ]
                  .filter(Boolean)
                  .join(' · ')}
              </Text>
            </span>
            <Button appearance="primary" onClick={() => setAccepting(one)}>
              {sharingTexts.accept}
            </Button>
            <Button disabled={reject.isPending} onClick={() => reject.mutate(one)}>
              {sharingTexts.reject}
            </Button>
          </li>
        ))}
      </ul>
      {accepting !== undefined && (
        <AcceptDialog invitation={accepting} onClose={() => setAccepting(undefined)} />
      )}
    </Card>
  )
}

function AcceptDialog({
  invitation: { properties },
  onClose,
}: {
  readonly invitation: Invitation
  readonly onClose: () => void
}) {
  const go = useGo()
  const { subscriptionId, groups } = useGroups()
  const [group, setGroup] = useState('')
  const [account, setAccount] = useState('received')
  const [name, setName] = useState(properties.shareName ?? '')
  const chosen = group === '' ? (groups.rows[0]?.name ?? '') : group
  const path = `${groupId(subscriptionId, chosen)}/providers/${qualified('DataShare/accounts')}/${encodeURIComponent(account)}`
  const accept = useWrite(async () => {
    const accounts = path.slice(0, path.lastIndexOf('/'))
    const { body } = await send<{ readonly value: readonly Envelope[] }>('GET', accounts, {
      query: version,
    })
    if (!body.value.some((one) => one.name.toLowerCase() === account.toLowerCase())) {
      await whole(await send('PUT', path, { query: version, body: { location: 'local' } }))
    }
    const subscription = `${path}/shareSubscriptions/${encodeURIComponent(name)}`
    const location = properties.location ?? 'local'
    await whole(
      await send('PUT', subscription, {
        query: version,
        body: {
          properties: { invitationId: properties.invitationId, sourceShareLocation: location },
        },
      }),
    )
    return subscription
  })
  return (
    <FormDialog
      title={sharingTexts.acceptTitle(properties.shareName ?? '')}
      submit={sharingTexts.accept}
      busy={accept.isPending}
      ready={chosen !== '' && account !== '' && name !== ''}
      failure={accept.error}
      onSubmit={() => accept.mutate(undefined, { onSuccess: (id) => go(resourcePath(id)) })}
      onClose={onClose}
    >
      <Text>{sharingTexts.acceptLead}</Text>
      <Field label={sharingTexts.group} required>
        <Select value={chosen} onChange={(_, { value }) => setGroup(value)}>
          {groups.rows.map((one) => (
            <option key={one.name}>{one.name}</option>
          ))}
        </Select>
      </Field>
      <Field label={sharingTexts.account} required hint={sharingTexts.accountHint}>
        <Input value={account} onChange={(_, { value }) => setAccount(value)} />
      </Field>
      <Field label={sharingTexts.name} required>
        <Input value={name} onChange={(_, { value }) => setName(value)} />
      </Field>
    </FormDialog>
  )
}

/** Milliseconds between two fetches of an operation, and the number of fetches. */
const waitFor = 500
const looksMax = 60

/** Waits until the operation of an answer has ended. */
async function whole({ operationPath }: Answer): Promise<void> {
  if (operationPath === undefined) return
  for (let looks = 0; looks < looksMax; looks++) {
    const { body } = await send<{ readonly status?: string }>('GET', operationPath)
    if (body.status !== 'Running' && body.status !== 'Accepted' && body.status !== 'InProgress')
      return
    await new Promise((resolve) => setTimeout(resolve, waitFor))
  }
}

function Account({ id }: { readonly id: string }) {
  const { subscriptionId = '', group = '', name } = readId(id)
  const path = { subscriptionId, resourceGroupName: group, accountName: name }
  const shares = useList<
    'listShares',
    Envelope & { properties: { description?: string; provisioningState: string } }
  >('listShares', { path })
  const taken = useList('listShareSubscriptions', { path })
  return (
    <CardGrid>
      <Card title={`${sharingTexts.given}: ${group} / ${name}`}>
        <Listed
          rows={shares.rows.map((one) => ({
            id: one.id,
            text: one.properties.description ?? '',
            state: one.properties.provisioningState,
          }))}
          found={shares}
          empty={sharingTexts.noShares}
        />
      </Card>
      <Card title={`${sharingTexts.taken}: ${group} / ${name}`}>
        <Listed
          rows={taken.rows.map((one) => ({
            id: one.id,
            text: '',
            state: one.properties.shareSubscriptionStatus,
          }))}
          found={taken}
          empty={sharingTexts.noTaken}
        />
      </Card>
    </CardGrid>
  )
}

function Listed({
  rows,
  found,
  empty,
}: {
  readonly rows: readonly { readonly id: string; readonly text: string; readonly state: string }[]
  readonly found: Pick<Rows<unknown>, 'error' | 'loading' | 'reload'>
  readonly empty: string
}) {
  const styles = useStyles()
  if (rows.length === 0) {
    return found.error === null ? (
      <Text>{found.loading ? appTexts.loading : empty}</Text>
    ) : (
      <Refusal failure={found.error} onRetry={found.reload} quiet />
    )
  }
  return (
    <ul className={styles.list}>
      {rows.map(({ id, text, state }) => (
        <li key={id} className={styles.line}>
          <span className={styles.name}>
            <AppLink to={resourcePath(id)}>
              <bdi>{readId(id).name}</bdi>
            </AppLink>{' '}
            <Text className={styles.soft}>{text}</Text>
          </span>
          <State value={state} />
        </li>
      ))}
    </ul>
  )
}
