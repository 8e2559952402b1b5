/**
 * Endpoints that need no token: liveness, readiness, metrics, documents. They reveal nothing about resources or
 * principals.
 */

import { refuse } from '#kernel/error.ts'
import type { Outcome } from '#plane/plane.ts'
import { preflightHeaders } from './cors.ts'
import type { Edge, Endpoint, Exchange } from './exchange.ts'
import { queryOf } from './exchange.ts'
import { cloudEndpoints } from './metadata-endpoints.ts'

export interface Check {
  readonly name: string
  readonly ok: boolean
  /** `false`: a failure is reported, but the process counts as ready. */
  readonly required?: boolean
  readonly reason?: string
}

function open(
  type: string,
  run: (exchange: Exchange, edge: Edge) => Outcome | Promise<Outcome>,
): Endpoint {
  return { kind: 'open', type, body: 'none', counts: 'reads', authorize: () => {}, run }
}

/** The process answers: nothing more. */
export const healthz: Endpoint = open('healthz', () => ({ status: 200, body: { status: 'ok' } }))

/** Where `/` leads a person with a browser: to the console, or to the sign-in where there is none. Relative, since a proxy may have taken a path away. */
export function rootRedirect(page: string | undefined): Endpoint {
  return open('front', ({ request }) => {
    const browser = String(request.headers.accept ?? '').includes('text/html')
    const location = browser && page !== undefined ? page : 'signed-in'
    return { status: 302, headers: { Location: location, Vary: 'Accept' } }
  })
}

/** The process can serve: everything required answers, and it is not being drained. `degraded` is ready, too. */
export function readyz(readiness: () => Promise<readonly Check[]>): Endpoint {
  return open('readyz', async () => {
    const checks = await readiness()
    const failed = checks.filter((check) => !check.ok)
    const ready = failed.every((check) => check.required === false)
    const status = !ready ? 'not ready' : failed.length > 0 ? 'degraded' : 'ready'
    return { status: ready ? 200 : 503, body: { status, checks } }
  })
}

export const metrics: Endpoint = open('metrics', async (_, edge) => {
  const { type, text } = await edge.metrics.scrape()
  return { status: 200, body: text, headers: { 'Content-Type': type } }
})

/** What a command line reads to register this installation as a cloud. */
export const metadataEndpoints: Endpoint = open('metadata', (exchange, edge) => {
  const version = queryOf(exchange).get('api-version')
  if (version === null) throw refuse.MissingApiVersionParameter({})
  const body = cloudEndpoints(version, edge.publicUrlOf(exchange.request))
  if (body === undefined)
    throw refuse.InvalidQueryParameter({ name: 'api-version', reason: 'it is no date' })
  return { status: 200, body }
})

/** Documents by path below `/openapi`; `/openapi` itself has the empty path. */
export function openapi(find: (path: string) => string | undefined): Endpoint {
  const run = ({ path }: Exchange): Outcome => {
    const body = find(path.slice('/openapi/'.length))
    if (body === undefined) throw refuse.NotFound({ path })
    return { status: 200, body }
  }
  return { ...open('openapi', run), waitsForRoom: true }
}

/** RFC 9110, 9.3.7: the methods of a path that the edge serves itself. */
export function optionsOf(methods: readonly string[]): Endpoint {
  const all = [...new Set([...methods, 'OPTIONS'])].join(', ')
  return open('options', ({ request }, edge) => ({
    status: 204,
    headers: { Allow: all, ...preflightHeaders(request, edge.corsOrigins) },
  }))
}

const known = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'POST']

/** For a path of the plane; where nothing is served, all methods the edge knows. */
export const options: Endpoint = open('options', (exchange, edge) => {
  const { path, search, request } = exchange
  const methods = edge.plane.methodsOf(path, new URLSearchParams(search)) ?? known
  return {
    status: 204,
    headers: {
      Allow: [...methods, 'OPTIONS'].join(', '),
      ...preflightHeaders(request, edge.corsOrigins),
    },
  }
})

/** For unknown paths within an area of the edge. */
export function notFound(kind: 'directory' | 'open'): Endpoint {
  return {
    kind,
    type: kind,
    body: 'none',
    counts: 'reads',
    authorize: () => {},
    run(exchange) {
      throw refuse.NotFound({ path: exchange.path })
    },
  }
}
