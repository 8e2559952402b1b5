/** A deployment stack as it is stored: what was asked for, by whom, and what it manages. Secure values only sealed. */

import type { Principal } from '#kernel/principal.ts'
import type { Deployment, StepError } from '../deployments/model.ts'

export const stackType = 'Resources/deploymentStacks'

type UnmanageAction = 'delete' | 'detach'

/** What becomes of what the stack managed and manages no more. */
export interface ActionOnUnmanage {
  readonly resources: UnmanageAction
  readonly resourceGroups: UnmanageAction
  readonly managementGroups: UnmanageAction
}

type DenyMode = 'none' | 'denyDelete' | 'denyWriteAndDelete'

export interface DenySettings {
  readonly mode: DenyMode
  readonly excludedPrincipals?: readonly string[]
  readonly excludedActions?: readonly string[]
  readonly applyToChildScopes?: boolean
}

/** What a body says besides its template. */
export interface StackSettings {
  readonly actionOnUnmanage: ActionOnUnmanage
  readonly denySettings: DenySettings
  /** Where the template goes to, when that is not where the stack is. */
  readonly deploymentScope?: string
  readonly description?: string
  readonly bypassStackOutOfSyncError?: boolean
}

export interface DeploymentStack
  extends StackSettings,
    Pick<
      Deployment,
      | 'run'
      | 'deployer'
      | 'correlationId'
      | 'startedAt'
      | 'template'
      | 'templateLink'
      | 'sealedParameters'
      | 'parameters'
      | 'location'
      | 'tags'
      | 'debugLevel'
    > {
  /** Of the deployment by which this run makes its resources. */
  readonly deploymentId: string
  /** What deny assignments of this stack let through: whoever changes what it manages through the stack has it as a group. */
  readonly memberId: string
  /** Of the last DELETE. */
  readonly deletion?: StackDeletion
}

interface StackDeletion {
  /** The generation that it made: a later removal, with what lies above, is not meant by it. */
  readonly generation: number
  readonly actionOnUnmanage: ActionOnUnmanage
  readonly principal: Principal
  readonly correlationId: string
}

export interface ManagedResource {
  readonly id: string
  readonly status: 'managed' | 'deleteFailed' | 'removeDenyFailed'
  readonly denyStatus: DenyMode | 'inapplicable' | 'notSupported'
  /** Of the settings that its deny assignment was written by; absent where it has none. */
  readonly deny?: string
}

export interface FailedResource {
  readonly id: string
  readonly error: StepError
}

/** How far a run has come; what the reconciler records. */
export interface StackProgress {
  readonly run: string
  readonly phase: 'deploying' | 'denying' | 'removing' | 'failed' | 'done'
  /** All that the stack manages, those too that are about to go. */
  readonly resources: readonly ManagedResource[]
  /** Keys of those that are about to go. */
  readonly unmanaged: readonly string[]
  readonly deleted: readonly string[]
  readonly detached: readonly string[]
  readonly failed: readonly FailedResource[]
  readonly outputs?: Readonly<Record<string, unknown>>
  readonly endedAt?: number
  readonly error?: StepError
}

/** What the seal of a run's arguments is bound to. */
export function stackSealContext(idKey: string, run: string): string {
  return `deployment stack ${idKey} ${run}`
}

export const unmanageKinds = ['resources', 'resourceGroups', 'managementGroups'] as const
