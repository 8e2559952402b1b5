import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { stringify } from 'yaml'
import { nobody } from '#plane/testing/start.ts'
import { fc, runsOf } from '../../../../../tests/property.ts'
import {
  assignment,
  at,
  authorization,
  group,
  type Installation,
  json,
  openInstallation,
  refused,
} from '../../../testing/installation.ts'
import { createDocumentReader } from './document-reader.ts'
import { writeOpenApi } from './export.ts'
import { readOpenApi } from './import.ts'

const version = { version: '2024-05-01' }
const service = `${group}/providers/Vendor.ApiManagement/service/shop`
const path = `${service}/apis/pets`

const document = {
  openapi: '3.0.3',
  info: { title: 'Pets', description: 'Animals that are sold.', version: '1' },
  servers: [{ url: 'https://pets.example/v1' }],
  paths: {
    '/pets': {
      get: {
        operationId: 'listPets',
        summary: 'All pets',
        parameters: [
          { $ref: '#/components/parameters/limit' },
          { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
        ],
        responses: {
          200: {
            description: 'A page',
            headers: { 'X-Next': { schema: { type: 'string' } } },
            content: { 'application/json': { example: [{ name: 'Rex' }] } },
          },
          default: { description: 'An error' },
        },
      },
      post: {
        requestBody: {
          description: 'The pet',
          content: {
            'application/x-www-form-urlencoded': {
              schema: {
                type: 'object',
                required: ['name'],
                properties: { name: { type: 'string' }, age: { type: 'integer' } },
              },
            },
          },
        },
        responses: { 201: { description: 'Made' } },
      },
    },
    '/pets/{petId}': {
      parameters: [{ name: 'petId', in: 'path', required: true, schema: { type: 'integer' } }],
      get: { operationId: 'onePet', responses: { 200: { description: 'One' } } },
    },
  },
  components: {
    parameters: {
      limit: {
        name: 'limit',
        in: 'query',
        description: 'At most',
        schema: { type: 'integer', default: 20, enum: [20, 50] },
      },
    },
  },
}

const imported = (value: string, extra: object = {}) => ({
  properties: { path: 'pets', format: 'openapi+json', value, ...extra },
})

async function makeService(t: Installation): Promise<void> {
  const properties = { publisherName: 'a', publisherEmail: 'a@b.example' }
  const sku = { name: 'Developer', capacity: 1 }
  await t.call('PUT', service, { location: 'local', properties, sku }, version)
}

test('a document becomes an API with its operations, and its operations a document again', async () => {
  await using t = await openInstallation()
  await makeService(t)
  const made = await t.call('PUT', path, imported(JSON.stringify(document)), version)
  assert.equal(made.status, 201)
  const { displayName, description, serviceUrl } = json(made).properties
  assert.deepEqual([displayName, serviceUrl], ['Pets', 'https://pets.example/v1'])
  assert.equal(description, 'Animals that are sold.')
  const list = json(await t.call('GET', `${path}/operations`, undefined, version)).value
  assert.deepEqual(
    list.map((one: { name: string }) => one.name),
    ['listPets', 'onePet', 'post-pets'],
  )
  const { properties: listPets } = list[0]
  assert.deepEqual(listPets.request.queryParameters, [
    {
      name: 'limit',
      type: 'integer',
      description: 'At most',
      defaultValue: '20',
      values: ['20', '50'],
    },
  ])
  assert.equal(listPets.responses.length, 1)
  assert.equal(list[1].properties.templateParameters[0].name, 'petId')
  assert.equal(list[2].properties.request.representations[0].formParameters[0].required, true)
  // The same document changes nothing. One without an operation removes that operation.
  const again = await t.call('PUT', path, imported(JSON.stringify(document)), version)
  assert.equal(again.status, 200)
  const one = `${path}/operations/listPets`
  const before = await t.call('GET', one, undefined, version)
  const fewer = { ...document, paths: { '/pets': { get: document.paths['/pets'].get } } }
  await t.call('PUT', path, imported(stringify(fewer), { format: 'openapi' }), version)
  assert.equal((await t.call('GET', one, undefined, version)).etag, before.etag)
  await refused(
    t.call('GET', `${path}/operations/onePet`, undefined, version),
    'ResourceNotFound',
    404,
  )
  const out = json(
    await t.call('GET', `${path}?export=true&format=openapi%2Bjson`, undefined, version),
  )
  assert.equal(out.format, 'openapi+json')
  assert.deepEqual(out.value.paths['/pets'].get.parameters[0].schema, {
    type: 'integer',
    default: 20,
    enum: [20, 50],
  })
  const linked = `${path}?export=true&format=openapi-link`
  const { link } = json(await t.call('GET', linked, undefined, version)).value
  assert.deepEqual(await (await fetch(link)).json(), out.value)
})

const swagger = {
  swagger: '2.0',
  info: { title: 'Pets', version: '1' },
  host: 'pets.example',
  basePath: '/v1',
  schemes: ['http', 'https'],
  produces: ['application/json', 'text/xml'],
  paths: {
    '/pets': {
      parameters: [{ $ref: '#/parameters/limit' }],
      get: {
        operationId: 'listPets',
        responses: {
          200: {
            description: 'A page',
            schema: { type: 'array' },
            headers: { 'X-Next': { type: 'string' } },
            examples: { 'application/json': [{ name: 'Rex' }] },
          },
        },
      },
      post: {
        operationId: 'addPet',
        consumes: ['application/json'],
        parameters: [{ name: 'pet', in: 'body', schema: { $ref: '#/definitions/pet' } }],
        responses: { 201: { $ref: '#/responses/made' } },
      },
    },
    '/pets/{petId}/photo': {
      put: {
        operationId: 'setPhoto',
        parameters: [
          { name: 'petId', in: 'path', required: true, type: 'integer' },
          { name: 'photo', in: 'formData', required: true, type: 'file' },
        ],
        responses: { 204: { description: 'Set' } },
      },
    },
  },
  parameters: {
    limit: { name: 'limit', in: 'query', type: 'integer', default: 20, enum: [20, 50] },
  },
  responses: { made: { description: 'Made' } },
  definitions: { pet: { type: 'object', example: { name: 'Rex' } } },
}

test('a Swagger 2 document becomes an API, and an API a Swagger 2 document', async () => {
  await using t = await openInstallation()
  await makeService(t)
  const body = imported(JSON.stringify(swagger), { format: 'swagger-json' })
  const made = await t.call('PUT', path, body, version)
  assert.equal(json(made).properties.serviceUrl, 'https://pets.example/v1')
  const { value: list } = json(await t.call('GET', `${path}/operations`, undefined, version))
  const [add, all, photo] = list.map((one: { properties: object }) => one.properties)
  assert.deepEqual(add.request.representations[0].examples.default.value, { name: 'Rex' })
  assert.equal(add.responses[0].description, 'Made')
  const [limit] = all.request.queryParameters
  assert.deepEqual([limit.name, limit.defaultValue, limit.values], ['limit', '20', ['20', '50']])
  const types = all.responses[0].representations.map(
    (one: { contentType: string }) => one.contentType,
  )
  assert.deepEqual(types, ['application/json', 'text/xml'])
  assert.equal(all.responses[0].headers[0].name, 'X-Next')
  assert.equal(photo.templateParameters[0].type, 'integer')
  const [sent] = photo.request.representations
  assert.equal(sent.contentType, 'multipart/form-data')
  assert.deepEqual(sent.formParameters, [{ name: 'photo', type: 'file', required: true }])

  const get = async (format: string) =>
    json(await t.call('GET', `${path}?export=true&format=${format}`, undefined, version))
  const out = await get('swagger')
  const { host, basePath, schemes, paths } = out.value
  assert.deepEqual(
    [out.value.swagger, host, basePath, schemes],
    ['2.0', 'pets.example', '/v1', ['https']],
  )
  assert.equal(paths['/pets'].get.parameters[0].default, 20)
  assert.equal(paths['/pets'].post.parameters.at(-1).in, 'body')
  assert.equal(paths['/pets/{petId}/photo'].put.parameters.at(-1).in, 'formData')
  const linked = await get('swagger-link')
  assert.equal(linked.format, 'swagger-link-json')
  assert.deepEqual(await (await fetch(linked.value.link)).json(), out.value)
  // What was written is read as the same operations.
  const again = imported(JSON.stringify(out.value), { format: 'swagger-json' })
  await t.call('PUT', path, again, version)
  assert.deepEqual((await get('swagger')).value, out.value)
})

test('what a type puts into a body is never the caller’s', async () => {
  await using t = await openInstallation()
  await makeService(t)
  const own = { displayName: 'own', method: 'GET', urlTemplate: '/own' }
  const body = {
    properties: { displayName: 'Pets', path: 'pets', protocols: ['https'] },
    imported: [{ name: 'own', model: own }],
  }
  await t.call('PUT', path, body, version)
  const list = json(await t.call('GET', `${path}/operations`, undefined, version))
  assert.deepEqual(list.value, [])
})

test('who may not read operations exports none', async () => {
  await using t = await openInstallation()
  await makeService(t)
  await t.call('PUT', path, imported(stringify(document), { format: 'openapi' }), version)
  const name = randomUUID()
  const own = 'Vendor.ApiManagement/service/apis'
  const allow = async (actions: readonly string[]): Promise<void> => {
    const properties = { roleName: 'r', assignableScopes: [group], permissions: [{ actions }] }
    await t.call('PUT', `${group}/${authorization}/roleDefinitions/${name}`, { properties })
  }
  await allow([`${own}/read`])
  await t.call('PUT', at(group), assignment(nobody.id, name))
  const as = { ...version, as: nobody }
  for (const format of ['openapi', 'openapi-link']) {
    const work = t.call('GET', `${path}?export=true&format=${format}`, undefined, as)
    await refused(work, 'AuthorizationFailed', 403)
  }
  await allow([`${own}/read`, `${own}/operations/read`])
  assert.equal((await t.call('GET', `${path}?export=true`, undefined, as)).status, 200)
})

test('a document that cannot be taken, and a lock on what it would replace, change nothing', async () => {
  await using t = await openInstallation()
  const wrong: readonly (readonly [object, RegExp])[] = [
    [imported('{'), /JSON nor as YAML/],
    [imported('{"swagger":"1.2"}'), /version 3/],
    [imported(JSON.stringify(document), { format: 'wsdl' }), /expected openapi or openapi/],
    [imported('a: &a [*a,*a]\nb: [*a,*a]', { format: 'openapi' }), /deeper than 64 levels/],
  ]
  await makeService(t)
  for (const [given, message] of wrong)
    await assert.rejects(t.call('PUT', path, given, version), message)
  await t.call('PUT', path, imported(JSON.stringify(document)), version)
  const lock = `${path}/operations/onePet/${authorization}/locks/keep`
  await t.call('PUT', lock, { properties: { level: 'CanNotDelete' } }, { version: '2016-09-01' })
  const empty = imported(JSON.stringify({ ...document, paths: {} }))
  await refused(t.call('PUT', path, empty, version), 'ScopeLocked', 409)
  assert.equal((await t.call('GET', `${path}/operations/listPets`, undefined, version)).status, 200)
})

const word = fc.stringMatching(/^[a-z]{1,6}$/)
const documents = fc.dictionary(
  fc.tuple(word, fc.option(word, { nil: undefined })).map(([first, name]) => {
    return name === undefined ? `/${first}` : `/${first}/{${name}}`
  }),
  fc.dictionary(
    fc.constantFrom('get', 'put', 'post', 'delete', 'patch'),
    fc.record({
      operationId: word,
      parameters: fc.uniqueArray(
        fc.record({
          name: word,
          in: fc.constantFrom('query', 'header'),
          required: fc.boolean(),
          schema: fc.record({ type: fc.constantFrom('string', 'integer', 'boolean') }),
        }),
        { maxLength: 3, selector: (one) => `${one.in} ${one.name}` },
      ),
      responses: fc.dictionary(
        fc.constantFrom('200', '201', '404'),
        fc.record({ description: word }),
        { minKeys: 1 },
      ),
    }),
    { maxKeys: 3 },
  ),
  { maxKeys: 5 },
)

test('what is written is read as it was', () => {
  fc.assert(
    fc.property(documents, (paths) => {
      const first = readOpenApi(JSON.stringify({ openapi: '3.1.0', info: { title: 'a' }, paths }))
      assert.ok(typeof first !== 'string')
      const api = { path: 'a', apiRevision: '1', subscriptionRequired: true, type: 'http' } as const
      const again = readOpenApi(JSON.stringify(writeOpenApi(api, 'a', first.operations)))
      assert.ok(typeof again !== 'string')
      assert.deepEqual(again.operations, first.operations)
    }),
    { numRuns: 100 },
  )
})

test('paths and methods of a caller are names, whatever they are called', () => {
  const model = { displayName: 'a', method: 'limit', urlTemplate: '__proto__' }
  const api = { path: 'a', apiRevision: '1', subscriptionRequired: true, type: 'http' } as const
  const written = writeOpenApi(api, 'a', [
    { name: 'a', model },
    { name: 'b', model: { ...model, method: '__proto__', urlTemplate: 'constructor' } },
  ])
  assert.equal('limit' in {}, false)
  const paths = written['paths'] as Readonly<Record<string, object>>
  assert.deepEqual(Object.keys(paths), ['__proto__', 'constructor'])
})

test('what a document refers to again and again is counted each time', () => {
  const holding = (example: unknown) => ({
    openapi: '3.0.0',
    components: { examples: { e: { value: example } } },
    paths: Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [
        `/${at}`,
        {
          get: {
            responses: {
              200: {
                content: { a: { examples: { e: { $ref: '#/components/examples/e' } } } },
              },
            },
          },
        },
      ]),
    ),
  })
  const read = (example: unknown) => readOpenApi(JSON.stringify(holding(example)))
  assert.equal(typeof read('x'.repeat(10_000)), 'object')
  assert.match(String(read('x'.repeat(50_000))), /more than 4000000 characters/)
  assert.match(String(read(Array(40_000).fill(1))), /more than 4000000 characters/)
})

