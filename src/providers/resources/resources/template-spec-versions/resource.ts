/** Versions of template specs. A deployment that names one by its id carries out its template. */

import type { ResourceType } from '#plane/declare/provider.ts'
import { defineStored } from '#plane/declare/stored.ts'
import { templateSpecVersions } from '../../published-versions.ts'
import type { TemplateSpecVersion } from './model.ts'
import { v2019_06_01_preview } from './versions/2019-06-01-preview.ts'
import { v2022_02_01 } from './versions/2022-02-01.ts'

export function versionsOfTemplateSpecs(): ResourceType {
  const template = { contentVersion: '1.0.0.0', resources: [] }
  const body = (description: string, version = '') => {
    const held = version === v2019_06_01_preview.date ? { template } : { mainTemplate: template }
    return { location: 'here', properties: { description, ...held } }
  }
  return defineStored<TemplateSpecVersion>({
    type: 'Resources/templateSpecs/versions',
    description: 'The versions of a template spec, each a template.',
    scope: 'resource-group',
    tracked: { location: 'required' },
    protocol: { bodySyntax: 'exact' },
    name: { pattern: /^[-\w._()]{1,90}$/, rule: '1 to 90 letters, digits, or any of "-._()"' },
    versions: [
      v2019_06_01_preview,
      ...templateSpecVersions.map((date) => ({ ...v2022_02_01, date })),
    ],
    compatibleVersions: [],
    sample: {
      name: (seed) => `1.${seed}`,
      body: (_seed, version) => body('one', version),
      changed: (_seed, version) => body('another', version),
    },
  })
}
