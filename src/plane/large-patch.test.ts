/** What a PATCH adds to a resource has the bounds of a body. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { group, startPlane } from './testing/start.ts'

/** What a widget has at least. */
const bare = JSON.parse('{"parts":[]}')
const path = `${group}/providers/Vendor.Sample/widgets/w`

test('a PATCH makes a resource no larger than a PUT could', async () => {
  await using t = await startPlane({ limits: { bodyBytesMax: 100_000 } })
  const send = async (method: 'PUT' | 'PATCH', length: number) => {
    const note = 'x'.repeat(length)
    const properties = method === 'PUT' ? { ...bare, note } : { note }
    const outcome = await t.call(method, path, { location: 'here', properties })
    await t.plane.reconciler.idle()
    return outcome.status
  }
  assert.equal(await send('PUT', 90_000), 201)
  assert.equal(await send('PATCH', 95_000), 200)
  await assert.rejects(send('PATCH', 120_000), { code: 'InvalidRequestContent' })
  // As from before there was a bound: the edge refuses the body of this PUT.
  assert.equal(await send('PUT', 150_000), 200)
  assert.equal(await send('PATCH', 140_000), 200)
  await assert.rejects(send('PATCH', 140_001), { code: 'InvalidRequestContent' })
})
