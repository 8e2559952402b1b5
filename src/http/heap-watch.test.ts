/** A heap that is nearly full, for whatever reason, ends requests and connections and not the process. */

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { until } from '../../tests/until.ts'
import { watchHeap } from './heap-watch.ts'
import { startEdge } from './testing/start.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

test('while the heap is nearly full, what came last and whoever has most connections is given up, and nothing is begun', async () => {
  collect()
  const now = 0
  const before = process.memoryUsage().heapUsed
  using heap = watchHeap(() => now, 1.25 * (before + 30 * 2 ** 20))
  const ends: (() => void)[] = []
  const directoryRoutes = [
    {
      method: 'GET' as const,
      status: 200,
      path: '/directory/things',
      action: 'Vendor.Directory/things/read',
      run: () => new Promise<object>((resolve) => ends.push(() => resolve({}))),
    },
  ]
  await using edge = await startEdge({ directoryRoutes, options: { heap } })
  const get = (): Promise<Response> => edge.fetch('/directory/things')
  const first = get()
  await until(() => ends.length === 1)
  const second = get()
  await until(() => ends.length === 2)
  const idle = Array.from({ length: 8 }, () => connect(edge.port, '127.0.0.1'))
  await until(() => edge.server.connections() === 10)

  let held: unknown[] = Array.from({ length: 1_000_000 }, (_, at) => ({ at }))
  collect()
  const refused = await second
  assert.equal(refused.status, 503)
  assert.equal(refused.headers.get('retry-after'), '5')
  assert.match(await refused.text(), /memory is nearly full/)
  await until(() => edge.server.connections() <= 5)
  assert.equal((await edge.fetch('/healthz')).status, 200)
  assert.equal((await get()).status, 503)

  held = held.slice(0, 1)
  collect()
  await until(() => !heap.isFull())
  const later = get()
  await until(() => ends.length === 3)
  for (const end of ends) end()
  assert.equal((await later).status, 200)
  assert.equal((await first).status, 200)
  assert.equal(held.length, 1)
  for (const socket of idle) socket.destroy()
})
