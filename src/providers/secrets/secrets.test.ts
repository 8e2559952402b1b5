/** Secrets on a real plane: never answered, never readable at rest, and used only by those who may. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { nameOf } from '#kernel/resource-id.ts'
import { owner } from '#plane/testing/start.ts'
import { group, groups, type Started, startSecrets, vaults } from './testing/start.ts'

const vault = `${vaults}/shop`
const secret = `${vault}/secrets/key`
const uri = 'https://shop.vault.example/secrets/key'

async function refused(work: Promise<unknown>, status: number, code: string): Promise<void> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof ApiError, String(error))
  assert.deepEqual([error.status, error.code], [status, code])
}

interface Shown {
  readonly properties: {
    readonly version: string
    readonly versions: readonly { readonly secretUri: string }[]
    readonly provisioningState: string
    readonly instanceView: { readonly events: readonly { readonly message: string }[] }
  }
}

async function put(started: Started, value: string, path = secret): Promise<Shown> {
  const { body } = await started.call('PUT', path, { properties: { value } })
  // The answer of a secret.
  return body as unknown as Shown
}

const referring = (secretReferenceUri = uri, name = 'web') => ({
  location: 'here',
  properties: {
    containers: [
      {
        name,
        properties: {
          image: 'registry.example/web:1',
          environmentVariables: [{ name: 'T', secureValueReference: 'key' }],
        },
      },
    ],
    secretReferences: [{ name: 'key', identity: '/id', secretReferenceUri }],
  },
})

async function groupOf(started: Started, name: string): Promise<Shown> {
  for (let looks = 0; looks < 1000; looks++) {
    const { body } = await started.call('GET', `${groups}/${name}`)
    // The answer of a group.
    const shown = body as unknown as Shown
    if (['Succeeded', 'Failed'].includes(shown.properties.provisioningState)) return shown
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error(`${name} never settled`)
}

test('a value is written, kept sealed, resolved by its URIs, and shown by nothing', async () => {
  await using started = await startSecrets()
  await started.call('PUT', vault, { location: 'here' })
  const first = await put(started, 'hush-1')
  const second = await put(started, 'hush-2')
  assert.notEqual(first.properties.version, second.properties.version)
  const answers = [
    first,
    second,
    await started.call('GET', secret),
    await started.call('GET', `${vault}/secrets`),
    await started.call('GET', vault),
    await started.call('POST', `${secret}/verify`),
  ]
  assert.ok(!JSON.stringify(answers).includes('hush'))
  const rows = await started.store.list({ under: '/', limit: 100 })
  assert.ok(!JSON.stringify(rows).includes('hush'))
  const read = (text: string) => started.secrets.read(text)
  assert.equal(await read(uri), 'hush-2')
  assert.equal(await read('armature://SHOP/secrets/KEY'), 'hush-2')
  for (const [at, value] of ['hush-2', 'hush-1'].entries()) {
    assert.equal(await read(second.properties.versions[at]?.secretUri ?? ''), value)
  }
  assert.equal(await read(`${uri}/${'0'.repeat(32)}`), undefined)
  assert.equal(await read('https://other.example/secrets/key'), undefined)
  assert.equal(await read('https://shop.example/secrets/other'), undefined)

  await started.call('PATCH', secret, { properties: { enabled: false } })
  assert.equal(await read(uri), undefined, 'disabled')
  await started.call('PATCH', secret, { properties: { enabled: true } })
  assert.equal(await read(uri), 'hush-2', 'a PATCH without a value keeps it')
  await put(started, 'hush-3')
  await put(started, 'hush-4')
  const oldest = first.properties.versions[0]?.secretUri ?? ''
  assert.equal(await read(oldest), undefined, 'only so many versions are kept')
  assert.equal(await read(uri), 'hush-4')
  await started.call('DELETE', secret)
  assert.equal(await read(uri), undefined)
})

test('a new secret has a value; a vault name is taken once, in any case', async () => {
  await using started = await startSecrets()
  await started.call('PUT', vault, { location: 'here' })
  await refused(started.call('PUT', secret, { properties: {} }), 400, 'SecretValueRequired')
  const elsewhere = `${group}-2/providers/Vendor.Secrets/vaults/SHOP`
  await refused(started.call('PUT', elsewhere, { location: 'here' }), 409, 'VaultAlreadyExists')
  await started.call('DELETE', vault)
  await started.settle()
  assert.equal((await started.call('PUT', elsewhere, { location: 'here' })).status, 201)
})

test('a sealed value moved to another secret does not open', async () => {
  await using started = await startSecrets()
  await started.call('PUT', vault, { location: 'here' })
  await put(started, 'hush-1')
  await put(started, 'hush-2', `${vault}/secrets/other`)
  await started.store.transact(async (tx) => {
    const from = await tx.get(`${secret}`.toLowerCase())
    const to = await tx.get(`${vault}/secrets/other`.toLowerCase())
    assert.ok(from && to)
    const sealed = (text: string) => /"sealed":"([^"]+)"/.exec(text)?.[1] ?? ''
    const document = to.document.replace(sealed(to.document), sealed(from.document))
    await tx.update({ ...to, document, etag: 'moved' }, to.etag)
  })
  assert.equal(await started.secrets.read('armature://shop/secrets/other'), undefined)
})

test('a group uses the secrets that its writer may use', async () => {
  let mayUse = true
  const asked: string[] = []
  await using started = await startSecrets(({ principal, action, dataActions, scope }) => {
    if (action.endsWith('getValue/action')) {
      asked.push(`${action} ${scope.text}`)
      assert.deepEqual(dataActions, [action])
      return mayUse
    }
    return principal.id === owner.id
  })
  await started.call('PUT', vault, { location: 'here' })
  await put(started, 'hush-1')
  await started.call('PUT', `${groups}/one`, referring())
  assert.equal((await groupOf(started, 'one')).properties.provisioningState, 'Succeeded')
  const once = `Vendor.Secrets/vaults/secrets/getValue/action ${secret}`
  // When the body was completed, when it was written, and when the value was read.
  assert.deepEqual(asked, [once, once, once])
  mayUse = false
  for (const name of ['one', 'two']) {
    await refused(
      started.call('PUT', `${groups}/${name}`, referring()),
      403,
      'LinkedAuthorizationFailed',
    )
  }
  // The right to a secret that does not exist yet is checked, too.
  await refused(
    started.call('PUT', `${groups}/two`, referring('armature://shop/secrets/later')),
    403,
    'LinkedAuthorizationFailed',
  )
})

test('a writer who lost the right gets no value that comes later, by a restart or by the background', async () => {
  /** The next answers; after them the last one repeats. */
  let answers = [true, true]
  const mayUse = (): boolean => (answers.length > 1 ? answers.shift() : answers[0]) === true
  await using started = await startSecrets(({ principal, action }) =>
    action.endsWith('getValue/action') ? mayUse() : principal.id === owner.id,
  )
  await started.call('PUT', vault, { location: 'here' })
  await put(started, 'hush-1')
  await started.call('PUT', `${groups}/one`, referring())
  assert.equal((await groupOf(started, 'one')).properties.provisioningState, 'Succeeded')
  answers = [false]
  for (const action of ['restart', 'start']) {
    if (action === 'start') await started.call('POST', `${groups}/one/stop`)
    await groupOf(started, 'one')
    const asked = started.call('POST', `${groups}/one/${action}`)
    await refused(asked, 403, 'LinkedAuthorizationFailed')
  }
  // The right exists at the PUT, until it is written, and is gone when the containers are created.
  answers = [true, true, false]
  await started.call('PUT', `${groups}/two`, referring())
  const two = await groupOf(started, 'two')
  assert.equal(two.properties.provisioningState, 'Failed')
  assert.match(JSON.stringify(two.properties.instanceView), /may not use the secret any more/)
  answers = [true]
  await started.call('POST', `${groups}/two/restart`)
  assert.equal((await groupOf(started, 'two')).properties.provisioningState, 'Succeeded')
})

