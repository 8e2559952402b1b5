/**
 * Long-running operations. They are opened in the transaction of their write. Whoever may read the resource, or began
 * the operation, may read it. They are kept for a stated time after their end.
 */

import { refuse } from '#kernel/error.ts'
import { isTerminalStatus, type Operation, operationToWire } from '#kernel/operation.ts'
import type { Principal } from '#kernel/principal.ts'
import {
  extensionOf,
  nameOf,
  type ResourceId,
  rootId,
  subscriptionIdOf,
  subscriptionOf,
} from '#kernel/resource-id.ts'
import type { OperationRow, Tx } from '#stores/store.ts'
import { allowsWithoutAttributes } from './access.ts'
import { type CompiledType, isStored } from './compiled-type.ts'
import { idOfKey, type PlaneDependencies } from './dependencies.ts'
import { readRow, toWire } from './document.ts'
import type { OperationRoute } from './locate.ts'
import type { OperationLink, Outcome, RunInput } from './plane.ts'

const retryAfterSecondsDefault = 10

export function readOperation(row: OperationRow): Operation {
  // `writeOperation` alone writes these documents.
  return JSON.parse(row.document) as Operation
}

export function writeOperation(operation: Operation, resourceKey: string): OperationRow {
  return {
    id: operation.id,
    resourceKey,
    document: JSON.stringify(operation),
    running: !isTerminalStatus(operation.status),
    endedAt: operation.endTime === undefined ? null : Date.parse(operation.endTime),
  }
}

export interface Opening {
  readonly id: ResourceId
  readonly compiled: CompiledType
  readonly kind: Operation['kind']
  readonly version: string
  readonly principal: Principal
  readonly correlationId: string
  /** The action name in the audit trail. */
  readonly action: string
  readonly now: number
  readonly resultStatus: number
  /** The work was done with the request. */
  readonly isDone?: true
}

/** Cancels an operation that still runs on the resource: another kind of change replaces it. */
export async function supersede(
  tx: Tx,
  key: string,
  by: Operation['kind'],
  now: number,
): Promise<void> {
  const running = await tx.runningOperation(key)
  if (running === undefined) return
  const canceled: Operation = {
    ...readOperation(running),
    status: 'Canceled',
    endTime: new Date(now).toISOString(),
    error: { code: 'OperationPreempted', message: `superseded by a ${by}` },
  }
  await tx.putOperation(writeOperation(canceled, key))
}

function callerOf({ displayName, type, clientId }: Principal): NonNullable<Operation['caller']> {
  return { displayName, type, clientId }
}

/** Opens an operation; one that still runs on the resource is superseded (cancelled). */
export async function openOperation(
  deps: PlaneDependencies,
  tx: Tx,
  opening: Opening,
): Promise<Operation> {
  if (opening.isDone !== true) await supersede(tx, opening.id.key, opening.kind, opening.now)
  const startTime = new Date(opening.now).toISOString()
  const deadlineSeconds = opening.compiled.reconcile?.deadlineSeconds ?? 0
  const operation: Operation = {
    id: deps.ids.uuid(),
    resourceId: opening.id.text,
    kind: opening.kind,
    version: opening.version,
    ...(opening.isDone === true
      ? { status: 'Succeeded', startTime, endTime: startTime }
      : { status: 'Running', startTime }),
    deadline: opening.now + deadlineSeconds * 1000,
    principalId: opening.principal.id,
    correlationId: opening.correlationId,
    action: opening.action,
    caller: callerOf(opening.principal),
    resultStatus: opening.resultStatus,
  }
  await tx.putOperation(writeOperation(operation, opening.id.key))
  return operation
}

/** The path of an operation: below its subscription, or below the root. */
export function linkOf(operation: Operation, compiled: CompiledType): OperationLink {
  const id = idOfKey(operation.resourceId)
  const subscription = subscriptionOf(id)
  const base = subscription === undefined ? rootId : subscriptionIdOf(subscription)
  const at = (word: string): string =>
    `${extensionOf(base, compiled.namespace, ['locations', word], ['global', operation.id]).text}?api-version=${operation.version}`
  return {
    statusPath: at('operationStatuses'),
    resultPath: at('operationResults'),
    retryAfterSeconds: isTerminalStatus(operation.status)
      ? 1
      : (compiled.reconcile?.retryAfterSeconds ?? retryAfterSecondsDefault),
    startTime: operation.startTime,
  }
}

function pathOf(link: string): string {
  return link.slice(0, link.indexOf('?'))
}

/** GET of an operation's status or result. */
export async function runOperation(
  deps: PlaneDependencies,
  route: OperationRoute,
  input: RunInput,
): Promise<Outcome> {
  const name = nameOf(route.id)
  const row = await deps.store.operation(name.toLowerCase())
  if (row === undefined) throw refuse.OperationNotFound({ id: name })
  const operation = readOperation(row)
  const id = idOfKey(operation.resourceId)
  const last = id.segments.at(-1)
  const compiled = last === undefined ? undefined : deps.registry.find(last.namespace, last.types)
  if (!isStored(compiled)) throw refuse.OperationNotFound({ id: name })
  const question = {
    principal: input.principal,
    action: compiled.permissions.read,
    scope: id,
  }
  const mayRead = await allowsWithoutAttributes(deps.access, question, deps.clock.now())
  const link = linkOf(operation, compiled)
  const paths = [link.statusPath, link.resultPath].map((path) => pathOf(path).toLowerCase())
  const isHere = paths.includes(route.id.key)
  // Whoever began the operation may follow it; its result is only for those who may read the resource.
  if (!isHere || !(mayRead || operation.principalId === input.principal.id)) {
    throw refuse.OperationNotFound({ id: name })
  }
  if (route.kind === 'operation-status') {
    const path = pathOf(link.statusPath)
    const running = operation.status === 'Running'
    return {
      status: 200,
      body: operationToWire(operation, path),
      ...(running ? { headers: { 'Retry-After': String(link.retryAfterSeconds) } } : {}),
    }
  }
  if (operation.status === 'Running') return { status: 202, operation: link }
  if (operation.error !== undefined) {
    return { status: 409, body: { error: operation.error } }
  }
  if (operation.kind === 'delete' || operation.resultStatus === 204) return { status: 204 }
  if (!mayRead) return { status: 200 }
  const current = await deps.store.get(id.key)
  const version = compiled.versions.get(operation.version)
  if (current === undefined || version === undefined) throw refuse.ResourceNotFound({ id: id.text })
  return {
    status: 200,
    body: toWire(compiled, version, readRow(current), deps.registry.words),
    etag: current.etag,
  }
}
