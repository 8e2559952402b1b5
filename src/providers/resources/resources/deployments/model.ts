/** The stored form of a deployment: the request, its caller, and its progress. Secure values are sealed. */

import type { ErrorDetail } from '#kernel/error.ts'
import type { Principal } from '#kernel/principal.ts'
import type { JsonObject } from '#template/plan.ts'
import type { ShownLink } from '../../domain/deployments/links.ts'
import type { Nesting } from '../../domain/deployments/nesting.ts'

export type DeploymentMode = 'Incremental' | 'Complete'

/**
 * How much is checked before anything is written: the template alone, every resource, or everything except rights.
 */
export type ValidationLevel = 'Template' | 'Provider' | 'ProviderNoRbac'

/** The request of a caller: the `properties` of a body, parsed leniently. */
export interface DeploymentRequest {
  readonly mode: DeploymentMode
  /** The link of a linked template. */
  readonly templateLink?: ShownLink
  readonly template: JsonObject
  readonly parameters: JsonObject
  readonly location?: string
  readonly tags?: Readonly<Record<string, string>>
  readonly validationLevel?: ValidationLevel
  /** Which of `requestContent` and `responseContent` is recorded of each resource. */
  readonly debugLevel?: string
  /** What is deployed instead when it fails. */
  readonly onError?: { readonly type: Fallback['type']; readonly deploymentName?: string }
}

/** An earlier deployment of the same scope. */
export interface Fallback {
  readonly type: 'LastSuccessful' | 'SpecificDeployment'
  readonly deploymentName: string
  /** The run that succeeded. If it was deployed again since, it is not the intended one. */
  readonly run: string
}

export interface Deployment {
  /** New at every PUT: the same PUT again deploys again. */
  readonly run: string
  readonly mode: DeploymentMode
  readonly template: JsonObject
  readonly templateLink?: ShownLink
  readonly templateHash: string
  /** Texts that an outer template gave and calls secure, sealed as a whole. */
  readonly sealedSecrets?: string
  /** The arguments, sealed as a whole. */
  readonly sealedParameters: string
  /** Ids of resources that wait for others, and of those they wait for; at most `dependenciesMax` edges. */
  readonly dependencies: readonly { readonly id: string; readonly dependsOn: readonly string[] }[]
  /** The bound parameters as they may be shown. */
  readonly parameters: Readonly<Record<string, { readonly type: string; readonly value?: unknown }>>
  readonly location?: string
  readonly tags?: Readonly<Record<string, string>>
  readonly validationLevel?: ValidationLevel
  readonly debugLevel?: string
  readonly onError?: Fallback
  /** The types of its resources, by namespace. Records of older versions have none. */
  readonly providers?: readonly { readonly namespace: string; readonly types: readonly string[] }[]
  /** Who deploys, as vouched for at the time; what they may do is asked anew at every step. */
  readonly deployer: Principal
  readonly correlationId: string
  readonly startedAt: number
  /** Of a deployment that another one began. */
  readonly nesting?: Nesting
  /** The user called it off. */
  readonly canceled?: true
}

export interface StepError {
  readonly code: string
  readonly message: string
  readonly details?: readonly ErrorDetail[]
}

/** What became of one resource of a deployment. */
export interface StepRecord {
  /** The node of the plan; for deletions the id. */
  readonly key: string
  readonly id: string
  readonly verb: 'Create' | 'Read' | 'Delete'
  readonly state: 'Running' | 'Succeeded' | 'Failed'
  readonly startedAt: number
  readonly endedAt?: number
  readonly status?: number
  /** Where the operation is followed that it waits for: a path with its query. */
  readonly operation?: string
  readonly error?: StepError
  /** How often it was refused and is sent again, and when; `nextAt` is absent while it is sent. */
  readonly attempts?: number
  readonly nextAt?: number
  /** It was carried out, and is waited for until then to be ready. */
  readonly readyBefore?: number
  /** Where the debug setting asks for it: what was sent, and what was answered, without secure values. */
  readonly request?: unknown
  readonly response?: unknown
  /** Of a nested deployment that succeeded: keys of the outermost resources that it made or named, at any depth. */
  readonly names?: readonly string[]
}

/** How far a run has come; what the reconciler records. */
export interface Progress {
  readonly run: string
  /** `ready`: there is something to do now. */
  readonly phase: 'ready' | 'waiting' | 'failed' | 'done'
  readonly steps: readonly StepRecord[]
  /** A deployment that this one is nested in was canceled. */
  readonly isParentCanceled?: true
  readonly outputs?: Readonly<Record<string, { readonly type: string; readonly value?: unknown }>>
  /** Values of outputs that are not shown, sealed as a whole. */
  readonly sealedOutputs?: string
  /** Of the deployment that is carried out since this one failed. */
  readonly onError?: { readonly state: string; readonly error?: StepError }
  readonly endedAt?: number
  /** What failed after all steps: its outputs, or the removal of what it does not name. */
  readonly endError?: StepError
  readonly error?: StepError
}

/** What the seal of a run's outputs is bound to. */
export function outputsSealContext(idKey: string, run: string): string {
  return `deployment outputs ${idKey} ${run}`
}

/** What the seal of the secrets that an outer template gave is bound to. */
export function secretsSealContext(idKey: string, run: string): string {
  return `deployment secrets ${idKey} ${run}`
}

/** What the seal of a run's arguments is bound to. */
export function sealContext(idKey: string, run: string): string {
  return `deployment ${idKey} ${run}`
}
