/** Permissions for tests about something else: one that lasts, and a watch that sees no change. */

import { silentLog } from '#kernel/ports.ts'
import type { Permission } from '#plane/access.ts'
import { createPermissionWatch, type PermissionWatch } from '../permission-watch.ts'

export const lastingPermission: Permission = {
  principalId: '00000000-0000-4000-8000-000000000001',
  ask: async () => ({ holds: true, until: Number.POSITIVE_INFINITY }),
}

export function constantPermissions(): PermissionWatch {
  return createPermissionWatch({ version: () => '', now: () => 0, log: silentLog })
}
