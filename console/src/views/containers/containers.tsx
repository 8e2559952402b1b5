/** The container groups of a subscription. */

import { readId } from '../../api/ids.ts'
import { qualified } from '../../api/place.ts'
import { type Envelope, useLists } from '../../api/queries.ts'
import { useSubscriptions } from '../../app/subscription.ts'
import { AppLink, resourcePath } from '../../components/app-link.tsx'
import { Page } from '../../components/page.tsx'
import { State } from '../../components/state.tsx'
import { Table } from '../../components/table.tsx'
import { resourcesTexts } from '../../texts/resources.ts'
import { containerTexts, deploymentTexts } from '../../texts/work.ts'

interface Listed extends Envelope {
  readonly location?: string
  readonly provisioningState?: string
}

export function Containers() {
  const { looked } = useSubscriptions()
  const found = useLists<'listResources', Listed>(
    'listResources',
    looked.map(({ subscriptionId }) => ({
      path: { subscriptionId },
      query: {
        $filter: `resourceType eq '${qualified('ContainerInstance/containerGroups')}'`,
        $expand: 'provisioningState',
      },
    })),
    { enabled: looked.length > 0 },
  )
  return (
    <Page title={containerTexts.title} lead={containerTexts.lead}>
      <Table
        {...found}
        label={containerTexts.title}
        name="containers"
        keyOf={({ id }) => id}
        columns={[
          {
            id: 'name',
            title: resourcesTexts.name,
            text: ({ name }) => name,
            show: ({ id, name }) => (
              <AppLink to={resourcePath(id, 'containers')}>
                <bdi>{name}</bdi>
              </AppLink>
            ),
          },
          { id: 'group', title: resourcesTexts.group, text: ({ id }) => readId(id).group ?? '' },
          {
            id: 'state',
            title: resourcesTexts.state,
            text: ({ provisioningState }) => provisioningState ?? '',
            show: ({ provisioningState }) => <State value={provisioningState} />,
          },
        ]}
        empty={{
          title: containerTexts.none,
          text: containerTexts.noneText,
          action: <AppLink to="/deployments/new">{deploymentTexts.new}</AppLink>,
        }}
      />
    </Page>
  )
}
