/** Which share a consumer took. A grant names it by its key, and another one may be made under its name (decision 0378). */

import type { Reader, Resource } from '#plane/declare/resource.ts'
import { type ShareDependencies, types } from '../dependencies.ts'
import type { Share } from '../resources/shares/resource.ts'
import type { Setting } from './schedules.ts'
import type { GrantRow } from './store/tables.ts'

/** The share of the grant; undefined where it is gone, also if another one was made under its name since. */
export async function shareOf(
  reader: Reader,
  grant: GrantRow | undefined,
): Promise<Resource<Share> | undefined> {
  if (grant === undefined) return undefined
  // The key is of that type, so is its model.
  const share = (await reader.get(grant.shareKey)) as Resource<Share> | undefined
  const isAnother = share !== undefined && Date.parse(share.model.createdAt) > grant.sharedAt
  return isAnother ? undefined : share
}

/** The same as long as its consumer has it: not where it was revoked, or its time is over. */
export async function grantedShare(
  { reader, clock }: Pick<ShareDependencies, 'reader' | 'clock'>,
  grant: GrantRow | undefined,
): Promise<Resource<Share> | undefined> {
  if (grant?.status !== 'Active') return undefined
  const isOver = grant.expiresAt !== null && grant.expiresAt <= clock.now()
  return isOver ? undefined : shareOf(reader, grant)
}

const settingsMax = 100

/** Whether the share that this subscription took is synchronized by itself so often, as its provider says. */
export async function isScheduled(
  deps: Pick<ShareDependencies, 'reader' | 'clock' | 'grants'>,
  subscriptionKey: string,
  interval: Setting['recurrenceInterval'],
): Promise<boolean> {
  const share = await grantedShare(deps, await deps.grants.grantAt(subscriptionKey))
  if (share === undefined) return false
  const query = { type: types.settings, under: share.id, limit: settingsMax }
  // Rows of this type hold this model.
  const settings = (await deps.reader.list(query)) as readonly Resource<Setting>[]
  return settings.some(({ model }) => model.recurrenceInterval === interval)
}
