/** The number of access policies of an authorization. */

import type { RuleContext } from '#plane/declare/stored.ts'
import { types } from '../../domain/consent/model.ts'
import { refuseFields } from '../../errors.ts'
import type { AccessPolicy } from './model.ts'

/** Facts 3.1, limits. */
export const policiesMax = 100

export async function accessPolicyRules({
  id,
  previous,
  reader,
}: RuleContext<AccessPolicy>): Promise<readonly never[]> {
  if (previous !== undefined) return []
  const under = id.key.slice(0, id.key.lastIndexOf('/accesspolicies/'))
  const query = { type: types.policies, under, limit: policiesMax }
  if (await reader.hasRoom(query)) return []
  throw refuseFields([
    { path: 'name', message: `an authorization has at most ${policiesMax} access policies` },
  ])
}
