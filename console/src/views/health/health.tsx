/** Service health: a board of services and regions, its events, and one event with its timeline. */

import { Field, makeStyles, Select, Text, tokens } from '@fluentui/react-components'
import { useState } from 'react'
import { shortId } from '../../api/ids.ts'
import { qualified } from '../../api/place.ts'
import { type Envelope, refusalOf, useGet, useListAt } from '../../api/queries.ts'
import { useSearch, useSetSearch } from '../../app/address.ts'
import { useRights } from '../../app/rights.ts'
import { everywhere } from '../../app/scopes.ts'
import { useSubscriptions } from '../../app/subscription.ts'
import { AppLink, resourcePath } from '../../components/app-link.tsx'
import { Card, Pairs } from '../../components/card.tsx'
import { EmptyText } from '../../components/empty-text.tsx'
import { Options } from '../../components/options.tsx'
import { Loading, Page } from '../../components/page.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { momentText, State } from '../../components/state.tsx'
import { Table } from '../../components/table.tsx'
import { healthTexts } from '../../texts/health.ts'
import { boardOf, eventLink, type HealthEvent, healthVersion, timelineOf } from './health-event.ts'

const day = 86_400_000

const useStyles = makeStyles({
  filters: { display: 'flex', flexWrap: 'wrap', gap: tokens.spacingHorizontalM },
  scroll: { overflowX: 'auto' },
  board: {
    borderCollapse: 'collapse',
    '& th, & td': {
      textAlign: 'left',
      padding: `${tokens.spacingVerticalXS} ${tokens.spacingHorizontalM}`,
      borderBottom: `1px solid ${tokens.colorNeutralStroke2}`,
      whiteSpace: 'nowrap',
    },
  },
  events: { display: 'flex', flexDirection: 'column', minHeight: '320px' },
  list: { listStyle: 'none', margin: 0, padding: 0, display: 'grid', gap: tokens.spacingVerticalM },
  entry: {
    borderLeft: `3px solid ${tokens.colorBrandStroke1}`,
    paddingLeft: tokens.spacingHorizontalM,
    overflowWrap: 'anywhere',
  },
  soft: { color: tokens.colorNeutralForeground2 },
})

export function Health() {
  const { event, where: wanted } = useSearch()
  const { current, wide } = useSubscriptions()
  const { mayEverywhere } = useRights()
  const where = wanted ?? (wide === everywhere && mayEverywhere('health') ? 'all' : '')
  if (where !== 'all' && current === undefined) return <Loading />
  const scope = where === 'all' ? '' : `/subscriptions/${current?.subscriptionId}`
  const path = `${scope}/providers/${qualified('ResourceHealth/events')}`
  return event === undefined ? (
    <Board path={path} where={where} />
  ) : (
    <OneEvent key={event} path={`${path}/${encodeURIComponent(event)}`} where={where} />
  )
}