test('a restart of a group that changed meanwhile takes the right to its new secret', async () => {
  const uses: string[] = []
  let meanwhile: (() => Promise<unknown>) | undefined
  await using started = await startSecrets(async ({ principal, action, scope }) => {
    if (!action.endsWith('getValue/action')) return principal.id === owner.id
    uses.push(nameOf(scope))
    const change = meanwhile
    meanwhile = undefined
    await change?.()
    return change === undefined ? nameOf(scope) !== 'lost' : true
  })
  await started.call('PUT', vault, { location: 'here' })
  await put(started, 'hush-1')
  await started.call('PUT', `${groups}/one`, referring())
  await groupOf(started, 'one')
  uses.length = 0
  meanwhile = () =>
    started.store.transact(async (tx) => {
      const row = await tx.lock(`${groups}/one`.toLowerCase(), 'change')
      assert.ok(row)
      const document = row.document.replaceAll(/secrets\/key/g, 'secrets/lost')
      await tx.update({ ...row, document, etag: 'changed' }, row.etag)
    })
  await refused(started.call('POST', `${groups}/one/restart`), 403, 'LinkedAuthorizationFailed')
  assert.deepEqual(uses, ['key', 'lost'])
})

test('a vault that came after the group was written gives it nothing', async () => {
  await using started = await startSecrets()
  await started.call('PUT', `${groups}/early`, referring())
  const early = await groupOf(started, 'early')
  assert.equal(early.properties.provisioningState, 'Failed')
  assert.match(JSON.stringify(early.properties.instanceView), /there is no such vault/)
  await started.call('PUT', `${vaults}/shop`, { location: 'here' })
  await put(started, 'hush-1')
  await started.call('POST', `${groups}/early/restart`)
  const still = await groupOf(started, 'early')
  assert.match(JSON.stringify(still.properties.instanceView), /PUT the group again/)
  assert.ok(!JSON.stringify(still).includes('hush'))
  await started.call('PUT', `${groups}/early`, referring())
  assert.equal((await groupOf(started, 'early')).properties.provisioningState, 'Succeeded')
})

test('a vault of the same name elsewhere is another vault', async () => {
  await using started = await startSecrets()
  await started.call('PUT', vault, { location: 'here' })
  await put(started, 'hush-1')
  await started.call('PUT', `${groups}/one`, referring())
  await groupOf(started, 'one')
  await started.call('DELETE', vault)
  await started.settle()
  assert.deepEqual(await started.store.list({ under: vault.toLowerCase(), limit: 10 }), [])
  const other = `${group}-2/providers/Vendor.Secrets/vaults/shop`
  await started.call('PUT', other, { location: 'here' })
  await put(started, 'hush-2', `${other}/secrets/key`)
  assert.equal(await started.secrets.read(uri), 'hush-2')
  await started.call('POST', `${groups}/one/restart`)
  const group1 = await groupOf(started, 'one')
  assert.match(JSON.stringify(group1.properties.instanceView), /PUT the group again/)
})
