/** Sends one request to a plane in a test as the edge would: located, authorized, run. */

import type { Principal } from '#kernel/principal.ts'
import type { RunningPlane } from '../create-plane.ts'
import type { Method, Outcome } from '../plane.ts'

interface AskOptions {
  readonly as: Principal
  /** Used where the path has no api-version. */
  readonly version: string
  readonly ifMatch?: string | undefined
  readonly ifNoneMatch?: string | undefined
  /** True skips authorization: nobody can allow the first assignment of an installation. */
  readonly isUnasked?: boolean
  /** Aborted at the request's deadline. */
  readonly signal?: AbortSignal
}

export async function ask(
  plane: RunningPlane,
  method: Method,
  path: string,
  body: unknown,
  { as, version, ifMatch, ifNoneMatch, isUnasked, signal }: AskOptions,
): Promise<Outcome> {
  const url = new URL(path, 'http://plane')
  if (!url.searchParams.has('api-version')) url.searchParams.set('api-version', version)
  const route = plane.locate(method, url.pathname, url.searchParams)
  const pending = isUnasked === true ? undefined : await plane.authorize(route, as, 'correlation')
  return plane.run(route, {
    principal: as,
    query: url.searchParams,
    body,
    preconditions: { ifMatch, ifNoneMatch },
    correlationId: 'correlation',
    from: { method, address: '192.0.2.1', userAgent: 'test' },
    pending,
    ...(signal === undefined ? {} : { signal }),
    permission: { principalId: as.id, ask: async () => ({ holds: true, until: Infinity }) },
  })
}