test('what aliases stand for is counted before it is written out', () => {
  const holding = (anchored: string, use: string, uses: number): string =>
    `openapi: 3.0.0\npaths: {}\nx: &a ${anchored}\ny: [${Array(uses).fill(use).join(',')}]\n`
  const text = `"${'x'.repeat(100_000)}"`
  assert.equal(typeof readOpenApi(holding(text, '*a', 40)), 'object')
  const list = `[${Array(2_000).fill(1).join(',')}]`
  for (const large of [
    holding(text, '*a', 60),
    holding(list, '*a', 60),
    holding(`{"${'k'.repeat(100_000)}": 1}`, '*a', 60),
    `%YAML 1.1\n---\n${holding(text, '{<<: {k: *a}}', 60)}`,
  ]) {
    assert.match(String(readOpenApi(large)), /is deeper than .* characters/)
  }
  const bytes = `openapi: 3.0.0\ninfo: {description: !!binary aGVsbG8=}\npaths: {}\n`
  const read = readOpenApi(`%YAML 1.1\n---\n${bytes}`)
  assert.ok(typeof read !== 'string')
  assert.equal(read.description, 'aGVsbG8=')
})

test('references that are long, lead nowhere or in a circle are nothing', () => {
  const limit = { $ref: `#/${'x/'.repeat(200_000)}` }
  const parameters = [limit, { $ref: '#/paths/~1/parameters/1' }, { $ref: '#/none/at/all' }]
  const found = readOpenApi(
    JSON.stringify({ openapi: '3.0.0', paths: { '/': { parameters, get: {} } } }),
  )
  assert.ok(typeof found !== 'string')
  assert.equal(found.operations[0]?.model.request, undefined)
})

