/** Whether a body contains a secret decides whether a write may be answered as unchanged. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import { givesSecret } from './secrets.ts'

test('a secret is seen in any case of its names, and an empty one is none', () => {
  const schema = Type.Object({ properties: Type.Object({}) })
  const kept = [{ property: 'properties.clientSecret', receiver: () => 'r' }]
  const gives = (properties: object) => givesSecret(kept, schema, { properties })
  assert.ok(gives({ clientSecret: 's' }))
  assert.ok(gives({ ClientSecret: 's' }))
  assert.ok(gives({ clientSecret: '', CLIENTSECRET: 's' }))
  assert.ok(!gives({ clientSecret: '', ClientSecret: null }))
  assert.ok(!gives({ clientSecrets: 's' }))
})

test('a secret that the desired model does not keep is none', () => {
  const secret = Type.String({ writeOnly: true })
  const schema = Type.Object({ properties: Type.Object({ password: secret }) })
  const receiver = ({ host }: { readonly host?: string }) => host
  const kept = [{ property: 'properties.password', receiver }]
  const body = { properties: { password: 's' } }
  assert.ok(givesSecret(kept, schema, body, { host: 'a' }))
  assert.ok(!givesSecret(kept, schema, body, {}))
  assert.ok(givesSecret([], schema, body, {}), 'of one that is not declared nothing is known')
})
