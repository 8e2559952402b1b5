/** Accepted versions: those with a shape, those listed besides, and by setting any other date. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import { compareApiVersions } from '#kernel/api-version.ts'
import { ApiError } from '#kernel/error.ts'
import { contractWords } from '#kernel/vendor.ts'
import { defineProvider } from './declare/provider.ts'
import { defineStored } from './declare/stored.ts'
import type { Version } from './declare/wire.ts'
import { describe } from './describe.ts'
import { openApiDocuments } from './openapi.ts'
import { createRegistry, servedVersion } from './registry.ts'
import { type StartOptions, startPlane } from './testing/start.ts'

const shape = (date: string): Version<object> => ({
  date,
  body: Type.Object({}),
  answer: Type.Object({ properties: Type.Object({ shape: Type.String() }) }),
  unknownProperties: 'ignore',
  toModel: () => ({}),
  fromModel: () => ({ properties: { shape: date } }),
})

const provider = defineProvider({
  namespace: 'Dated',
  description: 'Types in versions.',
  compatibleVersions: ['2018-01-01', '2022-06-01-preview', '2030-01-01'],
  types: [
    defineStored<object>({
      type: 'Dated/things',
      description: 'A thing.',
      scope: 'tenant',
      name: { pattern: /^[a-z]+$/, rule: 'letters' },
      versions: [shape('2020-01-01'), shape('2024-01-01')],
      actions: {
        tell: {
          method: 'POST',
          description: 'Say the version',
          run: async ({ version }) => ({ status: 200, body: { version } }),
        },
      },
    }),
    defineStored<object>({
      type: 'Dated/boxes',
      description: 'A box, whose clients send versions of their own.',
      scope: 'tenant',
      name: { pattern: /^[a-z]+$/, rule: 'letters' },
      versions: [shape('2020-01-01')],
      compatibleVersions: ['2021-01-01'],
    }),
  ],
})

const start = (apiVersions: NonNullable<StartOptions['apiVersions']>) =>
  startPlane({ providers: [provider], apiVersions })

const thing = '/providers/Vendor.Dated/things/t'

/** The requested version, the one of the answer, and whether it is listed. */
const served = [
  ['2020-01-01', '2020-01-01', true],
  ['2024-01-01', '2024-01-01', true],
  ['2018-01-01', '2020-01-01', true],
  ['2022-06-01-preview', '2020-01-01', true],
  ['2022-06-01-Preview', '2020-01-01', true],
  ['2030-01-01', '2024-01-01', true],
  ['2019-07-01', '2020-01-01', false],
  ['2023-12-31', '2020-01-01', false],
  ['2024-01-01-preview', '2024-01-01', false],
  ['2031-05-05-privatepreview', '2024-01-01', false],
] as const
const never = ['latest', '2019-13-45', '2023-02-29', '2024-01-01-final', '20240101']

for (const rule of ['known', 'nearest'] as const) {
  test(`${rule}: every verb is served in the shape of the version, or refused`, async () => {
    await using plane = await start(rule)
    const at = (method: 'PUT' | 'GET' | 'POST', path: string, version: string) =>
      plane.call(method, path, method === 'PUT' ? {} : undefined, { version })
    for (const [asked, shown, isListed] of served) {
      const calls = [
        () => at('PUT', thing, asked),
        () => at('GET', thing, asked),
        () => at('GET', '/providers/Vendor.Dated/things', asked),
        () => at('POST', `${thing}/tell`, asked),
      ]
      for (const call of calls) {
        if (isListed || rule === 'nearest') {
          assert.ok(JSON.stringify((await call()).body).includes(`"${shown}"`), asked)
        } else await assert.rejects(call(), refused)
      }
    }
    for (const asked of never) {
      await assert.rejects(at('GET', thing, asked), refused, asked)
    }
    const box = '/providers/Vendor.Dated/boxes/b'
    await at('PUT', box, '2021-01-01')
    if (rule === 'known') await assert.rejects(at('GET', box, '2018-01-01'), refused)
  })
}

