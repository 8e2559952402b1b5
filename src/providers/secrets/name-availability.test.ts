import assert from 'node:assert/strict'
import { test } from 'node:test'
import { group, json, openInstallation, subscription } from '../testing/installation.ts'

const version = { version: '2026-01-01' }

test('a name is free, taken by any group of the installation, or none at all, as a PUT then says', async () => {
  await using t = await openInstallation()
  const vault = `${group}/providers/Vendor.Secrets/vaults/Keys`
  await t.call('PUT', vault, { location: 'here', properties: {} }, version)
  const path = `${subscription}/providers/Vendor.Secrets/checkNameAvailability`
  const ask = async (name: string) => {
    const body = { name, type: 'Vendor.Secrets/vaults' }
    const { nameAvailable, reason } = json(await t.call('POST', path, body, version))
    return [nameAvailable, reason]
  }
  assert.deepEqual(await ask('others'), [true, undefined])
  assert.deepEqual(await ask('KEYS'), [false, 'AlreadyExists'])
  assert.deepEqual(await ask('no spaces'), [false, 'AccountNameInvalid'])
  const elsewhere = vault.replace('/rg/', '/rg2/')
  await assert.rejects(t.call('PUT', elsewhere, { location: 'here', properties: {} }, version))
})
