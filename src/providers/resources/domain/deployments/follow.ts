/** Follows an operation that a caller's request started, with that caller's rights. */

import { isTerminalStatus, type OperationStatus } from '#kernel/operation.ts'
import { isJsonObject } from '#kernel/patch.ts'
import type { Principal } from '#kernel/principal.ts'
import type { Caller } from '#plane/caller.ts'
import type { StepError } from '../../resources/deployments/model.ts'
import { jsonOf } from './answers.ts'
import { attempt } from './attempt.ts'

interface Ended {
  readonly status: number
  /** Absent when it succeeded. */
  readonly error?: StepError
}

/** Undefined while it runs. `path` is its status address, with the query. */
export async function followOperation(
  caller: Caller,
  path: string,
  sender: { readonly principal: Principal; readonly correlationId: string },
): Promise<Ended | undefined> {
  const version = new URL(path, 'http://plane').searchParams.get('api-version') ?? ''
  const seen = await attempt(() => caller.call({ method: 'GET', path, version, ...sender }))
  if (seen.kind === 'refused') return { status: seen.status, error: seen.error }
  const operation = jsonOf(seen.value.body)
  if (!isJsonObject(operation)) return undefined
  // An operation reports its status; the plane writes nothing else there.
  const status = operation['status'] as OperationStatus
  if (!isTerminalStatus(status)) return undefined
  if (status === 'Succeeded') return { status: 200 }
  const error = operation['error'] as unknown as StepError | undefined
  return { status: 409, error: error ?? endedAs(status) }
}

export function endedAs(status: string): StepError {
  return { code: status, message: `the operation ended: ${status}` }
}
