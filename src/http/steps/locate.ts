/**
 * Asks the plane for the route of a path: path form, api-version, namespace, type and method. After this step the
 * request is in its own column of the matrix.
 */

import { refuse } from '#kernel/error.ts'
import type { Method, Route } from '#plane/plane.ts'
import {
  authorizeAgain,
  deadlineOf,
  type Edge,
  type Endpoint,
  type Exchange,
  principalOf,
  queryOf,
  requestFrom,
  routeOf,
} from '../exchange.ts'
import { permissionOf } from '../permission.ts'

/** Methods of the plane; the edge answers `OPTIONS` before any step. */
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'POST'])
const allow = [...methods, 'OPTIONS'].join(', ')

function isPlaneMethod(method: string): method is Method {
  return methods.has(method)
}

function planeEndpoint(kind: Endpoint['kind']): Endpoint {
  return {
    kind,
    type: 'unlocated',
    body: 'none',
    counts: 'reads',
    authorize(exchange, edge) {
      const { correlationId, rightsRefresh } = exchange
      exchange.rightsRefresh = undefined
      const principal = principalOf(exchange)
      const pending = edge.plane.authorize(
        routeOf(exchange),
        principal,
        correlationId,
        rightsRefresh,
      )
      if (pending instanceof Promise) return keepPending(exchange, pending)
      exchange.pending = pending
    },
    run: (exchange, edge) => {
      const headers = exchange.request.headers
      const route = routeOf(exchange)
      const mayLeaveRecord = route.leavesRecord || kind === 'action'
      return edge.plane.run(route, {
        signal: deadlineOf(exchange),
        principal: principalOf(exchange),
        query: queryOf(exchange),
        body: exchange.body,
        preconditions: { ifMatch: headers['if-match'], ifNoneMatch: headers['if-none-match'] },
        correlationId: exchange.correlationId,
        takesText: true,
        ...(mayLeaveRecord ? { from: requestFrom(exchange, edge) } : {}),
        ...(kind === 'action' ? { publicUrl: edge.publicUrlOf(exchange.request) } : {}),
        pending: exchange.pending,
        rightsAsOf: exchange.rightsAsOf,
        authorizeAgain: () => authorizeAgain(exchange, edge),
        permission: kind === 'action' ? permissionOf(exchange, edge) : undefined,
      })
    },
  }
}

async function keepPending(
  exchange: Exchange,
  pending: Promise<Exchange['pending']>,
): Promise<void> {
  exchange.pending = await pending
}

/** The endpoint of every path of the plane before it is located. */
export const unlocated: Endpoint = planeEndpoint('resource')

const located = {
  resource: unlocated,
  collection: planeEndpoint('collection'),
  action: planeEndpoint('action'),
  operation: planeEndpoint('operation'),
}

function endpointOf({ kind }: Route, query: URLSearchParams): Endpoint {
  switch (kind) {
    case 'put':
    case 'patch':
    case 'write-computed':
    case 'delete':
      return located.resource
    case 'get':
    case 'head':
      // What is asked for besides the version may be as large as a list: an export, all that is below.
      return query.size > 1 ? located.collection : located.resource
    case 'list':
      return located.collection
    case 'action':
      return located.action
    case 'operation-status':
    case 'operation-result':
      return located.operation
    default:
      return kind satisfies never
  }
}

export function locate(exchange: Exchange, edge: Edge): void {
  const { method } = exchange
  if (!isPlaneMethod(method)) {
    throw refuse.MethodNotAllowed({ method, allow }, { headers: { Allow: allow } })
  }
  // One of the stores cannot keep a NUL, so a query with one can match nothing.
  if (exchange.search.includes('%00')) {
    throw refuse.InvalidQueryParameter({ name: '*', reason: 'it holds a NUL character' })
  }
  const route = edge.plane.locate(method, exchange.path, queryOf(exchange))
  exchange.route = route
  exchange.endpoint = endpointOf(route, queryOf(exchange))
  exchange.type = route.type
  exchange.counts = route.counts
  exchange.bodyRule = route.body
  exchange.bodySyntax = route.bodySyntax
  exchange.family = route.errorFamily
}
