/** The migrations of a subscription, by target server. */

import { Text } from '@fluentui/react-components'
import { readId } from '../../api/ids.ts'
import { qualified } from '../../api/place.ts'
import { type Envelope, useAllOf, useList, useLists } from '../../api/queries.ts'
import { useSubscriptions } from '../../app/subscription.ts'
import { AppLink, resourcePath } from '../../components/app-link.tsx'
import { Card } from '../../components/card.tsx'
import { Loading, Page } from '../../components/page.tsx'
import { Prose } from '../../components/prose.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { State } from '../../components/state.tsx'
import { Table } from '../../components/table.tsx'
import { migrationTexts } from '../../texts/migrations.ts'
import { type Migration, statusOf } from './migration.ts'

/** As many cards as one looks through. Search finds the others. */
const shownMax = 200

export function Migrations() {
  const { looked } = useSubscriptions()
  const servers = useAllOf(
    useLists<'listResources', Envelope>(
      'listResources',
      looked.map(({ subscriptionId }) => ({
        path: { subscriptionId },
        query: { $filter: `resourceType eq '${qualified('DBforPostgreSQL/flexibleServers')}'` },
      })),
      { enabled: looked.length > 0 },
    ),
    shownMax,
  )
  return (
    <Page title={migrationTexts.title} lead={migrationTexts.lead}>
      {servers.error !== null && <Refusal failure={servers.error} />}
      {servers.loading && <Loading />}
      {!servers.loading && servers.error === null && servers.rows.length === 0 && (
        <Card title={migrationTexts.noServers}>
          <Text>
            <Prose text={migrationTexts.noServersText} />
          </Text>
        </Card>
      )}
      {servers.rows.map(({ id, name }) => (
        <OfServer key={id} id={id} name={name} />
      ))}
    </Page>
  )
}

function OfServer({ id, name }: { readonly id: string; readonly name: string }) {
  const { subscriptionId = '', group = '' } = readId(id)
  const found = useList<'listMigrations', Envelope & Migration>('listMigrations', {
    path: { subscriptionId, resourceGroupName: group, flexibleServerName: name },
    query: { migrationListFilter: 'All' },
  })
  return (
    <Card title={`${group} / ${name}`}>
      <Table
        {...found}
        label={`${migrationTexts.title}: ${name}`}
        name="migrations"
        keyOf={(one) => one.id}
        columns={[
          {
            id: 'name',
            title: migrationTexts.name,
            text: (one) => one.name,
            show: (one) => (
              <AppLink to={resourcePath(one.id)}>
                <bdi>{one.name}</bdi>
              </AppLink>
            ),
          },
          {
            id: 'state',
            title: migrationTexts.state,
            text: (one) => statusOf(one).state,
            show: (one) => <State value={statusOf(one).state} />,
          },
          {
            id: 'step',
            title: migrationTexts.step,
            text: (one) => statusOf(one).step,
            wideOnly: true,
          },
          {
            id: 'mode',
            title: migrationTexts.mode,
            text: (one) => one.properties.migrationMode ?? '',
            wideOnly: true,
          },
          {
            id: 'databases',
            title: migrationTexts.databases,
            text: (one) => (one.properties.dbsToMigrate ?? []).join(', '),
          },
        ]}
        empty={{ title: migrationTexts.none }}
      />
    </Card>
  )
}
