/** A PUT of a share subscription that is deleted before it is written. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask } from '#plane/testing/ask.ts'
import { consumer, startSharing, taken } from './testing/start.ts'

test('a PUT that began before a deletion makes no subscription anew, and is answered 409', async () => {
  await using started = await startSharing()
  await started.prepare()
  const { body } = await started.call('GET', taken, undefined, consumer)
  const { invitationId, sourceShareLocation } = body.properties
  const given = { properties: { invitationId, sourceShareLocation } }
  const late = ask(started.plane, 'PUT', taken, given, {
    as: consumer,
    version: '2021-08-01',
    async meanwhile() {
      await started.call('DELETE', taken, undefined, consumer)
      await started.settle()
    },
  })
  await assert.rejects(late, { status: 409, code: 'Conflict' })
})
