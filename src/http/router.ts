/**
 * Finds the handler of a path with `find-my-way`. It knows no endpoint and never answers itself: unknown paths, and
 * paths that cannot be decoded, go to the fallback.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import findMyWay from 'find-my-way'

/** Path parameters, decoded. */
export type PathParameters = Readonly<Record<string, string>>

type RouteHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  params: PathParameters,
) => void

export interface Router {
  /** Handles every method of the path. `:name` is a parameter, `*` at the end matches the rest. */
  add(path: string, handle: RouteHandler): void
  route(request: IncomingMessage, response: ServerResponse): void
}

/** Requests with other methods go to the fallback, whose refusal lists the served methods. */
const methods = new Set(['GET', 'HEAD', 'TRACE', 'DELETE', 'OPTIONS', 'PATCH', 'PUT', 'POST'])
/** A path has the same handler for all methods, so one tree is built instead of eight. */
const tree = 'GET'

/** A longer parameter matches no route. */
const parameterLengthMax = 1_000

export function createRouter(
  fallback: (request: IncomingMessage, response: ServerResponse) => void,
): Router {
  const toFallback = (_path: string, request: IncomingMessage, response: ServerResponse): void =>
    fallback(request, response)
  const router = findMyWay({
    maxParamLength: parameterLengthMax,
    defaultRoute: fallback,
    onBadUrl: toFallback,
    onMaxParamLength: toFallback,
    // The pipeline reads the query itself.
    querystringParser: () => ({}),
  })
  return {
    add(path, handle) {
      router.on(tree, path, (request, response, params) => {
        // Every parameter is a string: no route has an optional one.
        handle(request, response, params as PathParameters)
      })
    },
    route(request, response) {
      const { method = tree, url = '/' } = request
      // The router decodes no `$`, and clients write names such as `$ref` and `$batch` either way.
      const found = methods.has(method) ? router.find(tree, url.replaceAll('%24', '$$')) : null
      if (found === null) return fallback(request, response)
      found.handler(request, response, found.params, found.store, found.searchParams)
    },
  }
}
