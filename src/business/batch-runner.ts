/**
 * Runs the requests of a batch. What comes before in a batch may take long, so each request and each transaction asks
 * again who the caller is.
 */

import type { Sql } from '#stores/store.ts'
import {
  type AccessDependencies,
  type Caller,
  callerAgain,
  rightsOf,
  writableCompanies,
} from './access.ts'
import type { BusinessAnswer, BusinessRequest } from './message.ts'
import type { BatchedPart, BatchRunner } from './odata/batch.ts'
import type { BatchPart } from './odata/batch-parts.ts'
import { untilDeadline } from './until-deadline.ts'
import { lockInOrder } from './write/lock-order.ts'

interface Batched {
  readonly deps: AccessDependencies & { readonly sql: Sql }
  readonly request: BusinessRequest
  readonly caller: Caller
}

/** As the addresses of single requests name it, too. Changes of one set are nearly always of one company. */
function ownersOf(writes: readonly BatchPart[], { principal }: Caller): readonly string[] {
  const [, company] = /\bcompanies\('?([^')]+)/i.exec(writes[0]?.url ?? '') ?? []
  return company === undefined ? [principal.id] : [principal.id, company.toLowerCase()]
}

/** `serve` answers one request. `current` rejects with the refusal of a caller who may not act any more. */
export function openBatchRunner(
  { deps, request, caller }: Batched,
  serve: (
    one: BusinessRequest,
    current: () => Promise<Caller>,
    part: BatchedPart,
  ) => Promise<BusinessAnswer>,
): BatchRunner {
  const sql = untilDeadline(deps.sql, request)
  let last = caller
  const again = async (): Promise<Caller> => {
    last = await callerAgain(deps, request)
    return last
  }
  return {
    serve(one, part) {
      const isAlone = part.within === undefined && part.reads === undefined
      return serve(one, isAlone ? again : async () => last, part)
    },
    async atomically(writes, work) {
      await again()
      return await sql.transact(
        async (tx) => {
          // The embedded store has one writer at a time.
          if (sql.dialect === 'postgres' && writes.length > 1) {
            await lockInOrder(tx, writes, writableCompanies(await rightsOf(tx, last)))
          }
          return await work(tx)
        },
        { owner: ownersOf(writes, last), ready: again },
      )
    },
    async snapshot(work) {
      await again()
      return await sql.snapshot(work)
    },
  }
}
