import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomIds } from './random-ids.ts'

test('secrets can be pasted behind an option of a command line', () => {
  // One in 64 would begin with a hyphen.
  const secrets = Array.from({ length: 2000 }, () => randomIds.secret(24))
  assert.ok(secrets.every((secret) => /^\w[\w-]{31}$/.test(secret)))
  assert.equal(new Set(secrets).size, secrets.length)
})
