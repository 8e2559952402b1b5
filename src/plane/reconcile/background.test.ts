/** Background work: writes answer at once, recording is no change, and a DELETE orders the work to end. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Outcome } from '../plane.ts'
import { scriptedProvider } from '../testing/scripted-provider.ts'
import { group, startPlane } from '../testing/start.ts'

const valve = `${group}/providers/Vendor.Scripted/valves/v`

function stateOf(outcome: Outcome): string {
  return JSON.parse(JSON.stringify(outcome.body)).properties.provisioningState
}

test('writes open no operation, tags stay while it works, and a DELETE ends it first', async () => {
  const looks: string[] = []
  await using t = await startPlane({
    providers: [
      scriptedProvider({
        // Closed means that it should end. It has ended once that was observed.
        background: {
          endInstead: ({ model, observed }) =>
            observed === 'ended' ? undefined : { ...model, open: false },
        },
        observe: async ({ desired, last }) =>
          desired?.open === true ? `working ${String(last).length}` : 'ended',
        next: (_subject, seen) => {
          looks.push(String(seen))
          return seen === 'ended' ? { kind: 'done' } : { kind: 'wait', seconds: 60 }
        },
      }),
    ],
  })
  const made = await t.call('PUT', valve, { properties: { open: true } })
  assert.equal(made.status, 201)
  assert.equal(made.operation, undefined)
  assert.equal(stateOf(made), 'Succeeded')
  await t.plane.reconciler.idle()
  assert.deepEqual(looks, ['working 9'])
  const now = await t.call('GET', valve)
  assert.equal(now.etag, made.etag, 'what was recorded is no change of the resource')
  const again = await t.call('GET', valve, undefined, { ifNoneMatch: now.etag ?? '' })
  assert.equal(again.status, 200, 'what came of the work may be news')
  // While it works, a change is accepted at once, and observed at once.
  const tagged = await t.call('PATCH', valve, { tags: { a: 'b' } }, { ifMatch: now.etag ?? '' })
  assert.equal(tagged.status, 200)
  await t.plane.reconciler.idle()
  assert.equal(looks.length, 2)
  const ended = await t.call('DELETE', valve)
  assert.equal(ended.status, 200)
  assert.equal(ended.operation, undefined)
  await t.plane.reconciler.idle()
  assert.equal((await t.call('GET', valve)).status, 200)
  assert.equal((await t.call('DELETE', valve)).status, 200)
  await assert.rejects(t.call('GET', valve), { code: 'ResourceNotFound' })
  assert.equal((await t.call('DELETE', valve)).status, 204)
  await t.plane.reconciler.idle()
})
