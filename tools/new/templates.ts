/** The texts of new files, as the nearest ones look. What their author has to write is marked by a failing test. */

export interface Names {
  /** Of the provider, below `src/providers`. */
  readonly folder: string
  /** Without the vendor word. */
  readonly namespace: string
  /** `widgets/widgetSets`: with the types that it is nested in. */
  readonly path: string
  readonly isNested: boolean
  /** `widgetSets`: as it is in paths, and the function that declares it. */
  readonly types: string
  /** `widget-sets`: its folder. */
  readonly type: string
  readonly date: string
  /** `v2026_01_01`. */
  readonly constant: string
}

interface ProviderNames {
  readonly namespace: string
  readonly folder: string
  readonly provider: string
}

export function providerFiles({
  namespace,
  folder,
  provider,
}: ProviderNames): ReadonlyMap<string, string> {
  return new Map([
    [
      `src/providers/${folder}/provider.ts`,
      `/** The namespace \`${namespace}\`. */

import { defineProvider, type Provider } from '#plane/declare/provider.ts'

export function ${provider}(): Provider {
  return defineProvider({
    namespace: '${namespace}',
    description: 'What this namespace is for.',
    types: [],
  })
}
`,
    ],
    [
      `src/providers/${folder}/README.md`,
      `# ${namespace}

What this namespace is for.

Done: nothing yet.

Different: nothing.

Missing: everything.
`,
    ],
  ])
}

export function resourceFiles(names: Names): ReadonlyMap<string, string> {
  const { folder, namespace, path, isNested, types, type, date, constant } = names
  // What is nested is where its parent is.
  const tracked = isNested
    ? ''
    : `
    tracked: { location: 'required' },`
  const location = isNested ? '' : `location: 'here', `
  const place = `src/providers/${folder}/resources/${type}`
  const model = `${types.charAt(0).toUpperCase()}${types.slice(1)}Model`
  return new Map([
    [
      `${place}/resource.ts`,
      `/** What \`${types}\` are. */

import type { ResourceType } from '#plane/declare/provider.ts'
import { defineStored } from '#plane/declare/stored.ts'
import type { ${model} } from './model.ts'
import { ${constant} } from './versions/${date}.ts'

export function ${types}(): ResourceType {
  return defineStored<${model}>({
    type: '${namespace}/${path}',
    description: 'What they are.',
    scope: 'resource-group',${tracked}
    name: { pattern: /^[a-zA-Z][a-zA-Z0-9-]{0,62}$/, rule: '1 to 63 letters, digits and hyphens, a letter first' },
    versions: [${constant}],
    sample: {
      name: (seed) => \`sample-\${seed}\`,
      body: () => ({ ${location}properties: { description: 'one' } }),
      changed: () => ({ ${location}properties: { description: 'two' } }),
    },
  })
}
`,
    ],
    [
      `${place}/model.ts`,
      `/** The stored shape, one for all versions. */

export interface ${model} {
  readonly description?: string
}
`,
    ],
    [
      `${place}/versions/${date}.ts`,
      `/** On the wire, version ${date}. */

import Type, { type Static } from 'typebox'
import type { Version } from '#plane/declare/wire.ts'
import type { ${model} } from '../model.ts'

const properties = Type.Object({ description: Type.Optional(Type.String({ maxLength: 1000 })) })
const body = Type.Object({ properties })

export const ${constant}: Version<${model}> = {
  date: '${date}',
  body,
  answer: Type.Object({ properties }),
  unknownProperties: 'ignore',
  toModel: ({ properties: { description } }: Static<typeof body>) =>
    description === undefined ? {} : { description },
  fromModel: (model) => ({ properties: { ...model } }),
}
`,
    ],
    [`${place}/versions/${date}.test.ts`, versionTest(names)],
  ])
}

/** Fails until its author has written down what the contract names. */
export function versionTest({ types, namespace, date, constant }: Names): string {
  return `/** The contract of \`${types}\` in ${date}: written down here first. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ${constant} } from './${date}.ts'

/** The names of \`properties\`, in alphabetical order. */
const contract: readonly string[] = ['write the names of the contract here']

test('${namespace}/${types} in ${date} has the properties of its contract', () => {
  const { properties } = Object(${constant}.answer).properties
  assert.deepEqual(Object.keys(properties.properties).toSorted(), contract)
})
`
}
