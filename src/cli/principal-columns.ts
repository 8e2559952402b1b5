/** The table columns of principals. */

import { member } from './directory.ts'
import type { Column } from './output/table.ts'

export const principalColumns: readonly Column<unknown>[] = [
  { title: 'ID', of: member('id') },
  { title: 'TYPE', of: member('type') },
  { title: 'ENABLED', of: (row) => member('enabled')(row) || '-' },
  { title: 'NAME', of: member('displayName') },
  { title: 'SIGNS IN AS', of: (row) => member('signInName')(row) || member('clientId')(row) },
]
