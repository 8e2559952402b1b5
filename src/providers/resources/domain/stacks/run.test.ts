/** Stacks of hundreds or of thousands: what is kept in memory of those that wait, and the turns of others meanwhile. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { parseResourceId, type ResourceId } from '#kernel/resource-id.ts'
import { contractWords } from '#kernel/vendor.ts'
import { realClock } from '#plane/testing/provider-context.ts'
import { owner } from '#plane/testing/start.ts'
import { turnsOf, useUpTurns } from '../../../../../tests/turns.ts'
import type { ManagedResource } from '../../resources/deployment-stacks/model.ts'
import { StackRun, type StackRunDependencies } from './run.ts'

const megabyte = 1024 * 1024

test('a stack that waits keeps neither its template nor its arguments in memory', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const held = (): number => {
    collect()
    collect()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const before = held()
  const runs = Array.from({ length: 40 }, (_, at) => runOf(at))
  const kept = held() - before
  assert.equal(runs.length, 40)
  assert.ok(kept < 10 * megabyte, `${kept} bytes`)
})

test('a stack that may deny nothing more counts once, and others have turns meanwhile', async (t) => {
  let counted = 0
  const reader = {
    // Its resources are there, and are denied by nothing.
    get: async (id: string | ResourceId) => (typeof id === 'string' ? undefined : {}),
    async count() {
      counted++
      return 20_000
    },
  }
  const vault = '/subscriptions/s/resourceGroups/g/providers/Vendor.Secrets/vaults/v'
  const resources = Array.from({ length: 100 }, (_, at) => {
    return { id: `${vault}${at}`, status: 'managed', denyStatus: 'none' } as const
  })
  const own = { reader: reader as never, isAllowed: async () => true, clock: { now: () => 0 } }
  const run = runOf(1, own, resources)
  useUpTurns(t)
  const { turns } = await turnsOf(() => run.advance())
  const { phase, failed } = run.progress()
  assert.deepEqual([phase, failed.length, counted], ['removing', 100, 1])
  assert.ok(turns >= 50, `${turns} turns`)
})

function runOf(
  at: number,
  own: Partial<StackRunDependencies> = {},
  denying: readonly ManagedResource[] = [],
): StackRun {
  const id = parseResourceId(
    `/subscriptions/s/resourceGroups/g/providers/Vendor.Resources/deploymentStacks/s${at}`,
  )
  assert.ok(id !== undefined)
  const long = (): string => Buffer.alloc(megabyte, String(at % 10)).toString('latin1')
  const nobody = () => Promise.reject(new Error('nothing is asked for'))
  const deps = {
    caller: { call: nobody, dryRun: nobody },
    reader: { get: nobody } as never,
    listTracked: nobody,
    storeAsSystem: nobody,
    isAllowed: nobody,
    clock: realClock,
    words: contractWords,
    parametersOf: () => ({}),
    versionOf: () => '',
    awaiting: nobody,
    ...own,
  }
  const detach = 'detach'
  const model = {
    run: `run-${at}`,
    deployer: owner,
    correlationId: 'c',
    startedAt: 0,
    template: { note: long() },
    sealedParameters: long(),
    parameters: { p: { type: 'string', value: long() } },
    deploymentId: '/',
    memberId: 'm',
    actionOnUnmanage: { resources: detach, resourceGroups: detach, managementGroups: detach },
    denySettings: { mode: denying.length === 0 ? 'none' : 'denyDelete' },
  } as const
  const last = {
    run: denying.length === 0 ? 'earlier' : model.run,
    phase: denying.length === 0 ? 'done' : 'denying',
    outputs: { o: long() },
    resources: denying,
    unmanaged: [],
    deleted: [],
    detached: [],
    failed: [],
  } as const
  return new StackRun(deps, { id, model, generation: 1, isDeleting: false, last })
}
