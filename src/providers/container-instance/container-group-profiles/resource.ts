/** Container group profiles: what many groups have in common, kept by revision. They run nothing. */

import { refuse } from '#kernel/error.ts'
import type { Seal } from '#kernel/ports.ts'
import { nameOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import {
  type Context,
  defineResource,
  type ListContext,
  type ListPage,
  type Resource,
  type ResourceType,
} from '#plane/define.ts'
import { profileType } from '../container-groups/prepare.ts'
import type { ContainerLimits } from '../limits.ts'
import type { ContainerGroupProfile, ProfileRevision } from './model.ts'
import { profileVersion, showRevision } from './versions/2025-09-01.ts'

export interface ProfileParts {
  readonly seal: Seal
  readonly limits: ContainerLimits
}

const name = {
  pattern: /^[a-zA-Z0-9](?:[-_a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$/,
  rule: '1 to 63 letters, digits, hyphens and underscores, a letter or digit first and last',
}

const secret = 'hush-profile'

export function containerGroupProfiles({ seal, limits }: ProfileParts): readonly ResourceType[] {
  return [
    defineResource<ContainerGroupProfile>({
      type: profileType,
      description: 'What many container groups have in common.',
      scope: 'resource-group',
      tracked: true,
      location: 'optional',
      name,
      secrets: 'in-every-body',
      versions: [profileVersion(seal, limits)],
      prepare: async ({ id }, body: object) => ({ ...body, place: id.key }),
      sample: {
        name: (seed) => `profile-${seed}`,
        body: () => profileBody('registry.example/web:1'),
        changed: () => profileBody('registry.example/web:2'),
        secrets: [secret],
      },
    }),
    defineResource({
      type: `${profileType}/revisions`,
      description: 'The revisions of a profile, oldest first.',
      scope: 'resource-group',
      tracked: false,
      name: { pattern: /^\d{1,9}$/, rule: 'a whole number' },
      versions: [],
      apiVersions: ['2025-09-01'],
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
    }),
  ]
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

/** A revision looks like the profile it was, under an id of its own. */
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

function profileBody(image: string): object {
  return {
    location: 'here',
    properties: {
      osType: 'Linux',
      containers: [
        {
          name: 'web',
          properties: {
            image,
            environmentVariables: [{ name: 'TOKEN', secureValue: secret }],
          },
        },
      ],
    },
  }
}
