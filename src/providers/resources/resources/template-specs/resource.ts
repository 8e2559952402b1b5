/** Template specs: templates that are kept here, in versions, and deployed by their ids. */

import type { ResourceType } from '#plane/declare/provider.ts'
import { defineStored } from '#plane/declare/stored.ts'
import { templateSpecVersions } from '../../published-versions.ts'
import type { TemplateSpec } from './model.ts'
import { v2022_02_01 } from './versions/2022-02-01.ts'

export function templateSpecs(): ResourceType {
  return defineStored<TemplateSpec>({
    type: 'Resources/templateSpecs',
    description: 'Templates that are kept here, in versions.',
    scope: 'resource-group',
    tracked: { location: 'required' },
    name: { pattern: /^[-\w._()]{1,90}$/, rule: '1 to 90 letters, digits, or any of "-._()"' },
    versions: [v2022_02_01],
    compatibleVersions: templateSpecVersions,
    sample: {
      name: (seed) => `spec-${seed}`,
      body: () => ({ location: 'here', properties: { description: 'one' } }),
      changed: () => ({ location: 'here', properties: { description: 'another' } }),
    },
  })
}
