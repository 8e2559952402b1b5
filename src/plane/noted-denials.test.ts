/** Who asks later why a request was refused is told of the right that it lacked, once. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import { refuse } from '#kernel/error.ts'
import type { Verdict } from './access.ts'
import { defineComputed } from './declare/computed.ts'
import { defineProvider } from './declare/provider.ts'
import { owner, startPlane } from './testing/start.ts'

const note = '/providers/Vendor.Notes/notes/a'
const write = 'Vendor.Notes/notes/write'

const notes = defineProvider({
  namespace: 'Notes',
  description: 'Notes that need a right elsewhere.',
  types: [
    defineComputed({
      type: 'Notes/notes',
      description: 'Notes.',
      scope: 'tenant',
      apiVersions: ['2024-01-01'],
      source: {
        get: async () => undefined,
        put: {
          body: Type.Object({}),
          makes: true,
          async apply({ principal }) {
            const { id, displayName } = principal
            const elsewhere = { action: 'Vendor.Notes/pens/read', scope: '/' }
            throw refuse.AuthorizationFailed({
              client: displayName,
              principalId: id,
              ...elsewhere,
            })
          },
        },
      },
    }),
  ],
})

for (const [what, again, noted] of [
  ['a right elsewhere', true, []],
  ['a right that it has lost while it waited', false, [write]],
  ['a right that has got a condition while it waited', { holds: () => false }, [write]],
] as const) {
  test(`a request that lacks ${what} is noted as what it is`, async () => {
    const denied: string[] = []
    let verdict: Verdict = true
    await using started = await startPlane({
      providers: [notes],
      access: { allows: () => verdict },
      onDenied: ({ action }) => denied.push(action),
    })
    const { plane } = started
    const query = new URLSearchParams({ 'api-version': '2024-01-01' })
    const route = plane.locate('PUT', note, query)
    const authorize = async () => plane.authorize(route, owner, 'correlation')
    const given = { principal: owner, query, body: {}, preconditions: {}, correlationId: 'one' }
    const pending = await authorize()
    verdict = again
    const written = plane.run(route, { ...given, pending, authorizeAgain: authorize })
    await assert.rejects(written, { code: 'AuthorizationFailed' })
    assert.deepEqual(denied, noted)
  })
}
