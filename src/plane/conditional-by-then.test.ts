/** A right that has become one with a condition, while a request was carried out that is authorized again. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import { recordedSql } from '#activity/recorded-sql.ts'
import { defineActions } from './declare/action.ts'
import { defineComputed } from './declare/computed.ts'
import { defineProvider } from './declare/provider.ts'
import { memoryStore, owner, startPlane, testClock } from './testing/start.ts'

const version = '2024-01-01'

for (const [what, method, path] of [
  ['makes no computed item', 'PUT', '/notes/a'],
  ['writes nothing of the type’s own tables by a computed item', 'PUT', '/kept/a'],
  ['writes nothing of the type’s own tables by an action', 'POST', '/things/one/keep'],
  ['shows no secret', 'POST', '/things/one/reveal'],
] as const) {
  test(`it ${what}`, async () => {
    await using store = await memoryStore()
    const sql = recordedSql(store.sql, testClock())
    const done: string[] = []
    const keep = () => sql.transact(async () => done.push('kept'), 'one')
    const item = (type: string, apply: () => Promise<unknown>) =>
      defineComputed({
        type,
        description: 'Notes.',
        scope: 'tenant',
        apiVersions: [version],
        source: {
          get: async () => undefined,
          put: { body: Type.Object({}), makes: true, apply: async () => ({ n: await apply() }) },
        },
      })
    const provider = defineProvider({
      namespace: 'Notes',
      description: 'Notes that something else keeps.',
      types: [
        item('Notes/notes', async () => done.push('made')),
        item('Notes/kept', keep),
        defineActions({
          type: 'Notes/things',
          description: 'What is done with notes.',
          scope: 'tenant',
          apiVersions: [version],
          actions: {
            keep: {
              method: 'POST',
              description: 'Keeps something.',
              run: async () => ({ status: 200, body: { n: await keep() } }),
            },
            reveal: {
              method: 'POST',
              description: 'Shows a secret.',
              revealsSecret: true,
              run: async () => ({ status: 200, body: { secret: 'hush' } }),
            },
          },
        }),
      ],
    })
    await using started = await startPlane({ store, providers: [provider] })
    const send = (isConditional: boolean) => {
      const query = new URLSearchParams({ 'api-version': version })
      const route = started.plane.locate(method, `/providers/Vendor.Notes${path}`, query)
      return started.plane.run(route, {
        principal: owner,
        query,
        body: {},
        preconditions: {},
        correlationId: 'correlation',
        from: { method, address: '192.0.2.1', userAgent: 'test' },
        pending: undefined,
        authorizeAgain: async () => (isConditional ? { holds: () => false } : undefined),
      })
    }
    await assert.rejects(send(true), { code: 'AuthorizationFailed' })
    assert.deepEqual(done, [])
    assert.ok((await send(false)).status < 300)
  })
}
