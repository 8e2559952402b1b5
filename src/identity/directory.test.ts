/** The directory's promises about principals, members and credentials. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Principal } from '#kernel/principal.ts'
import { openIdentityFixture, testTenant } from './testing/fixture.ts'

const nobody = '00000000-0000-4000-8000-000000000000'

test('sign-in names are unique without regard to case; a refused user leaves nothing', async () => {
  await using fixture = await openIdentityFixture()
  const { directory } = fixture.identity
  const user = await directory.createUser({ displayName: ' Ann ', signInName: 'Ann@x' })
  assert.equal(user.displayName, 'Ann')
  assert.equal(user.signInName, 'Ann@x')
  for (const signInName of ['ann@X', 'ａnn@x']) {
    await assert.rejects(directory.createUser({ displayName: 'B', signInName }), {
      code: 'PrincipalExists',
      status: 409,
    })
  }
  assert.equal((await directory.list('User', undefined, 10)).items.length, 1)
  assert.equal(await directory.verifyPassword('ann@x', 'anything at all'), undefined)
  await directory.delete(user.id)
  await directory.createUser({ displayName: 'B', signInName: 'ann@x' })
})

test('names, passwords and redirect URIs follow the rules', async () => {
  await using fixture = await openIdentityFixture()
  const { directory } = fixture.identity
  const invalid = { code: 'InvalidPrincipal', status: 400 }
  for (const displayName of ['', '  ', 'a\0b', 'a\nb', '\ud800', 'x'.repeat(257)]) {
    await assert.rejects(directory.createGroup({ displayName }), invalid)
  }
  for (const signInName of ['', 'a b', 'a\0', '\udfff', 'x'.repeat(257)]) {
    await assert.rejects(directory.createUser({ displayName: 'A', signInName }), invalid)
  }
  for (const password of ['short', 'x'.repeat(257)]) {
    await assert.rejects(directory.createUser({ displayName: 'A', signInName: 'a', password }), {
      code: 'InvalidPassword',
    })
  }
  for (const uri of [
    'http://app.example/',
    'javascript:alert(1)',
    '/relative',
    'https://app.example/#x',
    'https://u:p@app.example/',
    'data:text/html,x',
  ]) {
    await assert.rejects(
      directory.createServicePrincipal({ displayName: 'A', redirectUris: [uri] }),
      invalid,
      uri,
    )
  }
  const { principal } = await directory.createServicePrincipal({
    displayName: 'A',
    redirectUris: ['https://app.example/cb', 'http://localhost:3000/', 'https://app.example/cb'],
  })
  assert.deepEqual(principal.redirectUris, ['https://app.example/cb', 'http://localhost:3000/'])
  const group = await directory.createGroup({ displayName: 'G' })
  await assert.rejects(directory.update(group.id, { redirectUris: [] }), invalid)
  await assert.rejects(directory.addSecret(group.id), invalid)
})

test('an id that names nothing, or something else, is not found', async () => {
  await using fixture = await openIdentityFixture()
  const { directory } = fixture.identity
  const group = await directory.createGroup({ displayName: 'G' })
  const missing = { code: 'PrincipalNotFound', status: 404 }
  for (const id of [nobody, '', 'x', 'nul\0', '../..', group.id.slice(1)]) {
    await assert.rejects(directory.get(id), missing)
    await assert.rejects(directory.delete(id), missing)
    await assert.rejects(directory.update(id, {}), missing)
    await assert.rejects(directory.addMember(group.id, id), missing)
    await assert.rejects(directory.setPassword(id, 'long enough'), missing)
    await assert.rejects(directory.addSecret(id), missing)
    await assert.rejects(directory.removeMember(group.id, id), { code: 'MemberNotFound' })
    assert.equal(await directory.find(id), undefined)
    assert.deepEqual(await directory.groupsOf(id), [])
    assert.equal(await directory.clientPrincipal(id), undefined)
  }
  await assert.rejects(directory.get(group.id, 'User'), missing)
  assert.equal((await directory.get(group.id.toUpperCase(), 'Group')).id, group.id)
})

test('lists come in pages that join to the whole', async () => {
  await using fixture = await openIdentityFixture()
  const { directory } = fixture.identity
  const made: string[] = []
  for (let i = 0; i < 7; i += 1) {
    made.push((await directory.createGroup({ displayName: `G${i}` })).id)
  }
  for (const size of [1, 3, 7, 8]) {
    const seen: string[] = []
    let after: string | undefined
    do {
      const page = await directory.list('Group', after, size)
      assert.ok(page.items.length <= size)
      seen.push(...page.items.map(({ id }) => id))
      after = page.next
    } while (after !== undefined)
    assert.deepEqual(seen, [...made].sort())
  }
})

test('membership is transitive, survives cycles, and counts at once on every replica', async () => {
  await using fixture = await openIdentityFixture()
  await using replica = await fixture.replica()
  const { directory } = fixture.identity
  const user = await directory.createUser({ displayName: 'U', signInName: 'u' })
  const [a, b, c] = await Promise.all(
    ['a', 'b', 'c'].map((displayName) => directory.createGroup({ displayName })),
  )
  assert.ok(a !== undefined && b !== undefined && c !== undefined)
  const groups = async (id: string): Promise<string[]> => {
    const both = await Promise.all(
      [fixture, replica].map(async ({ identity }) => [...(await identity.directory.groupsOf(id))]),
    )
    assert.deepEqual(both[0], both[1])
    return (both[0] ?? []).sort()
  }
  assert.deepEqual(await groups(user.id), [])
  await directory.addMember(a.id, user.id)
  await directory.addMember(a.id, user.id)
  assert.deepEqual(await groups(user.id), [a.id])
  await directory.addMember(b.id, a.id)
  await directory.addMember(c.id, b.id)
  assert.deepEqual(await groups(user.id), [a.id, b.id, c.id].sort())
  await directory.addMember(a.id, c.id)
  assert.deepEqual(await groups(user.id), [a.id, b.id, c.id].sort())
  assert.deepEqual(await groups(a.id), [b.id, c.id].sort())
  await directory.removeMember(b.id, a.id)
  assert.deepEqual(await groups(user.id), [a.id])
  await directory.delete(a.id)
  assert.deepEqual(await groups(user.id), [])
  assert.deepEqual((await directory.members(b.id, undefined, 10)).items, [])
  await assert.rejects(directory.addMember(b.id, b.id), { code: 'InvalidPrincipal' })
  await assert.rejects(directory.addMember(user.id, b.id), { code: 'PrincipalNotFound' })
})

test('what others may ask is fresh after every change', async () => {
  await using fixture = await openIdentityFixture()
  await using replica = await fixture.replica()
  const { directory } = fixture.identity
  const seen = replica.identity.directory
  const group = await directory.createGroup({ displayName: 'Before' })
  assert.deepEqual(await seen.find(group.id), { type: 'Group', displayName: 'Before' })
  await directory.update(group.id, { displayName: 'After' })
  assert.deepEqual(await seen.find(group.id), { type: 'Group', displayName: 'After' })
  await directory.delete(group.id)
  assert.equal(await seen.find(group.id), undefined)
})

test('who was kept by an earlier version may act on until a revocation; who came later is not meant', async () => {
  await using fixture = await openIdentityFixture()
  const { directory } = fixture.identity
  const [earlier, later] = await Promise.all(
    ['Earlier', 'Later'].map(async (displayName) => {
      const { principal } = await directory.createServicePrincipal({ displayName })
      return principal.id
    }),
  )
  // As the upgrade of the tables leaves existing principals.
  await fixture.store.sql.transact((tx) =>
    tx.run('update identity_principals set generation = 0 where id = ?', earlier ?? ''),
  )
  const kept = (id = ''): Principal => ({
    id,
    type: 'ServicePrincipal',
    tenantId: testTenant,
    displayName: 'kept',
    clientId: id,
    groups: [],
  })
  assert.equal(await directory.isActive(kept(earlier)), true)
  assert.equal(await directory.isActive(kept(later)), false)
  await directory.revoke(earlier ?? '')
  assert.equal(await directory.isActive(kept(earlier)), false)
})

test('secrets are several, limited and listed without their value', async () => {
  await using fixture = await openIdentityFixture({ limits: { secretsPerPrincipalMax: 3 } })
  const { directory } = fixture.identity
  const { principal, clientSecret } = await directory.createServicePrincipal({ displayName: 'S' })
  assert.equal(Buffer.from(clientSecret, 'base64url').length, 32)
  const added = await Promise.allSettled([1, 2, 3].map(() => directory.addSecret(principal.id)))
  assert.equal(added.filter(({ status }) => status === 'fulfilled').length, 2)
  const listed = await directory.secrets(principal.id)
  assert.equal(listed.length, 3)
  assert.ok(!JSON.stringify(listed).includes(clientSecret))
  assert.ok(await directory.verifySecret(principal.id, clientSecret))
  await assert.rejects(directory.removeSecret(principal.id, nobody), { code: 'SecretNotFound' })
  const stored = await fixture.store.sql.all('select * from identity_credentials')
  assert.ok(!JSON.stringify(stored).includes(clientSecret))
})

test('deleting a principal removes all that was its own', async () => {
  await using fixture = await openIdentityFixture()
  const { directory } = fixture.identity
  const group = await directory.createGroup({ displayName: 'G' })
  const user = await directory.createUser({
    displayName: 'U',
    signInName: 'u',
    password: 'long enough',
  })
  await directory.addMember(group.id, user.id)
  assert.equal((await directory.verifyPassword('U', 'long enough'))?.user.id, user.id)
  await directory.delete(user.id)
  for (const table of ['identity_credentials', 'identity_memberships']) {
    assert.deepEqual(await fixture.store.sql.all(`select * from ${table}`), [])
  }
  assert.equal(await directory.verifyPassword('U', 'long enough'), undefined)
})

test('a resource has one principal: given twice is given once, another takes its place, and it can be taken', async () => {
  await using fixture = await openIdentityFixture()
  const { directory } = fixture.identity
  const [first, second] = [
    '00000000-0000-4000-8000-0000000000b1',
    '00000000-0000-4000-8000-0000000000b2',
  ]
  const identity = (principalId: string) => ({
    principalId,
    clientId: principalId.replace('b', 'c'),
    displayName: 'of a resource',
  })
  await directory.give('/r', identity(first))
  await directory.give('/r', identity(first))
  assert.equal(await directory.of('/r'), first)
  assert.equal((await directory.get(first)).type, 'ServicePrincipal')
  const { value } = await directory.addSecret(first)
  assert.ok(await directory.verifySecret(first, value))

  await directory.give('/r', identity(second))
  assert.equal(await directory.of('/r'), second)
  assert.equal(await directory.find(first), undefined)
  assert.equal(await directory.verifySecret(first, value), undefined)

  // Somebody deletes it by hand: it is created again when next needed.
  await directory.delete(second)
  assert.equal(await directory.of('/r'), undefined)
  await directory.give('/r', identity(second))
  await directory.take('/r')
  await directory.take('/r')
  assert.equal(await directory.of('/r'), undefined)
  assert.equal(await directory.find(second), undefined)
})
