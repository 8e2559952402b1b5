import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { memoryStore, nobody } from '#plane/testing/start.ts'
import {
  assignment,
  at,
  authorization,
  group,
  type Installation,
  openInstallation,
  refused,
  subscription,
} from '../../../testing/installation.ts'

const reader = 'acdd72a7-3385-48ef-bd42-f606fba81ae7'
const contributor = 'b24988ac-6180-42a0-ab88-20f7382dd24c'
const groups = { version: '2021-04-01' }
const version = '2016-09-01'

function lockAt(scope: string, name = 'keep'): string {
  return `${scope}/${authorization}/locks/${name}`
}

async function locked(scope: string, level: string): Promise<Installation> {
  const t = await openInstallation()
  await t.call('PUT', group, { location: 'local' }, groups)
  await t.call('PUT', at(group, reader), assignment(nobody.id, reader))
  const made = await t.call('PUT', lockAt(scope), { properties: { level } }, { version })
  assert.equal(made.status, 201)
  return t
}

for (const scope of [subscription, group]) {
  test(`CanNotDelete at ${scope}: nothing there or below is deleted, and all else goes on`, async () => {
    await using t = await locked(scope, 'CanNotDelete')
    for (const [path, options] of [
      [group, groups],
      [at(group, reader), {}],
    ] as const) {
      await assert.rejects(t.call('DELETE', path, undefined, options), (error) => {
        assert.ok(error instanceof ApiError)
        assert.equal(`${error.status} ${error.code}`, '409 ScopeLocked')
        assert.ok(error.message.includes(path) && error.message.includes(lockAt(scope)))
        return true
      })
    }
    assert.equal((await t.call('PATCH', group, { tags: { a: 'b' } }, groups)).status, 200)
    assert.equal((await t.call('PUT', at(group), assignment(nobody.id, contributor))).status, 201)
    // What does not exist needs no lock.
    assert.equal((await t.call('DELETE', at(group))).status, 204)
    assert.equal((await t.call('DELETE', lockAt(scope), undefined, { version })).status, 200)
    assert.equal((await t.call('DELETE', group, undefined, groups)).status, 202)
  })

  test(`ReadOnly at ${scope}: PUT, PATCH, POST and DELETE are refused, GET is not`, async () => {
    await using t = await locked(scope, 'ReadOnly')
    const locks = 'ScopeLocked'
    await refused(t.call('PUT', group, { location: 'local' }, groups), locks, 409)
    await refused(t.call('PATCH', group, { tags: { a: 'b' } }, groups), locks, 409)
    await refused(t.call('PUT', at(group), assignment(nobody.id, contributor)), locks, 409)
    await refused(t.call('DELETE', at(group, reader)), locks, 409)
    assert.equal((await t.call('GET', group, undefined, groups)).status, 200)
    const cancel = () =>
      t.call('POST', `${subscription}/cancel`, undefined, { version: '2020-01-01' })
    if (scope === subscription) await refused(cancel(), locks, 409)
    else assert.equal((await cancel()).status, 200)
  })
}

