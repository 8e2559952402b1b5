/**
 * The tags of a stored resource, written by who may write tags: a PATCH that carries nothing else. Their address is a child
 * scope of the resource, but what is changed is the resource: what denies a change there counts, and so does a condition on it.
 */

import { refuse } from '#kernel/error.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import { isStored } from '../compiled-type.ts'
import type { PlaneDependencies } from '../dependencies.ts'
import { prohibited } from '../grant.ts'
import { locate } from '../locate.ts'
import type { RunInput } from '../plane.ts'
import { runPatch } from './patch.ts'

const anyVersion = '2021-04-01'

/** The caller's right to write the tags, or to delete them, was asked for. Refuses types that have no tags. */
export async function replaceTags(
  deps: PlaneDependencies,
  id: ResourceId,
  tags: Readonly<Record<string, string>> | 'none',
  caller: Pick<RunInput, 'principal' | 'correlationId' | 'from'>,
): Promise<void> {
  const { principal } = caller
  const right = qualify(
    deps.registry.words,
    `Resources/tags/${tags === 'none' ? 'delete' : 'write'}`,
  )
  const prohibitions = await deps.access.prohibitionsFor?.(principal)
  const found = prohibitions?.find({ action: right, scope: id })
  if (found !== undefined) throw prohibited({ action: right, scope: id }, principal, found)
  const row = await deps.store.get(id.key)
  if (row === undefined) throw refuse.ResourceNotFound({ id: id.text })
  const compiled = deps.registry.byKey(row.type)
  const stored = isStored(compiled) ? compiled.stored : undefined
  const isTaggable = stored?.tracked !== undefined || stored?.container !== undefined
  if (compiled === undefined || !isTaggable) {
    const type = compiled?.wireType ?? row.type
    throw refuse.InvalidRequestContent({ reason: `resources of the type '${type}' have no tags` })
  }
  // A type that is served in any version is written in any.
  const dates = compiled.dates === 'any' ? [anyVersion] : compiled.dates
  const version = dates.find((date) => compiled.versions.get(date)?.patch !== 'none')
  const query = new URLSearchParams({ 'api-version': version ?? '' })
  const route = locate(deps.registry, 'PATCH', id.text, query)
  if (route.kind !== 'patch') throw new Error(`${id.text} is not the path of a PATCH`)
  // Whoever may write the resource under a condition alone may write its tags under that one; whoever may not at all needs none.
  const verdict = await deps.access.allows({ principal, action: route.action, scope: id })
  await runPatch(deps, route, {
    ...caller,
    query,
    body: { tags: tags === 'none' ? {} : tags },
    preconditions: {},
    pending: typeof verdict === 'boolean' ? undefined : verdict,
  })
}
