/** The services of a resource are those that its provider declares, and its namespace. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseResourceId } from '#kernel/resource-id.ts'
import { defineProvider } from '#plane/declare/provider.ts'
import type { HealthEvent } from './event.ts'
import { impactsOf, serviceNamesOf } from './impact-match.ts'

test('a provider that is new here is reached by what it declares, or by its namespace', () => {
  const types = { description: 'books', types: [] }
  const names = serviceNamesOf(() => [
    defineProvider({ namespace: 'Library', serviceNames: ['Book Lending'], ...types }),
    defineProvider({ namespace: 'Archive', ...types }),
  ])
  const isReached = (namespace: string, impactedService: string): boolean => {
    const id = parseResourceId(`/subscriptions/s/providers/Vendor.${namespace}/shelves/one`)
    assert.ok(id !== undefined)
    const impact = [{ impactedService, impactedRegions: [] }]
    // Only what is matched.
    const event = { impactedResources: [], properties: { impact } } as unknown as HealthEvent
    return impactsOf(event, names).touches({ id, location: undefined })
  }
  for (const service of ['book lending', 'Library', 'Vendor.Library', 'Vendor.Library/shelves']) {
    assert.ok(isReached('Library', service), service)
  }
  assert.ok(isReached('archive', 'Archive'))
  assert.ok(isReached('Unserved', 'unserved'))
  assert.equal(isReached('Archive', 'Book Lending'), false)
  assert.equal(isReached('constructor', 'Book Lending'), false)
})

test('an event is read once, whatever number of resources it is compared with', () => {
  let read = 0
  const impactedRegions = Array.from({ length: 100 }, (_, at) => ({
    status: 'Active',
    get impactedRegion() {
      read++
      return `r${at}`
    },
  }))
  const impact = [{ impactedService: 'Library', impactedRegions }]
  // Only what is matched.
  const event = { impactedResources: [], properties: { impact } } as unknown as HealthEvent
  const impacts = impactsOf(event, () => [])
  for (let at = 0; at < 200; at++) {
    const id = parseResourceId(`/subscriptions/s/providers/Vendor.Library/shelves/s${at}`)
    assert.ok(id !== undefined)
    assert.equal(impacts.touches({ id, location: `R ${at}` }), at < 100)
  }
  assert.ok(read <= 200, `${read}`)
})
