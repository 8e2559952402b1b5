/** Work on one generation of a resource records nothing once a later write has superseded it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Next } from '../declare/reconciled.ts'
import { scriptedProvider } from '../testing/scripted-provider.ts'
import { group, startPlane } from '../testing/start.ts'

const valve = `${group}/providers/Vendor.Scripted/valves/v`

const endings: readonly { readonly title: string; readonly next: Next<string, unknown> }[] = [
  { title: 'a step', next: { kind: 'step', step: 'turn', state: 'Opening' } },
  { title: 'a wait', next: { kind: 'wait', seconds: 0, state: 'Opening' } },
  { title: 'a failure', next: { kind: 'fail', code: 'Stuck', message: 'it is stuck' } },
]

for (const { title, next } of endings) {
  test(`${title} decided before a DELETE came does not show after it`, {
    timeout: 240_000,
  }, async () => {
    const looked = Promise.withResolvers<void>()
    const superseded = Promise.withResolvers<void>()
    const lookedAgain = Promise.withResolvers<void>()
    const read = Promise.withResolvers<void>()
    await using t = await startPlane({
      providers: [
        scriptedProvider({
          async observe({ desired }) {
            if (desired !== undefined) {
              looked.resolve()
              await superseded.promise
              return 'seen before the DELETE'
            }
            lookedAgain.resolve()
            await read.promise
            return 'gone'
          },
          next: (_, seen) => (seen === 'gone' ? { kind: 'done' } : next),
        }),
      ],
    })
    try {
      await t.call('PUT', valve, { properties: { open: true } })
      await looked.promise
      const deleted = await t.call('DELETE', valve)
      superseded.resolve()
      await lookedAgain.promise
      const shown = await t.call('GET', valve)
      assert.match(JSON.stringify(shown.body), /"provisioningState":"Deleting"/)
      read.resolve()
      await t.plane.reconciler.idle()
      const operation = await t.call('GET', deleted.operation?.statusPath ?? '')
      assert.match(JSON.stringify(operation.body), /"status":"Succeeded"/)
    } finally {
      // A failed test releases the work, or its plane would wait for it.
      superseded.resolve()
      read.resolve()
    }
  })
}
