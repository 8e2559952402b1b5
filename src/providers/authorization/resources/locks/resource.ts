/** Locks: an extension at any scope below the root. `guard.ts` enforces them. */

import type { Problem } from '#kernel/error.ts'
import { type ResourceId, scopeOf } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { defineStored, type RuleContext } from '#plane/declare/stored.ts'
import type { ListContext, ListPage } from '#plane/declare/wire.ts'
import { parseLockFilter } from '../../domain/filters.ts'
import type { AuthorizationLimits } from '../../domain/limits.ts'
import { extensionsAt, listAroundScope } from '../../domain/list-around-scope.ts'
import { lockType } from '../../domain/lock-guard.ts'
import type { Lock } from './model.ts'
import { v2016_09_01 } from './versions/2016-09-01.ts'

export function locks(limits: AuthorizationLimits): ResourceType {
  return defineStored<Lock>({
    type: lockType,
    description: 'What is kept from being changed or deleted, at a scope and everything below it.',
    scope: 'any',
    query: { list: ['$filter'] },
    name: {
      pattern: /^[^<>%&:\\?/]{1,260}$/,
      rule: '1 to 260 characters, none of < > % & : \\ ? /',
    },
    versions: [v2016_09_01],
    compatibleVersions: ['2015-01-01', '2017-04-01', '2020-05-01'],
    verbs: ['get', 'list', 'put', 'delete'],
    list: { page: (context) => listLocks(context, limits) },
    rules: placeProblems,
    attributes: ({ level }) => ({ level }),
    sample: {
      name: (seed) => `sample-${seed}`,
      body: () => ({ properties: { level: 'CanNotDelete', notes: 'sample' } }),
      changed: () => ({ properties: { level: 'CanNotDelete', notes: 'sample, changed' } }),
    },
  })
}

/** All locks at the scope and below it; with `atScope()`, those that hold the scope itself: at it and above. */
function listLocks(
  context: ListContext,
  limits: AuthorizationLimits,
): Promise<ListPage<Resource<Lock>>> {
  const atScope = parseLockFilter(context.query.get('$filter') ?? '')
  return listAroundScope<Lock>(context, limits, {
    type: lockType,
    atScope,
    ...(atScope ? {} : { scopeKeys: [context.parent.key] }),
  })
}

/** Every write at or below the scope reads them all. */
const locksPerScopeMax = 20

async function placeProblems({
  id,
  previous,
  reader,
  words,
}: RuleContext<Lock>): Promise<readonly Problem[]> {
  const scope = scopeOf(id)
  // A lock at the root would lock out whoever is to remove it.
  if (scope.segments.length === 0) {
    return [{ path: '', message: 'a lock is made at a subscription or below, not at the root' }]
  }
  if (previous !== undefined) return []
  if (isLock(scope, qualify(words, 'Authorization'))) {
    return [{ path: '', message: 'a lock is made at what it protects; no lock holds another lock' }]
  }
  const under = extensionsAt(words, lockType, scope.key)
  if (await reader.hasRoom({ type: lockType, under, limit: locksPerScopeMax })) return []
  return [{ path: '', message: `at most ${locksPerScopeMax} locks are made at one scope` }]
}

function isLock(scope: ResourceId, namespace: string): boolean {
  const last = scope.segments.at(-1)
  return (
    last?.namespace?.toLowerCase() === namespace.toLowerCase() &&
    last.types[0]?.toLowerCase() === 'locks'
  )
}
