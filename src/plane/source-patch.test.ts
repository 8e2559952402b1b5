/** Computed items that can be patched, and resources that providers create by themselves. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import { ApiError } from '#kernel/error.ts'
import { defineComputed } from './declare/computed.ts'
import { defineProvider } from './declare/provider.ts'
import { nobody, startPlane } from './testing/start.ts'

const body = Type.Object({ tags: Type.Record(Type.String(), Type.String()) })

function notes(items: Map<string, object>) {
  return defineProvider({
    namespace: 'Notes',
    description: 'Computed notes.',
    types: [
      defineComputed({
        type: 'Notes/notes',
        description: 'Notes.',
        scope: 'tenant',
        apiVersions: ['2024-01-01'],
        source: {
          get: async ({ id }) => items.get(id.key),
          patch: {
            body,
            async apply({ id }, { tags }: { tags: object }) {
              if (!items.has(id.key)) return undefined
              items.set(id.key, { tags })
              return { tags }
            },
          },
        },
      }),
    ],
  })
}

test('a source’s item is patched with its own schema, permission and line in the audit trail', async () => {
  const path = '/providers/Vendor.Notes/notes/a'
  const items = new Map<string, object>([[path.toLowerCase(), { tags: {} }]])
  await using started = await startPlane({ providers: [notes(items)] })
  const patched = await started.call('PATCH', path, { tags: { a: 'b' } })
  assert.deepEqual([patched.status, patched.body], [200, { tags: { a: 'b' } }])
  assert.deepEqual((await started.call('GET', path)).body, { tags: { a: 'b' } })
  const status = (work: Promise<unknown>) =>
    work.then(
      () => 0,
      (error) => (error instanceof ApiError ? error.status : -1),
    )
  assert.equal(await status(started.call('PATCH', path, { tags: { a: 1 } })), 400)
  assert.equal(await status(started.call('PATCH', `${path}b`, { tags: {} })), 404)
  assert.equal(await status(started.call('PATCH', path, { tags: {} }, { as: nobody })), 403)
  assert.equal(await status(started.call('PUT', path, {})), 405)
})

test('a patch of a source’s item keeps to its preconditions', async () => {
  const path = '/providers/Vendor.Notes/notes/a'
  const items = new Map<string, object>([[path.toLowerCase(), { tags: {} }]])
  await using started = await startPlane({ providers: [notes(items)] })
  const first = await started.call('GET', path)
  assert.ok(first.etag)
  const ifNoneMatch = { ifNoneMatch: `"${first.etag}"` }
  assert.equal((await started.call('GET', path, undefined, ifNoneMatch)).status, 304)
  const ifMatch = { ifMatch: `"${first.etag}"` }
  const patched = await started.call('PATCH', path, { tags: { a: 'b' } }, ifMatch)
  assert.equal(patched.status, 200)
  assert.notEqual(patched.etag, first.etag)
  assert.equal((await started.call('GET', path)).etag, patched.etag)
  const any = { ifNoneMatch: '*' }
  for (const options of [ifMatch, any]) {
    await assert.rejects(
      started.call('PATCH', path, { tags: { a: 'c' } }, options),
      (error) => error instanceof ApiError && error.status === 412,
    )
  }
  // A missing resource is not found, whatever the conditions say.
  await assert.rejects(
    started.call('PATCH', `${path}b`, { tags: {} }, ifMatch),
    (error) => error instanceof ApiError && error.status === 404,
  )
  assert.deepEqual(items.get(path.toLowerCase()), { tags: { a: 'b' } })
})
