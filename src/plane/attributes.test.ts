import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import { parseResourceId } from '#kernel/resource-id.ts'
import { contractWords } from '#kernel/vendor.ts'
import { attributesOf } from './attributes.ts'
import { defineStored } from './declare/stored.ts'
import { createRegistry } from './registry.ts'

interface Thing {
  readonly size: number
  readonly sku: string
}

function registryOf(tracked: boolean) {
  const things = defineStored<Thing>({
    type: 'Sample/things',
    description: 'Things.',
    scope: 'resource-group',
    ...(tracked ? { tracked: { location: 'required' } } : {}),
    name: { pattern: /^.+$/, rule: 'anything' },
    versions: [
      {
        date: '2024-01-01',
        body: Type.Object({}),
        answer: Type.Object({}),
        unknownProperties: 'ignore',
        toModel: () => ({ size: 1, sku: 's' }),
        fromModel: () => ({}),
      },
    ],
    summary: ({ sku }) => ({ sku: { name: sku, tier: 'any' }, kind: 'thing', plan: null }),
    attributes: ({ size }, body) => ({ Size: size, asked: body === undefined ? undefined : 'yes' }),
  })
  const provider = { namespace: 'Sample', description: '', types: [things] }
  return createRegistry([provider], contractWords)
}

const id = parseResourceId('/subscriptions/s/resourceGroups/g/providers/Vendor.Sample/things/One')
const described = {
  id: id ?? assert.fail(),
  model: { size: 7, sku: 'large' },
  location: 'West US',
  tags: { Env: 'Dev' },
}

function attributes(tracked: boolean, body?: object): Record<string, unknown> {
  const registry = registryOf(tracked)
  const compiled = registry.byName('Sample/things')
  return Object.fromEntries(attributesOf({ registry }, compiled, described, body))
}

test('a resource is described under its own type, and what all share under the type of any', () => {
  const shared = (type: string) => ({
    [`${type}:name`]: 'One',
    [`${type}:type`]: 'Vendor.Sample/things',
    [`${type}:location`]: 'westus',
    [`${type}/tags:env`]: 'Dev',
    [`${type}/tags:Env<$key_case_sensitive$>`]: 'Dev',
    [`${type}:sku`]: 'large',
    [`${type}:kind`]: 'thing',
  })
  assert.deepEqual(attributes(true), {
    ...shared('vendor.sample/things'),
    ...shared('vendor.resources/resources'),
    'vendor.sample/things:size': 7,
  })
  assert.equal(attributes(true, {})['vendor.sample/things:asked'], 'yes')
})

test('a tag whose name ends as a marker of conditions stands for no other tag', () => {
  const registry = registryOf(true)
  for (const name of ['Env<$key_case_sensitive$>', 'ENV<$KEY_case_sensitive$>']) {
    const resource = { ...described, tags: { [name]: 'dev', Env: 'prod' } }
    const found = attributesOf({ registry }, registry.byName('Sample/things'), resource)
    const key = 'vendor.sample/things/tags:'
    assert.equal(found.get(`${key}env`), 'prod')
    assert.equal(found.get(`${key}Env<$key_case_sensitive$>`), 'prod')
    assert.equal(found.get(`${key}env<$key_case_sensitive$>`), undefined)
  }
})

test('what has no location and tags has none here; what is not there has nothing', () => {
  const found = attributes(false)
  assert.equal(found['vendor.sample/things:location'], undefined)
  assert.equal(found['vendor.sample/things/tags:env'], undefined)
  const registry = registryOf(true)
  assert.equal(attributesOf({ registry }, registry.byName('Sample/things'), undefined).size, 0)
})
