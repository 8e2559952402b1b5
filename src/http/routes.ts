/** Maps paths to endpoints, or to areas that answer themselves. All other paths are the plane's. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Business } from '#business/service.ts'
import { oauthPaths } from '#identity/rewrite.ts'
import { businessEndpoints, businessFronts, noSuchVersion } from './business.ts'
import { type DirectoryRoute, directoryEndpoint, methodRefusal } from './directory.ts'
import type { Endpoint } from './exchange.ts'
import {
  type Check,
  healthz,
  metadataEndpoints,
  metrics,
  notFound,
  openapi,
  optionsOf,
  readyz,
  rootRedirect,
} from './open-endpoints.ts'
import type { PathParameters, Router } from './router.ts'

/** Answers raw requests: identity's pages, the consent pages. Never throws. */
export type RawHandler = (request: IncomingMessage, response: ServerResponse) => void

/** Runs an endpoint for a request. */
type Enter = (
  request: IncomingMessage,
  response: ServerResponse,
  endpoint: Endpoint,
  params?: PathParameters,
) => void

interface Mount {
  readonly prefix: string
  readonly handle: RawHandler
  /** Answering costs something, though no token is asked for: each address has the allowance of the sign-in's. */
  readonly isThrottled?: true
}

export interface RouteDependencies {
  /** Identity's own paths, untouched. */
  readonly oauth: RawHandler
  /** Areas that answer themselves, by path prefix. */
  readonly mounts?: readonly Mount[]
  /** Where a browser at `/` is redirected, relative to it. Without it the sign-in is used. */
  readonly frontPage?: string
  readonly directoryRoutes: readonly DirectoryRoute[]
  /** The business application, at `/api/v2.0` and `/api/v1.0`. */
  readonly business?: Business
  readiness(): Promise<readonly Check[]>
  /** Anyone who reaches the server may read `/metrics`. */
  readonly publishesMetrics: boolean
  /** A document as JSON text, by its path below `/openapi/`. Served without a token, so it must cost nothing. */
  openapi?(path: string): string | undefined
}

/** The endpoint of a request by its method. OPTIONS answers with the listed methods. */
interface MethodTable {
  readonly byMethod: ReadonlyMap<string, Endpoint>
  /** For every other method. */
  readonly other: Endpoint
}

export function addRoutes(router: Router, deps: RouteDependencies, enter: Enter): void {
  function mount(path: string, { byMethod, other }: MethodTable): void {
    const listed = optionsOf([...byMethod.keys()])
    router.add(path, (request, response, params) => {
      const { method = 'GET' } = request
      const endpoint = method === 'OPTIONS' ? listed : (byMethod.get(method) ?? other)
      enter(request, response, endpoint, params)
    })
  }
  for (const path of oauthPaths) mountRaw(router, path, deps.oauth)
  for (const { prefix, handle } of deps.mounts ?? []) {
    mountRaw(router, prefix, handle)
    mountRaw(router, `${prefix}/*`, handle)
  }
  for (const [path, table] of [
    ...directoryTable(deps.directoryRoutes),
    ...(deps.business === undefined ? [] : businessTable(deps.business)),
    ...openTable(deps),
  ]) {
    mount(path, table)
  }
}

function mountRaw(router: Router, path: string, handle: RawHandler): void {
  router.add(path, (request, response) => {
    if (request.headers.expect !== undefined) response.writeContinue()
    handle(request, response)
  })
}

type Table = readonly (readonly [path: string, MethodTable])[]

function only(other: Endpoint): MethodTable {
  return { byMethod: new Map(), other }
}

function directoryTable(routes: readonly DirectoryRoute[]): Table {
  const table = new Map<string, Map<string, Endpoint>>()
  for (const route of routes) {
    if (!/^\/(?:directory|_armature|v1\.0)\//.test(route.path)) {
      throw new Error(`${route.path} is not in the directory`)
    }
    const path = route.path.replace(/\{(\w+)\}/g, ':$1')
    const byMethod = table.get(path) ?? new Map<string, Endpoint>()
    byMethod.set(route.method, directoryEndpoint(route))
    table.set(path, byMethod)
  }
  const known = [...table].map(
    ([path, byMethod]) =>
      [path, { byMethod, other: methodRefusal('directory', [...byMethod.keys()]) }] as const,
  )
  const nowhere = only(notFound('directory'))
  return [...known, ['/directory', nowhere], ['/directory/*', nowhere]]
}

function businessTable(business: Business): Table {
  const versions = (['v2.0', 'v1.0'] as const).flatMap((version) => {
    return businessFronts.flatMap((front) => {
      const table = businessEndpoints(business, version, front)
      const root = `${front}/api/${version}`
      return [root, `${root}/*`].map((path) => [path, table] as const)
    })
  })
  const others = businessFronts.flatMap((front) =>
    [`${front}/api`, `${front}/api/*`].map((path) => [path, only(noSuchVersion)] as const),
  )
  return [...versions, ...others]
}

function openTable(deps: RouteDependencies): Table {
  const documents = openapi((path) => deps.openapi?.(path))
  const endpoints = [
    ['/', rootRedirect(deps.frontPage)],
    ['/healthz', healthz],
    ['/readyz', readyz(() => deps.readiness())],
    ['/metrics', deps.publishesMetrics ? metrics : notFound('open')],
    ['/metadata/endpoints', metadataEndpoints],
    ['/openapi', documents],
    ['/openapi/*', documents],
  ] as const
  const other = methodRefusal('open', ['GET', 'HEAD'])
  return endpoints.map(([path, endpoint]) => {
    const byMethod = new Map([
      ['GET', endpoint],
      ['HEAD', endpoint],
    ])
    return [path, { byMethod, other }]
  })
}
