/** Identity on PostgreSQL with two replicas, each with its own connections: the same promises as on SQLite. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findPostgres, howToGetPostgres } from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../tests/require.ts'
import { defaultIdentityLimits } from './limits.ts'
import type { PrincipalRecord } from './principal-record.ts'
import { createSignIn } from './sign-in.ts'
import { createBrowser } from './testing/browser.ts'
import { testIds } from './testing/fixture.ts'
import { addAlice, alice, askToken, authorizeAddress, fragmentOf, signIn } from './testing/flows.ts'
import { installationKey, openReplicas } from './testing/replicas.ts'
import { createSeal } from './testing/seal.ts'

test('two replicas: sign-in, tokens, groups, disabling, rotation', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using replicas = await openReplicas()
  const { fixture, replica } = replicas
  const { directory } = fixture.identity

  const owners = await Promise.all(
    [fixture, replica].map(({ identity }) => identity.ensureOwner({ displayName: 'Owner' })),
  )
  assert.equal(owners.filter(({ created }) => created).length, 1)

  const id = await addAlice(fixture)
  await assert.rejects(directory.createUser({ displayName: 'A', signInName: 'ALICE' }), {
    code: 'PrincipalExists',
  })
  const browser = createBrowser(fixture.url)
  const page = await browser.open(
    authorizeAddress({
      response_type: 'token',
      client_id: 'armature-portal',
      redirect_uri: `${fixture.url}/signed-in`,
    }),
  )
  const wrong = await signIn(browser, page, { ...alice, password: 'wrong password' })
  assert.equal(wrong.status, 400)
  const token = fragmentOf(await signIn(browser, wrong)).get('access_token')
  for (const { identity } of [fixture, replica]) {
    assert.equal((await identity.authenticator.authenticate(`Bearer ${token}`)).id, id)
    assert.equal((await identity.authenticator.authenticate(`Bearer ${token}`)).id, id)
  }

  const groups = await Promise.all(
    ['a', 'b'].map((displayName) => directory.createGroup({ displayName })),
  )
  const [a, b] = groups.map((group) => group.id)
  assert.ok(a !== undefined && b !== undefined)
  assert.deepEqual(await replica.identity.directory.groupsOf(id), [])
  await directory.addMember(a, id)
  await directory.addMember(b, a)
  await directory.addMember(a, b)
  assert.deepEqual([...(await replica.identity.directory.groupsOf(id))].sort(), [a, b].sort())
  assert.deepEqual((await directory.list('Group', undefined, 1)).items.length, 1)

  const app = await directory.createServicePrincipal({ displayName: 'app' })
  const form = {
    grant_type: 'client_credentials',
    client_id: app.principal.clientId ?? '',
    client_secret: app.clientSecret,
  }
  const before = await askToken(replica, form)
  assert.equal(before.status, 200)
  await fixture.identity.rotateKeys()
  const after = await askToken(replica, form)
  for (const { access_token } of [before, after]) {
    const header = `Bearer ${access_token}`
    assert.equal((await fixture.identity.authenticator.authenticate(header)).id, app.principal.id)
  }
  await directory.update(id, { enabled: false })
  for (const { identity } of [replica, fixture]) {
    await assert.rejects(async () => identity.authenticator.authenticate(`Bearer ${token}`), {
      code: 'InvalidAuthenticationToken',
    })
  }
  const added = await Promise.allSettled(
    Array.from({ length: 12 }, () => directory.addSecret(app.principal.id)),
  )
  assert.equal(added.filter(({ status }) => status === 'fulfilled').length, 9, 'ten with the first')
})

test('who is disabled or revoked stays so, whatever else is changed at the same moment', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using replicas = await openReplicas()
  const { fixture, replica } = replicas
  const directories = [fixture, replica].map(({ identity }) => identity.directory)
  const [one, two] = directories
  assert.ok(one !== undefined && two !== undefined)
  for (let round = 0; round < 5; round++) {
    const made = await one.createServicePrincipal({ displayName: 'app' })
    const before: PrincipalRecord = made.principal
    const { id } = before
    const renamed = (count: number): Promise<unknown>[] =>
      Array.from({ length: count }, (_, at) =>
        (at % 2 === 0 ? one : two).update(id, { displayName: `app ${at}` }),
      )
    await Promise.all([...renamed(6), two.revoke(id), ...renamed(6)])
    assert.equal((await one.get(id)).generation, before.generation + 1)
    await Promise.all([...renamed(6), two.update(id, { enabled: false }), ...renamed(6)])
    const { enabled, generation } = await one.get(id)
    assert.deepEqual([enabled, generation], [false, before.generation + 2])
  }
})

test('what is done at the same moment leaves one signing key, and no membership of somebody who is gone', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using replicas = await openReplicas()
  const { fixture, replica } = replicas
  const { directory } = fixture.identity
  await Promise.all([fixture, replica, fixture].map(({ identity }) => identity.rotateKeys()))
  const active = await fixture.store.sql.all(
    'select id from identity_signing_keys where retired_at is null',
  )
  assert.equal(active.length, 1)
  const { id: groupId } = await directory.createGroup({ displayName: 'group' })
  for (let round = 0; round < 8; round++) {
    const { principal } = await directory.createServicePrincipal({ displayName: 'app' })
    await Promise.allSettled([
      directory.addMember(groupId, principal.id),
      replica.identity.directory.delete(principal.id),
    ])
  }
  const left = await fixture.store.sql.all('select member_id from identity_memberships')
  assert.deepEqual(left, [])
})

test('of many wrong passwords at the same moment five are tried, whichever replica they reach', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using replicas = await openReplicas()
  const { fixture, replica } = replicas
  await addAlice(fixture)
  const signIns = [fixture, replica].map(({ store, identity, now }) =>
    createSignIn({
      sql: store.sql,
      directory: identity.directory,
      clock: { now },
      ids: testIds,
      seal: createSeal(installationKey),
      limits: defaultIdentityLimits,
    }),
  )
  const outcomes = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      signIns[index % 2]?.attempt({
        signInName: 'alice',
        password: 'wrong password',
        address: '192.0.2.1',
      }),
    ),
  )
  assert.equal(outcomes.filter((one) => one?.kind === 'refused').length, 5)
})
