/** Which passwords are accepted. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultIdentityLimits } from './limits.ts'
import { checkPassword } from './password-rules.ts'
import { openIdentityFixture } from './testing/fixture.ts'

const names = { displayName: 'Ada Lovelace', signInName: 'ada.l@example.org' }
const check = (password: string) => checkPassword(password, names, defaultIdentityLimits)

const refused: readonly (readonly [string, RegExp])[] = [
  ['Xy7!pq', /at least 10 characters/],
  ['👩👩👩👩👩👩', /at least 10 characters/],
  ['x'.repeat(257), /at most 256/],
  ['aaaaaaaaaaaa', /5 different/],
  ['abcabcabcabcabc', /5 different/],
  ['1234567890', /common/],
  ['qwertyuiop', /common/],
  ['Password2026!', /common/],
  ['P@ssw0rd2026', /common/],
  ['!!Dragon!!2026', /common/],
  ['my-ADA.L@example.org', /the name of the account/],
  ['lovelace-7#kQ9', /the name of the account/],
]
for (const [password, reason] of refused) {
  test(`refused: ${password.slice(0, 30)}`, async () => {
    await assert.rejects(check(password), { code: 'InvalidPassword', message: reason })
  })
}

for (const password of ['correct horse battery', 'long enough', 'kX9#vv2!pLq', 'бюро находок 17']) {
  test(`accepted: ${password}`, () => check(password))
}

test('accounts are made and changed by these rules', async () => {
  await using fixture = await openIdentityFixture()
  const { directory } = fixture.identity
  const user = { displayName: 'Ada Lovelace', signInName: 'ada' }
  const weak = { code: 'InvalidPassword', extra: { target: 'password' } }
  await assert.rejects(directory.createUser({ ...user, password: 'Password2026!' }), weak)
  const { id } = await directory.createUser({ ...user, password: 'kX9#vv2!pLq' })
  await assert.rejects(directory.setPassword(id, 'lovelace-7#kQ9'), weak)
  assert.ok(await directory.verifyPassword('ada', 'kX9#vv2!pLq'), 'the one before stays')
})
