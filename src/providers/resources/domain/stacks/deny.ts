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
/** Of one subscription, or of all outside: every process has all of them in memory. A stack manages half as many. */
const denialsMax = 20_000
/** All that is in no subscription: whoever makes management groups could have as many of each. */
const outside = '/providers'

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

/**
 * For one step of a stack, which counts once in each place. Its function throws where one more at that scope would be too
 * many. One that is there may change.
 */
export function openRoomToDeny(
  reader: Pick<Reader, 'get' | 'count'>,
): (scope: ResourceId, path: string) => Promise<void> {
  const leftUnder = new Map<string, number>()
  return async (scope, path) => {
    if ((await reader.get(path)) !== undefined) return
    const subscription = subscriptionOf(scope)
    const under = subscription === undefined ? outside : subscriptionIdOf(subscription).key
    const counted = { type, under, limit: denialsMax }
    const left = leftUnder.get(under) ?? denialsMax - (await reader.count(counted))
    leftUnder.set(under, left - 1)
    if (left <= 0) throw refuseDeployment.DenyAssignmentQuotaExceeded({ limit: denialsMax })
  }
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
