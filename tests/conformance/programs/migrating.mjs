/** PostgreSQL servers and an online migration between two real ones, by the published typed client. */

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { PostgreSQLManagementFlexibleServerClient } from '@azure/arm-postgresql-flexible'
import { ResourceManagementClient } from '@azure/arm-resources'
import { given, runCases } from './cases.mjs'
import { all, credential, options, refused, subscriptionId } from './typed.mjs'

const group = 'migrating'
const client = new PostgreSQLManagementFlexibleServerClient(credential, subscriptionId, options)
const resources = new ResourceManagementClient(credential, subscriptionId, options)
await resources.resourceGroups.createOrUpdate(group, { location: 'local' })

/** Looks until what it awaits is so; the case has a time limit. */
async function until(name, predicate) {
  for (;;) {
    const seen = await client.migrations.get(group, 'target', name)
    const { state } = seen.currentStatus
    if (predicate(seen)) return seen
    assert.ok(!['Failed', 'ValidationFailed', 'Canceled'].includes(state), JSON.stringify(seen))
    await sleep(200)
  }
}

await runCases('PostgreSQL servers', '@azure/arm-postgresql-flexible', {
  async 'says what a location offers, and whether a name is free'() {
    const [offered] = await all(client.capabilitiesByLocation.list('local'))
    assert.ok(offered.supportedServerVersions.some(({ name }) => name === '18'))
    for (const {
      supportedServerSkus,
      supportedStorageEditions,
    } of offered.supportedServerEditions) {
      assert.ok(supportedServerSkus.every(({ name, vCores }) => name && vCores > 0))
      assert.equal(supportedStorageEditions[0].supportedStorageMb[0].storageSizeMb, 32_768)
    }
    const type = 'Microsoft.DBforPostgreSQL/flexibleServers'
    const free = await client.nameAvailability.checkWithLocation('local', { name: 'target', type })
    assert.equal(free.nameAvailable, true)
    assert.equal(
      (await client.nameAvailability.checkGlobally({ name: 'target', type })).nameAvailable,
      true,
    )
  },

  async 'puts servers without an address of this product, reads and lists them and their databases'() {
    for (const name of ['source', 'target']) {
      const made = await client.servers.beginCreateOrUpdateAndWait(group, name, {
        location: 'local',
        administratorLogin: 'postgres',
        administratorLoginPassword: given.servers[name].password,
        version: '18',
        sku: { name: 'Standard_D2ds_v5', tier: 'GeneralPurpose' },
        storage: { storageSizeGB: 32 },
        backup: { backupRetentionDays: 7, geoRedundantBackup: 'Disabled' },
        highAvailability: { mode: 'Disabled' },
        network: { publicNetworkAccess: 'Enabled' },
        createMode: 'Create',
      })
      assert.equal(made.administratorLogin, 'postgres')
      assert.equal(made.administratorLoginPassword, undefined)
    }
    const target = await client.servers.get(group, 'target')
    assert.equal(target.state, 'Ready', JSON.stringify(target))
    assert.equal((await all(client.servers.listBySubscription())).length, 2)
    assert.equal((await all(client.servers.listByResourceGroup(group))).length, 2)
    const databases = await all(client.databases.listByServer(group, 'source'))
    assert.ok(databases.some(({ name }) => name === 'shop'))
    assert.equal((await client.databases.get(group, 'source', 'shop')).name, 'shop')
    const changed = await client.servers.beginUpdateAndWait(group, 'target', { tags: { a: 'b' } })
    assert.deepEqual(changed.tags, { a: 'b' })
  },
})

await runCases('migration', '@azure/arm-postgresql-flexible', {
  async 'an online migration of a real database is made, waits, is cut over by an update, and is done'() {
    const { host, port } = given.servers.source
    const made = await client.migrations.create(group, 'target', 'shop', {
      location: 'local',
      migrationMode: 'Online',
      migrationOption: 'Migrate',
      sourceType: 'OnPremises',
      sslMode: 'Prefer',
      sourceDbServerResourceId: `${host}:${port}@postgres`,
      dbsToMigrate: ['shop'],
      overwriteDbsInTarget: 'True',
      setupLogicalReplicationOnSourceDbIfNeeded: 'True',
      secretParameters: {
        adminCredentials: {
          sourceServerPassword: given.servers.source.password,
          targetServerPassword: given.servers.target.password,
        },
        sourceServerUsername: 'postgres',
        targetServerUsername: 'postgres',
      },
    })
    assert.equal(made.name, 'shop')
    assert.equal(made.secretParameters, undefined)
    await until(
      'shop',
      ({ currentStatus }) =>
        currentStatus.currentSubStateDetails?.currentSubState === 'WaitingForCutoverTrigger',
    )
    const changed = await client.migrations.update(group, 'target', 'shop', {
      triggerCutover: 'True',
      tags: { cut: 'over' },
    })
    assert.deepEqual(changed.tags, { cut: 'over' })
    const done = await until('shop', ({ currentStatus }) => currentStatus.state === 'Succeeded')
    const { dbDetails } = done.currentStatus.currentSubStateDetails
    assert.equal(dbDetails.shop.migrationState, 'Succeeded')
    assert.ok(done.migrationWindowStartTimeInUtc instanceof Date)
    assert.equal((await all(client.migrations.listByTargetServer(group, 'target'))).length, 0)
    const every = { migrationListFilter: 'All' }
    assert.equal(
      (await all(client.migrations.listByTargetServer(group, 'target', every))).length,
      1,
    )
    const databases = await all(client.databases.listByServer(group, 'target'))
    assert.ok(databases.some(({ name }) => name === 'shop'))
  },

  async 'says whether a name is free, and refuses a change at the end'() {
    const type = 'Microsoft.DBforPostgreSQL/flexibleServers/migrations'
    const shop = await client.migrations.checkNameAvailability(group, 'target', {
      name: 'shop',
      type,
    })
    assert.equal(shop.nameAvailable, false)
    await assert.rejects(
      client.migrations.update(group, 'target', 'shop', { triggerCutover: 'True', cancel: 'True' }),
      (error) => [400, 409].includes(error.statusCode) && error.code !== undefined,
    )
    await refused(client.migrations.get(group, 'target', 'nothing'), 404, 'ResourceNotFound')
  },
})

process.exit(0)
