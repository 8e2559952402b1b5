/** Rights at what is no row end with it: whatever has its id later is another one. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import { ApiError, refuse } from '#kernel/error.ts'
import { nameOf } from '#kernel/resource-id.ts'
import { turnsOf, useUpTurns } from '../../tests/turns.ts'
import type { Access } from './access.ts'
import { defineComputed } from './declare/computed.ts'
import { defineProvider } from './declare/provider.ts'
import { defineStored } from './declare/stored.ts'
import type { Guard } from './guard.ts'
import { startPlane, type TestPlane } from './testing/start.ts'

const version = '2024-01-01'
const note = '/providers/Vendor.Notes/notes/a'
const assignment = `${note}/providers/Vendor.Authorization/roleAssignments/one`

const assignments = defineProvider({
  namespace: 'Authorization',
  description: 'Role assignments.',
  types: [
    defineStored<object>({
      type: 'Authorization/roleAssignments',
      description: 'Role assignments.',
      scope: 'any',
      name: { pattern: /^[a-z]+$/, rule: 'letters' },
      versions: [
        {
          date: version,
          body: Type.Object({}),
          answer: Type.Object({}),
          unknownProperties: 'ignore',
          patch: 'none',
          toModel: () => ({}),
          fromModel: () => ({}),
        },
      ],
    }),
  ],
})

function notes(items: Set<string>) {
  return defineProvider({
    namespace: 'Notes',
    description: 'Notes that something else keeps.',
    types: [
      defineComputed({
        type: 'Notes/notes',
        description: 'Notes.',
        scope: 'tenant',
        apiVersions: [version],
        source: {
          get: async ({ id }) => (items.has(nameOf(id)) ? {} : undefined),
          put: {
            body: Type.Object({}),
            makes: true,
            async apply({ id, endEarlierRights }) {
              const name = nameOf(id)
              if (items.has(name)) return {}
              if (items.has(name.toLowerCase())) throw refuse.Conflict({ id: id.text })
              await endEarlierRights()
              items.add(name)
              return {}
            },
          },
          delete: {
            makes: true,
            async apply({ id }) {
              items.delete(nameOf(id))
              return undefined
            },
          },
        },
      }),
    ],
  })
}

async function isAssigned({ call }: TestPlane): Promise<boolean> {
  try {
    await call('GET', assignment)
    return true
  } catch (error) {
    assert.ok(error instanceof ApiError && error.status === 404)
    return false
  }
}

for (const [how, end] of [
  ['a DELETE', (started: TestPlane) => started.call('DELETE', note)],
  ['whoever keeps it', (_started: TestPlane, items: Set<string>) => items.clear()],
] as const) {
  test(`who had a right at a computed item has none at one that is made anew, after ${how}`, async () => {
    const items = new Set<string>()
    await using started = await startPlane({ providers: [notes(items), assignments] })
    await started.call('PUT', note, {})
    await started.call('PUT', assignment, {})
    await started.call('PUT', note, {})
    assert.equal(await isAssigned(started), true)
    await end(started, items)
    await started.call('PUT', note, {})
    assert.equal(await isAssigned(started), false)
  })
}

test('who had a right at a computed item that is gone is not listed any more', async () => {
  const items = new Set<string>()
  await using started = await startPlane({ providers: [notes(items), assignments] })
  await started.call('PUT', note, {})
  await started.call('PUT', assignment, {})
  await started.call('DELETE', note)
  assert.equal(await isAssigned(started), false)
})

test('a PUT that is refused for another item in its place takes no rights at that one', async () => {
  const items = new Set<string>()
  await using started = await startPlane({ providers: [notes(items), assignments] })
  await started.call('PUT', note, {})
  await started.call('PUT', assignment, {})
  await assert.rejects(started.call('PUT', note.replace(/a$/, 'A'), {}), { code: 'Conflict' })
  assert.equal(await isAssigned(started), true)
})

test('a PUT that makes an item ends no rights of an earlier one that a lock keeps', async () => {
  const items = new Set<string>()
  let isLocked = false
  const guard: Guard = {
    async check({ id, effect }) {
      if (isLocked && effect === 'delete') throw refuse.ScopeLocked({ scope: id.text, locks: 'l' })
    },
  }
  await using started = await startPlane({
    providers: [notes(items), assignments],
    guards: [guard],
  })
  await started.call('PUT', note, {})
  await started.call('PUT', assignment, {})
  items.clear()
  isLocked = true
  await assert.rejects(started.call('PUT', note, {}), { code: 'ScopeLocked' })
  assert.deepEqual([[...items], await isAssigned(started)], [[], true])
  await started.call('PUT', note.replace(/a$/, 'b'), {})
  isLocked = false
  await started.call('PUT', note, {})
  assert.deepEqual([[...items], await isAssigned(started)], [['b', 'a'], false])
})

/** Everything is allowed, but for role assignments to go, or one of them. */
function denying(one = ''): Access {
  const denied = { name: 'denied', id: '/denied', scope: '/' }
  return {
    allows: () => true,
    prohibitionsFor: async () => ({
      find: ({ action, scope }) =>
        action === 'Vendor.Authorization/roleAssignments/delete' && scope.text.endsWith(one)
          ? denied
          : undefined,
      wouldBeGranted: () => true,
    }),
  }
}

test('what denies that rights at a computed item go denies its DELETE, and that it is made anew', async () => {
  const items = new Set<string>()
  await using started = await startPlane({
    providers: [notes(items), assignments],
    access: denying(),
  })
  await started.call('PUT', note, {})
  await started.call('PUT', assignment, {})
  const refusal = { code: 'DenyAssignmentAuthorizationFailed' }
  await assert.rejects(started.call('DELETE', note), refusal)
  assert.deepEqual([...items], ['a'])
  items.clear()
  await assert.rejects(started.call('PUT', note, {}), refusal)
  assert.equal(await isAssigned(started), true)
})

test('others have turns while it is looked at whether many rights at a computed item may go', async (t) => {
  const providers = [notes(new Set()), assignments]
  await using started = await startPlane({ providers, access: denying('/zz') })
  await started.call('PUT', note, {})
  const letters = [...'abcdefghijklmnopqrstuvwxyz']
  const names = [...letters, ...letters.map((one) => `x${one}`), 'zz']
  for (const name of names) await started.call('PUT', assignment.replace(/one$/, name), {})
  useUpTurns(t)
  const refusal = { code: 'DenyAssignmentAuthorizationFailed' }
  const { turns } = await turnsOf(() => assert.rejects(started.call('DELETE', note), refusal))
  assert.ok(turns >= names.length / 2, `${turns} turns`)
})
