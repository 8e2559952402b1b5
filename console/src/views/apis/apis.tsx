/** The APIs of the services of a subscription. */

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
import { type Column, Table } from '../../components/table.tsx'
import { apiTexts } from '../../texts/apis.ts'

/** As many cards as one looks through. Search finds the others. */
const shownMax = 200

export function Apis() {
  const { looked } = useSubscriptions()
  const services = useAllOf(
    useLists<'listResources', Envelope>(
      'listResources',
      looked.map(({ subscriptionId }) => ({
        path: { subscriptionId },
        query: { $filter: `resourceType eq '${qualified('ApiManagement/service')}'` },
      })),
      { enabled: looked.length > 0 },
    ),
    shownMax,
  )
  return (
    <Page title={apiTexts.title} lead={apiTexts.lead}>
      {services.error !== null && <Refusal failure={services.error} />}
      {services.loading && <Loading />}
      {!services.loading && services.error === null && services.rows.length === 0 && (
        <Card title={apiTexts.noServices}>
          <Text>
            <Prose text={apiTexts.noServicesText} />
          </Text>
        </Card>
      )}
      {services.rows.map(({ id }) => (
        <OfService key={id} id={id} />
      ))}
    </Page>
  )
}

/** The properties of an API that this list reads. Its document says that they may be null. */
interface Api extends Envelope {
  readonly properties: {
    readonly displayName?: string | null
    readonly path: string
    readonly apiVersion?: string | null
    readonly serviceUrl?: string | null
  }
}

const columns: readonly Column<Api>[] = [
  {
    id: 'name',
    title: apiTexts.name,
    text: ({ name, properties }) => properties.displayName ?? name,
    show: ({ id, name, properties }) => (
      <AppLink to={resourcePath(id)}>
        <bdi>{properties.displayName ?? name}</bdi>
      </AppLink>
    ),
  },
  { id: 'path', title: apiTexts.path, text: ({ properties }) => `/${properties.path}` },
  {
    id: 'version',
    title: apiTexts.version,
    text: ({ properties }) => properties.apiVersion ?? '',
    wideOnly: true,
  },
  {
    id: 'backend',
    title: apiTexts.backend,
    text: ({ properties }) => properties.serviceUrl ?? '',
    wideOnly: true,
  },
]

function OfService({ id }: { readonly id: string }) {
  const { subscriptionId = '', group = '', name } = readId(id)
  const path = { subscriptionId, resourceGroupName: group, serviceName: name }
  const found = useList<'listApis', Api>('listApis', { path })
  return (
    <Card title={`${group} / ${name}`}>
      <Table
        {...found}
        label={`${apiTexts.title}: ${name}`}
        name="apis"
        keyOf={(one) => one.id}
        columns={columns}
        empty={{ title: apiTexts.none }}
      />
    </Card>
  )
}
