/** The migrations under way to a server, of which one at the most is at work there. */

import type { ResourceId } from '#kernel/resource-id.ts'
import type { Reader, Resource } from '#plane/declare/resource.ts'
import { types } from '../dependencies.ts'
import { holdsPlace, isActive, migrationOf } from '../resources/migrations/model.ts'

export const migrationsMax = 1000

/** One that has not ended. */
export async function findActive(
  reader: Pick<Reader, 'list'>,
  server: ResourceId,
): Promise<Resource | undefined> {
  const all = await migrationsTo(reader, server)
  return all.find((one) => isActive(migrationOf(one).progress))
}

/** The one at work there, but for the one that asks. */
export async function findAtTarget(
  reader: Pick<Reader, 'list'>,
  server: ResourceId,
  asking?: ResourceId,
): Promise<Resource | undefined> {
  const all = await migrationsTo(reader, server)
  return all.find((one) => one.id.key !== asking?.key && holdsPlace(migrationOf(one).progress))
}

function migrationsTo(
  reader: Pick<Reader, 'list'>,
  server: ResourceId,
): Promise<readonly Resource[]> {
  return reader.list({ type: types.migrations, under: server, limit: migrationsMax })
}
