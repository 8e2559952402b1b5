/** Published schemas that bodies are checked against. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { checkSchema } from '#plane/check.ts'
import { readSchemas, type SchemaFile } from './schemas.ts'

const openApi: SchemaFile = {
  name: 'networks.json',
  content: {
    swagger: '2.0',
    info: { version: '2021-02-01' },
    paths: {
      '/subscriptions/{s}/resourceGroups/{g}/providers/Vendor.Network/virtualNetworks/{n}': {
        put: {
          parameters: [
            { name: 's', in: 'path' },
            { name: 'body', in: 'body', schema: { $ref: '#/definitions/Network' } },
          ],
        },
      },
    },
    definitions: {
      Network: {
        required: ['location', 'id'],
        properties: {
          id: { type: 'string', readOnly: true },
          location: { type: 'string' },
          properties: { $ref: './common.json#/definitions/Space' },
        },
      },
    },
  },
}
const common: SchemaFile = {
  name: 'common.json',
  content: {
    definitions: {
      Space: { properties: { mtu: { type: 'integer' }, next: { $ref: '#/definitions/Space' } } },
    },
  },
}
const templateSchema: SchemaFile = {
  name: 'boards.json',
  content: {
    id: 'https://schemas.example/boards.json#',
    resourceDefinitions: {
      boards: {
        type: 'object',
        properties: {
          type: { enum: ['Vendor.Boards/boards'] },
          apiVersion: { enum: ['2020-01-01'] },
          name: { type: 'string' },
          properties: { $ref: '#/definitions/Board' },
        },
        required: ['name', 'type', 'apiVersion', 'properties'],
      },
    },
    definitions: { Board: { required: ['size'], properties: { size: { enum: ['s', 'l'] } } } },
  },
}

function problems(type: string, version: string, body: object): readonly (string | undefined)[] {
  const schemas = readSchemas([openApi, common, templateSchema])
  const schema = schemas.bodyOf(type, version)
  assert.ok(schema)
  try {
    checkSchema(schema, 'ignore', body)
  } catch (error) {
    assert.ok(error instanceof ApiError)
    const { details = [], target } = error.extra
    return details.length === 0 ? [target] : details.map((one) => one.target)
  }
  return []
}

test('an OpenAPI document checks bodies, across files, with the path of the problem', () => {
  const type = 'vendor.network/VirtualNetworks'
  assert.deepEqual(problems(type, '2021-02-01', { location: 'x', properties: { mtu: 1 } }), [])
  assert.deepEqual(problems(type, '2021-02-01', { location: 'x', properties: { mtu: 'a' } }), [
    'properties.mtu',
  ])
  const deep = { location: 'x', properties: { next: { next: { mtu: 'a' } } } }
  assert.deepEqual(problems(type, '2025-01-01', deep), ['properties.next.next.mtu'])
  assert.deepEqual(problems(type, '2021-02-01', {}), ['location'], 'what is read only is not asked')
})

test('a schema of templates checks bodies without what only a template says', () => {
  assert.deepEqual(
    problems('Vendor.Boards/boards', '2020-01-01', { properties: { size: 's' } }),
    [],
  )
  assert.deepEqual(problems('Vendor.Boards/boards', '2020-01-01', { properties: { size: 'm' } }), [
    'properties.size',
  ])
})

test('a file that says nothing, or refers to what is not there, is named', () => {
  assert.throws(() => readSchemas([openApi]), /networks\.json.*common\.json/)
  assert.throws(() => readSchemas([{ name: 'x.json', content: {} }]), /x\.json.*no body/)
  const undated = { ...(openApi.content as object), info: {} }
  assert.throws(() => readSchemas([{ name: 'u.json', content: undated }, common]), /info\.version/)
})

test('patterns, alternatives and lists that take long end, and a body that fits two alternatives is refused with that reason', () => {
  const definitions = {
    Node: {
      properties: {
        name: { pattern: '^([a-zA-Z0-9]+-?)*$' },
        all: { type: 'array', uniqueItems: true },
        child: { oneOf: [{ $ref: '#/definitions/A' }, { $ref: '#/definitions/B' }] },
      },
    },
    A: { allOf: [{ $ref: '#/definitions/Node' }], properties: { type: { enum: ['A'] } } },
    B: { allOf: [{ $ref: '#/definitions/Node' }], properties: { type: { enum: ['B'] } } },
  }
  const document = {
    info: { version: '2021-02-01' },
    paths: {
      '/subscriptions/{s}/providers/Vendor.Slow/nodes/{n}': {
        put: { parameters: [{ in: 'body', schema: { $ref: '#/definitions/Node' } }] },
      },
    },
    definitions,
  }
  const schema = readSchemas([{ name: 'slow.json', content: document }]).bodyOf(
    'Vendor.Slow/nodes',
    '2021-02-01',
  )
  assert.ok(schema)
  const refusal = (body: unknown): string => {
    let message = 'nothing'
    assert.throws(
      () => checkSchema(schema, 'ignore', body),
      (error) => {
        assert.ok(error instanceof ApiError && error.status === 400, String(error))
        message = error.message
        return true
      },
    )
    return message
  }
  // Without a limit each of them would run until the test's own limit, and the second for minutes.
  const deep = Array.from({ length: 40 }).reduce<object>((child) => ({ child }), {})
  for (const body of [
    { name: `${'a'.repeat(60)}!` },
    { all: Array.from({ length: 60_000 }, (_, at) => [at]) },
    deep,
  ]) {
    assert.match(refusal(body), /takes too long to check/)
  }
  assert.match(refusal({ child: {} }), /fits more than one alternative/)
  checkSchema(schema, 'ignore', { name: 'a-b', all: [1, 2], child: { type: 'A' } })
})
