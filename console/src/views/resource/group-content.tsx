/** What is in a resource group. */

import { readId } from '../../api/ids.ts'
import { useList } from '../../api/queries.ts'
import { AppLink, resourcePath } from '../../components/app-link.tsx'
import { Card } from '../../components/card.tsx'
import { State } from '../../components/state.tsx'
import { Table } from '../../components/table.tsx'
import { homeTexts, resourcesTexts, resourceTexts } from '../../texts/resources.ts'
import { writeTexts } from '../../texts/write.ts'
import type { ListedResource } from '../resources/listed-resource.ts'

export function GroupContent({ id }: { readonly id: string }) {
  const { subscriptionId = '', group = '' } = readId(id)
  const found = useList<'listGroupResources', ListedResource>('listGroupResources', {
    path: { subscriptionId, resourceGroupName: group },
    query: { $expand: 'createdTime,provisioningState' },
  })
  return (
    <Card title={resourceTexts.tabs.resources}>
      <AppLink to={`/deployments/new?group=${encodeURIComponent(group)}`}>
        {homeTexts.deploy}
      </AppLink>
      <AppLink to={`/create?group=${encodeURIComponent(group)}`}>{writeTexts.create}</AppLink>
      <Table
        {...found}
        label={resourceTexts.tabs.resources}
        name="group-resources"
        keyOf={(one) => one.id}
        columns={[
          {
            id: 'name',
            title: resourcesTexts.name,
            text: ({ name }) => name,
            show: (one) => (
              <AppLink to={resourcePath(one.id)}>
                <bdi>{one.name}</bdi>
              </AppLink>
            ),
          },
          { id: 'type', title: resourcesTexts.type, text: ({ type }) => type },
          {
            id: 'state',
            title: resourcesTexts.state,
            text: ({ provisioningState }) => provisioningState ?? '',
            show: ({ provisioningState }) => <State value={provisioningState} />,
            wideOnly: true,
          },
        ]}
        empty={{ title: resourcesTexts.emptyTitle }}
      />
    </Card>
  )
}
