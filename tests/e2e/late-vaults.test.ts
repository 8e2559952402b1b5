/** Names of vaults are given to whoever comes first: a reference of a container group is not theirs who register its vault later. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../until.ts'
import { createApplication, createResourceGroup, grant, roles } from './access.ts'
import { startInstallation } from './installation.ts'

const containers = 'api-version=2025-09-01'
const secrets = 'api-version=2026-01-01'

test('a vault that is made later gives a container group its secrets only in the own resource group', async () => {
  await using on = await startInstallation({ environment: { ARMATURE_CONTAINERS: 'simulated' } })
  const at = (name: string): string => `/subscriptions/${on.subscriptionId}/resourceGroups/${name}`
  for (const name of ['a', 'b']) await createResourceGroup(on, at(name))
  const ofA = await createApplication(on, 'of-a')
  await grant(on, at('a'), roles.contributor, ofA.principalId)
  const makeVault = async (where: string, name: string, token?: string): Promise<void> => {
    const vault = `${at(where)}/providers/Vendor.Secrets/vaults/${name}`
    const as = token === undefined ? {} : { token }
    const body = { location: 'local', properties: {} }
    const made = await on.request('PUT', `${vault}?${secrets}`, { ...as, body })
    assert.ok(made.status < 300, made.text)
    const value = { properties: { value: 'of-whoever-made-it' } }
    const set = await on.request('PUT', `${vault}/secrets/s?${secrets}`, { ...as, body: value })
    assert.ok(set.status < 300, set.text)
  }
  /** Writes a group of the owner that refers to a vault, and waits for what comes of it. */
  const write = async (group: string, vault: string): Promise<unknown> => {
    const path = `${at('b')}/providers/Vendor.ContainerInstance/containerGroups/${group}?${containers}`
    const secretReferenceUri = `armature://${vault}/secrets/s`
    const properties = {
      image: 'any',
      environmentVariables: [{ name: 'X', secureValueReference: 's' }],
    }
    const body = {
      location: 'local',
      properties: {
        osType: 'Linux',
        secretReferences: [{ name: 's', identity: '/any', secretReferenceUri }],
        containers: [{ name: 'c', properties }],
      },
    }
    const made = await on.request('PUT', path, { body })
    assert.ok(made.status < 300, made.text)
    let state: unknown
    await until(async () => {
      state = (await on.request('GET', path)).at('properties.provisioningState')
      return state === 'Succeeded' || state === 'Failed'
    })
    return state
  }
  for (const vault of ['foreign', 'own']) assert.equal(await write(vault, vault), 'Failed')
  await makeVault('a', 'foreign', ofA.token)
  await makeVault('b', 'own')
  assert.equal(await write('own', 'own'), 'Succeeded')
  assert.equal(await write('foreign', 'foreign'), 'Failed', 'it keeps having none')
})

test('a reference that is older than its vault opens no share by the secret in it', async () => {
  await using on = await startInstallation({
    environment: { ARMATURE_CONTAINERS: 'simulated', ARMATURE_CONTAINERS_SHARES: 'shares' },
  })
  const at = (name: string): string => `/subscriptions/${on.subscriptionId}/resourceGroups/${name}`
  for (const name of ['evil', 'victim']) await createResourceGroup(on, at(name))
  const ofEvil = await createApplication(on, 'of-evil')
  await grant(on, at('evil'), roles.contributor, ofEvil.principalId)
  const secretReferenceUri = 'armature://victimvault/secrets/storage-key'
  const write = async (name: string, storageAccountName?: string) => {
    const volume = {
      name: 'v',
      azureFile: { shareName: 'payroll', storageAccountName, storageAccountKeyReference: 'k' },
    }
    const mount = { volumeMounts: [{ name: 'v', mountPath: '/data' }] }
    const isMounted = storageAccountName !== undefined
    const properties = { image: 'any', ...(isMounted ? mount : {}) }
    const path = `${at('evil')}/providers/Vendor.ContainerInstance/containerGroups/${name}`
    return await on.request('PUT', `${path}?${containers}`, {
      token: ofEvil.token,
      body: {
        location: 'local',
        properties: {
          osType: 'Linux',
          secretReferences: [{ name: 'k', identity: '/any', secretReferenceUri }],
          containers: [{ name: 'c', properties }],
          ...(isMounted ? { volumes: [volume] } : {}),
        },
      },
    })
  }
  const early = await write('early')
  assert.equal(early.status, 201, early.text)
  const key = Buffer.from('the key of the victim').toString('base64')
  const vault = `${at('victim')}/providers/Vendor.Secrets/vaults/victimvault`
  const account = `${at('victim')}/providers/Vendor.Storage/storageAccounts/victimacct`
  const blobs = { kind: 'BlobService', endpoint: 'https://h.example/x', accountName: 'x' }
  for (const [path, properties] of [
    [`${vault}?${secrets}`, {}],
    [`${vault}/secrets/storage-key?${secrets}`, { value: key }],
    [`${account}?api-version=2023-01-01`, { ...blobs, accountKey: key }],
  ] as const) {
    const made = await on.request('PUT', path, { body: { location: 'local', properties } })
    assert.ok(made.status < 300, made.text)
  }
  const settled = async (): Promise<boolean> => {
    const path = `${at('evil')}/providers/Vendor.ContainerInstance/containerGroups/early`
    const read = await on.request('GET', `${path}?${containers}`)
    return ['Succeeded', 'Failed'].includes(String(read.at('properties.provisioningState')))
  }
  await until(settled)
  for (const name of ['early', 'fresh']) {
    for (const named of ['victimacct', account]) {
      const mounted = await write(name, named)
      assert.equal(mounted.status, 403, mounted.text)
      assert.equal(mounted.at('error.code'), 'LinkedAuthorizationFailed')
    }
  }
})
