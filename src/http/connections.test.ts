import assert from 'node:assert/strict'
import { test } from 'node:test'
import { secureConnectionsMax } from './connections.ts'

test('connections of https take no more than a quarter of the memory', () => {
  const gigabyte = 1024 ** 3
  assert.equal(secureConnectionsMax(10_000, gigabyte), 2621)
  assert.equal(secureConnectionsMax(10_000, 24 * gigabyte), 10_000)
  const here = secureConnectionsMax(10_000)
  assert.ok(here > 0 && here <= 10_000)
})
