/** File shares belong to an account in a resource group: mounting one takes its key, or the right to its files. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { until } from '../until.ts'
import { type Application, createApplication, createResourceGroup, grant, roles } from './access.ts'
import { type Answer, type Installation, startInstallation } from './installation.ts'

let installation: Installation
let group: (name: string) => string
let ofA: Application
let ofB: Application

const key = Buffer.from('the key of the account').toString('base64')

before(async () => {
  installation = await startInstallation({
    environment: { ARMATURE_CONTAINERS: 'simulated', ARMATURE_CONTAINERS_SHARES: 'shares' },
  })
  group = (name) => `/subscriptions/${installation.subscriptionId}/resourceGroups/${name}`
  ofA = await createApplication(installation, 'of-a')
  ofB = await createApplication(installation, 'of-b')
  for (const [name, { principalId }] of [
    ['a', ofA],
    ['b', ofB],
  ] as const) {
    await createResourceGroup(installation, group(name))
    await grant(installation, group(name), roles.contributor, principalId)
  }
  for (const [name, properties] of [
    [
      'keyed',
      { kind: 'BlobService', endpoint: 'https://h.example/x', accountName: 'x', accountKey: key },
    ],
    ['folder', { kind: 'Folder' }],
  ] as const) {
    const made = await installation.request(
      'PUT',
      `${group('b')}/providers/Vendor.Storage/storageAccounts/${name}?api-version=2023-01-01`,
      { body: { location: 'here', properties } },
    )
    assert.equal(made.status, 201, made.text)
  }
})

after(() => installation[Symbol.asyncDispose]())

/** A PUT of a group in `where` that mounts a share of `account`. */
async function mount(
  where: string,
  /** Undefined: the owner. */
  as: Application | undefined,
  name: string,
  account: object,
): Promise<Answer> {
  const path = `${group(where)}/providers/Vendor.ContainerInstance/containerGroups/${name}`
  return await installation.request('PUT', `${path}?api-version=2025-09-01`, {
    ...(as === undefined ? {} : { token: as.token }),
    body: {
      location: 'here',
      properties: {
        osType: 'Linux',
        containers: [
          {
            name: 'one',
            properties: {
              image: 'any',
              volumeMounts: [{ name: 'v', mountPath: '/data' }],
            },
          },
        ],
        volumes: [{ name: 'v', azureFile: { shareName: 'share', ...account } }],
      },
    },
  })
}

async function settled(where: string, name: string): Promise<void> {
  const path = `${group(where)}/providers/Vendor.ContainerInstance/containerGroups/${name}`
  await until(async () => {
    const read = await installation.request('GET', `${path}?api-version=2025-09-01`)
    return read.at('properties.provisioningState') === 'Succeeded'
  })
}

function assertNotGranted(answer: Answer, hidden = 'resourceGroups/b'): void {
  assert.equal(answer.status, 403, answer.text)
  assert.equal(answer.at('error.code'), 'LinkedAuthorizationFailed')
  assert.match(answer.text, /storageAccounts\/listKeys\/action/)
  assert.ok(!answer.text.includes(hidden), 'it does not tell where the account is')
}

test('a share of another group’s account: refused without its key, and with a wrong one', async () => {
  assertNotGranted(await mount('a', ofA, 'none', { storageAccountName: 'keyed' }))
  const wrong = { storageAccountName: 'Keyed', storageAccountKey: 'd3Jvbmc=' }
  assertNotGranted(await mount('a', ofA, 'wrong', wrong))
  assertNotGranted(
    await mount('a', ofA, 'empty', { storageAccountName: 'keyed', storageAccountKey: '' }),
  )
  const folder = { storageAccountName: 'folder', storageAccountKey: key }
  assertNotGranted(await mount('a', ofA, 'folder', folder))
})

test('with the account’s key, or with the right to read it, it is mounted', async () => {
  const right = { storageAccountName: 'keyed', storageAccountKey: key }
  const made = await mount('a', ofA, 'right', right)
  assert.equal(made.status, 201, made.text)
  assert.ok(!made.text.includes(key))
  for (const storageAccountName of ['keyed', 'folder']) {
    const own = await mount('b', ofB, `own-${storageAccountName}`, { storageAccountName })
    assert.equal(own.status, 201, own.text)
  }
})

