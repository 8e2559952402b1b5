/** Home: subscriptions, problems, running operations, costs, and recent changes. */

import { makeStyles, Text, Title3, tokens } from '@fluentui/react-components'
import { quoted } from '../../api/filter.ts'
import { readId } from '../../api/ids.ts'
import { qualified } from '../../api/place.ts'
import { type Envelope, type Rows, useList } from '../../api/queries.ts'
import { person } from '../../api/session.ts'
import { useSubscriptions } from '../../app/subscription.ts'
import { useRecentActivity } from '../../components/activity.ts'
import { ActivityList } from '../../components/activity-list.tsx'
import { AppLink, resourcePath } from '../../components/app-link.tsx'
import { Card, CardGrid } from '../../components/card.tsx'
import { moneyText, sumByCurrency, thisMonth, useMonth } from '../../components/money.ts'
import { Loading, Page } from '../../components/page.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { isBad, State } from '../../components/state.tsx'
import { appTexts } from '../../texts/app.ts'
import { homeTexts, resourcesTexts } from '../../texts/resources.ts'
import { billingTexts } from '../../texts/work.ts'

const useStyles = makeStyles({
  list: { listStyle: 'none', margin: 0, padding: 0, display: 'grid', gap: tokens.spacingVerticalS },
  line: { display: 'flex', flexWrap: 'wrap', gap: tokens.spacingHorizontalS, alignItems: 'center' },
})

export interface ListedResource extends Envelope {
  readonly location?: string
  readonly tags?: Readonly<Record<string, string>>
  readonly createdTime?: string
  readonly provisioningState?: string
}

export function Home() {
  const styles = useStyles()
  const { all, current, error, loading, reload } = useSubscriptions()
  if (error !== null) {
    return (
      <Page title={homeTexts.title}>
        <Refusal failure={error} onRetry={reload} />
      </Page>
    )
  }
  if (loading) return <Loading />
  return (
    <Page title={homeTexts.title} lead={homeTexts.lead(person()?.name ?? '')}>
      {current === undefined ? (
        <Text>{homeTexts.none}</Text>
      ) : (
        <>
          <CardGrid>
            <Card title={homeTexts.subscriptions}>
              <ul className={styles.list}>
                {all.map(({ subscriptionId, displayName, state }) => (
                  <li key={subscriptionId} className={styles.line}>
                    <AppLink to={resourcePath(`/subscriptions/${subscriptionId}`)}>
                      {displayName}
                    </AppLink>
                    <State value={state} />
                  </li>
                ))}
              </ul>
            </Card>
            <Card title={homeTexts.start}>
              <AppLink to="/resources?create=group">{homeTexts.createGroup}</AppLink>
              <AppLink to="/deployments/new">{homeTexts.deploy}</AppLink>
              <AppLink to="/resources">{resourcesTexts.title}</AppLink>
            </Card>
            <OutOfOrder subscriptionId={current.subscriptionId} />
            <Cost />
          </CardGrid>
          <Lately subscriptionId={current.subscriptionId} />
        </>
      )}
    </Page>
  )
}

function OutOfOrder({ subscriptionId }: { readonly subscriptionId: string }) {
  const found: Rows<ListedResource> = useList('listResources', {
    path: { subscriptionId },
    query: { $expand: 'createdTime,provisioningState' },
  })
  const groups = useList('listGroups', { path: { subscriptionId } })
  const states = [
    ...groups.rows.map((one) => ({ ...one, provisioningState: one.properties.provisioningState })),
    ...found.rows,
  ]
  const failure = found.error ?? groups.error
  const loading = (found.loading || groups.loading) && states.length === 0
  const rows = states.filter(({ provisioningState: state }) => isBad(state))
  const deployments = useRunningDeployments(subscriptionId)
  const running = [
    ...deployments.rows,
    ...states.filter(
      ({ provisioningState: state }) =>
        state !== undefined && !isBad(state) && !['Succeeded', 'Canceled'].includes(state),
    ),
  ]
  return (
    <>
      <Card title={homeTexts.outOfOrder}>
        {rows.length > 0 && <Listed rows={rows} />}
        {failure !== null && <Refusal failure={failure} quiet />}
        {rows.length === 0 && failure === null && (
          <Text>
            {loading
              ? appTexts.loading
              : found.more
                ? homeTexts.fineSoFar(found.rows.length)
                : homeTexts.allFine}
          </Text>
        )}
      </Card>
      <Card title={homeTexts.running}>
        {running.length > 0 && <Listed rows={running} />}
        {failure !== null && <Refusal failure={failure} quiet />}
        {deployments.error !== null && <Refusal failure={deployments.error} quiet />}
        {running.length === 0 && failure === null && deployments.error === null && (
          <Text>{loading || deployments.loading ? appTexts.loading : homeTexts.nothingRuns}</Text>
        )}
      </Card>
    </>
  )
}

/** No list has the deployments of all groups. The audit trail says which of this day were accepted and have not ended. */
function useRunningDeployments(
  subscriptionId: string,
): Pick<Rows<ListedResource>, 'rows' | 'error' | 'loading'> {
  const written = `operationName eq ${quoted(qualified('Resources/deployments/write'))}`
  const scope = `/subscriptions/${subscriptionId}`
  const found = useRecentActivity({ scope, hours: 24, top: 100, filter: written })
  const latest = new Map<string, string>()
  for (const { resourceId, status } of found.rows) {
    if (resourceId !== undefined && !latest.has(resourceId)) latest.set(resourceId, status.value)
  }
  const rows = [...latest]
    .filter(([, status]) => status === 'Accepted')
    .map(([id]) => ({ id, name: readId(id).name, type: '', provisioningState: 'Running' }))
  return { rows, error: found.error, loading: found.loading }
}

function Listed({ rows }: { readonly rows: readonly ListedResource[] }) {
  const styles = useStyles()
  return (
    <ul className={styles.list}>
      {rows.slice(0, 8).map((one) => (
        <li key={one.id} className={styles.line}>
          <AppLink to={resourcePath(one.id)}>{one.name}</AppLink>
          <Text size={200}>{readId(one.id).group}</Text>
          <State value={one.provisioningState} />
        </li>
      ))}
    </ul>
  )
}

function Cost() {
  const { rows, loading, more, error } = useMonth(thisMonth())
  const spent = sumByCurrency(rows).map(moneyText)
  return (
    <Card title={homeTexts.cost}>
      {error !== null ? (
        <Refusal failure={error} quiet />
      ) : spent.length === 0 ? (
        <Text>{loading ? appTexts.loading : homeTexts.noCost}</Text>
      ) : (
        spent.map((text) => (
          <Title3 as="span" key={text}>
            {text}
          </Title3>
        ))
      )}
      {more && <Text>{billingTexts.partial}</Text>}
      <AppLink to="/billing">{homeTexts.costMore}</AppLink>
    </Card>
  )
}

function Lately({ subscriptionId }: { readonly subscriptionId: string }) {
  const found = useRecentActivity({ scope: `/subscriptions/${subscriptionId}`, hours: 24, top: 8 })
  return (
    <Card title={homeTexts.lately}>
      <ActivityList
        found={{ ...found, rows: found.rows.slice(0, 8), more: false }}
        quiet
        empty={homeTexts.nothingLately}
      />
      <AppLink to="/activity">{homeTexts.all}</AppLink>
    </Card>
  )
}
