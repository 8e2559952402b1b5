/**
 * Requests from inside: located, authorized and run as any request of the same principal over HTTP. It grants
 * nothing, skips no check, and refuses with the same refusals; only the bytes of the edge are missing.
 */

import { ApiError } from '#kernel/error.ts'
import type { Principal } from '#kernel/principal.ts'
import { StoreConflict, type Tx } from '#stores/store.ts'
import type { Pending } from './access.ts'
import { type LocatedRoute, locate } from './locate.ts'
import type { Parts } from './parts.ts'
import type { Method, Outcome, RunInput } from './plane.ts'
import { type RehearsablePut, rehearsablePut } from './verbs/write.ts'

export interface CallerRequest {
  readonly method: Method
  /** A path as it stands in a URL, with a query or without; `version` is the api-version. */
  readonly path: string
  readonly version: string
  readonly body?: unknown
}

export interface Caller {
  /** Throws the refusals of the plane. What is answered as an operation can be followed by `statusPath`. */
  call(
    request: CallerRequest & { readonly principal: Principal; readonly correlationId: string },
  ): Promise<Outcome>
  /**
   * What PUTs would come to if they were sent one after the other, each seeing those before it: everything is
   * done in one transaction, which is then rolled back. A refused one is answered as such, the others go on.
   */
  rehearse(
    requests: readonly Omit<CallerRequest, 'method'>[],
    principal: Principal,
    correlationId: string,
  ): Promise<readonly Rehearsed[]>
}

export type Rehearsed =
  | {
      readonly kind: 'ok'
      /** 201: it would come into being. */
      readonly status: number
      readonly body: unknown
      /** As it is now when the PUT would change nothing, a fresh one otherwise. */
      readonly etag: string | undefined
    }
  | {
      readonly kind: 'refused'
      readonly error: ApiError
      /** Refused before anything stored was looked at, so nothing that is about to be made can mend it. */
      readonly early: boolean
    }

interface Verbs {
  authorize(
    route: LocatedRoute,
    principal: Principal,
  ): Pending | undefined | Promise<Pending | undefined>
  dispatch(route: LocatedRoute, input: RunInput): Promise<Outcome>
}

/** Carries the results out of a transaction that must not be kept. */
class RolledBack extends Error {
  readonly results: readonly (Rehearsed | undefined)[]
  constructor(results: readonly (Rehearsed | undefined)[]) {
    super('a rehearsal is not kept')
    this.results = results
  }
}

export function createCaller(parts: Parts, verbs: Verbs): Caller {
  function located(request: CallerRequest): { route: LocatedRoute; query: URLSearchParams } {
    const mark = request.path.indexOf('?')
    const path = mark < 0 ? request.path : request.path.slice(0, mark)
    const query = new URLSearchParams(mark < 0 ? '' : request.path.slice(mark + 1))
    query.set('api-version', request.version)
    return { route: locate(parts.registry, request.method, path, query), query }
  }

  async function ready(
    request: CallerRequest,
    principal: Principal,
    correlationId: string,
  ): Promise<{ route: LocatedRoute; input: RunInput }> {
    const { route, query } = located(request)
    const pending = await verbs.authorize(route, principal)
    const { body } = request
    return { route, input: { principal, query, body, preconditions: {}, correlationId, pending } }
  }

  return {
    async call(request) {
      const { route, input } = await ready(request, request.principal, request.correlationId)
      return verbs.dispatch(route, input)
    },
    async rehearse(requests, principal, correlationId) {
      const results: (Rehearsed | undefined)[] = []
      const work: (RehearsablePut | undefined)[] = []
      for (const [at, request] of requests.entries()) {
        try {
          const asked = await ready({ ...request, method: 'PUT' }, principal, correlationId)
          work[at] = await rehearsablePut(parts, asked.route, asked.input)
        } catch (error) {
          results[at] = refusedOr(error, true)
        }
      }
      // A store may give up a transaction in which a unique key was taken, so that one is left out and all is redone.
      for (let round = 0; round <= requests.length; round++) {
        const seen = await rehearseOnce(parts, work, results)
        if (seen !== undefined) return seen
      }
      throw new Error('a rehearsal did not come to an end')
    },
  }
}

/** Undefined when one of them took a key that is another's: it is struck off, and the rest begins anew. */
async function rehearseOnce(
  parts: Parts,
  work: (RehearsablePut | undefined)[],
  known: (Rehearsed | undefined)[],
): Promise<readonly Rehearsed[] | undefined> {
  let at = 0
  try {
    await parts.store.transact(async (tx) => {
      const results = [...known]
      for (at = 0; at < work.length; at++) {
        const one = work[at]
        if (one === undefined) continue
        results[at] = await outcomeOf(one, tx)
      }
      throw new RolledBack(results)
    })
  } catch (error) {
    // Every entry was refused before or has just been tried.
    if (error instanceof RolledBack) return error.results as readonly Rehearsed[]
    if (error instanceof UniqueTaken) {
      work[at] = undefined
      known[at] = { kind: 'refused', error: await error.put.uniqueRefusal(error.key), early: false }
      return undefined
    }
    throw error
  }
  throw new Error('a rehearsal is never kept')
}

class UniqueTaken extends Error {
  readonly put: RehearsablePut
  readonly key: string
  constructor(put: RehearsablePut, key: string) {
    super(`${key} is taken`)
    this.put = put
    this.key = key
  }
}

async function outcomeOf(put: RehearsablePut, tx: Tx): Promise<Rehearsed> {
  try {
    const { status, body, etag } = await put.run(tx)
    return { kind: 'ok', status, body, etag }
  } catch (error) {
    if (error instanceof StoreConflict && error.unique !== undefined) {
      throw new UniqueTaken(put, error.unique)
    }
    return refusedOr(error, false)
  }
}

function refusedOr(error: unknown, early: boolean): Rehearsed {
  if (error instanceof ApiError) return { kind: 'refused', error, early }
  throw error
}
