/** Revisions of a container group profile, oldest first, computed from the profile. */

import { refuse } from '#kernel/error.ts'
import { nameOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import { added } from '#plane/declare/added.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Context, Resource } from '#plane/declare/resource.ts'
import type { ListContext, ListPage } from '#plane/declare/wire.ts'
import type { ContainerGroupProfile, ProfileRevision } from '../container-group-profiles/model.ts'
import { profileAnswer, showRevision } from '../container-group-profiles/versions/2025-09-01.ts'
import { profileType } from '../container-groups/prepare.ts'

export function profileRevisions(): ResourceType {
  return defineComputed({
    type: `${profileType}/revisions`,
    description: 'The revisions of a profile, oldest first.',
    scope: 'resource-group',
    apiVersions: ['2025-09-01'],
    answer: added(profileAnswer),
    source: {
      async get({ id, reader, words }) {
        const profile = await profileAt(reader, parentOf(id))
        const found = profile?.model.revisions.find((one) => String(one.revision) === nameOf(id))
        return profile === undefined || found === undefined
          ? undefined
          : showOne(profile, found, words)
      },
      list: listRevisions,
    },
  })
}

async function profileAt(
  reader: Context['reader'],
  id: ResourceId,
): Promise<Resource<ContainerGroupProfile> | undefined> {
  // Rows of this type hold this model.
  return (await reader.get(id)) as Resource<ContainerGroupProfile> | undefined
}

async function listRevisions({
  reader,
  parent,
  words,
  cursor,
  limit,
}: ListContext): Promise<ListPage<object>> {
  const profile = await profileAt(reader, parent)
  if (profile === undefined) throw refuse.ResourceNotFound({ id: parent.text })
  const after = Number(cursor ?? 0)
  const left = profile.model.revisions.filter(({ revision }) => revision > after)
  const page = left.slice(0, limit)
  const last = page.at(-1)
  return {
    items: page.map((one) => showOne(profile, one, words)),
    ...(left.length > limit && last !== undefined ? { next: String(last.revision) } : {}),
  }
}

/** A revision looks like the earlier profile, with an id of its own. */
function showOne(
  profile: Resource<ContainerGroupProfile>,
  revision: ProfileRevision,
  words: Context['words'],
): object {
  return {
    id: `${profile.id.text}/revisions/${revision.revision}`,
    name: String(revision.revision),
    type: `${qualify(words, profileType)}/revisions`,
    location: profile.location,
    tags: profile.tags ?? {},
    ...showRevision(revision),
  }
}
