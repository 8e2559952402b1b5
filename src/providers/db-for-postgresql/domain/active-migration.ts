/** Finds the active migrations of a target server. At most one of them moves data at a time. */

import { isWithin, parentOf, type ResourceId, rootId, scopeOf } from '#kernel/resource-id.ts'
import type { Reader, Resource } from '#plane/declare/resource.ts'
import { type PostgresDependencies, types } from '../dependencies.ts'
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

/** What has no room for another migration at work, and when it has: its resource group, or the installation. */
export async function findFullScope(
  { reader, settings }: Pick<PostgresDependencies, 'reader' | 'settings'>,
  asking: ResourceId,
): Promise<{ readonly scope: string; readonly reason: string } | undefined> {
  const { atOnceMax } = settings
  const group = scopeOf(parentOf(asking))
  const groupMax = Math.max(1, Math.floor(atOnceMax / 2))
  let inGroup = 0
  let all = 0
  for await (const one of reader.each({ type: types.migrations, under: rootId })) {
    if (one.id.key === asking.key || !holdsPlace(migrationOf(one).progress)) continue
    if (isWithin(one.id.key, group.key)) inGroup++
    all++
    if (inGroup >= groupMax) {
      const reason = `one of ${groupMax} in its resource group is at its end: no more are at work there`
      return { scope: group.text, reason }
    }
    if (all >= atOnceMax) {
      const reason = `one of ${atOnceMax} is at its end: no more are at work in this installation`
      return { scope: rootId.text, reason }
    }
  }
  return undefined
}

function migrationsTo(
  reader: Pick<Reader, 'list'>,
  server: ResourceId,
): Promise<readonly Resource[]> {
  return reader.list({ type: types.migrations, under: server, limit: migrationsMax })
}