describe('locks', () => {
  test('hold nothing beside or above them, but whatever holds them cannot be deleted', async () => {
    await using t = await locked(group, 'CanNotDelete')
    const other = `${group}2`
    await t.call('PUT', other, { location: 'local' }, groups)
    assert.equal((await t.call('DELETE', other, undefined, groups)).status, 202)
    const onMember = await openInstallation()
    await using _ = onMember
    await onMember.call('PUT', group, { location: 'local' }, groups)
    const member = at(group, reader)
    await onMember.call('PUT', member, assignment(nobody.id, reader))
    const body = { properties: { level: 'ReadOnly' } }
    await onMember.call('PUT', lockAt(member), body, { version })
    await refused(onMember.call('DELETE', group, undefined, groups), 'ScopeLocked', 409)
    await refused(onMember.call('DELETE', member), 'ScopeLocked', 409)
    assert.equal((await onMember.call('GET', member)).status, 200)
  })

  test('are managed under locks by those who may, and by nobody else', async () => {
    await using t = await locked(subscription, 'ReadOnly')
    await using free = await openInstallation()
    await free.call('PUT', group, { location: 'local' }, groups)
    await free.call('PUT', at(subscription), assignment(nobody.id, contributor))
    const body = { properties: { level: 'CanNotDelete' } }
    assert.equal((await t.call('PUT', lockAt(group), body, { version })).status, 201)
    assert.equal((await t.call('DELETE', lockAt(group), undefined, { version })).status, 200)
    const as = { version, as: nobody }
    await refused(free.call('PUT', lockAt(group), body, as), 'AuthorizationFailed', 403)
    assert.equal((await free.call('PUT', lockAt(group), body, { version })).status, 201)
    await refused(free.call('DELETE', lockAt(group), undefined, as), 'AuthorizationFailed', 403)
    assert.equal((await free.call('GET', lockAt(group), undefined, as)).status, 200)
  })

  test('are listed at a scope and below it, or by atScope() at it and above', async () => {
    await using t = await locked(subscription, 'CanNotDelete')
    const member = at(group, reader)
    const body = { properties: { level: 'CanNotDelete' } }
    for (const scope of [group, member, `${group}2`]) {
      if (scope !== member) await t.call('PUT', scope, { location: 'local' }, groups)
      assert.equal((await t.call('PUT', lockAt(scope), body, { version })).status, 201, scope)
    }
    const listed = async (query: string): Promise<readonly string[]> => {
      const path = `${group}/${authorization}/locks?${query}`
      const { body } = await t.call('GET', path, undefined, { version })
      return JSON.parse(JSON.stringify(body)).value.map(({ id }: { id: string }) => id)
    }
    assert.deepEqual(await listed(''), [lockAt(group), lockAt(member)])
    const around = [lockAt(subscription), lockAt(group)]
    assert.deepEqual(await listed('$filter=atScope()'), around)
    await assert.rejects(listed("$filter=level eq 'ReadOnly'"), { status: 400 })
  })

  test('are refused at the root and without a level that locks', async () => {
    await using t = await openInstallation()
    const put = (scope: string, level: string) =>
      t.call('PUT', lockAt(scope), { properties: { level } }, { version })
    await refused(put('', 'ReadOnly'), 'InvalidRequestContent', 400)
    await refused(put(group, 'NotSpecified'), 'InvalidRequestContent', 400)
  })
})

test('a scope has at most 20 locks, and a lock none', async () => {
  await using t = await openInstallation()
  await t.call('PUT', group, { location: 'local' }, groups)
  const lock = (scope: string, name: string) =>
    t.call('PUT', lockAt(scope, name), { properties: { level: 'CanNotDelete' } }, { version })
  for (let number = 0; number < 20; number++) await lock(group, `a${number}`)
  await refused(lock(group, 'one-more'), 'InvalidRequestContent', 400)
  await refused(lock(lockAt(group, 'a0'), 'upon-a-lock'), 'InvalidRequestContent', 400)
  assert.equal((await lock(group, 'a0')).status, 200)
  assert.equal((await lock(subscription, 'elsewhere')).status, 201)
})

test('each lock of a scope holds, however many there are from before they were bounded', async () => {
  const store = await memoryStore()
  await using t = await openInstallation('implicit', store)
  await t.call('PUT', group, { location: 'local' }, groups)
  const put = (name: string, level: string) =>
    t.call('PUT', lockAt(group, name), { properties: { level } }, { version })
  await put('a', 'CanNotDelete')
  await put('zz-of-the-owner', 'ReadOnly')
  await store.transact(async (tx) => {
    const row = await tx.lock(lockAt(group, 'a').toLowerCase(), 'share')
    assert.ok(row)
    for (let number = 0; number < 600; number++) {
      const id = `${row.id}${String(number).padStart(3, '0')}`
      await tx.insert({ ...row, id, key: id.toLowerCase() })
    }
  })
  await refused(t.call('PATCH', group, { tags: { a: 'b' } }, groups), 'ScopeLocked', 409)
})
