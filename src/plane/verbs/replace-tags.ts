/**
 * Writes the tags of a stored resource for a caller who may write tags: a PATCH with nothing else. The address of
 * tags is a child scope of the resource, but the resource is changed, so its deny assignments and conditions apply.
 */

import { ApiError, refuse } from '#kernel/error.ts'
import { formatEtag } from '#kernel/etag.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import { StoreConflict } from '#stores/store.ts'
import { isStored } from '../compiled-type.ts'
import type { Resource } from '../declare/resource.ts'
import type { PlaneDependencies } from '../dependencies.ts'
import { readRow } from '../document.ts'
import { authorizationFailed, prohibitedError } from '../grant.ts'
import { locate } from '../locate.ts'
import { freeTurn } from '../next-turn.ts'
import type { RunInput } from '../plane.ts'
import { runPatch } from './patch.ts'

const anyVersion = '2021-04-01'

type Tags = Readonly<Record<string, string>>

export interface TagsChange {
  /** Which right to tags was checked. */
  readonly right: 'write' | 'delete'
  /** The tags to write, made of the resource as it is. Called again when others wrote it meanwhile. */
  made(current: Resource): Tags
}

/** Each lost race is a write of somebody else. */
const attemptsMax = 100

/** The caller's right to write or delete tags was checked before. Refuses types that have no tags. */
export async function replaceTags(
  deps: PlaneDependencies,
  id: ResourceId,
  change: TagsChange,
  caller: Pick<RunInput, 'principal' | 'correlationId' | 'from'>,
): Promise<Tags> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const written = await replaceOnce(deps, id, change, caller)
    if (written !== undefined) return written
  }
  throw new StoreConflict(`the tags of ${id.text} are written all the time`)
}

/** Undefined where somebody else wrote the resource meanwhile. */
async function replaceOnce(
  deps: PlaneDependencies,
  id: ResourceId,
  change: TagsChange,
  caller: Pick<RunInput, 'principal' | 'correlationId' | 'from'>,
): Promise<Tags | undefined> {
  const { principal } = caller
  const right = qualify(deps.registry.words, `Resources/tags/${change.right}`)
  const prohibitions = await deps.access.prohibitionsFor?.(principal)
  const found = prohibitions?.find({ action: right, scope: id })
  if (found !== undefined) throw prohibitedError({ action: right, scope: id }, principal, found)
  const row = await deps.store.get(id.key)
  if (row === undefined) throw refuse.ResourceNotFound({ id: id.text })
  await freeTurn(principal.id)
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
  // A caller whose right to write the resource has a condition writes its tags under that condition. A caller without
  // that right needs only the right to tags.
  const verdict = await deps.access.allows({ principal, action: route.action, scope: id })
  const settings = stored?.settingTags ?? []
  const current = readRow(row)
  const { tags: before } = current
  const after = change.made(current)
  if (
    verdict === false &&
    settings.some((name) => tagValue(before, name) !== tagValue(after, name))
  ) {
    throw authorizationFailed(route, principal)
  }
  const done = runPatch(deps, route, {
    ...caller,
    query,
    body: { tags: after },
    preconditions: { ifMatch: formatEtag(current.etag) },
    pending: typeof verdict === 'boolean' ? undefined : verdict,
  })
  return done
    .then(() => after)
    .catch((error: unknown) => {
      // The only precondition is the entity tag of what the change was made of.
      if (error instanceof ApiError && error.status === 412) return undefined
      throw error
    })
}

/** Names of tags are the same in any case. */
function tagValue(
  tags: Readonly<Record<string, string>> | undefined,
  name: string,
): string | undefined {
  return Object.entries(tags ?? {}).find(([tag]) => tag.toLowerCase() === name)?.[1]
}
