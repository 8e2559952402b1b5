/** Home: subscriptions, problems, active health events, what is under way, costs, and recent changes. */

import { Text, Title3 } from '@fluentui/react-components'
import { Fragment } from 'react'
import { person } from '../../api/session.ts'
import { useAreas } from '../../app/areas.ts'
import { useRights } from '../../app/rights.ts'
import { everywhere } from '../../app/scopes.ts'
import { useSubscriptions } from '../../app/subscription.ts'
import { useRecentActivity } from '../../components/activity.ts'
import { ActivityList } from '../../components/activity-list.tsx'
import { AppLink, resourcePath } from '../../components/app-link.tsx'
import { Card, CardGrid } from '../../components/card.tsx'
import { moneyText, sumByCurrency, thisMonth, useMonth } from '../../components/money.ts'
import { Loading, Page } from '../../components/page.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { State } from '../../components/state.tsx'
import { appTexts } from '../../texts/app.ts'
import { homeTexts, resourcesTexts } from '../../texts/resources.ts'
import { billingTexts } from '../../texts/work.ts'
import { HealthEvents } from './health-events.tsx'
import { Lines } from './lines.tsx'
import { Standing } from './standing.tsx'

export function Home() {
  const { all, current, looked, wide, error, loading, reload } = useSubscriptions()
  const rights = useRights()
  if (error !== null) {
    return (
      <Page title={homeTexts.title}>
        <Refusal failure={error} onRetry={reload} />
      </Page>
    )
  }
  if (loading) return <Loading />
  const subscriptionIds = looked.map(({ subscriptionId }) => subscriptionId)
  // The trail is that of one subscription, or of everything.
  const trail =
    wide === everywhere && rights.mayEverywhere('activity')
      ? '/'
      : `/subscriptions/${current?.subscriptionId ?? ''}`
  return (
    <Page title={homeTexts.title} lead={homeTexts.lead(person()?.name ?? '')}>
      {current === undefined ? (
        <Text>{homeTexts.none}</Text>
      ) : (
        <>
          <CardGrid>
            <Card title={homeTexts.subscriptions}>
              <Lines
                lines={all.map(({ subscriptionId, displayName, state }) => ({
                  id: subscriptionId,
                  to: resourcePath(`/subscriptions/${subscriptionId}`),
                  name: displayName,
                  state: <State value={state} />,
                }))}
              />
            </Card>
            <Card title={homeTexts.start}>
              {rights.may('createGroup') && (
                <AppLink to="/resources?create=group">{homeTexts.createGroup}</AppLink>
              )}
              <AppLink to="/deployments/new">{homeTexts.deploy}</AppLink>
              <AppLink to="/resources">{resourcesTexts.title}</AppLink>
            </Card>
            {rights.known && (
              <Standing
                subscriptionIds={subscriptionIds}
                trail={rights.may('activity') ? trail : undefined}
              />
            )}
            {rights.may('health') && <HealthEvents subscriptionIds={subscriptionIds} />}
            {rights.may('billing') && <Cost />}
          </CardGrid>
          {rights.may('activity') && <Lately trail={trail} />}
          <LeftOut />
        </>
      )}
    </Page>
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

/** Each leads to a page that says why, and whom to ask. */
function LeftOut() {
  const { leftOut } = useAreas()
  if (leftOut.length === 0) return null
  return (
    <Text>
      {homeTexts.leftOut}{' '}
      {leftOut.map(({ path, title }, index) => (
        <Fragment key={path}>
          {index > 0 && ', '}
          <AppLink to={path} inline>
            {title}
          </AppLink>
        </Fragment>
      ))}
    </Text>
  )
}

function Lately({ trail }: { readonly trail: string }) {
  const found = useRecentActivity({ scope: trail, hours: 24, top: 8 })
  return (
    <Card title={homeTexts.lately}>
      <ActivityList
        found={{ ...found, rows: found.rows.slice(0, 8), more: false }}
        quiet
        empty={homeTexts.nothingLately}
      />
      <AppLink to={trail === '/' ? '/activity?where=all' : '/activity'}>{homeTexts.all}</AppLink>
    </Card>
  )
}
