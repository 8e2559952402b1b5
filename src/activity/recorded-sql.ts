/**
 * Adds the audit trail to the relational port. A transaction that changes rows during a request also writes a
 * record, so that neither exists without the other. When a request has several transactions, the first writes it.
 */

import type { Clock } from '#kernel/ports.ts'
import { transactOptimistically } from '#stores/optimistic.ts'
import type { Sql, SqlTx, TransactionMode } from '#stores/store.ts'
import { changesBetween } from './changes.ts'
import { type Actor, type Initiator, type Target, targetOf, toEvent } from './record.ts'
import { currentRequestActivity, type RequestActivity } from './request-activity.ts'

/** Describes a transaction for its record. */
export interface ActivityDescription {
  /**
   * The action without the vendor word. It is needed where there may be no request; with neither, nothing is
   * recorded.
   */
  readonly action?: string
  readonly target?: string
  /** The initiator, where neither a request nor the installation itself acts. */
  readonly initiator?: Initiator
  readonly before?: object
  readonly after?: object
}

export interface RecordedTx extends SqlTx {
  /** Describes the transaction; the last call counts. Without a call, the record describes the request. */
  describe(description: ActivityDescription): void
}

export interface RecordedSql extends Sql {
  /**
   * The caller is authorized again where it waits for its turn, when the turn has come, and elsewhere where rights or the
   * directory changed meanwhile: in the first transaction of a request, since the next ones may follow from it.
   */
  transact<T>(work: (tx: RecordedTx) => Promise<T>, alone?: string): Promise<T>
}

/** The installation itself, for writes that nobody requested. */
export const installationActor: Actor = { id: 'system', displayName: 'the installation' }

/** `namespace` is the vendor word in the names of actions. */
export function recordedSql(sql: Sql, clock: Clock, namespace = 'Vendor'): RecordedSql {
  return {
    dialect: sql.dialect,
    all: (text, ...values) => sql.all(text, ...values),
    scan: (text, ...values) => sql.scan(text, ...values),
    snapshot: (work) => sql.snapshot(work),
    async transact<Value>(
      work: (tx: RecordedTx) => Promise<Value>,
      alone?: string,
    ): Promise<Value> {
      // This is read here, during the request, and not inside the transaction.
      const requestActivity = currentRequestActivity()
      const isFirst = requestActivity?.recorded === false
      const { authorizeAgain, rightsAsOf: positions } = isFirst ? requestActivity : {}
      const qualified = (name: string): string => `${namespace}.${name}`
      const recordedWork = async (tx: SqlTx): Promise<{ value: Value; isRecorded: boolean }> => {
        let changed = 0
        let description: ActivityDescription | undefined
        const run: SqlTx['run'] = async (text, ...values) => {
          const rows = await tx.run(text, ...values)
          changed += rows
          return rows
        }
        const value = await work({
          all: (text, ...values) => tx.all(text, ...values),
          run,
          // Whether there is a record depends on its answer.
          send: run,
          prefetch: (text, ...values) => tx.prefetch(text, ...values),
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
      }
      const write = (mode?: TransactionMode) => sql.transact(recordedWork, mode)
      const ready = authorizeAgain
      const outcome =
        alone !== undefined
          ? await write(ready === undefined ? alone : { name: alone, ready })
          : positions === undefined || ready === undefined
            ? await write()
            : await transactOptimistically({ positions, decision: undefined }, ready, (_, mode) =>
                write(mode),
              )
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
