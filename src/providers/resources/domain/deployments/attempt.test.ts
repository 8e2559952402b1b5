import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refuse } from '#kernel/error.ts'
import { attempt, attemptPreview } from './attempt.ts'

test('a preview throws what says to come again, and returns every other refusal', async () => {
  const later = refuse.TooManyRequests({ kind: 'template evaluations', seconds: 1 })
  const never = refuse.SubscriptionNotFound({ id: 'gone' })
  await assert.rejects(
    attemptPreview(() => Promise.reject(later)),
    later,
  )
  const refused = await attemptPreview(() => Promise.reject(never))
  assert.ok(refused.kind === 'refused' && refused.status === 404)
  // What was accepted goes on, and this is the result of one resource.
  assert.equal((await attempt(() => Promise.reject(later))).kind, 'refused')
})
