/**
 * The deny settings of a stack as deny assignments: one at each resource it manages. A group of its own exempts
 * whoever changes these resources through the stack.
 */

import type { ResourceId } from '#kernel/resource-id.ts'
import { qualify, type VendorWords } from '#kernel/vendor.ts'
import type { DenySettings, DeploymentStack } from '../../resources/deployment-stacks/model.ts'
import { uuidOf } from '../evaluation/uuid-of.ts'

export const denyVersion = '2022-04-01'

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
  return `${resource}/providers/${qualify(words, 'Authorization/denyAssignments')}/${name}`
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
