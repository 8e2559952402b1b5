/** Identities of resources: principals of the directory that are created and deleted with their resources. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { until } from '../until.ts'
import {
  assertRefused,
  assignmentPath,
  createApplication,
  createResourceGroup,
  grant,
  roleId,
  roles,
} from './access.ts'
import { type Installation, startInstallation } from './installation.ts'

let installation: Installation
let group: string

before(async () => {
  installation = await startInstallation({ environment: { ARMATURE_CONTAINERS: 'simulated' } })
  group = `/subscriptions/${installation.subscriptionId}/resourceGroups/identities`
  await createResourceGroup(installation, group)
})

after(() => installation[Symbol.asyncDispose]())

const containers = '2025-09-01'
const identities = '2023-01-31'
const groupPath = (name: string) =>
  `${group}/providers/Vendor.ContainerInstance/containerGroups/${name}?api-version=${containers}`
const identityId = (name: string) =>
  `${group}/providers/Vendor.ManagedIdentity/userAssignedIdentities/${name}`
const identityPath = (name: string) => `${identityId(name)}?api-version=${identities}`

const bodyWith = (identity: object) => ({
  location: 'local',
  identity,
  properties: { osType: 'Linux', containers: [{ name: 'one', properties: { image: 'any' } }] },
})

const settled = (path: string) =>
  until(async () => {
    const answer = await installation.request('GET', path)
    return answer.at('properties.provisioningState') === 'Succeeded' && answer
  })
const gone = (path: string) =>
  until(async () => (await installation.request('GET', path)).status === 404)
const principal = (id: unknown) => installation.request('GET', `/directory/servicePrincipals/${id}`)

test('a group’s own identity is in the directory as long as the group is', async () => {
  const path = groupPath('own')
  const made = await installation.request('PUT', path, {
    body: bodyWith({ type: 'SystemAssigned' }),
  })
  assert.equal(made.status, 201, made.text)
  const id = made.at('identity.principalId')
  await settled(path)
  const known = await principal(id)
  assert.equal(known.status, 200)
  const [resource] = path.split('?')
  const own = `${resource}/providers/Vendor.ManagedIdentity/identities/default?api-version=${identities}`
  const shown = await installation.request('GET', own)
  assert.equal(shown.at('properties.principalId'), id)
  assert.equal(shown.at('properties.clientId'), known.at('clientId'))
  // Without `principalType` the directory is asked, which knows it.
  const assigned = await installation.request('PUT', assignmentPath(group), {
    body: { properties: { principalId: id, roleDefinitionId: roleId(roles.reader) } },
  })
  assert.equal(assigned.status, 201, assigned.text)
  assert.equal(assigned.at('properties.principalType'), 'ServicePrincipal')

  const changed = await installation.request('PUT', path, {
    body: { ...bodyWith({ type: 'SystemAssigned' }), tags: { changed: 'yes' } },
  })
  assert.equal(changed.at('identity.principalId'), id, 'an update keeps the identity')
  await settled(path)
  await installation.request('DELETE', path)
  await gone(path)
  assert.equal((await principal(id)).status, 404)

  const again = await installation.request('PUT', path, {
    body: bodyWith({ type: 'SystemAssigned' }),
  })
  assert.notEqual(again.at('identity.principalId'), id, 'a group made anew is somebody else')
  await settled(path)
  await installation.request('PUT', path, { body: bodyWith({ type: 'None' }) })
  await settled(path)
  assert.equal((await principal(again.at('identity.principalId'))).status, 404)
  assert.equal((await installation.request('GET', own)).status, 404)
})

test('a user-assigned identity is a principal, and is lent by those who may', async () => {
  const path = identityPath('lent')
  const made = await installation.request('PUT', path, { body: { location: 'local' } })
  assert.equal(made.status, 201, made.text)
  const { tenantId, principalId, clientId } = made.at('properties') as Record<string, unknown>
  assert.equal(tenantId, installation.tenantId)
  await until(async () => (await principal(principalId)).status === 200)
  assert.equal((await principal(principalId)).at('clientId'), clientId)
  const same = await installation.request('PUT', path, { body: { location: 'local' } })
  assert.equal(same.at('properties.principalId'), principalId)

  const body = bodyWith({
    type: 'UserAssigned',
    userAssignedIdentities: { [identityId('lent')]: {}, [identityId('absent')]: {} },
  })
  const lent = await installation.request('PUT', groupPath('lends'), { body })
  assert.equal(lent.status, 201, lent.text)
  const shown = lent.at('identity.userAssignedIdentities') as Record<string, object>
  assert.deepEqual(shown[identityId('lent')], { clientId, principalId })
  assert.ok(shown[identityId('absent')], 'a body of the contract is never refused for it')

  const writer = await createApplication(installation, 'writes groups')
  await grant(installation, group, '5d977122-f97e-4b4d-a52f-6b43003ddb4d', writer.principalId)
  const other = groupPath(`other-${randomUUID().slice(0, 8)}`)
  const refused = await installation.request('PUT', other, { body, token: writer.token })
  assertRefused(refused, 403, 'LinkedAuthorizationFailed')
  await grant(
    installation,
    identityId('lent'),
    'f1a07417-d97a-45cb-824c-7a7467783830',
    writer.principalId,
  )
  // Whether an identity exists is not revealed without a right.
  const asking = await installation.request('PUT', other, { body, token: writer.token })
  assertRefused(asking, 403, 'LinkedAuthorizationFailed')
  const lentAlone = bodyWith({
    type: 'UserAssigned',
    userAssignedIdentities: { [identityId('lent')]: {} },
  })
  const allowed = await installation.request('PUT', other, {
    body: lentAlone,
    token: writer.token,
  })
  assert.equal(allowed.status, 201, allowed.text)

  const deleted = await installation.request('DELETE', path)
  assert.equal(deleted.status, 200, 'published clients know no 202 here')
  assert.equal(deleted.at('properties.principalId'), principalId)
  assert.equal((await installation.request('GET', path)).status, 404)
  assert.equal((await principal(principalId)).status, 404)
})

test('a service shows the ids of an identity that it has, whatever a PATCH adds', async () => {
  const identity = identityPath('shown')
  const made = await installation.request('PUT', identity, { body: { location: 'local' } })
  const path = `${group}/providers/Vendor.ApiManagement/service/shown?api-version=2021-08-01`
  const id = identityId('shown')
  const body = {
    location: 'local',
    sku: { name: 'Developer', capacity: 1 },
    identity: { type: 'UserAssigned', userAssignedIdentities: { [id]: {} } },
    properties: { publisherEmail: 'a@example.test', publisherName: 'A' },
  }
  assert.equal((await installation.request('PUT', path, { body })).status, 201)
  const another = { clientId: randomUUID(), principalId: randomUUID() }
  const patched = await installation.request('PATCH', path, {
    body: { assigned: { [id]: another }, properties: { publisherName: 'B' } },
  })
  assert.equal(patched.status, 200, patched.text)
  const shown = patched.at('identity.userAssignedIdentities') as Record<string, object>
  const { principalId } = { principalId: undefined, ...shown[id] }
  assert.equal(principalId, made.at('properties.principalId'))
})
