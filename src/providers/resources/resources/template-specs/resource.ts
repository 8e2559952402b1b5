/** Template specs: templates that are kept here, in versions, and deployed by their ids. */

import { nameOf } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { GetContext } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineStored } from '#plane/declare/stored.ts'
import { templateSpecVersions } from '../../published-versions.ts'
import type { TemplateSpecVersion } from '../template-spec-versions/model.ts'
import type { TemplateSpec } from './model.ts'
import { v2022_02_01 } from './versions/2022-02-01.ts'

const type = 'Resources/templateSpecs'
const versionsType = 'Resources/templateSpecs/versions'
/** As many versions as `$expand` shows. */
const shownVersionsMax = 1000

/** `GET …?$expand=versions`: the template spec with its versions by name, for a caller who may read them. */
async function expanded({
  id,
  query,
  reader,
  may,
  words,
  signal,
}: GetContext): Promise<object | undefined> {
  if (query.get('$expand')?.toLowerCase() !== 'versions') return undefined
  const found = await reader.get(id)
  if (found === undefined || !(await may(`${versionsType}/read`, id))) return undefined
  const versions: [string, object][] = []
  // One by one: each may hold templates of megabytes.
  for await (const version of reader.each({
    type: versionsType,
    under: id,
    limit: shownVersionsMax,
  })) {
    signal?.throwIfAborted()
    const { createdAt, lastModifiedAt } = version.systemData
    // Made by the `toModel` of versions.
    const { description } = version.model as TemplateSpecVersion
    const said = description === undefined ? {} : { description }
    versions.push([
      nameOf(version.id),
      { ...said, timeCreated: createdAt, timeModified: lastModifiedAt },
    ])
  }
  const { location, tags, systemData } = found
  return {
    id: found.id.text,
    name: nameOf(found.id),
    type: qualify(words, type),
    location,
    tags: tags ?? {},
    systemData,
    // Made by this type's `toModel`.
    properties: { ...(found.model as TemplateSpec), versions: Object.fromEntries(versions) },
  }
}

export function templateSpecs(): ResourceType {
  return defineStored<TemplateSpec>({
    type,
    description: 'Templates that are kept here, in versions.',
    scope: 'resource-group',
    tracked: { location: 'required' },
    name: { pattern: /^[-\w._()]{1,90}$/, rule: '1 to 90 letters, digits, or any of "-._()"' },
    query: { get: ['$expand'] },
    source: { get: expanded },
    versions: [v2022_02_01],
    compatibleVersions: templateSpecVersions,
    sample: {
      name: (seed) => `spec-${seed}`,
      body: () => ({ location: 'here', properties: { description: 'one' } }),
      changed: () => ({ location: 'here', properties: { description: 'another' } }),
    },
  })
}
