/** Generic resources over HTTP: the header, provider lists, the operator's schemas, and a restart after a kill. */

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { assertRefused, createResourceGroup } from './access.ts'
import { type Installation, StartRefused, startInstallation } from './installation.ts'

const folder = mkdtempSync(join(tmpdir(), 'armature-generic-'))
const [home, schemas] = [join(folder, 'home'), join(folder, 'schemas')]
const environment = {
  ARMATURE_CONTAINERS: 'simulated',
  ARMATURE_GENERIC_RESOURCES: 'on',
  ARMATURE_GENERIC_SCHEMAS: schemas,
}
const boards = {
  swagger: '2.0',
  info: { version: '2021-02-01' },
  paths: {
    '/subscriptions/{s}/resourceGroups/{g}/providers/Vendor.Boards/boards/{n}': {
      put: { parameters: [{ in: 'body', name: 'board', schema: { $ref: '#/definitions/Board' } }] },
    },
  },
  definitions: {
    Board: { properties: { properties: { properties: { size: { enum: ['s', 'l'] } } } } },
  },
}
let installation: Installation
let group: string

before(async () => {
  mkdirSync(home)
  mkdirSync(schemas)
  writeFileSync(join(schemas, 'boards.json'), JSON.stringify(boards))
  installation = await startInstallation({ home, environment })
  group = `/subscriptions/${installation.subscriptionId}/resourceGroups/generic`
  await createResourceGroup(installation, group)
})

