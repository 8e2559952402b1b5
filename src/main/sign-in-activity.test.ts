/** What sign-ins leave in the audit trail. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openActivityQueue } from '#activity/queue.ts'
import { openIdentityFixture, testIds } from '#identity/testing/fixture.ts'
import { silentLog } from '#kernel/ports.ts'
import { openSignInActivity } from './sign-in-activity.ts'

test('a network has as many records of refused sign-ins as one address; a principal has many of good ones, and no more', async () => {
  await using fixture = await openIdentityFixture()
  const { store, now } = fixture
  await using queue = openActivityQueue({
    sql: store.sql,
    clock: { now },
    log: silentLog,
    omittedAction: 'omitted',
    limits: { perSourceMax: 5 },
  })
  const activity = openSignInActivity({
    activity: queue,
    directory: () => fixture.identity.directory,
    words: { namespace: 'Vendor', brand: 'Vendor' },
    ids: testIds,
    log: silentLog,
  })
  const addresses = Array.from({ length: 20 }, (_, at) => [
    `2001:db8:7:1::${at + 1}`,
    `2001:db8:7:${at + 1}::1`,
    `192.0.2.${at + 1}`,
  ])
  for (const address of addresses.flat()) {
    activity.onSignIn({
      outcome: 'refused',
      grant: 'client_credentials',
      principalId: undefined,
      name: 'nobody',
      clientId: 'nobody',
      origin: { address, userAgent: '' },
      error: 'invalid_client',
    })
  }
  for (let at = 0; at < 700; at++) {
    activity.onSignIn({
      outcome: 'succeeded',
      grant: 'client_credentials',
      principalId: undefined,
      name: 'somebody',
      clientId: 'somebody',
      origin: { address: `203.0.113.${at % 250}`, userAgent: '' },
      error: undefined,
    })
  }
  await activity[Symbol.asyncDispose]()
  await queue.flush()
  const rows = await store.sql.all("select detail from events where action <> 'omitted'")
  const ofIpv6 = rows.filter(({ detail }) => String(detail).includes('2001:db8'))
  const good = rows.filter(({ detail }) => String(detail).includes('203.0.113'))
  assert.deepEqual([rows.length - good.length, ofIpv6.length, good.length], [25, 5, 600])
})
