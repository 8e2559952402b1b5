/** Finds the active migrations of a target server. At most one of them moves data at a time. */

import type { ResourceId } from '#kernel/resource-id.ts'
import type { Reader, Resource } from '#plane/declare/resource.ts'
import { types } from '../dependencies.ts'
import { holdsPlace, isActive, migrationOf } from '../resources/migrations/model.ts'

export const migrationsMax = 1000

/** A migration of this server that has not ended. */
export async function findActive(
  reader: Pick<Reader, 'list'>,
  server: ResourceId,
): Promise<Resource | undefined> {
  const all = await migrationsTo(reader, server)
  return all.find((one) => isActive(migrationOf(one).progress))
}

/** The migration that moves data into this server now, other than the one that asks. */
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
