import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryReader, idOf, sampleContext } from '../../../testing/memory-reader.ts'
import { defaultLocations, plainLocation } from '../../domain/locations.ts'
import { pageOfArray } from '../../domain/page-of-array.ts'
import { tenants } from '../tenants/resource.ts'
import { locations } from './resource.ts'

const sub = '/subscriptions/11111111-1111-4111-8111-111111111111'
const context = {
  ...sampleContext(createMemoryReader()),
  parent: idOf(sub),
  query: new URLSearchParams(),
  limit: 2,
  cursor: undefined,
}

test('location names are plain and unique, the server’s own first', () => {
  const names = defaultLocations.map((location) => location.name)
  assert.equal(names[0], 'local')
  assert.equal(new Set(names).size, names.length)
  assert.ok(names.every((name) => plainLocation(name) === name))
  assert.equal(plainLocation(' West  US 2'), 'westus2')
})

test('a location is shown below its subscription', async () => {
  const page = await locations(defaultLocations).source?.list?.(context)
  assert.deepEqual(page?.items[1], {
    id: `${sub}/locations/eastus`,
    subscriptionId: sub.slice('/subscriptions/'.length),
    name: 'eastus',
    type: 'Region',
    displayName: 'East US',
    regionalDisplayName: '(United States) East US',
    metadata: {
      regionType: 'Physical',
      regionCategory: 'Recommended',
      geography: 'United States',
      geographyGroup: 'United States',
    },
  })
  assert.equal(page?.next, '2')
})

test('there is one tenant', async () => {
  const page = await tenants('t').source?.list?.(context)
  assert.deepEqual(page, { items: [{ id: '/tenants/t', tenantId: 't', tenantCategory: 'Home' }] })
})

test('pages of an array, joined, are the array; a foreign cursor is refused', () => {
  const all = [1, 2, 3, 4, 5]
  for (const limit of [1, 2, 3, 4, 5, 6]) {
    const found: number[] = []
    let cursor: string | undefined
    do {
      const page = pageOfArray(all, { cursor, limit })
      found.push(...page.items)
      cursor = page.next
    } while (cursor !== undefined)
    assert.deepEqual(found, all)
  }
  for (const cursor of ['-1', 'x', '1.5']) {
    assert.throws(() => pageOfArray(all, { cursor, limit: 1 }), {
      code: 'InvalidContinuationToken',
    })
  }
})
