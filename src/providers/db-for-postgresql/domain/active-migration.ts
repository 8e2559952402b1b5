/** The migration under way to a server: there is one at the most. */

import type { ResourceId } from '#kernel/resource-id.ts'
import type { Reader, Resource } from '#plane/declare/resource.ts'
import { types } from '../dependencies.ts'
import { isActive, migrationOf } from '../resources/migrations/model.ts'

export const migrationsMax = 1000

export async function findActive(
  reader: Pick<Reader, 'list'>,
  server: ResourceId,
): Promise<Resource | undefined> {
  const all = await reader.list({ type: types.migrations, under: server, limit: migrationsMax })
  return all.find((one) => isActive(migrationOf(one).progress))
}
