/** A DELETE of what is written one at a time, with much below it: others do not wait while that is looked at. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import { until } from '../../tests/until.ts'
import type { Access } from './access.ts'
import { defineProvider } from './declare/provider.ts'
import { defineStored } from './declare/stored.ts'
import { ask } from './testing/ask.ts'
import { owner, startPlane, type TestPlane } from './testing/start.ts'

const version = '2024-01-01'
const shelf = '/providers/Vendor.Store/shelves/one'

function stored(type: string) {
  return {
    type,
    description: 'Shelves, which are written one at a time, and jars.',
    scope: 'tenant',
    name: { pattern: /^[a-z]+$/, rule: 'letters' },
    versions: [
      {
        date: version,
        body: Type.Object({ text: Type.String() }),
        answer: Type.Object({}),
        unknownProperties: 'ignore',
        patch: 'none',
        toModel: ({ text }: { readonly text: string }) => ({ text }),
        fromModel: () => ({}),
      },
    ],
  } as const
}

const provider = defineProvider({
  namespace: 'Store',
  description: 'Jars on shelves.',
  types: [
    defineStored<{ readonly text: string }>({ ...stored('Store/shelves'), feed: 'shelves' }),
    defineStored<{ readonly text: string }>({
      ...stored('Store/shelves/jars'),
      rightsToDeleteAbove: ({ id }) => [{ action: 'Store/shelves/jars/burn/action', scope: id }],
    }),
  ],
})

async function filled(access: Access): Promise<TestPlane> {
  const started = await startPlane({ providers: [provider], access })
  await started.call('PUT', shelf, { text: '' })
  for (const name of ['a', 'b', 'c']) {
    await started.call('PUT', `${shelf}/jars/${name}`, { text: 'x'.repeat(1_000_000) })
  }
  return started
}

/** As from outside: authorized again when its turn has come. */
const fromOutside = { as: owner, version, meanwhile: async () => {} }

const remove = ({ plane }: TestPlane) => ask(plane, 'DELETE', shelf, undefined, fromOutside)

test('others write while it is looked at', async () => {
  let isOtherThere = false
  await using started = await filled({
    async allows({ action }) {
      if (!action.endsWith('/burn/action')) return true
      const other = ask(started.plane, 'PUT', `${shelf}x`, { text: '' }, fromOutside)
      void other.then(() => {
        isOtherThere = true
      })
      await until(() => isOtherThere)
      return true
    },
  })
  assert.equal((await remove(started)).status, 200)
})

for (const [changes, most] of [
  [1, 2],
  [10, 5],
] as const) {
  test(`where rights change ${changes} times meanwhile, it is looked at ${most} times`, async () => {
    let looks = 0
    let asOf = { shelves: 0 }
    await using started = await filled({
      allows({ action, scope }) {
        if (!action.endsWith('/burn/action') || !scope.key.endsWith('/a')) return true
        looks++
        if (looks <= changes) asOf = { shelves: looks }
        return true
      },
      asOf: () => asOf,
    })
    assert.equal((await remove(started)).status, 200)
    assert.equal(looks, most)
  })
}
