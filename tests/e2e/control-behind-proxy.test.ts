/** Whoever comes through a proxy on this machine is not on this machine, whatever the headers say. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startInstallation } from './installation.ts'

test('`ARMATURE_CONTROL=local` answers nobody who comes through a proxy', async () => {
  await using server = await startInstallation({
    environment: {
      ARMATURE_CONTROL: 'local',
      ARMATURE_CONTAINERS: 'simulated',
      ARMATURE_TRUSTED_PROXIES: '127.0.0.1',
    },
  })
  const status = async (headers: Readonly<Record<string, string>>): Promise<number> =>
    (await server.request('GET', '/_armature/faults', { headers })).status
  assert.equal(await status({}), 200)
  for (const headers of [
    { 'x-forwarded-for': '203.0.113.7' },
    // Neither counts where they disagree, and the address is the proxy's.
    { 'x-forwarded-for': '203.0.113.7', forwarded: 'for=203.0.113.8' },
    { 'x-forwarded-for': 'unknown' },
    { forwarded: 'for=_hidden' },
  ]) {
    assert.equal(await status(headers), 409, JSON.stringify(headers))
  }
})
