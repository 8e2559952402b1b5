/** Sends one request to a plane in a test as the edge would: located, authorized, run. */

import assert from 'node:assert/strict'
import { isJsonObject } from '#kernel/patch.ts'
import type { Principal } from '#kernel/principal.ts'
import type { RunningPlane } from '../create-plane.ts'
import type { ReadRoute } from '../locate.ts'
import type { Method, Outcome, Route } from '../plane.ts'
import { undeclaredMembers } from './declared-answer.ts'
import type { SubjectOptions } from './resource-contract.ts'

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
  readonly meanwhile?: SubjectOptions['meanwhile']
}

export async function ask(
  plane: RunningPlane,
  method: Method,
  path: string,
  body: unknown,
  { as, version, ifMatch, ifNoneMatch, isUnasked, signal, meanwhile }: AskOptions,
): Promise<Outcome> {
  const url = new URL(path, 'http://plane')
  if (!url.searchParams.has('api-version')) url.searchParams.set('api-version', version)
  const route = plane.locate(method, url.pathname, url.searchParams)
  const pending = isUnasked === true ? undefined : await plane.authorize(route, as, 'correlation')
  const outcome = await plane.run(route, {
    principal: as,
    query: url.searchParams,
    body,
    preconditions: { ifMatch, ifNoneMatch },
    correlationId: 'correlation',
    from: { method, address: '192.0.2.1', userAgent: 'test' },
    pending,
    ...(signal === undefined ? {} : { signal }),
    ...(meanwhile === undefined ? {} : { authorizeAgain: () => meanwhile().then(() => pending) }),
    permission: { principalId: as.id, ask: async () => ({ holds: true, until: Infinity }) },
  })
  // An export is declared at its top; below `properties` its names are those of an import (decision 0166).
  if (!url.searchParams.has('export')) requireDeclared(route, outcome)
  return outcome
}

const shownBy = new Set(['get', 'list', 'put', 'patch'])

/** Each property that is answered of a resource is one that the type's document declares. */
function requireDeclared(route: Route, { status, body: answered }: Outcome): void {
  // Every route comes from `locate`, and these have the members of one that reads.
  const { kind, compiled, version } = route as ReadRoute
  const body: unknown = typeof answered === 'string' ? JSON.parse(answered) : answered
  if (!shownBy.has(kind) || status > 201 || !isJsonObject(body)) return
  const answer = compiled.versions.get(version)?.answer ?? compiled.answer
  if (answer === undefined) return
  const items: readonly Readonly<Record<string, unknown>>[] =
    kind === 'list' && Array.isArray(body['value']) ? body['value'] : [body]
  for (const item of items) {
    // A name that follows the brand cannot be declared.
    const undeclared: readonly string[] = undeclaredMembers(answer, item).filter(
      (path) => !path.includes('Vendor'),
    )
    assert.deepEqual(undeclared, [], `${compiled.fullType} ${version}: not declared`)
  }
}
