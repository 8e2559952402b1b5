/**
 * A home of an earlier version that sealed texts without naming their key: the first start of this version upgrades
 * them, on both stores, once. The test data was written as that version wrote it.
 */

import assert from 'node:assert/strict'
import { createCipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { silentLog } from '#kernel/ports.ts'
import type { SealPurpose } from '#kernel/seal-purposes.ts'
import { openPostgres } from '#stores/postgres/open.ts'
import { openSqlite } from '#stores/sqlite/open.ts'
import type { Store } from '#stores/store.ts'
import { findPostgres, howToGetPostgres, startPostgres } from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../tests/require.ts'
import { openServerHome } from '../installation/home.ts'
import { type Keys, openKeys } from './keys.ts'
import { areaMigrations } from './migrations.ts'
import { randomIds as ids } from './random-ids.ts'

const clock = { now: () => Date.now() }
const options = {
  migrations: areaMigrations,
  words: { namespace: 'Vendor', brand: 'Vendor' },
  transactionRetriesMax: 8,
}
const installationKey = randomBytes(32)

/**
 * As that version derived its keys: from the purpose, with a space where today's has a hyphen, then from a label.
 */
function earlierKey(purpose: string, label: string): Uint8Array {
  const derive = (from: Uint8Array, info: string): Uint8Array =>
    new Uint8Array(hkdfSync('sha256', from, '', info, 32))
  return derive(derive(installationKey, `armature/${purpose}`), `armature/identity/${label}`)
}

function earlierSeal(purpose: SealPurpose, text: string, context: string): string {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', earlierKey(purpose, 'seal'), nonce)
  cipher.setAAD(Buffer.from(context))
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')
}

/** A property of a stored model, its type, and the context of its seal. The empty text is the shortest one. */
const members: readonly (readonly [type: string, member: string, SealPurpose, text: string])[] = [
  ['vendor.secrets/vaults/secrets', 'sealed', 'secrets', 'a vault secret'],
  ['vendor.containerinstance/containergroups', 'secrets', 'containers', 'a variable'],
  ['vendor.containerinstance/containergroupprofiles', 'sealed', 'containers', 'a revision'],
  ['vendor.resources/deployments', 'sealedParameters', 'deployments', 'parameters'],
  ['vendor.apimanagement/service/authorizationproviders', 'sealedSecret', 'authorizations', ''],
  ['vendor.apimanagement/service/authorizations', 'sealedVerifier', 'authorizations', 'a verifier'],
  ['vendor.storage/storageaccounts', 'sealedKey', 'storage', 'a storage key'],
  ['vendor.sql/servers', 'sealedPassword', 'sql', 'a password'],
  ['vendor.dbforpostgresql/migrations', 'sealedPasswords', 'postgres', 'two passwords'],
]

async function fill(store: Store): Promise<void> {
  await store.transact(async (tx) => {
    for (const [at, [type, member, purpose, text]] of members.entries()) {
      const sealed = earlierSeal(purpose, text, `place ${at}`)
      const key = `/things/${at}`
      await tx.insert({
        key,
        id: key,
        type,
        tracked: true,
        uniqueKey: null,
        etag: `tag ${at}`,
        generation: 1,
        document: JSON.stringify({
          // A tag may have any name and value.
          tags: { [member]: sealed },
          system: {},
          state: 'Succeeded',
          model: { inner: [{ [member]: member === 'secrets' ? { 'a/b': sealed } : sealed }] },
        }),
      })
    }
  })
  await store.sql.transact(async (tx) => {
    await tx.run(
      `insert into identity_oauth_states (kind, id, payload, expires_at) values ('Session', 'id', ?, 1)`,
      earlierSeal('identity', 'a session', 'Session id'),
    )
    await tx.run(
      `insert into identity_signing_keys (id, public_key, private_key, created_at) values ('key', '{}', ?, 1)`,
      earlierSeal('identity', 'a private key', 'signing-key key'),
    )
    const proof = createHmac('sha256', installationKey).update('armature installation')
    for (const [name, value] of [
      ['tenantId', 'the tenant'],
      ['subscriptionId', 'the subscription'],
      ['ownerAssignmentId', 'the assignment'],
      ['keyProof', proof.digest('hex')],
      ['furnished', 'yes'],
    ]) {
      await tx.run('insert into installation (name, value) values (?, ?)', name ?? '', value ?? '')
    }
  })
}

async function open(store: Store, folder: string): Promise<Keys> {
  const given = { key: undefined, keyFile: undefined, keyCommand: undefined }
  return openKeys({
    config: { ...given, nextKey: given },
    home: openServerHome(folder),
    store,
    clock,
    ticks: () => performance.now(),
    ids,
    recordIds: ids,
    log: silentLog,
  })
}

async function assertOpens(store: Store, { keyring, record, indexKey }: Keys): Promise<void> {
  assert.equal(record.tenantId, 'the tenant')
  assert.deepEqual(new Uint8Array(indexKey), earlierKey('identity', 'index'))
  const rows = await store.list({ under: '/things', limit: 100 })
  assert.equal(rows.length, members.length)
  for (const row of rows) {
    const at = Number(row.key.split('/').at(-1))
    const [, member = '', purpose = 'secrets', text] = members[at] ?? []
    const { tags, model } = JSON.parse(row.document)
    const found = model.inner[0][member]
    const sealed = member === 'secrets' ? found['a/b'] : found
    assert.match(sealed, /^~[0-9a-f]{12}\./, row.type)
    assert.equal(keyring.sealOf(purpose).open(sealed, `place ${at}`), text, row.type)
    assert.equal(keyring.sealOf(purpose).open(sealed, 'elsewhere'), undefined)
    assert.doesNotMatch(tags[member], /^~/, 'tags are the user’s')
    assert.equal(row.etag, `tag ${at}`, 'for clients nothing has changed')
  }
  const seal = keyring.sealOf('identity')
  const [state] = await store.sql.all('select payload from identity_oauth_states')
  assert.equal(seal.open(String(state?.['payload']), 'Session id'), 'a session')
  const [key] = await store.sql.all('select private_key from identity_signing_keys')
  assert.equal(seal.open(String(key?.['private_key']), 'signing-key key'), 'a private key')
}

async function everyText(store: Store): Promise<unknown> {
  return {
    rows: await store.list({ under: '/things', limit: 100 }),
    states: await store.sql.all('select payload from identity_oauth_states'),
    keys: await store.sql.all('select private_key from identity_signing_keys'),
  }
}

async function upgrade(t: TestContext, store: Store): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'armature-earlier-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'installation.key'), `${installationKey.toString('base64')}\n`)
  await fill(store)
  {
    await using keys = await open(store, folder)
    await assertOpens(store, keys)
  }
  const upgraded = await everyText(store)
  await using again = await open(store, folder)
  await assertOpens(store, again)
  assert.deepEqual(await everyText(store), upgraded, 'a second start changes nothing')
}

test('texts that an earlier version sealed open after the upgrade, on SQLite', async (t) => {
  await using store = await openSqlite({ path: ':memory:', ...options })
  await upgrade(t, store)
})

test('texts that an earlier version sealed open after the upgrade, on PostgreSQL', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  const url = await server.createDatabase()
  await using store = await openPostgres({ url, poolSize: 4, clock, ...options })
  await upgrade(t, store)
})
