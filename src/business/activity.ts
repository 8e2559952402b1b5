/**
 * Writes the audit trail of the business application: each write in its own transaction, refusals through the
 * queue.
 */

import { changesBetween } from '#activity/changes.ts'
import type { ActivityQueue } from '#activity/queue.ts'
import { type ActivityRecord, type Initiator, targetOf, toEvent } from '#activity/record.ts'
import type { SqlTx } from '#stores/store.ts'
import type { BusinessAnswer, BusinessRequest } from './message.ts'

export interface BusinessWrite {
  /** `customers/write`, `salesInvoices/post/action` */
  readonly operation: string
  /** The address of the row, absolute or as a path. */
  readonly location: string
  readonly httpStatus: number
  readonly before?: Shown
  readonly after?: Shown
}

/** All fields of the row, and nothing that an answer shows besides it. */
interface Shown {
  readonly fields: object | undefined
}

interface BusinessActivity {
  record(tx: SqlTx, at: number, request: BusinessRequest, write: BusinessWrite): Promise<void>
  /** Records a refused request that could have changed something. */
  noteRefused(request: BusinessRequest, answer: BusinessAnswer): void
}

export function businessActivity(
  namespace: string,
  queue: Pick<ActivityQueue, 'note'> | undefined,
): BusinessActivity {
  return {
    record(tx, at, request, { operation, location, httpStatus, before, after }) {
      const hasChanges = before !== undefined || after !== undefined
      const record: ActivityRecord = {
        at,
        initiator: trailOf(request),
        action: `${namespace}.Business/${operation}`,
        target: targetOf(pathOf(location)),
        status: 'Succeeded',
        httpStatus,
        ...(hasChanges ? { changes: changesBetween(before?.fields, after?.fields) } : {}),
      }
      return tx.record(toEvent(record))
    },
    noteRefused(request, answer) {
      queue?.note(
        {
          initiator: trailOf(request),
          action: `${namespace}.Business/${operationOf(request)}`,
          target: targetOf(`/api/${request.version}/${request.path}`),
          status: 'Failed',
          httpStatus: answer.status,
          ...codeOf(answer),
        },
        { principal: request.principal.id },
      )
    },
  }
}

/**
 * Names the operation by the last named set of the path: a refused request need not have been parsed any further.
 */
function operationOf({ path, method }: BusinessRequest): string {
  let set = 'requests'
  for (const { 0: word, index } of path.matchAll(/[A-Za-z][A-Za-z0-9]*/g)) {
    if (['', '(', '/'].includes(path.charAt(index + word.length))) set = word.slice(0, 60)
  }
  return `${set}/${method === 'DELETE' ? 'delete' : 'write'}`
}

function trailOf({ principal, correlationId, from }: BusinessRequest): Initiator {
  return { principal, correlationId, ...(from === undefined ? {} : { from }) }
}

function codeOf({ body }: BusinessAnswer): { readonly code?: string } {
  if (body === undefined) return {}
  // `answering` or the batch made it, in the same form.
  const { error } = JSON.parse(body) as { readonly error?: { readonly code?: string } }
  return error?.code === undefined ? {} : { code: error.code }
}

function pathOf(location: string): string {
  return location.replace(/^https?:\/\/[^/]+/, '')
}