function Board({ path, where }: { readonly path: string; readonly where: string }) {
  const styles = useStyles()
  const { days = '3' } = useSearch()
  const setSearch = useSetSearch()
  const { mayEverywhere } = useRights()
  const [openedAt] = useState(() => Date.now())
  const since = new Date(openedAt - Number(days) * day).toISOString().slice(0, 10)
  const found = useListAt<HealthEvent>(path, { ...healthVersion, queryStartTime: since })
  const { regions, rows } = boardOf(found.rows)
  return (
    <Page title={healthTexts.title} lead={healthTexts.lead}>
      <div className={styles.filters}>
        <Field label={healthTexts.where}>
          <Select
            value={where === 'all' ? where : 'subscription'}
            onChange={(_, { value }) => setSearch({ where: value })}
          >
            <option value="subscription">{healthTexts.subscription}</option>
            {(mayEverywhere('health') || where === 'all') && (
              <option value="all">{healthTexts.everywhere}</option>
            )}
          </Select>
        </Field>
        <Field label={healthTexts.since}>
          <Select value={days} onChange={(_, { value }) => setSearch({ days: value })}>
            <Options of={healthTexts.days} />
          </Select>
        </Field>
      </div>
      {found.error === null && (
        <Card title={healthTexts.board}>
          {rows.length === 0 ? (
            <EmptyText found={found} rows={rows} text={healthTexts.allWorks} />
          ) : (
            <div
              className={styles.scroll}
              tabIndex={0}
              role="region"
              aria-label={healthTexts.board}
            >
              <table className={styles.board}>
                <thead>
                  <tr>
                    <th scope="col">{healthTexts.service}</th>
                    {regions.map((region) => (
                      <th key={region} scope="col">
                        {region}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {rows.map(({ service, byRegion }) => (
                    <tr key={service}>
                      <th scope="row">{service}</th>
                      {regions.map((region) => {
                        const worst = byRegion.get(region)
                        return (
                          <td key={region}>
                            {worst === undefined ? (
                              <State value={healthTexts.works} />
                            ) : (
                              <AppLink to={eventLink(worst.event, where)}>
                                <State value={worst.level} />
                              </AppLink>
                            )}
                          </td>
                        )
                      })}
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </Card>
      )}
      <div className={styles.events}>
        <Table
          {...found}
          label={healthTexts.events}
          name="health"
          keyOf={({ id }) => id}
          columns={[
            {
              id: 'title',
              title: healthTexts.name,
              text: ({ name, properties }) => properties.title ?? name,
              show: ({ name, properties }) => (
                <AppLink to={eventLink(name, where)}>
                  <bdi>{properties.title ?? name}</bdi>
                </AppLink>
              ),
              grow: 2,
            },
            {
              id: 'status',
              title: healthTexts.status,
              text: ({ properties }) => properties.status ?? '',
              show: ({ properties }) => <EventStatus status={properties.status} />,
            },
            {
              id: 'level',
              title: healthTexts.level,
              text: ({ properties }) => properties.eventLevel ?? '',
              wideOnly: true,
            },
            {
              id: 'type',
              title: healthTexts.type,
              text: ({ properties }) => typeText(properties.eventType),
              grow: 1.2,
              wideOnly: true,
            },
            {
              id: 'updated',
              title: healthTexts.updated,
              text: ({ properties }) => momentText(properties.lastUpdateTime),
              grow: 1.5,
              wideOnly: true,
            },
          ]}
          empty={{ title: healthTexts.none }}
        />
      </div>
    </Page>
  )
}

/** An active event is shown as bad. */
function EventStatus({ status }: { readonly status: string | undefined }) {
  return <State value={status} meaning={status === 'Active' ? 'bad' : 'good'} />
}

function OneEvent({ path, where }: { readonly path: string; readonly where: string }) {
  const styles = useStyles()
  const found = useGet<HealthEvent>(path, healthVersion)
  const resources = useListAt<
    Envelope & { readonly properties?: { readonly targetResourceId?: string } }
  >(`${path}/impactedResources`, healthVersion)
  const crumbs = [
    { title: healthTexts.backToAll, to: `/health${where === 'all' ? '?where=all' : ''}` },
  ]
  const refused = refusalOf(found)
  if (refused !== null) {
    return (
      <Page title={healthTexts.title} crumbs={crumbs}>
        <Refusal failure={refused} onRetry={() => void found.refetch()} />
      </Page>
    )
  }
  if (found.data === undefined) return <Loading />
  const { name, properties } = found.data
  const timeline = timelineOf(found.data)
  return (
    <Page title={properties.title ?? name} crumbs={crumbs} lead={name}>
      <Card title={healthTexts.status}>
        <Pairs
          pairs={[
            [healthTexts.status, <EventStatus key="status" status={properties.status} />],
            [healthTexts.type, typeText(properties.eventType)],
            [healthTexts.level, properties.eventLevel],
            [healthTexts.started, momentText(properties.impactStartTime)],
            [healthTexts.mitigated, momentText(properties.impactMitigationTime)],
          ]}
        />
        {properties.isEventSensitive === true && properties.summary === undefined && (
          <Text>{healthTexts.sensitive}</Text>
        )}
        {/* Its text, whatever marks stand in it. */}
        <Text>{plain(properties.summary)}</Text>
        <Text>{plain(properties.description)}</Text>
      </Card>
      <Card title={healthTexts.regions}>
        <ul className={styles.list}>
          {(properties.impact ?? []).map(({ impactedService, impactedRegions }) => (
            <li key={impactedService}>
              <Text weight="semibold">{impactedService}</Text>
              <div className={styles.filters}>
                {impactedRegions.map(({ impactedRegion, status }) => (
                  <span key={impactedRegion}>
                    {impactedRegion} <EventStatus status={status} />
                  </span>
                ))}
              </div>
            </li>
          ))}
        </ul>
      </Card>
      <Card title={healthTexts.timeline}>
        {timeline.length === 0 && <Text>{healthTexts.noUpdates}</Text>}
        <ol className={styles.list}>
          {timeline.map(({ at, text, where: regions, tags }) => (
            <li key={`${at} ${text}`} className={styles.entry}>
              <Text size={200} block className={styles.soft}>
                {[momentText(at), regions, ...tags].join(' · ')}
              </Text>
              <Text>{plain(text)}</Text>
            </li>
          ))}
        </ol>
      </Card>
      <Card title={healthTexts.resources}>
        {resources.error !== null && <Refusal failure={resources.error} quiet />}
        <EmptyText found={resources} rows={resources.rows} text={healthTexts.noResources} />
        <ul className={styles.list}>
          {resources.rows.map(({ id, properties: of }) => {
            const target = of?.targetResourceId ?? id
            return (
              <li key={id}>
                <AppLink to={resourcePath(target)}>{shortId(target)}</AppLink>
              </li>
            )
          })}
        </ul>
      </Card>
    </Page>
  )
}

/** Event texts may contain HTML. It is shown as plain text. */
function plain(text: string | undefined): string {
  return text === undefined
    ? ''
    : (new DOMParser().parseFromString(text, 'text/html').body.textContent ?? '')
}

function typeText(type = ''): string {
  return healthTexts.types[type] ?? type
}
