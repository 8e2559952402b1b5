/** The tags of a stored resource, written by who may write tags: a PATCH that carries nothing else. */

import { refuse } from '#kernel/error.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import { isStored } from '../compiled-type.ts'
import type { PlaneDependencies } from '../dependencies.ts'
import { locate } from '../locate.ts'
import type { RunInput } from '../plane.ts'
import { runPatch } from './patch.ts'

const anyVersion = '2021-04-01'

/** Asks for no permission: the caller's right to tags was asked for. Refuses types that have no tags. */
export async function replaceTags(
  deps: PlaneDependencies,
  id: ResourceId,
  tags: Readonly<Record<string, string>>,
  caller: Pick<RunInput, 'principal' | 'correlationId' | 'from'>,
): Promise<void> {
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
  await runPatch(deps, route, {
    ...caller,
    query,
    body: { tags },
    preconditions: {},
    pending: undefined,
  })
}
