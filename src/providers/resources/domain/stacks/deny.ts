/**
 * The deny settings of a stack as deny assignments: one at each resource it manages. An id of its own exempts
 * whoever changes these resources through the stack.
 */

import { type ResourceId, subscriptionIdOf, subscriptionOf } from '#kernel/resource-id.ts'
import { qualify, type VendorWords } from '#kernel/vendor.ts'
import type { Reader } from '#plane/declare/resource.ts'
import { refuseDeployment } from '../../errors.ts'
import type { DenySettings, DeploymentStack } from '../../resources/deployment-stacks/model.ts'
import { uuidOf } from '../evaluation/uuid-of.ts'

export const denyVersion = '2022-04-01'

const type = 'Authorization/denyAssignments'
/** Of one subscription: every process has all of them in memory. A stack manages half as many. */
const denialsMax = 20_000

/** The right to write and to remove them, at the stack and at each resource. */
export const manageAction = 'Resources/deploymentStacks/manageDenySetting/action'

/** The principal that means everybody. */
const everybody = '00000000-0000-0000-0000-000000000000'

type Denying = Pick<DeploymentStack, 'denySettings' | 'memberId'>

/** Changes whenever the assignment must be written again. */
export function denyFingerprint({ denySettings, memberId }: Denying): string {
  return uuidOf(JSON.stringify([denySettings, memberId]))
}

export function denyPath(words: VendorWords, stack: ResourceId, resource: string): string {
  const name = uuidOf(`${stack.key} denies ${resource.toLowerCase()}`)
  return `${resource}/providers/${qualify(words, type)}/${name}`
}

/** Throws where one more at that scope would be too many. One that is there may change. */
export async function requireRoomToDeny(
  reader: Pick<Reader, 'get' | 'hasRoom'>,
  scope: ResourceId,
  path: string,
): Promise<void> {
  const subscription = subscriptionOf(scope)
  if (subscription === undefined || (await reader.get(path)) !== undefined) return
  const under = subscriptionIdOf(subscription)
  if (await reader.hasRoom({ type, under, limit: denialsMax })) return
  throw refuseDeployment.DenyAssignmentQuotaExceeded({ limit: denialsMax })
}

export function denyBody(stack: ResourceId, { denySettings, memberId }: Denying): object {
  const { applyToChildScopes = false, excludedPrincipals = [] } = denySettings
  const through = { id: memberId, type: 'SystemDefined', displayName: 'through the stack' }
  return {
    properties: {
      denyAssignmentName: `Created by the deployment stack ${stack.text}`.slice(0, nameMax),
      description: 'What the stack manages is changed through the stack.',
      permissions: [permissionOf(denySettings)],
      doNotApplyToChildScopes: !applyToChildScopes,
      principals: [{ id: everybody, type: 'SystemDefined' }],
      excludePrincipals: [through, ...excludedPrincipals.map((id) => ({ id, type: 'User' }))],
    },
  }
}

const nameMax = 512

function permissionOf({ mode, excludedActions = [] }: DenySettings): object {
  const actions = mode === 'denyDelete' ? ['*/delete'] : ['*/delete', '*/write']
  return { actions, notActions: excludedActions }
}
