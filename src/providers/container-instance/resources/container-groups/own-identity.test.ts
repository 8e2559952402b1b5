/** A group has its own identity for life, and a group made anew under its name has another. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Method, Outcome } from '#plane/plane.ts'
import { memoryWorkloads } from '#plane/testing/provider-context.ts'
import { memoryStore } from '#plane/testing/start.ts'
import type { Store } from '#stores/store.ts'
import { LostClaim } from '#stores/tries.ts'
import { until } from '../../../../../tests/until.ts'
import { base, body, type Shown, startContainers, web } from '../../testing/start.ts'

const path = `${base}/containerGroups/worker`
const withIdentity = { ...body(), identity: { type: 'SystemAssigned' } }
// The answer of a group.
const principalOf = (answer: Outcome) => (answer.body as unknown as Shown).identity?.['principalId']

test('a PUT that began before a deletion does not bring the principal back', async () => {
  await using started = await startContainers()
  const first = principalOf(await started.call('PUT', path, withIdentity))
  await started.settle()
  const again = await started.call('PUT', path, withIdentity, {
    async meanwhile() {
      await started.call('DELETE', path)
      await started.settle()
    },
  })
  assert.equal(again.status, 201)
  assert.notEqual(principalOf(again), first)
})

test('of two first PUTs at once both answer the same principal', async () => {
  await using started = await startContainers()
  let first: unknown
  const second = await started.call('PUT', path, withIdentity, {
    async meanwhile() {
      first = principalOf(await started.call('PUT', path, withIdentity))
      await started.settle()
    },
  })
  assert.equal(second.status, 200)
  assert.equal(principalOf(second), first)
})

for (const [end, given] of [
  ['PUT', { ...body(), identity: { type: 'None' } }],
  ['DELETE', undefined],
] as const) {
  test(`a ${end} removes the identity that another replica gave`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'armature-identity-'))
    await using held = new AsyncDisposableStack()
    held.defer(() => rmSync(folder, { recursive: true }))
    const store = held.use(await memoryStore())
    const workloads = memoryWorkloads()
    let worker = 'first'
    const replica = async (name: string) => {
      const claims: Pick<Store, 'claimDue'> = {
        claimDue: async (...given) => (worker === name ? await store.claimDue(...given) : []),
      }
      const options = { folder, workloads, store: overlaid(store, claims) }
      const started = held.use(await startContainers(options))
      return async (method: Method, sent?: object) => {
        worker = name
        const answer = await started.call(method, path, sent)
        started.plane.reconciler.wake()
        await started.settle()
        return answer
      }
    }
    const own = () => workloads.of(path.toLowerCase())
    const [first, second] = [await replica('first'), await replica('second')]
    await first('PUT', body())
    assert.equal(await own(), undefined)
    const principal = principalOf(await second('PUT', withIdentity))
    assert.ok(principal)
    assert.equal(await own(), principal)
    await first(end, given)
    assert.equal(await own(), undefined)
  })
}

test('work that loses its claim gives no identity of another group once more', async () => {
  await using store = await memoryStore()
  const held = memoryWorkloads()
  const given: string[] = []
  const workloads: typeof held = {
    ...held,
    give: (key, ...more) => {
      given.push(key)
      return held.give(key, ...more)
    },
  }
  const other = `${path}-other`
  let isLost = false
  const get: Store['get'] = async (key) => {
    if (!isLost || key !== other.toLowerCase()) return await store.get(key)
    isLost = false
    throw new LostClaim('lost')
  }
  await using started = await startContainers({ workloads, store: overlaid(store, { get }) })
  for (const where of [path, other]) {
    await started.call('PUT', where, withIdentity)
    await started.settle()
  }
  isLost = true
  started.clock.advance(3600)
  started.plane.reconciler.wake()
  await until(async () => {
    started.clock.advance(5)
    started.plane.reconciler.wake()
    await started.settle()
    return given.length > 2
  })
  await started.call('PUT', path, { ...withIdentity, ...body([web('log:changed')]) })
  await started.settle()
  assert.deepEqual(
    given,
    [path, other, other].map((one) => one.toLowerCase()),
  )
})

/** The store with other methods in place of some. */
function overlaid(store: Store, over: Partial<Store>): Store {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(name in over ? over : target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}
