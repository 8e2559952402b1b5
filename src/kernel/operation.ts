/** A long-running operation: what is stored of it and how it is shown (facts 9.4). */

import type { ErrorDetail } from './error.ts'
import type { Principal } from './principal.ts'

export type OperationStatus = 'Running' | 'Succeeded' | 'Failed' | 'Canceled'

/** Why it ended badly; `details` where there are several reasons. */
interface OperationError {
  readonly code: string
  readonly message: string
  readonly details?: readonly ErrorDetail[] | undefined
}

/** The stored document of an operation. */
export interface Operation {
  readonly id: string
  /** The resource as shown, and the type the operation's own path is below. */
  readonly resourceId: string
  readonly kind: 'create' | 'update' | 'delete' | 'action'
  /** The api-version of the request that began it; its result is shown in that version. */
  readonly version: string
  readonly status: OperationStatus
  readonly startTime: string
  readonly endTime?: string
  /** Past this moment a step that still fails ends the operation. */
  readonly deadline: number
  readonly error?: OperationError
  /** Who may read it besides those who may read the resource. */
  readonly principalId: string
  readonly correlationId: string
  /** What the audit trail calls the request that began it, and who made that. Earlier versions wrote neither. */
  readonly action?: string
  readonly caller?: Pick<Principal, 'displayName' | 'type' | 'clientId'>
  /** The status of the answer had it been synchronous: 200, 201, 204. */
  readonly resultStatus: number
}

export function isTerminalStatus(status: OperationStatus): boolean {
  return status !== 'Running'
}

const terminalStates = new Set(['Succeeded', 'Failed', 'Canceled'])

/** Is a `provisioningState` one that nothing is working on? */
export function isTerminalState(state: string): boolean {
  return terminalStates.has(state)
}

/** What `Vendor-AsyncOperation` answers. */
export function operationToWire(operation: Operation, path: string): object {
  return {
    id: path,
    name: operation.id,
    status: operation.status,
    startTime: operation.startTime,
    ...(operation.endTime === undefined ? {} : { endTime: operation.endTime }),
    ...(operation.status === 'Succeeded' ? { percentComplete: 100 } : {}),
    properties: { resourceId: operation.resourceId },
    ...(operation.error === undefined ? {} : { error: operation.error }),
  }
}
