/** A group has its own identity for life, and a group made anew under its name has another. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Outcome } from '#plane/plane.ts'
import { base, body, type Shown, startContainers } from '../../testing/start.ts'

const path = `${base}/containerGroups/worker`
const given = { ...body(), identity: { type: 'SystemAssigned' } }
// The answer of a group.
const principalOf = (answer: Outcome) => (answer.body as unknown as Shown).identity?.['principalId']

test('a PUT that began before a deletion does not bring the principal back', async () => {
  await using started = await startContainers()
  const first = principalOf(await started.call('PUT', path, given))
  await started.settle()
  const again = await started.call('PUT', path, given, {
    async meanwhile() {
      await started.call('DELETE', path)
      await started.settle()
    },
  })
  assert.equal(again.status, 201)
  assert.notEqual(principalOf(again), first)
})

test('of two first PUTs at once both answer the same principal', async () => {
  await using started = await startContainers()
  let first: unknown
  const second = await started.call('PUT', path, given, {
    async meanwhile() {
      first = principalOf(await started.call('PUT', path, given))
      await started.settle()
    },
  })
  assert.equal(second.status, 200)
  assert.equal(principalOf(second), first)
})
