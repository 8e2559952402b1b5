/** A subscription at a glance: its groups, what it cost this month, who has access, and what happened lately. */

import { makeStyles, Text, Title3, tokens } from '@fluentui/react-components'
import { groupId, readId, shortId } from '../../api/ids.ts'
import { qualified } from '../../api/place.ts'
import { useGet, useList } from '../../api/queries.ts'
import { useRecentActivity } from '../../components/activity.ts'
import { ActivityList } from '../../components/activity-list.tsx'
import { AppLink, resourcePath } from '../../components/app-link.tsx'
import { Card, CardGrid } from '../../components/card.tsx'
import { EmptyText } from '../../components/empty-text.tsx'
import { moneyText, sumByCurrency, thisMonth, useMonth } from '../../components/money.ts'
import { usePrincipalNames } from '../../components/principals.ts'
import { Refusal } from '../../components/refusal.tsx'
import { State } from '../../components/state.tsx'
import { appTexts } from '../../texts/app.ts'
import { subscriptionTexts } from '../../texts/resources.ts'
import { useRoles } from '../access/access-panel.tsx'

/** A card is a beginning: its link leads to all. */
const shownMax = 8
const lately = 7 * 24

const useStyles = makeStyles({
  list: { listStyle: 'none', margin: 0, padding: 0, display: 'grid', gap: tokens.spacingVerticalS },
  line: { display: 'flex', flexWrap: 'wrap', gap: tokens.spacingHorizontalS, alignItems: 'center' },
  soft: { color: tokens.colorNeutralForeground2 },
})

export function SubscriptionContent({ id }: { readonly id: string }) {
  return (
    <>
      <CardGrid>
        <Groups id={id} />
        <Cost id={id} />
        <Access id={id} />
      </CardGrid>
      <Lately id={id} />
    </>
  )
}

function Groups({ id }: { readonly id: string }) {
  const styles = useStyles()
  const { subscriptionId = '' } = readId(id)
  const { rows, more, loading, error } = useList('listGroups', { path: { subscriptionId } })
  return (
    <Card title={subscriptionTexts.groups}>
      {error !== null ? (
        <Refusal failure={error} quiet />
      ) : (
        <Text>{loading ? appTexts.loading : subscriptionTexts.count(rows.length, more)}</Text>
      )}
      <ul className={styles.list}>
        {rows.slice(0, shownMax).map(({ name, properties }) => (
          <li key={name} className={styles.line}>
            <AppLink to={resourcePath(groupId(subscriptionId, name))}>
              <bdi>{name}</bdi>
            </AppLink>
            <State value={properties.provisioningState} />
          </li>
        ))}
      </ul>
      <AppLink to="/resources?view=groups">{subscriptionTexts.allGroups}</AppLink>
    </Card>
  )
}

interface Paying {
  readonly properties: {
    readonly invoiceSectionId?: string
    readonly invoiceSectionDisplayName?: string
  }
}

/** Costs are kept by invoice sections, of which one pays for the subscription. */
function Cost({ id }: { readonly id: string }) {
  const styles = useStyles()
  const path = `${id}/providers/${qualified('Billing')}/billingProperty/default`
  const paying = useGet<Paying>(path, { 'api-version': '2024-04-01' })
  const { rows, loading, more, error } = useMonth(thisMonth())
  const { invoiceSectionId: section = '', invoiceSectionDisplayName: name = '' } =
    paying.data?.properties ?? {}
  const spent = sumByCurrency(
    rows.filter(({ properties }) => properties.invoiceSectionId === section),
  )
  const refused = error ?? paying.error
  return (
    <Card title={subscriptionTexts.cost}>
      {refused !== null ? (
        <Refusal failure={refused} quiet />
      ) : spent.length === 0 ? (
        <Text>{loading || paying.isLoading ? appTexts.loading : subscriptionTexts.noCost}</Text>
      ) : (
        spent.map((amount) => (
          <Title3 as="span" key={amount.currency}>
            {moneyText(amount)}
          </Title3>
        ))
      )}
      {more && <Text>{subscriptionTexts.partialCost}</Text>}
      {name !== '' && <Text className={styles.soft}>{subscriptionTexts.section(name)}</Text>}
      <AppLink to="/billing?by=product">{subscriptionTexts.allCost}</AppLink>
    </Card>
  )
}

function Access({ id }: { readonly id: string }) {
  const styles = useStyles()
  const { rows, loading, error } = useList('listRoleAssignments', { path: { scope: id } })
  const shown = rows.slice(0, shownMax)
  const roles = useRoles(id)
  const names = usePrincipalNames(shown.map(({ properties }) => properties.principalId))
  return (
    <Card title={subscriptionTexts.access}>
      {error !== null && <Refusal failure={error} quiet />}
      <EmptyText found={{ loading, error }} rows={rows} text={subscriptionTexts.noAccess} />
      <ul className={styles.list}>
        {shown.map(({ id: key, properties }) => (
          <li key={key} className={styles.line}>
            <bdi>{names.get(properties.principalId)?.name ?? properties.principalId}</bdi>
            <Text className={styles.soft}>{roles.nameOf(properties.roleDefinitionId)}</Text>
            {properties.scope.toLowerCase() !== id.toLowerCase() && (
              <Text className={styles.soft} size={200}>
                {subscriptionTexts.givenAt(shortId(properties.scope))}
              </Text>
            )}
          </li>
        ))}
      </ul>
      <AppLink to={resourcePath(id, 'access')}>{subscriptionTexts.allAccess}</AppLink>
    </Card>
  )
}

function Lately({ id }: { readonly id: string }) {
  const found = useRecentActivity({ scope: id, hours: lately, top: shownMax })
  return (
    <Card title={subscriptionTexts.lately}>
      <ActivityList
        found={{ ...found, rows: found.rows.slice(0, shownMax), more: false }}
        quiet
        empty={subscriptionTexts.nothingLately}
      />
      <AppLink to={resourcePath(id, 'activity')}>{subscriptionTexts.allActivity}</AppLink>
    </Card>
  )
}
