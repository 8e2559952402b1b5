/**
 * The relational port with the audit trail kept: a transaction that changes rows in the course of a request leaves a
 * record in that very transaction, so that neither is there without the other. Of several transactions of one
 * request the first leaves it.
 */

import type { Clock } from '#kernel/ports.ts'
import type { Sql, SqlTx } from '#stores/store.ts'
import { changesBetween } from './changes.ts'
import { type Actor, type Initiator, type Target, targetOf, toEvent } from './record.ts'
import { currentRequestActivity, type RequestActivity } from './request-activity.ts'

/** What a transaction says of itself, beyond that it was made. */
export interface ActivityDescription {
  /** Without the vendor word. Needed where no request may be under way; without both nothing is recorded. */
  readonly action?: string
  readonly target?: string
  /** Who, where neither a request of the edge nor the installation itself does it. */
  readonly initiator?: Initiator
  readonly before?: object
  readonly after?: object
}

export interface RecordedTx extends SqlTx {
  /** The last call counts. Without one, a transaction of a request is recorded by the request alone. */
  describe(description: ActivityDescription): void
}

export interface RecordedSql extends Sql {
  transact<T>(work: (tx: RecordedTx) => Promise<T>): Promise<T>
}

/** The installation itself, where it writes without being asked. */
export const installationActor: Actor = { id: 'system', displayName: 'the installation' }

/** `namespace`: the vendor word, for what a transaction calls itself. */
export function recordedSql(sql: Sql, clock: Clock, namespace = 'Vendor'): RecordedSql {
  return {
    dialect: sql.dialect,
    all: (text, ...values) => sql.all(text, ...values),
    scan: (text, ...values) => sql.scan(text, ...values),
    snapshot: (work) => sql.snapshot(work),
    async transact(work) {
      // Here, in the course of the request, and not in the transaction.
      const requestActivity = currentRequestActivity()
      const qualified = (name: string): string => `${namespace}.${name}`
      const outcome = await sql.transact(async (tx) => {
        let changed = 0
        let description: ActivityDescription | undefined
        const value = await work({
          all: (text, ...values) => tx.all(text, ...values),
          async run(text, ...values) {
            const rows = await tx.run(text, ...values)
            changed += rows
            return rows
          },
          follow: (feed, key) => tx.follow(feed, key),
          record: (event) => tx.record(event),
          describe(given) {
            description = given
          },
        })
        const isRecorded = changed > 0 && requestActivity?.recorded !== true
        if (isRecorded) {
          const action =
            requestActivity?.action ?? (description?.action && qualified(description.action))
          if (action !== undefined)
            await record(tx, clock.now(), { requestActivity, description, action })
        }
        return { value, isRecorded }
      })
      if (outcome.isRecorded && requestActivity !== undefined) requestActivity.recorded = true
      return outcome.value
    },
  }
}

interface RecordedWrite {
  readonly requestActivity: RequestActivity | undefined
  readonly description: ActivityDescription | undefined
  readonly action: string
}

async function record(
  tx: SqlTx,
  at: number,
  { requestActivity, description, action }: RecordedWrite,
): Promise<void> {
  const target: Target =
    description?.target === undefined
      ? (requestActivity?.target ?? targetOf('/'))
      : targetOf(description.target)
  const initiator = requestActivity?.initiator ??
    description?.initiator ?? { principal: installationActor, correlationId: '' }
  const changes =
    description?.before === undefined && description?.after === undefined
      ? undefined
      : changesBetween(description.before, description.after)
  await tx.record(
    toEvent({
      at,
      initiator,
      action,
      target,
      status: 'Succeeded',
      ...(changes === undefined ? {} : { changes }),
    }),
  )
}
