/** Finds the active migrations of a target server. At most one of them moves data at a time. */

import { isWithin, parentOf, type ResourceId, rootId, scopeOf } from '#kernel/resource-id.ts'
import type { Reader, Resource } from '#plane/declare/resource.ts'
import { type PostgresDependencies, types } from '../dependencies.ts'
import { holdsPlace, isActive, migrationOf } from '../resources/migrations/model.ts'
import { fullScope } from './places.ts'

export const migrationsMax = 1000

/** A migration of this server that has not ended. */
export async function findActive(
  reader: Pick<Reader, 'each'>,
  server: ResourceId,
): Promise<Resource | undefined> {
  return findTo(reader, server, (one) => isActive(migrationOf(one).progress))
}

/** The migration that moves data into this server now, other than the one that asks. */
export async function findAtTarget(
  reader: Pick<Reader, 'each'>,
  server: ResourceId,
  asking?: ResourceId,
): Promise<Resource | undefined> {
  const isOther = ({ id }: Resource): boolean => id.key !== asking?.key
  return findTo(reader, server, (one) => isOther(one) && holdsPlace(migrationOf(one).progress))
}

/** What has no room for another migration at work, and when it has: its resource group, or the installation. */
export async function findFullScope(
  { reader, settings }: Pick<PostgresDependencies, 'reader' | 'settings'>,
  asking: ResourceId,
): Promise<{ readonly scope: string; readonly reason: string } | undefined> {
  const group = scopeOf(parentOf(asking))
  const subscription = scopeOf(group)
  let [inGroup, inSubscription, inAll] = [0, 0, 0]
  for await (const one of reader.each({ type: types.migrations, under: rootId })) {
    if (one.id.key === asking.key || !holdsPlace(migrationOf(one).progress)) continue
    if (isWithin(one.id.key, group.key)) inGroup++
    if (isWithin(one.id.key, subscription.key)) inSubscription++
    inAll++
  }
  const full = fullScope({ inGroup, inSubscription, inAll }, settings.atOnceMax)
  return full && { scope: (full.scope === 'group' ? group : rootId).text, reason: full.reason }
}

async function findTo(
  reader: Pick<Reader, 'each'>,
  server: ResourceId,
  isIt: (migration: Resource) => boolean,
): Promise<Resource | undefined> {
  const query = { type: types.migrations, under: server, limit: migrationsMax }
  for await (const one of reader.each(query)) if (isIt(one)) return one
  return undefined
}
