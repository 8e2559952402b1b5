/** What is kept in memory of stacks that wait: there may be hundreds, each with arguments of megabytes. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { parseResourceId } from '#kernel/resource-id.ts'
import { contractWords } from '#kernel/vendor.ts'
import { realClock } from '#plane/testing/provider-context.ts'
import { owner } from '#plane/testing/start.ts'
import { StackRun } from './run.ts'

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

function runOf(at: number): StackRun {
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
    denySettings: { mode: 'none' },
  } as const
  const last = {
    run: 'earlier',
    phase: 'done',
    outputs: { o: long() },
    resources: [],
    unmanaged: [],
    deleted: [],
    detached: [],
    failed: [],
  } as const
  return new StackRun(deps, { id, model, generation: 1, isDeleting: false, last })
}
