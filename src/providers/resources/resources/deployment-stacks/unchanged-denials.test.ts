/** A stack that is deployed again denies what it denied before: what is unchanged is looked at once. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTerminalState } from '#kernel/operation.ts'
import { realClock } from '#plane/testing/provider-context.ts'
import { until } from '../../../../../tests/until.ts'
import { group, startDeployments, templateFor } from '../../testing/start.ts'

const version = { version: '2024-03-01' }
const count = 60
/** So long each look at the clock takes: some twenty resources are looked at in a step. */
const tickMilliseconds = 50

test('a stack comes to its end when a step has no time to look at all that it denies already', async () => {
  let ahead = 0
  let isSlow = false
  const clock = {
    now() {
      if (isSlow) ahead += tickMilliseconds
      return realClock.now() + ahead
    },
  }
  await using t = await startDeployments({ clock })
  const path = `${group}/providers/Vendor.Resources/deploymentStacks/s`
  const vault = {
    type: 'Vendor.Secrets/vaults',
    apiVersion: '2026-01-01',
    name: "[format('v{0}', copyIndex())]",
    location: 'local',
    copy: { name: 'all', count },
  }
  const properties = {
    template: templateFor([vault]),
    actionOnUnmanage: { resources: 'detach' },
    denySettings: { mode: 'denyDelete' },
  }
  for (const slow of [false, true]) {
    await t.call('PUT', path, { properties }, version)
    isSlow = slow
    await until(async () => isTerminalState((await t.plane.reader.get(path))?.state ?? ''))
    const { body } = await t.call('GET', path, undefined, version)
    const shown = JSON.parse(JSON.stringify(body)).properties
    assert.equal(shown.provisioningState, 'succeeded', JSON.stringify(shown.error))
    assert.equal(shown.resources.length, count)
  }
})
