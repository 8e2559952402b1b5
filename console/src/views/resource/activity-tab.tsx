/** What happened to a resource, or in a group. */

import { quoted } from '../../api/filter.ts'
import { readId } from '../../api/ids.ts'
import { useRecentActivity } from '../../components/activity.ts'
import { ActivityList } from '../../components/activity-list.tsx'
import { activityTexts } from '../../texts/activity.ts'
import type { TabProps } from './resource.tsx'

const keptHours = 90 * 24

export function ActivityTab({ id }: TabProps) {
  const { subscriptionId, group, type } = readId(id)
  const filter =
    type !== undefined
      ? `resourceUri eq ${quoted(id)}`
      : group === undefined
        ? undefined
        : `resourceGroupName eq ${quoted(group)}`
  const found = useRecentActivity({
    scope: `/subscriptions/${subscriptionId}`,
    hours: keptHours,
    ...(filter === undefined ? {} : { filter }),
  })
  return <ActivityList found={found} empty={activityTexts.empty} />
}
