/** Rights at what is no row end with it: whatever has its id later is another one. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import { ApiError, refuse } from '#kernel/error.ts'
import { nameOf } from '#kernel/resource-id.ts'
import type { Access } from './access.ts'
import { defineComputed } from './declare/computed.ts'
import { defineProvider } from './declare/provider.ts'
import { defineStored } from './declare/stored.ts'
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

/** Everything is allowed, but for role assignments to go. */
function denying(): Access {
  const denied = { name: 'denied', id: '/denied', scope: '/' }
  return {
    allows: () => true,
    prohibitionsFor: async () => ({
      find: ({ action }) =>
        action === 'Vendor.Authorization/roleAssignments/delete' ? denied : undefined,
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
