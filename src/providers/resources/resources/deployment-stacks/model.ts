/**
 * The stored form of a deployment stack: the request, its caller, and what it manages. Secure values are sealed.
 */

import type { Principal } from '#kernel/principal.ts'
import type { Deployment, StepError } from '../deployments/model.ts'

export const stackType = 'Resources/deploymentStacks'

type UnmanageAction = 'delete' | 'detach'

/** What happens to resources that the stack no longer manages. */
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

/** The settings of a body besides its template. */
export interface StackSettings {
  readonly actionOnUnmanage: ActionOnUnmanage
  readonly denySettings: DenySettings
  /** The scope of the template, when it differs from the stack's. */
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
  /** The deployment by which this run makes its resources. */
  readonly deploymentId: string
  /**
   * The group that this stack's deny assignments exempt: whoever changes managed resources through the stack has it
   * as a group.
   */
  readonly memberId: string
  /** The last DELETE. */
  readonly deletion?: StackDeletion
}

interface StackDeletion {
  /** The generation that it made: it does not apply to a later removal together with a scope above. */
  readonly generation: number
  readonly actionOnUnmanage: ActionOnUnmanage
  readonly principal: Principal
  readonly correlationId: string
}

export interface ManagedResource {
  readonly id: string
  readonly status: 'managed' | 'deleteFailed' | 'removeDenyFailed'
  readonly denyStatus: DenyMode | 'inapplicable' | 'notSupported'
  /** The settings by which its deny assignment was written; absent when it has none. */
  readonly deny?: string
}

export interface FailedResource {
  readonly id: string
  readonly error: StepError
}

/** The progress of a run, which the reconciler records. */
export interface StackProgress {
  readonly run: string
  readonly phase: 'deploying' | 'denying' | 'removing' | 'failed' | 'done'
  /** Everything the stack manages, including what is about to go. */
  readonly resources: readonly ManagedResource[]
  /** The keys of those that are about to go. */
  readonly unmanaged: readonly string[]
  readonly deleted: readonly string[]
  readonly detached: readonly string[]
  readonly failed: readonly FailedResource[]
  /** The status addresses of deletions that were sent and run, by resource key. */
  readonly operations?: Readonly<Record<string, string>>
  readonly outputs?: Readonly<Record<string, unknown>>
  readonly endedAt?: number
  readonly error?: StepError
}

/** The context of the seal of a run's arguments. */
export function stackSealContext(idKey: string, run: string): string {
  return `deployment stack ${idKey} ${run}`
}

export const unmanageKinds = ['resources', 'resourceGroups', 'managementGroups'] as const
