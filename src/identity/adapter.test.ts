/** What the OAuth library stores: found only by its own ids, sealed, consumed once, expired in time. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Adapter } from 'oidc-provider'
import type { Store } from '#stores/store.ts'
import { createAdapterFactory } from './adapter.ts'
import { createLibraryTime } from './library-time.ts'
import { openTestStore } from './testing/fixture.ts'
import { createSeal } from './testing/seal.ts'

interface Setting extends AsyncDisposable {
  readonly store: Store
  adapter(kind: string): Adapter
  wait(seconds: number): void
}

async function open(): Promise<Setting> {
  const store = await openTestStore()
  let now = 1_000_000
  const adapter = createAdapterFactory({
    time: createLibraryTime(Date, Date),
    sql: store.sql,
    clock: { now: () => now },
    seal: createSeal(Buffer.alloc(32, 3)),
    limits: { statesPerPrincipalMax: 60 },
    alreadyConsumed: () => new Error('already consumed'),
    findClient: async (id) => ({ client_id: id }),
  })
  return {
    store,
    adapter,
    wait(seconds) {
      now += seconds * 1000
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
}

test('a payload comes back by id, uid and user code, of its own kind only', async () => {
  await using setting = await open()
  const session = setting.adapter('Session')
  const payload = { jti: 'id-1', uid: 'uid-1', accountId: 'a', deep: { list: [1, 'é', null] } }
  await session.upsert('id-1', payload, 60)
  assert.deepEqual(await session.find('id-1'), payload)
  assert.deepEqual(await session.findByUid('uid-1'), payload)
  assert.equal(await setting.adapter('Grant').find('id-1'), undefined)
  assert.equal(await session.find('id-2'), undefined)
  const device = setting.adapter('DeviceCode')
  await device.upsert('d', { jti: 'd', userCode: 'ABCDEFGH' }, 60)
  assert.equal((await device.findByUserCode('ABCDEFGH'))?.['jti'], 'd')
  await session.upsert('id-1', { ...payload, uid: 'uid-2' }, 60)
  assert.equal(await session.findByUid('uid-1'), undefined)
  assert.ok(await session.findByUid('uid-2'))
  await session.destroy('id-1')
  assert.equal(await session.find('id-1'), undefined)
  assert.deepEqual(await setting.adapter('Client').find('x'), { client_id: 'x' })
})

test('of simultaneous consumers one wins, and later readers see it', async () => {
  await using setting = await open()
  const codes = setting.adapter('AuthorizationCode')
  await codes.upsert('code', { jti: 'code' }, 60)
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => codes.consume('code')))
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
  assert.equal((await codes.find('code'))?.['consumed'], 1000)
  await codes.upsert('code', { jti: 'code', later: true }, 60)
  assert.equal((await codes.find('code'))?.['consumed'], 1000, 'saving again does not revive it')
})

test('revoking a grant takes what was issued under it', async () => {
  await using setting = await open()
  const tokens = setting.adapter('RefreshToken')
  for (const [id, grantId] of [
    ['a', 'g1'],
    ['b', 'g1'],
    ['c', 'g2'],
  ] as const) {
    await tokens.upsert(id, { jti: id, grantId }, 60)
  }
  await tokens.revokeByGrantId('g1')
  assert.deepEqual(
    [await tokens.find('a'), await tokens.find('b'), (await tokens.find('c'))?.['jti']],
    [undefined, undefined, 'c'],
  )
})

test('nothing at rest is usable: no id, no code, no payload in the clear', async () => {
  await using setting = await open()
  const secret = 'a-secret-of-the-session'
  const payload = { jti: secret, uid: `${secret}-uid`, userCode: `${secret}-code` }
  await setting.adapter('Session').upsert(secret, payload, 60)
  const rows = JSON.stringify(await setting.store.sql.all('select * from identity_oauth_states'))
  assert.ok(!rows.includes(secret))
  assert.ok(!rows.includes(Buffer.from(secret).toString('base64url')))
})

test('what is over is not found, and swept while others are written', async () => {
  await using setting = await open()
  const kept = setting.adapter('Interaction')
  for (let i = 0; i < 60; i += 1) await kept.upsert(`old${i}`, { jti: `old${i}` }, 60)
  setting.wait(121)
  assert.equal(await kept.find('old1'), undefined)
  for (let i = 0; i < 50; i += 1) await kept.upsert(`new${i}`, { jti: `new${i}` }, 60)
  const rows = await setting.store.sql.all('select count(*) as n from identity_oauth_states')
  assert.equal(rows[0]?.['n'], 50)
})

test('one person has so many rows; what was used up goes first, then what ends first', async () => {
  await using setting = await open()
  const tokens = setting.adapter('RefreshToken')
  await setting.adapter('Grant').upsert('g', { jti: 'g', accountId: 'a' }, 900)
  await tokens.upsert('other', { jti: 'other', accountId: 'b' }, 60)
  for (let at = 0; at < 400; at++) {
    await tokens.upsert(`t${at}`, { jti: `t${at}`, accountId: 'a' }, 60 + at)
    if (at % 2 === 0) await tokens.consume(`t${at}`)
  }
  const rows = await setting.store.sql.all(
    "select consumed_at from identity_oauth_states where account_id = 'a'",
  )
  // The last ones came after the last sweep.
  assert.ok(rows.length >= 60 && rows.length < 60 + 50, `${rows.length}`)
  const used = rows.filter((row) => row['consumed_at'] !== null)
  assert.ok(used.length <= 25, `${used.length}`)
  assert.ok(await tokens.find('t399'))
  assert.ok(await tokens.find('other'))
  assert.equal(await tokens.find('t1'), undefined)
  assert.ok(await setting.adapter('Grant').find('g'))
})

test('sessions and grants of one person have so many rows, too, and take none of what is of another kind', async () => {
  await using setting = await open()
  const tokens = setting.adapter('RefreshToken')
  for (let at = 0; at < 10; at++)
    await tokens.upsert(`t${at}`, { jti: `t${at}`, accountId: 'a' }, 60)
  for (let at = 0; at < 400; at++) {
    await setting.adapter('Grant').upsert(`g${at}`, { jti: `g${at}`, accountId: 'a' }, 900 + at)
    await setting.adapter('Session').upsert(`s${at}`, { jti: `s${at}`, accountId: 'a' }, 300 + at)
  }
  const rows = await setting.store.sql.all(
    "select id from identity_oauth_states where account_id = 'a'",
  )
  assert.ok(rows.length >= 60 && rows.length < 60 + 50, `${rows.length}`)
  for (let at = 0; at < 10; at++) assert.ok(await tokens.find(`t${at}`), `t${at}`)
  assert.ok(await setting.adapter('Grant').find('g399'))
  assert.ok(await setting.adapter('Session').find('s399'))
  assert.equal(await setting.adapter('Grant').find('g0'), undefined)
})

test('the rows of one person are counted whoever writes between them', async () => {
  await using setting = await open()
  const tokens = setting.adapter('RefreshToken')
  for (let at = 1; at <= 400; at++) {
    const jti = `t${at}`
    await tokens.upsert(jti, at % 50 === 0 ? { jti } : { jti, accountId: 'a' }, 60)
  }
  const rows = await setting.store.sql.all(
    "select id from identity_oauth_states where account_id = 'a'",
  )
  assert.ok(rows.length >= 60 && rows.length < 60 + 50, `${rows.length}`)
})
