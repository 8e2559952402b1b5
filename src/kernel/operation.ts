/** A long-running operation: its stored form and its wire form (facts 9.4). */

import type { ErrorDetail } from './error.ts'
import type { Principal } from './principal.ts'

export type OperationStatus = 'Running' | 'Succeeded' | 'Failed' | 'Canceled'

/** Why the operation failed; `details` when there are several reasons. */
interface OperationError {
  readonly code: string
  readonly message: string
  readonly details?: readonly ErrorDetail[] | undefined
}

/** The stored document of an operation. */
export interface Operation {
  readonly id: string
  /** The resource as shown, and the type that the operation's own path is below. */
  readonly resourceId: string
  readonly kind: 'create' | 'update' | 'delete' | 'action'
  /** The api-version of the request that started it. The result is shown in that version. */
  readonly version: string
  readonly status: OperationStatus
  readonly startTime: string
  readonly endTime?: string
  /** After this moment a step that fails ends the operation. */
  readonly deadline: number
  readonly error?: OperationError
  /** Who may read it besides the readers of the resource. */
  readonly principalId: string
  readonly correlationId: string
  /** The action and the caller for the audit trail. Earlier versions stored neither. */
  readonly action?: string
  readonly caller?: Pick<Principal, 'displayName' | 'type' | 'clientId'>
  /** The status that a synchronous answer would have had: 200, 201, 204. */
  readonly resultStatus: number
}

export function isTerminalStatus(status: OperationStatus): boolean {
  return status !== 'Running'
}

const terminalStates = new Set(['Succeeded', 'Failed', 'Canceled'])

/** Whether nothing is working on a resource in this `provisioningState`. */
export function isTerminalState(state: string): boolean {
  return terminalStates.has(state)
}

/** The body of the address in `Vendor-AsyncOperation`. */
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
