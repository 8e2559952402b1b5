/** Addresses: those of the directory are active at once, and nobody else's can be registered. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consumer, startSharing } from '../testing/start.ts'

const at = (action: string): string => `/providers/Vendor.DataShare/locations/here/${action}`

test('a user of the directory has his address, whatever the code; others are refused', async () => {
  await using sharing = await startSharing()
  const mine = {
    email: 'consumer@example.net',
    registrationStatus: 'Activated',
    tenantId: consumer.tenantId,
  }
  const registered = await sharing.call('POST', at('registerEmail'), undefined, consumer)
  assert.deepEqual([registered.status, registered.body], [200, mine])
  const code = { activationCode: '123' }
  const activated = await sharing.call('POST', at('activateEmail'), code, consumer)
  assert.deepEqual([activated.status, activated.body], [200, mine])
  for (const other of [
    { ...consumer, tenantId: 'elsewhere' },
    { ...consumer, type: 'ServicePrincipal' as const },
  ]) {
    for (const action of ['registerEmail', 'activateEmail']) {
      await assert.rejects(
        sharing.call('POST', at(action), action === 'activateEmail' ? code : undefined, other),
        (error: { code?: string }) => error.code === 'EmailNotVerifiable',
      )
    }
  }
  await assert.rejects(
    sharing.call('POST', at('activateEmail'), {}, consumer),
    (error: { code?: string }) => error.code === 'InvalidRequestContent',
  )
})