after(async () => {
  await installation[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

const header = 'x-armature-generic-resource'

test('an action that is read is served by its type, though any name may be one of a generic type', async () => {
  const path = `${group}/providers/Vendor.ContainerInstance/containerGroups/one`
  const version = '?api-version=2025-09-01'
  const container = { name: 'web', properties: { image: 'registry.example/web:1' } }
  const body = { location: 'local', properties: { containers: [container] } }
  assert.equal((await installation.request('PUT', path + version, { body })).status, 201)
  const logs = () => installation.request('GET', `${path}/containers/web/logs${version}`)
  let answer = await logs()
  for (let looks = 0; answer.status === 409 && looks < 100; looks++) {
    await setTimeout(100)
    answer = await logs()
  }
  assert.deepEqual([answer.status, Object.keys(Object(answer.body))], [200, ['content']])
})

test('answers and refusals say that the type is generic; those of served types do not', async () => {
  const path = `${group}/providers/Vendor.Network/virtualNetworks/n?api-version=2019-01-01`
  const body = { location: 'local', properties: {} }
  const made = await installation.request('PUT', path, { body })
  assert.equal(made.status, 201)
  assert.equal(made.headers.get(header), 'true')
  const missing = await installation.request('GET', path.replace('/n?', '/m?'))
  assertRefused(missing, 404, 'ResourceNotFound')
  assert.equal(missing.headers.get(header), 'true')
  const served = await installation.request('GET', `${group}?api-version=2021-04-01`)
  assert.equal(served.headers.get(header), null)
})

const accounts = 'providers/Vendor.Storage/storageAccounts'

test('a served type keeps what bodies of the family say beyond its own shape', async () => {
  const path = `${group}/${accounts}/familyaccount?api-version=2023-01-01`
  const body = {
    location: 'local',
    kind: 'BlobStorage',
    sku: { name: 'Standard_GRS' },
    properties: { accessTier: 'Hot', minimumTlsVersion: 'TLS1_2' },
  }
  const made = await installation.request('PUT', path, { body })
  assert.equal(made.status, 201)
  assert.equal(made.at('kind'), 'BlobStorage')
  assert.equal(made.at('sku.name'), 'Standard_GRS')
  assert.equal(made.at('properties.accessTier'), 'Hot')
  assert.equal(made.at('properties.kind'), 'Folder', 'it is one of ours all the same')
  assert.match(
    String(made.at('properties.primaryEndpoints.blob')),
    /^https:\/\/familyaccount\.blob/,
  )
  assert.ok(!made.text.includes('\\u0000'), 'nothing of how it is kept is shown')
  const again = await installation.request('PUT', path, { body: JSON.parse(made.text) })
  assert.equal(again.headers.get('etag'), made.headers.get('etag'), 'what was read changes nothing')
  const patch = { body: { properties: { accessTier: 'Cool' } } }
  const patched = await installation.request('PATCH', path, patch)
  assert.equal(patched.at('properties.accessTier'), 'Cool')
  assert.equal(patched.at('properties.minimumTlsVersion'), 'TLS1_2')
  const back = await installation.request('PATCH', path, {
    body: { properties: { accessTier: 'Hot' } },
  })
  assert.deepEqual(back.at('properties'), made.at('properties'))
  const keys = () => installation.request('POST', path.replace('?', '/listKeys?'))
  const key = (await keys()).at('keys.0.value')
  assert.match(String(key), /^[A-Za-z0-9+/]{43}=$/)
  assert.equal((await keys()).at('keys.0.value'), key)
})

test('a registered blob service is kept as before, its key unseen', async () => {
  const path = `${group}/${accounts}/registered?api-version=2023-01-01`
  const endpoint = 'https://blobs.example/one'
  const properties = { kind: 'BlobService', endpoint, accountName: 'one', accountKey: 'aHVzaA==' }
  const made = await installation.request('PUT', path, { body: { location: 'local', properties } })
  assert.equal(made.status, 201)
  assert.equal(made.at('properties.endpoint'), endpoint)
  assert.ok(!made.text.includes('aHVzaA=='))
})

test('a server of tables needs no address then, and no second PUT of it is a change', async () => {
  const path = `${group}/providers/Vendor.Sql/servers/family?api-version=2021-11-01`
  const properties = { administratorLogin: 'ada', administratorLoginPassword: 'hush-hush' }
  const body = { location: 'local', properties: { ...properties, version: '12.0' } }
  const made = await installation.request('PUT', path, { body })
  assert.equal(made.status, 201)
  assert.match(String(made.at('properties.fullyQualifiedDomainName')), /^family\.database\./)
  assert.equal(made.at('properties.administratorLogin'), 'ada')
  assert.ok(!made.text.includes('hush-hush'))
  const again = await installation.request('PUT', path, { body })
  assert.equal(again.headers.get('etag'), made.headers.get('etag'))
  const sentBack = await installation.request('PUT', path, { body: JSON.parse(made.text) })
  assert.equal(sentBack.headers.get('etag'), made.headers.get('etag'))
})

test('what a served type takes and never shows is not beside it, whatever it looks like', async () => {
  const reference = `${group}/providers/Vendor.KeyVault/vaults/v/secrets/hush`
  const types = [
    ['Vendor.Sql/servers/hidden?api-version=2021-11-01', 'administratorLoginPassword'],
    ['Vendor.Storage/storageAccounts/hidden?api-version=2023-01-01', 'accountKey'],
  ] as const
  for (const [type, name] of types) {
    for (const spelled of [name, name.toUpperCase()]) {
      for (const secret of ['/hush-1234X', 'http://hush', reference]) {
        const path = `${group}/providers/${type}`
        const body = { location: 'local', properties: { [spelled]: secret } }
        // A resource that its schema refuses is not kept.
        await installation.request('PUT', path, { body })
        const shown = await installation.request('GET', path)
        assert.ok(!shown.text.includes('hush'), `${spelled} ${secret}`)
      }
    }
  }
})

test('a debug setting records no secret of a body that is kept beside a served type', async () => {
  const id = `${group}/providers/Vendor.Resources/deployments/recorded`
  const resources = [
    {
      type: 'Vendor.ApiManagement/service',
      apiVersion: '2024-05-01',
      name: 'recorded',
      location: 'local',
      tags: { seen: 'yes' },
      sku: { name: 'Developer', capacity: 1 },
      properties: {
        publisherEmail: 'a@example.test',
        publisherName: 'A',
        certificates: [{ encodedCertificate: 'hush-1', certificatePassword: 'hush-2' }],
        hostnameConfigurations: [{ hostName: 'a', encodedCertificate: 'hush-3' }],
      },
    },
    {
      type: 'Vendor.Sql/servers',
      apiVersion: '2021-11-01',
      name: 'recorded',
      location: 'local',
      properties: { administratorLogin: 'adm', administrators: { password: 'hush-4' } },
    },
  ]
  // Values that their schemas do not call secret, but that no answer shows.
  const below = {
    backends: {
      url: 'https://backend.example',
      protocol: 'http',
      credentials: { header: { key: ['hush-5'] }, authorization: { parameter: 'hush-6' } },
      proxy: { url: 'https://proxy.example', password: 'hush-7' },
    },
    users: { email: 'a@b.example', firstName: 'A', lastName: 'B', password: 'hush-8' },
    authorizationProviders: {
      displayName: 'P',
      identityProvider: 'oauth2',
      oauth2: {
        grantTypes: {
          authorizationCode: {
            authorizationUrl: 'https://sign-in.example/a',
            tokenUrl: 'https://sign-in.example/t',
            clientId: 'c',
            clientSecret: 'hush-9',
          },
        },
      },
    },
  }
  const children = Object.entries(below).map(([type, properties]) => ({
    type: `Vendor.ApiManagement/service/${type}`,
    apiVersion: '2024-05-01',
    name: 'recorded/one',
    properties,
    dependsOn: ["[resourceId('Vendor.ApiManagement/service', 'recorded')]"],
  }))
  const template = {
    $schema: 'deploymentTemplate.json#',
    contentVersion: '1.0.0.0',
    resources: [...resources, ...children],
  }
  const debugSetting = { detailLevel: 'requestContent,responseContent' }
  const body = { properties: { mode: 'Incremental', template, debugSetting } }
  const version = 'api-version=2025-03-01'
  assert.equal((await installation.request('PUT', `${id}?${version}`, { body })).status, 201)
  let operations = ''
  const isDone = () => operations.split('"Succeeded"').length > resources.length + children.length
  for (let look = 0; look < 200 && !isDone(); look++) {
    await setTimeout(50)
    operations = (await installation.request('GET', `${id}/operations?${version}`)).text
  }
  assert.ok(isDone(), operations)
  assert.match(operations, /"seen":"yes"/)
  assert.match(operations, /"clientId":"c","clientSecret":"\*/)
  assert.doesNotMatch(operations, /hush/)
})

test('provider lists show the types that are known by name, and those of the schemas', async () => {
  const at = (namespace: string): string => `/providers/${namespace}?api-version=2021-04-01`
  const boardTypes = await installation.request('GET', at('Vendor.Boards'))
  assert.equal(boardTypes.at('resourceTypes.0.resourceType'), 'boards')
  assert.equal(boardTypes.at('resourceTypes.0.apiVersions.0'), '2021-02-01')
  assert.equal((await installation.request('GET', at('Vendor.Network'))).status, 200)
})

test('the operator’s schemas check bodies, with the path of the problem', async () => {
  const path = `${group}/providers/Vendor.Boards/boards/b?api-version=2021-02-01`
  const wrong = await installation.request('PUT', path, { body: { properties: { size: 'm' } } })
  assertRefused(wrong, 400, 'InvalidRequestContent')
  assert.equal(wrong.at('error.target'), 'properties.size')
  const right = await installation.request('PUT', path, { body: { properties: { size: 's' } } })
  assert.equal(right.status, 201)
  const patch = { body: { properties: { size: 'm' } } }
  assertRefused(await installation.request('PATCH', path, patch), 400, 'InvalidRequestContent')
})

test('what was answered is there after a kill, with the same keys; a broken schema stops the start', async () => {
  const path = `${group}/providers/Vendor.Cache/redis/r`
  const version = '?api-version=2019-01-01'
  await installation.request('PUT', path + version, { body: { properties: {} } })
  const keys = await installation.request('POST', `${path}/listKeys${version}`)
  await installation.kill()
  writeFileSync(join(schemas, 'broken.json'), '{')
  await assert.rejects(
    startInstallation({ home, environment }),
    (error) => error instanceof StartRefused && /broken\.json/.test(error.output),
  )
  rmSync(join(schemas, 'broken.json'))
  installation = await startInstallation({ home, environment })
  const again = await installation.request('POST', `${path}/listKeys${version}`)
  assert.equal(again.status, 200)
  assert.deepEqual(again.body, keys.body)
})

test('integers of 64 bits stay exact: literals, parameters, nested ones, secrets, outputs, resources, what-if', async () => {
  const most = '9223372036854775807'
  const id = `${group}/providers/Vendor.Resources/deployments/exact`
  const inner = `{"$schema": "deploymentTemplate.json#", "contentVersion": "1.0.0.0",
    "parameters": {"n": {"type": "int", "maxValue": ${most}}}, "resources": [],
    "outputs": {"less": {"type": "int", "value": "[sub(parameters('n'), 1)]"}}}`
  const template = `{"$schema": "deploymentTemplate.json#", "contentVersion": "1.0.0.0",
    "parameters": {"given": {"type": "int", "allowedValues": [1, ${most}]}, "hidden": {"type": "secureObject"},
      "usual": {"type": "int", "defaultValue": 9007199254740993}},
    "resources": [
      {"type": "Vendor.Exact/things", "apiVersion": "2020-01-01", "name": "thing", "location": "local",
        "properties": {"literal": -9007199254740993, "made": "[add(parameters('usual'), 1)]"}},
      {"type": "Vendor.Resources/deployments", "apiVersion": "2025-03-01", "name": "inner",
        "properties": {"mode": "Incremental", "expressionEvaluationOptions": {"scope": "inner"},
          "parameters": {"n": {"value": "[parameters('given')]"}}, "template": ${inner}}}],
    "outputs": {"usual": {"type": "int", "value": "[parameters('usual')]"},
      "less": {"type": "int", "value": "[reference('inner').outputs.less.value]"},
      "hidden": {"type": "int", "value": "[parameters('hidden').n]"},
      "read": {"type": "object", "value": "[reference('Vendor.Exact/things/thing')]"}}}`
  const body = `{"properties": {"mode": "Incremental", "template": ${template},
    "parameters": {"given": {"value": ${most}}, "hidden": {"value": {"n": 9007199254740995}}}}}`
  const version = 'api-version=2025-03-01'
  const sent = await installation.request('PUT', `${id}?${version}`, { body })
  assert.equal(sent.status, 201, sent.text)
  let shown = sent.text
  for (let look = 0; look < 200 && !/"(Succeeded|Failed)"/.test(shown); look++) {
    await setTimeout(50)
    shown = (await installation.request('GET', `${id}?${version}`)).text
  }
  assert.match(shown, /"usual":\{"type":"Int","value":9007199254740993\}/)
  assert.match(shown, new RegExp(`"given":\\{"type":"Int","value":${most}\\}`))
  assert.match(shown, /"less":\{"type":"Int","value":9223372036854775806\}/)
  const read = '{"literal":-9007199254740993,"made":9007199254740994'
  assert.ok(shown.includes(`"read":{"type":"Object","value":${read}`), shown)
  assert.doesNotMatch(shown, /9007199254740995/)
  const hidden = await installation.request('POST', `${id}/listOutputsWithSecureValues?${version}`)
  assert.match(hidden.text, /"hidden":9007199254740995/)
  const exported = await installation.request('POST', `${id}/exportTemplate?${version}`)
  assert.match(exported.text, /"defaultValue":9007199254740993/)
  const hashed = `/providers/Vendor.Resources/calculateTemplateHash?${version}`
  const hash = (await installation.request('POST', hashed, { body: template })).text
  assert.equal(hashIn(hash), hashIn(shown))
  const whatIf = await installation.request('POST', `${id}/whatIf?${version}`, { body })
  assert.match(whatIf.text, /"changeType":"NoChange"/)
  assert.ok(whatIf.text.includes(read), whatIf.text)
  const other = body.replace('-9007199254740993', '-9007199254740995')
  const changed = await installation.request('POST', `${id}/whatIf?${version}`, { body: other })
  assert.match(changed.text, /"before":-9007199254740993,"after":-9007199254740995/)
  const path = `${group}/providers/Vendor.Exact/things/thing?api-version=2020-01-01`
  assert.ok((await installation.request('GET', path)).text.includes(read))
  const put = '{"location": "local", "properties": {"n": 9007199254740997}}'
  assert.match((await installation.request('PUT', path, { body: put })).text, /9007199254740997/)
  assert.match((await installation.request('GET', path)).text, /"n":9007199254740997/)
})

const hashIn = (text: string) => /"templateHash":"(\d+)"/.exec(text)?.[1]
