/** Hashing: right passwords match, wrong ones do not, and a flood is refused before it fills the memory. */

import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { behalfOf, ownerAt } from '#stores/awaited.ts'
import { defaultIdentityLimits } from './limits.ts'
import { createPasswords, defaultPasswordCost } from './passwords.ts'

const cheap = { n: 1024, r: 8, p: 1 }

test('a hash carries its cost, its own salt, and matches only its password', async () => {
  const passwords = createPasswords(defaultIdentityLimits)
  const stored = await passwords.hash('correct horse')
  const { n, r, p } = defaultPasswordCost
  assert.ok(stored.startsWith(`scrypt$${n}$${r}$${p}$`))
  // OWASP's table of equal strengths: N · p of 2^17 · 1 is 2^15 · 3, and so on.
  assert.ok(n >= 2 ** 15 && r === 8 && p >= 3)
  assert.equal(await passwords.verify('correct horse', stored), true)
  assert.equal(await passwords.verify('correct horsf', stored), false)
  assert.equal(await passwords.verify('correct horse', undefined), false)
  assert.notEqual(await passwords.hash('correct horse'), stored)
})

test('the same letters in another Unicode form are the same password; an older cost still matches', async () => {
  const older = createPasswords(defaultIdentityLimits, cheap)
  const stored = await older.hash('pássword')
  const newer = createPasswords(defaultIdentityLimits, { ...cheap, n: 2048 })
  assert.equal(await newer.verify('pa\u0301ssword', stored), true)
})

test('a generated password has a cheap hash, and takes as long to verify as any other', async () => {
  const passwords = createPasswords(defaultIdentityLimits)
  const secret = randomBytes(18).toString('base64url')
  const stored = await passwords.hash(secret, 'generated')
  assert.ok(stored.startsWith('scrypt$1024$8$1$'))
  // The same work whether the account exists or not.
  let derived = 0
  const counted = createHook({
    init: (_id, type) => {
      if (type === 'SCRYPTREQUEST') derived += 1
    },
  }).enable()
  assert.equal(await passwords.verify(secret, stored), true)
  assert.equal(await passwords.verify(`${secret}x`, stored), false)
  assert.equal(derived, 4)
  assert.equal(await passwords.verify(secret, undefined), false)
  counted.disable()
  assert.equal(derived, 5)
})

test('only so many wait; the rest is refused at once, and places are given back', async () => {
  const limits = { ...defaultIdentityLimits, passwordsAtOnceMax: 1, passwordsWaitingMax: 2 }
  const passwords = createPasswords(limits, cheap)
  const stored = await passwords.hash('correct horse')
  for (const round of [1, 2]) {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, () => passwords.verify('correct horse', stored)),
    )
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
    assert.equal(refused.length, 5, `round ${round}`)
    assert.equal(refused[0]?.reason.code, 'PasswordsBusy')
    assert.equal(refused[0]?.reason.status, 429)
  }
  assert.equal(await passwords.verify('x'.repeat(1_000_000), stored), false)
})

test('whoever has many waiting keeps nobody else from being checked, and some are refused', async () => {
  const limits = { ...defaultIdentityLimits, passwordsAtOnceMax: 2, passwordsWaitingMax: 10 }
  const passwords = createPasswords(limits, cheap)
  const ended: string[] = []
  const check = (owner: string) => {
    const checked = behalfOf(owner).run(() => passwords.verify('correct horse', undefined))
    return checked.then(() => ended.push(owner))
  }
  const many = Array.from({ length: 12 }, () => check('one address'))
  const other = check('another')
  const outcomes = await Promise.allSettled([...many, other])
  assert.equal(outcomes.filter(({ status }) => status === 'rejected').length, 1)
  assert.equal(outcomes.at(-1)?.status, 'fulfilled')
  assert.ok(ended.indexOf('another') <= 5, ended.join(' '))
})

test('whoever has many addresses of one network keeps nobody else from being checked', async () => {
  const passwords = createPasswords(defaultIdentityLimits, cheap)
  const ended: string[] = []
  const check = (owner: string) => {
    const checked = behalfOf(ownerAt(owner)).run(() => passwords.verify('correct horse', undefined))
    return checked.then(() => ended.push(owner))
  }
  const many = Array.from({ length: 600 }, (_, at) => check(`2001:db8:77:${at.toString(16)}::/64`))
  const outcomes = Promise.allSettled([...many, check('2001:db8:78:1::/64')])
  const refused = (await outcomes).filter(({ status }) => status === 'rejected')
  // Without turns it is the last of 600.
  const place = ended.indexOf('2001:db8:78:1::/64')
  assert.ok(place >= 0 && place < 20, String(place))
  assert.ok(refused.length > 50, `${refused.length} refused`)
})
