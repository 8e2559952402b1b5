/** A session begins only for what is still good: a password is checked before the session's transaction. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { directorySql } from './directory-sql.ts'
import { defaultIdentityLimits } from './limits.ts'
import { openSessions } from './sessions.ts'
import { openIdentityFixture, testIds } from './testing/fixture.ts'
import { addAlice, alice } from './testing/flows.ts'
import { createSeal } from './testing/seal.ts'

test('an account that is disabled, and a password that is changed, while somebody signs in', async () => {
  await using fixture = await openIdentityFixture()
  const { directory } = fixture.identity
  const id = await addAlice(fixture)
  const clock = { now: fixture.now }
  const sessions = openSessions({
    sql: directorySql(fixture.store.sql, clock),
    clock,
    ids: testIds,
    seal: createSeal(fixture.installationKey),
    limits: defaultIdentityLimits,
  })
  /** Whether the browser is signed in after `meanwhile` came between the check of the password and the session. */
  async function signsIn(uid: string, meanwhile: () => Promise<unknown>): Promise<boolean> {
    const found = await directory.verifyPassword(alice.signInName, alice.password)
    assert.ok(found)
    const { credentialId } = found
    await meanwhile()
    const origin = { address: '192.0.2.1', userAgent: '' }
    await sessions.begin(uid, { principalId: id, credentialId, origin })
    await directory.update(id, { enabled: true })
    return (await sessions.use({ uid, clientId: undefined }, id)) !== undefined
  }
  assert.equal(await signsIn('one', async () => {}), true)
  assert.equal(await signsIn('two', () => directory.update(id, { enabled: false })), false)
  assert.equal(
    await signsIn('three', () => directory.setPassword(id, 'another horse battery')),
    false,
  )
})
