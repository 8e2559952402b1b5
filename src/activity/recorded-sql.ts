/**
 * The relational port with the audit trail kept: a transaction that changes rows in the course of a request leaves a
 * record in that very transaction, so that neither is there without the other. Of several transactions of one
 * request the first leaves it.
 */

import type { Clock } from '#kernel/ports.ts'
import type { Sql, SqlTx } from '#stores/store.ts'
import { type Act, currentAct } from './act.ts'
import { changesBetween } from './changes.ts'
import { type Actor, type Target, type Trail, targetOf, toEvent } from './record.ts'

/** What a transaction says of itself, beyond that it was made. */
export interface Told {
  /** Without the vendor word. Needed where no request may be under way; without both nothing is recorded. */
  readonly action?: string
  readonly target?: string
  /** Who, where neither a request of the edge nor the installation itself does it. */
  readonly trail?: Trail
  readonly before?: object
  readonly after?: object
}

export interface RecordedTx extends SqlTx {
  /** The last call counts. Without one, a transaction of a request is recorded by the request alone. */
  tell(told: Told): void
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
    async transact(work) {
      // Here, in the course of the request, and not in the transaction.
      const act = currentAct()
      const qualified = (name: string): string => `${namespace}.${name}`
      const outcome = await sql.transact(async (tx) => {
        let changed = 0
        let told: Told | undefined
        const value = await work({
          all: (text, ...values) => tx.all(text, ...values),
          async run(text, ...values) {
            const rows = await tx.run(text, ...values)
            changed += rows
            return rows
          },
          follow: (feed, key) => tx.follow(feed, key),
          record: (event) => tx.record(event),
          tell(given) {
            told = given
          },
        })
        const isRecorded = changed > 0 && act?.recorded !== true
        if (isRecorded) {
          const action = act?.action ?? (told?.action && qualified(told.action))
          if (action !== undefined) await record(tx, clock.now(), { act, told, action })
        }
        return { value, isRecorded }
      })
      if (outcome.isRecorded && act !== undefined) act.recorded = true
      return outcome.value
    },
  }
}

interface Written {
  readonly act: Act | undefined
  readonly told: Told | undefined
  readonly action: string
}

async function record(tx: SqlTx, at: number, { act, told, action }: Written): Promise<void> {
  const target: Target =
    told?.target === undefined ? (act?.target ?? targetOf('/')) : targetOf(told.target)
  const trail = act?.trail ?? told?.trail ?? { principal: installationActor, correlationId: '' }
  const changes =
    told?.before === undefined && told?.after === undefined
      ? undefined
      : changesBetween(told.before, told.after)
  await tx.record(
    toEvent({
      at,
      trail,
      action,
      target,
      status: 'Succeeded',
      ...(changes === undefined ? {} : { changes }),
    }),
  )
}
