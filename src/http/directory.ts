/**
 * Mounts the directory (accounts, groups, service principals) from a table of routes: validation, action and
 * method checks come from the table. Knows nothing of what the routes do.
 */

import type { TSchema } from 'typebox'
import type { Initiator } from '#activity/record.ts'
import { refuse } from '#kernel/error.ts'
import type { Principal } from '#kernel/principal.ts'
import { checkSchema } from '#plane/check.ts'
import type { Outcome } from '#plane/plane.ts'
import { authorizeAgain, type Endpoint, principalOf, queryOf, requestFrom } from './exchange.ts'

interface RouteCaller extends Initiator {
  readonly principal: Principal
  /** Throws 401 or 403 when the caller may not do it any more. */
  authorizeAgain(): Promise<unknown>
}

export interface DirectoryRoute {
  readonly method: 'GET' | 'PUT' | 'PATCH' | 'DELETE' | 'POST'
  /** `/directory/groups/{groupId}/members`; parameters in braces. */
  readonly path: string
  /**
   * Passed to `authorizeAction` before the body is read. `undefined`: the route is about the caller itself and needs
   * no right.
   */
  readonly action: string | undefined
  /** The status of the answer. An outcome of `undefined` is answered without a body. */
  readonly status: number
  /** A body is then required and checked; all violations are reported at once. */
  readonly body?: TSchema
  /** A caller may run it a few times at once; further requests wait. */
  readonly readsMany?: true
  /** For an answer that is a stream. */
  readonly headers?: Readonly<Record<string, string>>
  /** Throws refusals. `params` are decoded; `body` is valid. */
  run(
    params: Readonly<Record<string, string>>,
    body: unknown,
    query: URLSearchParams,
    caller: RouteCaller,
  ): Promise<unknown>
}

/** The action name in the audit trail for a change of the caller's own account. */
export const ownAction = 'Directory/me/write'

export function directoryEndpoint(route: DirectoryRoute): Endpoint {
  const { body } = route
  return {
    kind: 'directory',
    type: 'directory',
    body: body === undefined ? 'none' : 'required',
    counts: route.method === 'GET' ? 'reads' : route.method === 'DELETE' ? 'deletes' : 'writes',
    ...(route.method === 'GET' ? {} : { operation: route.action ?? ownAction }),
    ...(route.readsMany === true ? { waitsForRoom: true } : {}),
    authorize(exchange, edge) {
      const principal = principalOf(exchange)
      return route.action === undefined ? undefined : edge.authorizeAction(route.action, principal)
    },
    async run(exchange, edge) {
      if (body !== undefined) checkSchema(body, 'refuse', exchange.body)
      const answer = await route.run(exchange.params, exchange.body, queryOf(exchange), {
        principal: principalOf(exchange),
        correlationId: exchange.correlationId,
        from: requestFrom(exchange, edge),
        authorizeAgain: () => authorizeAgain(exchange, edge),
      })
      const outcome = outcomeOf(route.status, answer)
      return route.headers === undefined ? outcome : { ...outcome, headers: route.headers }
    },
  }
}

/** A list with more pages returns `nextSkipToken`; the answer has the absolute `nextLink` instead. */
function outcomeOf(status: number, answer: unknown): Outcome {
  if (answer === undefined) return { status }
  if (!isContinued(answer)) return { status, body: answer as object } // JSON, or a stream
  const { nextSkipToken, ...body } = answer
  return { status, body, nextToken: nextSkipToken }
}

function isContinued(answer: unknown): answer is { readonly nextSkipToken: string } {
  return typeof Object(answer).nextSkipToken === 'string'
}

/** Refuses every method of a path that the table does not list, with `Allow`. */
export function methodRefusal(kind: 'directory' | 'open', allowed: readonly string[]): Endpoint {
  const allow = [...allowed, 'OPTIONS'].join(', ')
  return {
    kind,
    type: kind,
    body: 'none',
    counts: 'reads',
    authorize: () => {},
    run({ method }) {
      throw refuse.MethodNotAllowed({ method, allow }, { headers: { Allow: allow } })
    },
  }
}
