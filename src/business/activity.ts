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

/** The row as it is shown: as JSON, or as an object where nothing but the row is shown. */
type Shown = { readonly text: string } | { readonly fields: object | undefined }

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
        ...(hasChanges ? { changes: changesBetween(plain(before), plain(after)) } : {}),
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

/** Longer answers hold other rows besides the written one, from `$expand`. */
const shownLengthMax = 65_536

function plain(shown: Shown | undefined): object | undefined {
  if (shown === undefined) return undefined
  if ('fields' in shown && shown.fields !== undefined) return shown.fields
  if (!('text' in shown) || shown.text.length > shownLengthMax) return undefined
  // Our own answer: a row is an object.
  const members = Object.entries(JSON.parse(shown.text) as object)
  return Object.fromEntries(members.filter(([name]) => !name.includes('@odata.')))
}

function pathOf(location: string): string {
  return location.replace(/^https?:\/\/[^/]+/, '')
}
