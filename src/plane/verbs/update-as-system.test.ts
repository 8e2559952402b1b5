/** Changes by the installation itself: each counts, and only if the resource exists. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openInstallation, subscription } from '#providers/testing/installation.ts'

test('amendments of many at once all count; a resource that is not there is left so', async () => {
  await using t = await openInstallation()
  await t.call('PUT', subscription, { displayName: 'One' }, { version: '2020-01-01' })
  const vault = `${subscription}/resourceGroups/rg/providers/Vendor.Secrets/vaults/v`
  await t.call('PUT', vault, { location: 'local', properties: {} }, { version: '2026-01-01' })
  const { updateAsSystem, reader } = t.plane.services
  const before = await reader.get(vault.toLowerCase())
  const add = (): Promise<boolean> =>
    updateAsSystem(vault.toLowerCase(), ({ model }) => {
      const { count = 0 } = model as { readonly count?: number }
      return { ...(model as object), count: count + 1 }
    })
  assert.deepEqual(await Promise.all([add(), add(), add(), add()]), [true, true, true, true])
  const after = await reader.get(vault.toLowerCase())
  assert.deepEqual(after?.model, { ...Object(before?.model), count: 4 })
  assert.notEqual(after?.etag, before?.etag)
  assert.equal(await updateAsSystem(vault.toLowerCase(), () => undefined), false)
  assert.equal((await reader.get(vault.toLowerCase()))?.etag, after?.etag)
  assert.equal(await updateAsSystem(`${vault.toLowerCase()}none`, () => ({})), false)
})
