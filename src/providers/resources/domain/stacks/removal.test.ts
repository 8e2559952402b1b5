/** However much a stack removes, only a limited number of deletions runs at once, and all of them happen. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refuse } from '#kernel/error.ts'
import type { Caller } from '#plane/caller.ts'
import type { Outcome } from '#plane/plane.ts'
import { Removal } from './removal.ts'

test('a stack of hundreds leaves room for the deletions of others', async () => {
  const vault = '/subscriptions/s/resourcegroups/g/providers/vendor.secrets/vaults/'
  const unmanaged = Array.from({ length: 300 }, (_, at) => `${vault}v${at}`)
  const underWay = new Set<string>()
  let most = 0
  const call = async ({ method, path }: Parameters<Caller['call']>[0]): Promise<Outcome> => {
    if (method === 'GET') {
      const status = underWay.has(path) ? 'Running' : 'Succeeded'
      return { status: 200, body: { status } }
    }
    const statusPath = `${path}/operation?api-version=1`
    underWay.add(statusPath)
    most = Math.max(most, underWay.size)
    return {
      status: 202,
      operation: { statusPath, resultPath: path, retryAfterSeconds: 1, startTime: '' },
    }
  }
  const removal = removalOf(unmanaged, call)
  while (!removal.isDone) {
    await removal.advance(1)
    assert.ok(removal.isWaiting)
    for (const one of [...underWay].slice(0, 5)) underWay.delete(one)
    await removal.look()
  }
  assert.equal(most, 32)
  assert.deepEqual(new Set(removal.progress().deleted), new Set(unmanaged))
})

test('a stack may have more to remove than a call has arguments', async () => {
  const vault = '/subscriptions/s/resourcegroups/g/providers/vendor.secrets/vaults/'
  const unmanaged = Array.from({ length: 150_000 }, (_, at) => `${vault}v${at}`)
  const removal = removalOf(unmanaged, () => Promise.reject(new Error('nothing is sent')))
  assert.equal(removal.isDone, false)
})

test('a recorded deletion whose operation is forgotten is sent again', async () => {
  const vault = '/subscriptions/s/resourcegroups/g/providers/vendor.secrets/vaults/v'
  const sent: string[] = []
  const call = async ({ method }: Parameters<Caller['call']>[0]): Promise<Outcome> => {
    sent.push(method)
    if (method === 'GET') throw refuse.ResourceNotFound({ id: vault })
    return { status: 204 }
  }
  const removal = removalOf([vault], call, { [vault]: `${vault}/operation?api-version=1` })
  assert.deepEqual(await removal.look(), [])
  assert.deepEqual(await removal.advance(1), [vault])
  assert.deepEqual(sent, ['GET', 'DELETE'])
  assert.ok(removal.isDone)
})

function removalOf(
  unmanaged: readonly string[],
  call: Caller['call'],
  operations: Readonly<Record<string, string>> = {},
): Removal {
  const who = { tenantId: 't', displayName: 'p', clientId: 'c', groups: [] }
  const principal = { id: 'p', type: 'User', ...who } as const
  return new Removal(
    {
      caller: { call, dryRun: () => Promise.reject(new Error('not asked for')) },
      listTracked: () => Promise.reject(new Error('no group is removed')),
      clock: { now: () => 0 },
      stackKey: 'stack',
      sender: { principal, correlationId: 'c' },
      versionOf: () => '1',
      awaiting: (_resource, _stack, send) => send(),
      isDetached: () => false,
      textOf: (key) => key,
    },
    { unmanaged, deleted: [], detached: [], failed: [], operations },
  )
}
