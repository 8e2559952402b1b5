/** Who moves a resource has its rights over what is below it without being a row, which the target's owner has. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import { parseResourceId } from '#kernel/resource-id.ts'
import { defineComputed } from './declare/computed.ts'
import { defineProvider } from './declare/provider.ts'
import { defineStored } from './declare/stored.ts'
import { group, owner, startPlane, subscription } from './testing/start.ts'

const version = '2024-01-01'
const shelf = `${group}/providers/Vendor.Store/shelves/one`
const other = `/subscriptions/${subscription}/resourceGroups/other`

const provider = defineProvider({
  namespace: 'Store',
  description: 'Shelves, and jars that stand on them by themselves.',
  types: [
    defineStored<object>({
      type: 'Store/shelves',
      description: 'Shelves.',
      scope: 'resource-group',
      movable: true,
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
    defineComputed({
      type: 'Store/shelves/jars',
      description: 'Jars.',
      scope: 'resource-group',
      apiVersions: [version],
      source: {
        get: async () => ({}),
        delete: { makes: true, apply: async () => undefined },
      },
    }),
  ],
})

for (const lacking of ['read', 'write', 'delete']) {
  test(`a shelf is not moved by whom the right to ${lacking} its jars was not given`, async () => {
    const lacks = new Set<string>()
    await using started = await startPlane({
      providers: [provider],
      access: {
        allows: ({ action, scope }) =>
          !scope.key.startsWith(group.toLowerCase()) || !lacks.has(action),
      },
    })
    const { plane } = started
    await started.call('PUT', shelf, {})
    await started.call('PUT', `${other}?api-version=2021-04-01`, { location: 'local' })
    const [from, to] = [group, other].map((path) => parseResourceId(path))
    assert.ok(from !== undefined && to !== undefined)
    const move = () =>
      plane.services.moveResources(
        { from, to, resources: [shelf], onlyValidate: false },
        { principal: owner, correlationId: 'correlation' },
      )
    lacks.add(`Vendor.Store/shelves/jars/${lacking}`)
    await assert.rejects(move(), { code: 'AuthorizationFailed' })
    lacks.clear()
    await move()
  })
}
