import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fittingConnections } from './connections.ts'

const megabyte = 1024 ** 2

test('connections take no more than a quarter of the heap, and those of proxies are smaller', () => {
  const memory = { heapBytes: 256 * megabyte, allBytes: 24_000 * megabyte }
  const fitting = { connectionsMax: 655, proxyConnectionsMax: 2_621 }
  assert.deepEqual(fittingConnections(10_000, false, memory), fitting)
  const all = { connectionsMax: 100, proxyConnectionsMax: 100 }
  assert.deepEqual(fittingConnections(100, false, memory), all)
  const here = fittingConnections(10_000, false)
  assert.ok(here.connectionsMax > 0 && here.connectionsMax <= 10_000)
})

test('connections of https take no more than a quarter of the memory', () => {
  const memory = { heapBytes: 4_096 * megabyte, allBytes: 1_024 * megabyte }
  const fitting = { connectionsMax: 2_621, proxyConnectionsMax: 2_621 }
  assert.deepEqual(fittingConnections(10_000, true, memory), fitting)
  const all = { connectionsMax: 10_000, proxyConnectionsMax: 10_000 }
  assert.deepEqual(fittingConnections(10_000, false, memory), all)
})