test('a role with the data actions of files mounts it: to read only, where it only reads', async () => {
  const files = 'Vendor.Storage/storageAccounts/fileServices/fileshares/files'
  const account = `${group('b')}/providers/Vendor.Storage/storageAccounts/folder`
  const storageAccountName = account
  async function grantFiles(dataActions: readonly string[]): Promise<void> {
    const role = randomUUID()
    const properties = {
      roleName: role,
      permissions: [{ dataActions }],
      assignableScopes: [group('b')],
    }
    const path = `${group('b')}/providers/Vendor.Authorization/roleDefinitions/${role}`
    const body = { properties }
    const made = await installation.request('PUT', `${path}?api-version=2022-04-01`, { body })
    assert.equal(made.status, 201, made.text)
    await grant(installation, account, role, ofA.principalId)
  }
  await grantFiles([`${files}/read`])
  const byName = await mount('a', ofA, 'reads', { storageAccountName: 'folder', readOnly: true })
  assert.equal(byName.status, 400, byName.text)
  assert.match(byName.text, /volumes\[0\]\.azureFile\.storageAccountName/)
  assert.match(byName.text, /name it by its resource id/)
  const toRead = await mount('a', ofA, 'reads', { storageAccountName, readOnly: true })
  assert.equal(toRead.status, 201, toRead.text)
  assert.equal(toRead.at('properties.volumes.0.azureFile.storageAccountName'), 'folder')
  await settled('a', 'reads')
  const again = await mount('a', ofA, 'reads', { storageAccountName: 'folder', readOnly: true })
  assert.equal(again.status, 200, 'what it has it keeps, as a client writes back what it read')
  assertNotGranted(await mount('a', ofA, 'writes', { storageAccountName }), '?')
  await grantFiles([`${files}/*`])
  const toWrite = await mount('a', ofA, 'writes', { storageAccountName })
  assert.equal(toWrite.status, 201, toWrite.text)
})

test('a name that no account has is one of the group’s own resource group', async () => {
  for (const [where, as] of [
    ['a', ofA],
    ['b', ofB],
  ] as const) {
    const made = await mount(where, as, 'implied', { storageAccountName: 'nobodys' })
    assert.equal(made.status, 201, made.text)
  }
})

test('whoever registers a name later gets nobody’s share, and stops nobody’s updates', async () => {
  const account = { storageAccountName: 'payroll' }
  assert.equal((await mount('b', ofB, 'paying', account)).status, 201)
  const registered = await installation.request(
    'PUT',
    `${group('a')}/providers/Vendor.Storage/storageAccounts/payroll?api-version=2023-01-01`,
    { token: ofA.token, body: { location: 'here', properties: { kind: 'Folder' } } },
  )
  assert.equal(registered.status, 201, registered.text)
  for (const as of [ofB, undefined]) {
    await settled('b', 'paying')
    const again = await mount('b', as, 'paying', { ...account, readOnly: true })
    assert.equal(again.status, 200, again.text)
  }
  // One that is new does not get the files of a by a name alone, whatever its maker may.
  const fresh = await mount('b', undefined, 'fresh', account)
  assert.equal(fresh.status, 400, fresh.text)
  assertNotGranted(await mount('b', ofB, 'fresh', account), 'resourceGroups/a')
})

test('a key that fits changes nothing of a share that a group has: whoever registers an account chooses its key', async () => {
  const account = { storageAccountName: 'wages', storageAccountKey: 'a2V5' }
  assert.equal((await mount('b', ofB, 'waging', account)).status, 201)
  const properties = {
    kind: 'BlobService',
    endpoint: 'https://h.example/x',
    accountName: 'wages',
    accountKey: 'a2V5',
  }
  const registered = await installation.request(
    'PUT',
    `${group('a')}/providers/Vendor.Storage/storageAccounts/wages?api-version=2023-01-01`,
    { token: ofA.token, body: { location: 'here', properties } },
  )
  assert.equal(registered.status, 201, registered.text)
  await settled('b', 'waging')
  assert.equal((await mount('b', ofB, 'waging', account)).status, 200)
  await settled('b', 'waging')
  // It still is the share of its own resource group: as the other's it would be asked for the key.
  const without = await mount('b', ofB, 'waging', { storageAccountName: 'wages', readOnly: true })
  assert.equal(without.status, 200, without.text)
})

test('an account that is named by its id is there, and the caller may use it', async () => {
  const at = (where: string, name: string): string =>
    `${group(where)}/providers/Vendor.Storage/storageAccounts/${name}`
  const elsewhere = { storageAccountName: at('a', 'folder') }
  const refused = await mount('a', ofA, 'elsewhere', elsewhere)
  assert.equal(refused.status, 400, refused.text)
  assert.match(refused.text, /no such storage account/)
  assertNotGranted(await mount('a', ofA, 'foreign', { storageAccountName: at('b', 'keyed') }), '?')
  // The key of another account of that name is no key of this one.
  const other = { storageAccountName: at('a', 'keyed'), storageAccountKey: key }
  assert.equal((await mount('a', ofA, 'other', other)).status, 400)
  const keyed = { storageAccountName: at('b', 'keyed'), storageAccountKey: key }
  assert.equal((await mount('a', ofA, 'keyed', keyed)).status, 201)
})
