/** Which share a consumer took. A grant names it by its key, and another one may be made under its name (decision 0378). */

import type { Reader, Resource } from '#plane/declare/resource.ts'
import type { ShareDependencies } from '../dependencies.ts'
import type { Share } from '../resources/shares/resource.ts'
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
