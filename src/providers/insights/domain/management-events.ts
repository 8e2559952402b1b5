/** The one event type there is, `management`, and the version in which its records are read. */

import { nameOf, type ResourceId } from '#kernel/resource-id.ts'

export const activityVersion = '2015-04-01'
export const managementEvents = 'management'

export function isManagementEvents(id: ResourceId): boolean {
  return nameOf(id).toLowerCase() === managementEvents
}