function refused(error: unknown): boolean {
  assert.ok(error instanceof ApiError)
  assert.equal(error.code, 'InvalidApiVersionParameter')
  return true
}

test('the route says which version answers, where the one asked for is not listed', async () => {
  await using started = await start('nearest')
  for (const [asked, shown, isListed] of served) {
    const query = new URLSearchParams({ 'api-version': asked })
    for (const path of [thing, '/providers/Vendor.Dated/things']) {
      const route = started.plane.locate('GET', path, query)
      assert.equal(route.nearestVersion, isListed ? undefined : shown, asked)
    }
  }
})

test('the refusal names every version that is listed, newest first', async () => {
  await using started = await start('known')
  const wrong = started.call('GET', thing, undefined, { version: '2019-07-01' })
  const error = await wrong.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof ApiError)
  const listed = ['2018-01-01', '2022-06-01-preview', '2030-01-01', '2020-01-01', '2024-01-01']
  assert.ok(error.message.includes(listed.sort(compareApiVersions).join(', ')), error.message)
})

test('descriptions and OpenAPI name them beside the shapes', () => {
  const registry = createRegistry([provider], contractWords)
  const routes = describe(registry)
  const of = (type: string) => routes.find((route) => route.type === `Vendor.Dated/${type}`)
  assert.deepEqual(of('things')?.versions, ['2024-01-01', '2020-01-01'])
  assert.deepEqual(of('things')?.compatibleVersions, [
    '2030-01-01',
    '2022-06-01-preview',
    '2018-01-01',
  ])
  assert.deepEqual(of('boxes')?.compatibleVersions, ['2021-01-01'])
  const documents = openApiDocuments(routes, contractWords)
  assert.deepEqual(
    documents.map((one) => one.version),
    ['2020-01-01', '2024-01-01'],
  )
  const text = (at: number): string => JSON.stringify(documents[at]?.document)
  assert.ok(text(0).includes('"x-alike-versions":["2022-06-01-preview","2018-01-01"]'))
  assert.ok(text(1).includes('"x-alike-versions":["2030-01-01"]'))
  // The pattern of names in the path, and the tag of what is answered.
  // biome-ignore lint/suspicious/noExplicitAny: a document is looked into freely here.
  const { paths } = JSON.parse(text(1)) as { readonly paths: Readonly<Record<string, any>> }
  const item = paths['/providers/Vendor.Dated/things/{thingName}']
  assert.equal(item.parameters[0].schema.pattern, '^[a-z]+$')
  assert.ok(item.get.responses[200].headers.ETag)
  assert.equal(item.delete.responses[200].headers, undefined)
  assert.equal(paths['/providers/Vendor.Dated/things'].get.responses[200].headers, undefined)
})

test('the name in a path is the singular of its type', () => {
  const routes = describe(createRegistry([provider], contractWords))
  const paths = routes.map(({ path }) => path)
  assert.ok(paths.includes('/providers/Vendor.Dated/things/{thingName}'), paths.join())
  assert.ok(paths.includes('/providers/Vendor.Dated/boxes/{boxName}'), paths.join())
})

test('a type is found however its words are spelled', () => {
  const registry = createRegistry([provider], contractWords)
  const things = registry.find('Vendor.Dated', ['things'])
  assert.equal(things?.fullType, 'Vendor.Dated/things')
  assert.equal(registry.find('vendor.DATED', ['things']), things)
  assert.equal(registry.find('Vendor.Dated', ['Things']), things)
  for (const types of [[], ['thing'], ['things', 'things'], ['things/things']]) {
    assert.equal(registry.find('Vendor.Dated', types), undefined)
  }
  assert.equal(registry.find(undefined, ['things']), undefined)
})

test('a type of any date takes dates alone', () => {
  const any = { dates: 'any', compatible: [] } as const
  assert.deepEqual(servedVersion(any, '2001-01-01', 'known'), {
    version: '2001-01-01',
    isUnlisted: false,
  })
  for (const asked of never) assert.equal(servedVersion(any, asked, 'nearest'), undefined)
})
