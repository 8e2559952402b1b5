/** Subscriptions, groups, roles, locks and identities by the published typed clients, as a program of its own. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { AuthorizationManagementClient } from '@azure/arm-authorization'
import { ManagementLockClient } from '@azure/arm-locks'
import { ManagedServiceIdentityClient } from '@azure/arm-msi'
import { ResourceManagementClient } from '@azure/arm-resources'
import { SubscriptionClient } from '@azure/arm-resources-subscriptions'
import { runCases, tenantId } from './cases.mjs'
import { all, credential, options, refused, subscriptionId } from './typed.mjs'

const group = 'access'
const scope = `/subscriptions/${subscriptionId}/resourceGroups/${group}`
const resources = new ResourceManagementClient(credential, subscriptionId, options)
const identities = new ManagedServiceIdentityClient(credential, subscriptionId, options)
const locks = new ManagementLockClient(credential, subscriptionId, options)
const roles = new AuthorizationManagementClient(credential, subscriptionId, options)

await runCases('groups and resources', '@azure/arm-resources-subscriptions', {
  async 'lists and reads subscriptions, their locations, and tenants'() {
    const client = new SubscriptionClient(credential, options)
    const listed = await all(client.subscriptions.list())
    assert.ok(listed.some((one) => one.subscriptionId === subscriptionId))
    const one = await client.subscriptions.get(subscriptionId)
    assert.deepEqual([one.tenantId, one.state], [tenantId, 'Enabled'])
    const locations = await all(client.subscriptions.listLocations(subscriptionId))
    assert.ok(locations.every(({ name, displayName }) => name && displayName))
    const tenants = await all(client.tenants.list())
    assert.deepEqual(tenants[0].tenantId, tenantId)
  },
})

await runCases('groups and resources', '@azure/arm-resources', {
  async 'makes a group, changes its tags, asks whether it exists'() {
    assert.equal((await resources.resourceGroups.checkExistence(group)).body, false)
    const made = await resources.resourceGroups.createOrUpdate(group, {
      location: 'local',
      tags: { team: 'a' },
    })
    assert.deepEqual([made.id, made.properties.provisioningState], [scope, 'Succeeded'])
    assert.equal((await resources.resourceGroups.checkExistence(group)).body, true)
    const changed = await resources.resourceGroups.update(group, { tags: { team: 'b' } })
    assert.deepEqual(changed.tags, { team: 'b' })
    await resources.tagsOperations.createOrUpdateAtScope(scope, {
      properties: { tags: { x: 'y' } },
    })
    await resources.tagsOperations.updateAtScope(scope, {
      operation: 'Merge',
      properties: { tags: { z: '1' } },
    })
    const { properties } = await resources.tagsOperations.getAtScope(scope)
    assert.deepEqual(properties.tags, { x: 'y', z: '1' })
    const found = await all(
      resources.resourceGroups.list({ filter: "tagName eq 'x' and tagValue eq 'y'" }),
    )
    assert.deepEqual(
      found.map(({ name }) => name),
      [group],
    )
  },

  async 'knows providers, their types and their versions'() {
    const provider = await resources.providers.get('Microsoft.ContainerInstance')
    assert.equal(provider.registrationState, 'Registered')
    const type = provider.resourceTypes.find((one) => one.resourceType === 'containerGroups')
    assert.ok(type.apiVersions.includes('2025-09-01'))
    assert.ok((await all(resources.providers.list())).length > 5)
    const registered = await resources.providers.register('Microsoft.ContainerInstance')
    assert.equal(registered.namespace, 'Microsoft.ContainerInstance')
  },

  async 'a resource of any type by its id: made, read, changed, listed, deleted'() {
    const id = `${scope}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/generic`
    const version = '2023-01-31'
    const made = await resources.resources.createOrUpdateById(id, version, { location: 'local' })
    assert.equal(made.name, 'generic')
    assert.equal((await resources.resources.checkExistenceById(id, version)).body, true)
    await resources.resources.updateById(id, version, { tags: { a: 'b' } })
    assert.deepEqual((await resources.resources.getById(id, version)).tags, { a: 'b' })
    const listed = await all(resources.resources.listByResourceGroup(group))
    assert.ok(listed.some((one) => one.id === id))
    const account = `${scope}/providers/Microsoft.Storage/storageAccounts/generic1`
    const published = { location: 'local', kind: 'StorageV2', sku: { name: 'Standard_LRS' } }
    const stored = await resources.resources.createOrUpdateById(account, '2025-01-01', published)
    assert.equal(stored.properties.provisioningState, 'Succeeded')
    const type = 'Microsoft.ManagedIdentity/userAssignedIdentities'
    const filter = `resourceType eq '${type}'`
    assert.equal((await all(resources.resources.list({ filter }))).length, 1)
    await resources.resources.deleteById(id, version)
    assert.equal((await resources.resources.checkExistenceById(id, version)).body, false)
  },
})

await runCases('long-running operations', '@azure/arm-resources', {
  async 'resources move from a group to another, once that is validated'() {
    const target = `${scope}-moved`
    await resources.resourceGroups.createOrUpdate(`${group}-moved`, { location: 'local' })
    const path = 'providers/Microsoft.ApiManagement/service/moved-by-a-test'
    const version = '2024-05-01'
    await resources.resources.createOrUpdateById(`${scope}/${path}`, version, {
      location: 'local',
      sku: { name: 'Developer', capacity: 1 },
      properties: { publisherEmail: 'a@example.test', publisherName: 'A' },
    })
    const move = { resources: [`${scope}/${path}`], targetResourceGroup: target }
    await resources.resources.validateMoveResources(group, move)
    await resources.resources.moveResources(group, move)
    assert.equal(
      (await resources.resources.getById(`${target}/${path}`, version)).name,
      'moved-by-a-test',
    )
    await refused(resources.resources.getById(`${scope}/${path}`, version), 404, 'ResourceNotFound')
    await resources.resourceGroups.delete(`${group}-moved`)
  },
})

await runCases('errors', '@azure/arm-resources', {
  async 'what is not there, what is wrong and what is refused have a status, a code and details'() {
    await refused(resources.resourceGroups.get('nowhere'), 404, 'ResourceGroupNotFound')
    await refused(
      resources.resourceGroups.createOrUpdate('bad.', { location: 'local' }),
      400,
      'InvalidResourceName',
    )
    await assert.rejects(resources.resourceGroups.createOrUpdate('x', { tags: {} }), (error) => {
      assert.equal(error.statusCode, 400)
      assert.ok(error.message.length > 0)
      assert.ok(error.details.error.code !== undefined)
      return true
    })
  },
})

await runCases('identities', '@azure/arm-msi', {
  async 'makes identities, lists them over pages, gives one a federated credential'() {
    for (const name of ['one', 'two', 'three']) {
      const made = await identities.userAssignedIdentities.createOrUpdate(group, name, {
        location: 'local',
      })
      assert.ok(made.principalId && made.clientId && made.tenantId === tenantId)
    }
    const names = (await all(identities.userAssignedIdentities.listByResourceGroup(group))).map(
      ({ name }) => name,
    )
    assert.deepEqual(names.toSorted(), ['one', 'three', 'two'])
    assert.equal((await all(identities.userAssignedIdentities.listBySubscription())).length, 3)
    const changed = await identities.userAssignedIdentities.update(group, 'one', {
      tags: { a: 'b' },
    })
    assert.deepEqual(changed.tags, { a: 'b' })
    const subject = { issuer: 'https://issuer.example', subject: 's', audiences: ['a'] }
    await identities.federatedIdentityCredentials.createOrUpdate(group, 'one', 'pipeline', subject)
    const listed = await all(identities.federatedIdentityCredentials.list(group, 'one'))
    assert.equal(listed[0].issuer, subject.issuer)
    await identities.federatedIdentityCredentials.delete(group, 'one', 'pipeline')
    await identities.userAssignedIdentities.delete(group, 'two')
    await refused(identities.userAssignedIdentities.get(group, 'two'), 404, 'ResourceNotFound')
  },
})

await runCases('role assignment', '@azure/arm-authorization', {
  async 'gives a role twice, reads it by name and by id, lists it, takes it away'() {
    const [reader] = await all(
      roles.roleDefinitions.list(scope, { filter: "roleName eq 'Reader'" }),
    )
    assert.deepEqual([reader.roleName, reader.roleType], ['Reader', 'BuiltInRole'])
    const { principalId: who } = await identities.userAssignedIdentities.get(group, 'one')
    const name = randomUUID()
    const body = {
      principalId: who,
      roleDefinitionId: reader.id,
      principalType: 'ServicePrincipal',
    }
    const made = await roles.roleAssignments.create(scope, name, body)
    assert.deepEqual([made.name, made.scope, made.principalId], [name, scope, who])
    assert.ok(made.createdOn instanceof Date)
    const again = await roles.roleAssignments.create(scope, name, body)
    assert.deepEqual(again.createdOn, made.createdOn)
    assert.equal((await roles.roleAssignments.getById(made.id)).name, name)
    const filter = `principalId eq '${who}'`
    const mine = await all(roles.roleAssignments.listForScope(scope, { filter }))
    assert.equal(mine.length, 1)
    assert.equal(
      (await all(roles.roleAssignments.listForSubscription({ filter: `assignedTo('${who}')` })))
        .length,
      1,
    )
    assert.ok((await all(roles.roleAssignments.listForResourceGroup(group))).length >= 1)
    await refused(
      roles.roleAssignments.create(scope, randomUUID(), body),
      409,
      'RoleAssignmentExists',
    )
    const gone = await roles.roleAssignments.delete(scope, name)
    assert.equal(gone.name, name)
    await refused(roles.roleAssignments.get(scope, name), 404, 'RoleAssignmentNotFound')
  },

  async 'makes a role of its own, with a condition on its assignment'() {
    const id = randomUUID()
    const permissions = [{ actions: ['Microsoft.Resources/subscriptions/resourceGroups/read'] }]
    const role = await roles.roleDefinitions.createOrUpdate(scope, id, {
      roleName: 'Looks on',
      description: 'Reads groups',
      roleType: 'CustomRole',
      assignableScopes: [scope],
      permissions,
    })
    assert.deepEqual(role.permissions[0].actions, permissions[0].actions)
    const { id: _id, name: _name, type: _type, ...given } = role
    const changed = { ...given, description: 'Reads groups, and looks on' }
    const again = await roles.roleDefinitions.createOrUpdate(scope, id, changed)
    assert.equal(again.description, changed.description)
    const classic = roles.classicAdministrators?.list()
    if (classic !== undefined) assert.deepEqual(await all(classic), [])
    const { principalId: who } = await identities.userAssignedIdentities.get(group, 'three')
    const made = await roles.roleAssignments.create(scope, randomUUID(), {
      principalId: who,
      roleDefinitionId: role.id,
      condition: "@Resource[Microsoft.Storage/storageAccounts:name] StringEquals 'a'",
      conditionVersion: '2.0',
    })
    assert.equal(made.conditionVersion, '2.0')
    await roles.roleAssignments.deleteById(made.id)
    await roles.roleDefinitions.delete(scope, id)
  },

  async 'reads permissions, operations of providers, and what is denied'() {
    const mine = await all(roles.permissions.listForResourceGroup(group))
    assert.ok(mine.some(({ actions }) => actions?.includes('*')))
    assert.deepEqual(await all(roles.denyAssignments.listForScope(scope)), [])
    assert.deepEqual(await all(roles.denyAssignments.list()), [])
    const operations =
      await roles.providerOperationsMetadataOperations.get('Microsoft.Authorization')
    assert.ok(operations.resourceTypes.some(({ name }) => name === 'roleAssignments'))
    assert.ok((await all(roles.providerOperationsMetadataOperations.list())).length > 5)
  },
})

await runCases('locks', '@azure/arm-locks', {
  async 'a lock holds a group until it is taken away'() {
    const lock = { level: 'CanNotDelete', notes: 'kept' }
    const made = await locks.managementLocks.createOrUpdateAtResourceGroupLevel(group, 'keep', lock)
    assert.equal(made.level, 'CanNotDelete')
    assert.equal((await all(locks.managementLocks.listAtSubscriptionLevel())).length, 1)
    assert.equal((await all(locks.managementLocks.listAtResourceGroupLevel(group))).length, 1)
    await refused(identities.userAssignedIdentities.delete(group, 'one'), 409, 'ScopeLocked')
    await locks.managementLocks.deleteAtResourceGroupLevel(group, 'keep')
    await identities.userAssignedIdentities.delete(group, 'one')
  },
  // This client encodes the slashes of a scope.
  async 'a lock is made, read, listed and taken away by its scope'() {
    const made = await locks.managementLocks.createOrUpdateByScope(scope, 'scoped', {
      level: 'ReadOnly',
    })
    assert.equal(
      made.id?.toLowerCase(),
      `${scope}/providers/microsoft.authorization/locks/scoped`.toLowerCase(),
    )
    assert.equal((await locks.managementLocks.getByScope(scope, 'scoped')).level, 'ReadOnly')
    assert.equal((await all(locks.managementLocks.listByScope(scope))).length, 1)
    await locks.managementLocks.deleteByScope(scope, 'scoped')
    assert.equal((await all(locks.managementLocks.listByScope(scope))).length, 0)
  },
})

await runCases('long-running operations', '@azure/arm-resources', {
  async 'a group is deleted with what is in it, by a poller'() {
    const poller = resources.resourceGroups.delete(group)
    await poller
    assert.equal((await resources.resourceGroups.checkExistence(group)).body, false)
  },
})

process.exit(0)
