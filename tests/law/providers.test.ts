/** Every provider has the same layout, so that things are easy to find (`src/providers/README.md`). */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sourceFiles } from './source.ts'

const notProviders = ['testing']
const inProvider =
  /^(?:provider|errors|dependencies|published-versions|[\w.-]+\.test)\.ts$|^README\.md$|^(?:resources|domain|testing)\//
const inType =
  /^(?:resource|model|prepare|rules|reconcile|list|actions|sample|[\w.-]+\.test)\.ts$|^(?:versions|rules|actions)\/[\w.-]+\.ts$/
const dated = /^versions\/\d{4}-\d{2}-\d{2}(?:-preview)?\.ts$/

interface File {
  /** Path below the provider's folder. */
  readonly path: string
  readonly text: string
}

function problemsOf(files: readonly File[]): readonly string[] {
  const paths = files.map(({ path }) => path)
  const types = Map.groupBy(
    paths.filter((path) => path.startsWith('resources/')),
    (path) => path.split('/')[1] ?? '',
  )
  return [
    ...(paths.includes('provider.ts') ? [] : ['provider.ts is missing']),
    ...paths
      .filter((path) => !inProvider.test(path))
      .map((path) => `${path}: belongs into resources/<type>/ or domain/`),
    ...[...types].flatMap(([type, all]) => problemsOfType(type, all)),
    ...files
      .filter(({ path }) => !path.endsWith('.test.ts'))
      .flatMap(({ path, text }) => [
        ...(/\bdefineErrors\(/.test(text) && path !== 'errors.ts'
          ? [`${path}: errors are declared in errors.ts`]
          : []),
        ...(/\bdefineResource[<(]/.test(text) && !/^resources\/[^/]+\/resource\.ts$/.test(path)
          ? [`${path}: types are declared in resources/<type>/resource.ts`]
          : []),
      ]),
  ]
}

function problemsOfType(type: string, paths: readonly string[]): readonly string[] {
  const own = paths.map((path) => path.slice(`resources/${type}/`.length))
  const hasModel = own.includes('model.ts')
  const hasVersion = own.some((path) => dated.test(path))
  return [
    ...(own.includes('resource.ts') ? [] : ['resource.ts is missing']),
    ...(hasModel && !hasVersion ? ['a stored type has a wire shape in versions/<date>.ts'] : []),
    ...(hasVersion && !hasModel ? ['a type with wire shapes has a model.ts'] : []),
    ...own
      .filter((path) => !inType.test(path))
      .map((path) => `${path}: belongs into domain/, or has another name`),
  ].map((problem) => `resources/${type}: ${problem}`)
}

const providers = Map.groupBy(
  ['.ts', '.md'].flatMap((ending) => sourceFiles('src/providers', ending)),
  ({ path }) => path.split('/')[2] ?? '',
)

describe('providers', () => {
  for (const [name, files] of providers) {
    if (/\./.test(name) || notProviders.includes(name)) continue
    const own = files.map(({ path, text }) => ({
      path: path.slice(`src/providers/${name}/`.length),
      text,
    }))
    test(`${name} has the shape of a provider`, () => {
      assert.deepEqual(problemsOf(own), [])
    })
  }

  test('a wrong shape is caught', () => {
    const file = (path: string, text = ''): File => ({ path, text })
    assert.deepEqual(
      problemsOf([
        file('ledger.ts'),
        file('domain/errors.ts', 'defineErrors({})'),
        file('domain/type.ts', 'defineResource<M>({})'),
        file('resources/a/model.ts'),
        file('resources/a/helpers.ts'),
        file('resources/b/resource.ts', 'defineResource({})'),
        file('resources/b/versions/2020-01-01.ts'),
      ]),
      [
        'provider.ts is missing',
        'ledger.ts: belongs into resources/<type>/ or domain/',
        'resources/a: resource.ts is missing',
        'resources/a: a stored type has a wire shape in versions/<date>.ts',
        'resources/a: helpers.ts: belongs into domain/, or has another name',
        'resources/b: a type with wire shapes has a model.ts',
        'domain/errors.ts: errors are declared in errors.ts',
        'domain/type.ts: types are declared in resources/<type>/resource.ts',
      ],
    )
  })
})
