/** What the audit trail keeps of background work: the end of an operation, and a resource that went. */

import type { Initiator } from '#activity/record.ts'
import type { Operation } from '#kernel/operation.ts'
import type { Tx } from '#stores/store.ts'
import { recordActivity, systemInitiator } from './audit.ts'
import type { CompiledType } from './compiled-type.ts'
import type { StoredResource } from './document.ts'

interface Worked {
  readonly compiled: CompiledType
  readonly resource: StoredResource
}

export function recordEnd(work: Worked, tx: Tx, operation: Operation, now: number): Promise<void> {
  const { status, error, kind } = operation
  const verb = kind === 'delete' ? 'delete' : kind === 'action' ? 'action' : 'write'
  return recordActivity(tx, {
    at: now,
    initiator: trailOfOperation(operation),
    action: operation.action ?? `${work.compiled.permission}/${verb}`,
    target: work.resource.id,
    // Only ended operations are told of.
    status: status === 'Running' ? 'Accepted' : status,
    operationId: operation.id,
    ...(error === undefined ? {} : { code: error.code }),
  })
}

/** It went with a scope that was deleted, without an operation of its own. */
export function recordGone({ compiled, resource }: Worked, tx: Tx, now: number): Promise<void> {
  return recordActivity(tx, {
    at: now,
    initiator: systemInitiator,
    action: compiled.permissions.delete,
    target: resource.id,
    status: 'Succeeded',
  })
}

function trailOfOperation({ principalId, caller, correlationId }: Operation): Initiator {
  return { principal: { id: principalId, ...caller }, correlationId }
}
