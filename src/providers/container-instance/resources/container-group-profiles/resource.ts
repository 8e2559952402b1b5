/** Container group profiles: what many groups have in common, kept by revision. They run nothing. */

import type { Seal } from '#kernel/ports.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineStored } from '#plane/declare/stored.ts'
import type { ContainerLimits } from '../../domain/limits.ts'
import { profileType } from '../container-groups/prepare.ts'
import type { ContainerGroupProfile } from './model.ts'
import { profileVersion } from './versions/2025-09-01.ts'

export interface ProfileDependencies {
  readonly seal: Seal
  readonly limits: ContainerLimits
}

const name = {
  pattern: /^[a-zA-Z0-9](?:[-_a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$/,
  rule: '1 to 63 letters, digits, hyphens and underscores, a letter or digit first and last',
}

const secret = 'hush-profile'

export function containerGroupProfiles({ seal, limits }: ProfileDependencies): ResourceType {
  return defineStored<ContainerGroupProfile>({
    type: profileType,
    description: 'What many container groups have in common.',
    scope: 'resource-group',
    tracked: { location: 'optional' },
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
  })
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