test('a document that no store could keep is refused', () => {
  const holding = (description: string) =>
    `{"openapi":"3.0.0","paths":{"/":{"get":{"description":${description}}}}}`
  for (const description of [
    '"a\\u0000"',
    '"\\ud800"',
    '{"__proto__":1}',
    `${'['.repeat(70)}${']'.repeat(70)}`,
  ]) {
    assert.equal(typeof readOpenApi(holding(description)), 'string', description)
  }
  assert.equal(typeof readOpenApi(holding('"a\\u00e4"')), 'object')
  assert.equal(typeof readOpenApi(`openapi: 3.0.0\npaths: ${'['.repeat(100_000)}`), 'string')
})

test('no text ends the reader', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.json().map((text) => `{"openapi":"3.0.0","paths":${text}}`),
      ),
      (text) => {
        readOpenApi(text)
      },
    ),
    { numRuns: runsOf(300) },
  )
})

test('large documents and YAML are read in threads, with limits of time and memory', async () => {
  const paths = Array.from({ length: 400 }, (_, at) => [
    `/p${at}`,
    { get: { summary: 'x'.repeat(250) } },
  ])
  const large = { openapi: '3.0.0', info: { title: 'Large' }, paths: Object.fromEntries(paths) }
  const flat = `openapi: 3.0.0\npaths:\n${'  - a\n'.repeat(60_000)}`
  const reader = createDocumentReader()
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  const [yaml, json, other] = await Promise.all([
    reader.read(stringify(large), 'a'),
    reader.read(JSON.stringify(large), 'b'),
    reader.read(flat, 'c'),
  ])
  clearInterval(timer)
  assert.ok(typeof yaml !== 'string' && yaml.operations.length === 400, String(yaml))
  assert.deepEqual(json, yaml)
  assert.equal(typeof other, 'object')
  assert.ok(turns > 3, `the loop went on ${turns} times`)
  const limits = { threadsMax: 1, seconds: 10, heapMegabytes: 256, idleSeconds: 1 }
  const quick = createDocumentReader({ ...limits, seconds: 0.01 })
  assert.match(String(await quick.read(flat, 'a')), /more than the 0.01 seconds/)
  const small = createDocumentReader({ ...limits, heapMegabytes: 16 })
  assert.match(String(await small.read(flat, 'a')), /more than the 16 MB/)
  const none = JSON.parse(JSON.stringify(readOpenApi('openapi: 3.0.0')))
  assert.deepEqual(await small.read('openapi: 3.0.0', 'a'), none)
})

test('a Swagger 2 document is converted as far as operations are taken', async () => {
  const parameters = Array.from({ length: 500 }, (_, at) => ({
    name: `p${at}`,
    in: 'query',
    type: 'string',
  }))
  const responses = { 200: { description: 'All' } }
  const item = { parameters, get: { responses }, put: { responses }, post: { responses } }
  const paths = Object.fromEntries(
    Array.from({ length: 3_000 }, (_, at) => [`/${at}`, { $ref: '#/x-item' }]),
  )
  const info = { title: 'Many', version: '1' }
  const text = JSON.stringify({ swagger: '2.0', info, 'x-item': item, paths })
  const reader = createDocumentReader({
    threadsMax: 1,
    seconds: 60,
    heapMegabytes: 96,
    idleSeconds: 1,
  })
  assert.match(
    String(await reader.read(text, 'anybody')),
    /operations have more than \d+ characters/,
  )
})
