/** Resources of types that nobody serves: off, on, and what a client sees of them; on both stores. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { defaultLimits } from '#kernel/limits.ts'
import { contractWords } from '#kernel/vendor.ts'
import { memoryStore, nobody } from '#plane/testing/start.ts'
import { openPostgres } from '#stores/postgres/open.ts'
import { findPostgres, howToGetPostgres, startPostgres } from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../../tests/require.ts'
import { group, type Started, startDeployments, templateFor } from '../resources/testing/start.ts'

const networks = `${group}/providers/Vendor.Network/virtualNetworks`
const network = `${networks}/n`
const options = { version: '2019-01-01' }

// Answers are read as the clients see them.
// biome-ignore lint/suspicious/noExplicitAny: their shape is what is tested.
const json = ({ body }: { readonly body?: unknown }): any => JSON.parse(JSON.stringify(body))

async function refusalOf(work: () => Promise<unknown>): Promise<ApiError> {
  try {
    await work()
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('it was not refused')
}

const body = {
  location: 'here',
  tags: { team: 'blue' },
  sku: { name: 'Standard' },
  properties: { addressSpace: { addressPrefixes: ['10.0.0.0/16'] }, adminPassword: 'open sesame' },
}

async function lives(started: Started): Promise<void> {
  const { call } = started
  const made = await call('PUT', network, body, options)
  assert.equal(made.status, 201)
  const shown = json(made)
  assert.equal(shown.type, 'Vendor.Network/virtualNetworks')
  assert.equal(shown.properties.provisioningState, 'Succeeded')
  assert.equal(shown.systemData.createdByType, 'User')
  assert.equal(JSON.stringify(shown).includes('sesame'), false)
  const same = await call('PUT', network, body, { version: '2024-05-01' })
  assert.equal(same.etag, made.etag, 'a PUT that changes nothing writes nothing')
  const patched = await call('PATCH', network, { properties: { mtu: 9000 }, tags: {} }, options)
  assert.deepEqual(json(patched).properties.addressSpace, body.properties.addressSpace)
  assert.equal(json(patched).properties.mtu, 9000)
  assert.deepEqual(json(patched).tags, {})
  const child = await call('PUT', `${network}/subnets/s`, { properties: {} }, options)
  assert.equal(json(child).location, undefined)
  const orphan = await refusalOf(() => call('PUT', `${networks}/none/subnets/s`, {}, options))
  assert.equal(orphan.code, 'ParentResourceNotFound')
  const extension = `${network}/providers/Vendor.Insights/diagnosticSettings/d`
  await call('PUT', extension, { properties: {} }, options)
  const subscription = group.slice(0, group.indexOf('/resourceGroups'))
  const listed = [
    networks,
    `${network}/subnets`,
    `${subscription}/providers/Vendor.Network/virtualNetworks`,
    `${group}/resources`,
  ]
  for (const path of listed) {
    const version = path.endsWith('/resources') ? '2021-04-01' : '2019-01-01'
    const { value } = json(await call('GET', path, undefined, { version }))
    assert.equal(value.length, 1, path)
  }
  assert.equal((await call('HEAD', network, undefined, options)).status, 204)
  const lock = `${network}/providers/Vendor.Authorization/locks/l`
  await call('PUT', lock, { properties: { level: 'CanNotDelete' } }, { version: '2016-09-01' })
  const locked = await refusalOf(() => call('DELETE', network, undefined, options))
  assert.equal(locked.code, 'ScopeLocked')
  await call('DELETE', lock, undefined, { version: '2016-09-01' })
  assert.equal((await call('DELETE', network, undefined, options)).status, 200)
  const gone = await refusalOf(() => call('GET', extension, undefined, options))
  assert.equal(gone.code, 'ResourceNotFound', 'what hangs below goes with it')
}

test('deletions are recorded as the path spells the type, whoever read it before', async () => {
  await using store = await memoryStore()
  {
    await using started = await startDeployments({ generic: true, store })
    await started.call('PUT', network, body, options)
    await started.call('PUT', `${network}/subnets/s`, {}, options)
  }
  await using started = await startDeployments({ generic: true, store })
  // Names the type as its rows do.
  await started.call('GET', `${group}/resources`, undefined, { version: '2021-04-01' })
  await started.call('DELETE', network, undefined, options)
  const recorded = await store.sql.all('select action from events')
  const deletions = recorded
    .map(({ action }) => String(action))
    .filter((one) => one.endsWith('/delete'))
  const expected = ['virtualNetworks', 'virtualNetworks/subnets']
  assert.deepEqual(
    deletions.toSorted(),
    expected.map((type) => `Vendor.Network/${type}/delete`),
  )
})

test('a generic resource is written, read, listed, locked and deleted as any other', async () => {
  await using started = await startDeployments({ generic: true })
  await lives(started)
})

test('the same on PostgreSQL', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  await using store = await openPostgres({
    url: await server.createDatabase(),
    poolSize: 4,
    clock: Date,
    migrations: [],
    words: contractWords,
    transactionRetriesMax: defaultLimits.transactionRetriesMax,
  })
  await using started = await startDeployments({ generic: true, store })
  await lives(started)
})

test('without the setting they are refused, and the refusal says that it exists', async () => {
  await using started = await startDeployments()
  const namespace = await refusalOf(() => started.call('PUT', network, body, options))
  assert.equal(namespace.code, 'InvalidResourceNamespace')
  assert.match(namespace.message, /ARMATURE_GENERIC_RESOURCES=on/)
  const type = `${group}/providers/Vendor.Secrets/others/o`
  const refusal = await refusalOf(() => started.call('PUT', type, body, options))
  assert.equal(refusal.code, 'InvalidResourceType')
  assert.match(refusal.message, /ARMATURE_GENERIC_RESOURCES=on/)
})

test('providers find stored documents by the name of their type, with or without the vendor word', async () => {
  await using started = await startDeployments({ generic: true })
  await started.call('PUT', network, body, options)
  const { reader } = started.plane
  for (const type of ['Network/virtualNetworks', 'Vendor.Network/virtualNetworks']) {
    assert.equal((await reader.list({ type, under: '/', limit: 9 })).length, 1, type)
  }
})

test('rights are asked by the name of the type, and versions are dates', async () => {
  await using started = await startDeployments({ generic: true })
  const denied = await refusalOf(() =>
    started.call('PUT', network, body, { ...options, as: nobody }),
  )
  assert.equal(denied.code, 'AuthorizationFailed')
  assert.match(denied.message, /Vendor\.Network\/virtualNetworks\/write/)
  const version = await refusalOf(() =>
    started.call('PUT', network, body, { version: '2019-13-45' }),
  )
  assert.equal(version.code, 'InvalidApiVersionParameter')
  const odd = `${group}/providers/Vendor.Network/virtual networks/n`
  assert.equal((await refusalOf(() => started.call('PUT', odd, body, options))).status, 404)
  const deny = `${group}/providers/Vendor.Authorization/denyAssignments/d`
  const withheld = await refusalOf(() => started.call('PUT', deny, body, options))
  assert.equal(withheld.code, 'MethodNotAllowed', 'nobody is to rely on what refuses nothing')
})

test('the route says that the type is generic, and counts all of them as one', async () => {
  await using started = await startDeployments({ generic: true })
  const query = new URLSearchParams({ 'api-version': '2019-01-01' })
  const route = started.plane.locate('GET', network, query)
  assert.deepEqual(route.answerHeaders, { 'x-armature-generic-resource': 'true' })
  assert.equal(route.type, 'generic')
  const served = started.plane.locate('GET', `${group}/providers/Vendor.Secrets/vaults/v`, query)
  assert.equal(served.answerHeaders, undefined)
})

test('one PATCH after the other brings no more long integers than a PUT could', async () => {
  await using started = await startDeployments({ generic: true })
  const { call } = started
  await call('PUT', network, { properties: {} }, options)
  const all = Array.from({ length: 6_000 }, () => 9007199254740993n)
  assert.equal((await call('PATCH', network, { properties: { one: all } }, options)).status, 200)
  const refused = await refusalOf(() =>
    call('PATCH', network, { properties: { two: all } }, options),
  )
  assert.match(refused.message, /larger than a body may be/)
  await call('PATCH', network, { properties: { one: 1, two: all } }, options)
})

test('keys are invented once for a resource, and sealed; a resource made anew has others', async () => {
  await using started = await startDeployments({ generic: true })
  const { call } = started
  const account = `${group}/providers/Vendor.Cache/redis/r`
  const keys = async () => json(await call('POST', `${account}/listKeys`, undefined, options))
  const missing = await refusalOf(keys)
  assert.equal(missing.code, 'ResourceNotFound')
  await call('PUT', account, { properties: { x: 1 } }, options)
  const first = await keys()
  assert.match(first.primaryKey, /^[A-Za-z0-9+/]{43}=$/)
  assert.notEqual(first.primaryKey, first.secondaryKey)
  await call('PUT', account, { properties: { x: 2 } }, options)
  await call('PATCH', account, { properties: { x: 3 } }, options)
  assert.deepEqual(await keys(), first)
  const row = await started.store.get(account.toLowerCase())
  assert.equal(row?.document.includes(first.primaryKey), false)
  await call('DELETE', account, undefined, options)
  await call('PUT', account, { properties: { x: 1 } }, options)
  assert.notDeepEqual(await keys(), first)
  const parent = `${group}/providers/Vendor.Network/virtualNetworks/withKeys`
  await call('PUT', parent, { properties: { subnets: [{ name: 'a', properties: {} }] } }, options)
  const own = json(await call('POST', `${parent}/listKeys`, undefined, options))
  const child = json(await call('POST', `${parent}/subnets/a/listKeys`, undefined, options))
  assert.notEqual(child.primaryKey, own.primaryKey, 'a child tells nothing of its parent')
  const other = await refusalOf(() => call('POST', `${account}/restart`, undefined, options))
  assert.equal(other.code, 'MethodNotAllowed')
})

test('lists of keys are lists where the real ones are, and no output contains what they answer', async () => {
  await using started = await startDeployments({ generic: true })
  const read = {
    query: ['Search/searchServices', 'listQueryKeys', '.value[0].key'],
    store: ['AppConfiguration/configurationStores', 'listKeys', '.value[2].connectionString'],
    owner: ['Devices/provisioningServices', 'listKeys', '.value[0].primaryKey'],
    code: ['Web/sites/functions', 'listKeys', '.default'],
    address: ['Web/sites/functions', 'listSecrets', '.trigger_url'],
    sas: ['Storage/storageAccounts', 'listAccountSas', '.accountSasToken'],
    document: [
      'DocumentDB/databaseAccounts',
      'listConnectionStrings',
      '.connectionStrings[0].connectionString',
    ],
  } as const
  const types = [...new Set(Object.values(read).map(([type]) => type))]
  const nameOf = (type: string): string => (type.split('/').length > 2 ? 'one/two' : 'one')
  const resources = ['Web/sites', ...types].map((type) => ({
    type: `Vendor.${type}`,
    apiVersion: '2020-01-01',
    name: nameOf(type),
  }))
  const whole = resources.map((one) =>
    one.type.endsWith('functions')
      ? { ...one, dependsOn: ["[resourceId('Vendor.Web/sites', 'one')]"] }
      : one,
  )
  const idOf = (type: string): string =>
    `resourceId('Vendor.${type}', ${nameOf(type)
      .split('/')
      .map((name) => `'${name}'`)
      .join(', ')})`
  const outputs = Object.fromEntries(
    Object.entries(read).map(([name, [type, action, rest]]) => [
      name,
      { type: 'string', value: `[${action}(${idOf(type)}, '2020-01-01')${rest}]` },
    ]),
  )
  const links = {
    link: {
      type: 'string',
      value:
        "[listConsentLinks(resourceId('Vendor.Web/connections', 'c'), '2020-01-01').value[0].link]",
    },
  }
  const connection = { type: 'Vendor.Web/connections', apiVersion: '2020-01-01', name: 'c' }
  const template = templateFor([...whole, connection], { outputs: { ...outputs, ...links } })
  const path = `${group}/providers/Vendor.Resources/deployments/lists`
  await started.call('PUT', path, { properties: { mode: 'Incremental', template } })
  await started.settle()
  const { properties } = json(await started.call('GET', path))
  assert.equal(properties.provisioningState, 'Succeeded', JSON.stringify(properties.error))
  for (const name of Object.keys(read)) {
    assert.deepEqual(properties.outputs[name], { type: 'String' }, name)
  }
  assert.match(properties.outputs.link.value, /^https:\/\/consent\./)
  const secret = json(await started.call('POST', `${path}/listOutputsWithSecureValues`))
  assert.match(JSON.stringify(secret), /Endpoint=https:\/\/one\.azconfig\./)
})

test('what templates read and no body gives is computed, and stays what the body gives', async () => {
  await using started = await startDeployments({ generic: true })
  const { call } = started
  const address = `${group}/providers/Vendor.Network/publicIPAddresses/a`
  const dns = { dnsSettings: { domainNameLabel: 'Web' } }
  const named = json(
    await call('PUT', address, { location: 'North Here', properties: dns }, options),
  )
  assert.equal(named.properties.dnsSettings.fqdn, 'web.northhere.cloudapp.armature.example')
  const own = { dnsSettings: { fqdn: 'mine.example' } }
  const given = json(
    await call('PUT', address, { location: 'North Here', properties: own }, options),
  )
  assert.equal(given.properties.dnsSettings.fqdn, 'mine.example')
  const identity = { type: 'SystemAssigned' }
  const machine = `${group}/providers/Vendor.Compute/virtualMachines/m`
  const made = await call('PUT', machine, { location: 'x', identity, properties: {} }, options)
  const first = json(made)
  assert.match(first.identity.principalId, /^[0-9a-f-]{36}$/)
  const again = await call('PUT', machine, first, options)
  assert.equal(again.etag, made.etag, 'what was read can be sent back, and changes nothing')
})

test('a script that nothing runs has outputs of the names that it says, and a message of lines and words', async () => {
  await using started = await startDeployments({ generic: true })
  const { call } = started
  const script = `${group}/providers/Vendor.Resources/deploymentScripts/s`
  const scriptContent =
    "$DeploymentScriptOutputs = @{}; $DeploymentScriptOutputs['keyName'] = $k.Name\n" +
    '$DeploymentScriptOutputs["__proto__"] = 1; $deploymentScriptOutputs.text = "a"'
  const first = json(await call('PUT', script, { properties: { scriptContent } }, options))
  assert.deepEqual(Object.keys(first.properties.outputs), ['keyName', '__proto__', 'text'])
  assert.match(first.properties.outputs.keyName, /^[0-9a-f]{16}$/)
  const again = json(await call('PUT', script, first, options))
  assert.deepEqual(again.properties.outputs, first.properties.outputs)
  const machine = `${group}/providers/Vendor.Compute/virtualMachines/m`
  await call('PUT', machine, { properties: {} }, options)
  const made = await call('PUT', `${machine}/extensions/e`, { properties: {} }, options)
  const { statuses } = json(made).properties.instanceView
  assert.ok(statuses[0].message.split('\n')[2].split(' ').length > 4)
})

test('children that stand in the body of their parent are read by their ids', async () => {
  await using started = await startDeployments({ generic: true })
  const { call } = started
  const subnet = { name: 's', properties: { addressPrefix: '10.0.1.0/24' } }
  await call('PUT', network, { properties: { subnets: [subnet] } }, options)
  const read = json(await call('GET', `${network}/subnets/s`, undefined, options))
  assert.equal(read.properties.addressPrefix, '10.0.1.0/24')
  assert.equal(read.type, 'Vendor.Network/virtualNetworks/subnets')
  const missing = await refusalOf(() => call('GET', `${network}/subnets/t`, undefined, options))
  assert.equal(missing.status, 404)
  const blobs = `${group}/providers/Vendor.Storage/storageAccounts/a`
  await call('PUT', blobs, { properties: {} }, options)
  const container = `${blobs}/blobServices/default/containers/c`
  assert.equal((await call('PUT', container, { properties: {} }, options)).status, 201)
})

test('what a child type hides is hidden where the child comes in the body of its parent', async () => {
  await using started = await startDeployments({ generic: true })
  const vault = `${group}/providers/Vendor.KeyVault/vaults/v`
  const secrets = [{ name: 's', properties: { value: 'hush', contentType: 'text' } }]
  await started.call('PUT', vault, { properties: { secrets } }, options)
  for (const path of [vault, `${vault}/secrets/s`]) {
    const shown = JSON.stringify(json(await started.call('GET', path, undefined, options)))
    assert.match(shown, /contentType/)
    assert.doesNotMatch(shown, /hush/)
  }
})

test('texts under the names that people give to secrets are not kept', async () => {
  await using started = await startDeployments({ generic: true })
  const names =
    'adminPassword pass_word clientSecret apiKey api_key accountKey sasUrl sas_token accessToken'
  const properties = Object.fromEntries(names.split(' ').map((name) => [name, 'hush']))
  const kept = {
    tokenEndpoint: 'https://a',
    apiKeyHeader: 'x-key',
    keyVaultSecretId: '/secrets/s',
    // A reference to the vault's secret.
    secret: `${group}/providers/Vendor.KeyVault/vaults/v/secrets/s`,
    requirePassword: true,
  }
  for (const secret of ['hush', '/hush+Ab==', 'http://hush', { value: 'hush' }, ['hush'], 4711]) {
    const given = Object.fromEntries(Object.keys(properties).map((name) => [name, secret]))
    await started.call('PUT', network, { properties: { ...given, ...kept } }, options)
    const shown = json(await started.call('GET', network, undefined, options)).properties
    assert.deepEqual(shown, { ...kept, ...shown })
    assert.doesNotMatch(JSON.stringify(shown), /hush|4711/)
    const rows = await started.store.list({ under: '/', limit: 1000 })
    for (const row of rows) assert.doesNotMatch(row.document, /hush/)
  }
})

test('what is computed for a body has a bound, however long its lists and its id are', async () => {
  await using started = await startDeployments({ generic: true })
  const { call } = started
  const long = `${networks}/${'n'.repeat(200)}`
  const subnets = Array.from({ length: 2000 }, (_, at) => ({ name: `s${at}`, properties: {} }))
  const shown = json(await call('PUT', long, { properties: { subnets } }, options))
  assert.equal(shown.properties.subnets[0].id, `${long}/subnets/s0`)
  assert.ok(JSON.stringify(shown).length < 3 * JSON.stringify({ subnets }).length)
  const again = await call('PUT', long, { properties: { subnets } }, options)
  assert.deepEqual(json(again), shown)
  const named = Object.fromEntries(subnets.map(({ name }) => [`/ids/${name}`, {}]))
  const identity = { type: 'UserAssigned', userAssignedIdentities: named }
  const many = json(await call('PUT', network, { identity, properties: {} }, options))
  const found = Object.values<object>(many.identity.userAssignedIdentities)
  assert.equal(found.length, 2000)
  assert.equal(found.filter((one) => 'principalId' in one).length, 1000)
})

test('complete mode deletes them, and a second deployment changes nothing', async () => {
  await using started = await startDeployments({ generic: true })
  const { call } = started
  await call('PUT', network, body, options)
  const deployment = `${group}/providers/Vendor.Resources/deployments/d`
  const resource = {
    type: 'Vendor.Network/networkSecurityGroups',
    apiVersion: '2021-02-01',
    name: 'g',
    location: 'here',
    properties: { securityRules: [] },
  }
  const requested = { properties: { mode: 'Complete', template: templateFor([resource]) } }
  await call('PUT', deployment, requested)
  await started.settle()
  const gone = await refusalOf(() => call('GET', network, undefined, options))
  assert.equal(gone.code, 'ResourceNotFound')
  const answer = await call('POST', `${deployment}/whatIf`, requested)
  const { changes } = json(answer).properties ?? json(answer)
  const types = changes.map((one: { readonly changeType: string }) => one.changeType)
  assert.deepEqual(types, ['NoChange'])
})

test('what an expression reads of a document that lacks it is invented, the same each time', async () => {
  await using started = await startDeployments({ generic: true })
  const read = (what: string, safe = ''): string => `[reference('d')${safe}${what}]`
  const output = (value: string): object => ({ type: 'string', value })
  const outputs = {
    fqdn: output(read('.dns.fqdn')),
    endpoint: output(read('.endpoints[0].serviceUri')),
    client: output(read('.clientId')),
    id: output(read('.managedId')),
    port: { type: 'int', value: read('.port') },
    other: output(read('.color')),
    own: output(read('.size')),
    list: { type: 'array', value: read('.nameServers') },
    map: {
      type: 'array',
      value: "[map(reference('d').interfaces, lambda('one', lambdaVariables('one')))]",
    },
    view: { type: 'object', value: read('.instanceView') },
    absent: output("[coalesce(reference('d').?shape, 'none')]"),
    key: output("[listAnything('d', '2020-01-01').any]"),
  }
  const devices = { type: 'Vendor.Any/devices', apiVersion: '2020-01-01', name: 'd' }
  const template = templateFor([{ ...devices, properties: { size: 'large' } }], { outputs })
  const path = `${group}/providers/Vendor.Resources/deployments/reads`
  const outputsNow = async () => {
    await started.call('PUT', path, { properties: { mode: 'Incremental', template } })
    await started.settle()
    const { properties } = json(await started.call('GET', path))
    assert.equal(properties.provisioningState, 'Succeeded', JSON.stringify(properties.error))
    return properties.outputs
  }
  const first = await outputsNow()
  assert.deepEqual(await outputsNow(), first)
  assert.equal(first.fqdn.value, 'fqdn.d.example')
  assert.equal(first.endpoint.value, 'https://serviceuri.d.example/')
  assert.match(first.client.value, /^[0-9a-f-]{36}$/)
  assert.equal(first.id.value, `${group}/providers/Vendor.Any/devices/d/managedid`)
  assert.equal(first.port.value, 1)
  assert.equal(first.other.value, 'color-d')
  assert.equal(first.own.value, 'large')
  assert.deepEqual([first.list.value, first.map.value, first.view.value], [[], [], {}])
  assert.equal(first.absent.value, 'none')
  const served = templateFor([], {
    outputs: { o: output("[reference(resourceGroup().id, '2021-04-01').color]") },
  })
  await started.call('PUT', path, { properties: { mode: 'Incremental', template: served } })
  await started.settle()
  const failed = json(await started.call('GET', path)).properties
  assert.match(failed.error.message, /has no property 'color'/)
})

test('a child in the body of its parent, or that is there by itself, may have children', async () => {
  await using started = await startDeployments({ generic: true })
  const { call } = started
  const door = `${group}/providers/Vendor.Network/frontDoors/f`
  const inBody = { properties: { frontendEndpoints: [{ name: 'one', properties: {} }] } }
  await call('PUT', door, { location: 'here', ...inBody }, options)
  const child = await call('PUT', `${door}/frontendEndpoints/ONE/rules/r`, {}, options)
  assert.equal(child.status, 201)
  const orphan = await refusalOf(() =>
    call('PUT', `${door}/frontendEndpoints/two/rules/r`, {}, options),
  )
  assert.equal(orphan.code, 'ParentResourceNotFound')
  const set = `${group}/providers/Vendor.Compute/virtualMachineScaleSets/s`
  await call('PUT', set, { location: 'here', properties: {} }, options)
  const nic = `${set}/virtualMachines/0/networkInterfaces/nic`
  assert.equal(json(await call('GET', nic, undefined, options)).name, 'nic')
  const none = `${set}/virtualMachines/first/networkInterfaces/nic`
  const missing = await refusalOf(() => call('GET', none, undefined, options))
  assert.equal(missing.code, 'ResourceNotFound')
})

test('a PATCH brings neither long integers nor members in place of a longer text', async () => {
  await using started = await startDeployments({ generic: true })
  const { call } = started
  const names = ['one', 'two', 'three', 'four']
  const text = 'x'.repeat(300_000)
  const texts = Object.fromEntries(names.map((name) => [name, text]))
  await call('PUT', network, { properties: texts }, options)
  const patch = (name: string, value: unknown) =>
    call('PATCH', network, { properties: { [name]: value } }, options)
  const long = Array.from({ length: 6_000 }, () => 9007199254740993n)
  assert.equal((await patch('one', long)).status, 200)
  assert.match((await refusalOf(() => patch('two', long))).message, /larger than a body may be/)
  assert.equal((await patch('one', text)).status, 200)
  const many = Array.from({ length: defaultLimits.bodyMembersMax / 2 }, () => 0)
  assert.equal((await patch('one', many)).status, 200)
  assert.match((await refusalOf(() => patch('two', many))).message, /larger than a body may be/)
})
