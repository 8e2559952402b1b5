/** What published clients send to API management and read from it, besides the contract's rows. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { memoryWorkloads } from '#plane/testing/provider-context.ts'
import { owner } from '#plane/testing/start.ts'
import { until } from '../../../tests/until.ts'
import { api, problemsOf, service, startApis, startWithApi, type Wire } from './testing/start.ts'

const body = {
  location: 'local',
  sku: { name: 'basicv2' },
  properties: { publisherEmail: 'a@example.test', publisherName: 'A' },
}

describe('a service', () => {
  test('is answered with its tag, and with what a service without a gateway has', async () => {
    await using started = await startApis()
    const made = await started.call('PUT', service, body)
    const shown = JSON.parse(JSON.stringify(made.body))
    assert.equal(shown.etag, made.etag)
    assert.equal(shown.sku.name, 'BasicV2')
    const { properties } = shown
    assert.deepEqual(
      [properties.virtualNetworkType, properties.natGatewayState, properties.disableGateway],
      ['None', 'Disabled', false],
    )
    assert.equal(properties.notificationSenderEmail, 'a@example.test')
    const { hostname, protocol } = new URL(properties.gatewayUrl)
    assert.equal(protocol, 'https:')
    assert.match(hostname, /^[\w-]+\.api\.[a-z.]+$/)
    assert.equal(properties.hostnameConfigurations[0].hostName, hostname)
    assert.ok(
      'Vendor.WindowsVendor.ApiManagement.Gateway.Protocols.Server.Http2' in
        properties.customProperties,
    )
  })

  test('keeps what is written of a gateway, and takes back what it answered', async () => {
    await using started = await startApis()
    const given = {
      ...body,
      zones: ['1'],
      properties: { ...body.properties, disableGateway: true, customProperties: { own: 'True' } },
    }
    const made = await started.call('PUT', service, given)
    assert.match(made.operation?.resultPath ?? '', /operationResults/)
    const shown = JSON.parse(JSON.stringify(made.body))
    assert.deepEqual([shown.zones, shown.properties.disableGateway], [['1'], true])
    assert.ok(Object.keys(shown.properties.customProperties).length > 1, 'the others are told, too')
    assert.equal((await started.call('PUT', service, given)).etag, made.etag)
    const again = await started.call('PUT', service, shown)
    assert.equal(again.status, 200)
    assert.notEqual(again.operation?.statusPath, made.operation?.statusPath)
    const gone = await started.call('DELETE', service)
    assert.deepEqual([gone.status, gone.body], [202, again.body])
    const [path = '', query = ''] = gone.operation?.resultPath.split('?') ?? []
    assert.equal(
      (await started.call('GET', path, undefined, { version: query.split('=')[1] ?? '' })).status,
      204,
    )
  })
})

describe('the identity of a service', () => {
  const withIdentity = (identity: object) => ({ ...body, identity })
  const assigned = service.replace(
    /Vendor.*/,
    'Vendor.ManagedIdentity/userAssignedIdentities/worker',
  )

  test('is in the directory as long as the service has it, and another one after that', async () => {
    const workloads = memoryWorkloads()
    await using started = await startApis({ workloads })
    const key = service.toLowerCase()
    const put = async (given: object): Promise<Wire> => {
      const { body: shown } = await started.call('PUT', service, given)
      await started.settle()
      return JSON.parse(JSON.stringify(shown)).identity
    }
    assert.equal(await put(body), undefined)
    const own = await put(withIdentity({ type: 'systemassigned' }))
    assert.deepEqual([own.type, own.tenantId], ['SystemAssigned', owner.tenantId])
    assert.equal(await workloads.of(key), own.principalId)
    const { etag = '' } = await started.call('GET', service)
    const same = await started.call('GET', service, undefined, { ifNoneMatch: etag })
    assert.equal(same.status, 304, 'the work in the background shows nothing')
    const both = {
      type: 'SystemAssigned, UserAssigned',
      userAssignedIdentities: { [assigned]: {} },
    }
    assert.equal((await put(withIdentity(both))).principalId, own.principalId)
    const patched = await started.call('PATCH', service, { properties: { publisherName: 'B' } })
    const kept = JSON.parse(JSON.stringify(patched.body)).identity
    assert.equal(kept.principalId, own.principalId)
    assert.deepEqual(kept.userAssignedIdentities, { [assigned]: {} })
    assert.equal(await put(withIdentity({ type: 'None' })), undefined)
    assert.equal(await workloads.of(key), undefined)
    const again = await put(withIdentity({ type: 'SystemAssigned' }))
    assert.notEqual(again.principalId, own.principalId)
    await started.call('PUT', api, { properties: { path: 'pets' } })
    const gone = await started.call('DELETE', service)
    assert.equal(gone.status, 202)
    assert.equal(JSON.parse(JSON.stringify(gone.body)).identity.principalId, again.principalId)
    await started.settle()
    assert.equal(await workloads.of(key), undefined)
    for (const path of [service, api]) {
      await assert.rejects(started.call('GET', path), { status: 404 })
    }
  })

  test('is assigned only by who may assign it', async () => {
    const mayNot = 'Vendor.ManagedIdentity/userAssignedIdentities/assign/action'
    await using started = await startApis({ mayNot })
    const identity = { type: 'UserAssigned', userAssignedIdentities: { [assigned]: {} } }
    const refused = { status: 403, code: 'AuthorizationFailed' }
    await assert.rejects(started.call('PUT', service, withIdentity(identity)), refused)
    await started.call('PUT', service, body)
    await assert.rejects(started.call('PATCH', service, { identity }), refused)
  })

  test('has the ids that were found for it, whatever a PATCH adds', async () => {
    await using started = await startApis()
    const identity = { type: 'UserAssigned', userAssignedIdentities: { [assigned]: {} } }
    await started.call('PUT', service, withIdentity(identity))
    const another = { clientId: randomUUID(), principalId: randomUUID() }
    const { body: shown } = await started.call('PATCH', service, {
      // As `prepare` adds it to a PUT.
      assigned: { [assigned]: another },
      properties: { publisherName: 'B' },
    })
    assert.deepEqual(JSON.parse(JSON.stringify(shown)).identity.userAssignedIdentities, {
      [assigned]: {},
    })
  })
})

describe('preconditions', () => {
  test('If-Match: * makes an operation that is not there; another tag does not', async () => {
    await using started = await startWithApi()
    const path = `${api}/operations/one`
    const operation = { properties: { displayName: 'One', method: 'GET', urlTemplate: '/' } }
    await assert.rejects(started.send('PUT', path, operation, { ifMatch: '"some"' }), {
      status: 412,
    })
    assert.equal((await started.send('PUT', path, operation, { ifMatch: '*' })).status, 201)
  })

  test('an API is deleted without a tag, and not with a stale one', async () => {
    await using started = await startWithApi()
    await assert.rejects(started.send('DELETE', api, undefined, { ifMatch: '"old"' }), {
      status: 412,
    })
    assert.equal((await started.send('DELETE', api)).status, 200)
  })
})

describe('authorizations', () => {
  const place = `${service}/authorizationProviders/p`
  const provider = {
    properties: {
      displayName: 'p',
      identityProvider: 'aad',
      oauth2: {
        grantTypes: {
          authorizationCode: {
            ClientId: 'c',
            clientSecret: 'a secret',
            ResourceUri: 'https://graph.example',
            scopes: null,
          },
        },
      },
    },
  }

  test('parameters take their own case, null is left out, and each is where its service is', async () => {
    await using started = await startWithApi()
    await started.send('PUT', place, provider)
    const shown = await started.json('GET', place)
    const { authorizationCode } = shown.properties.oauth2.grantTypes
    assert.equal(shown.location, 'local')
    assert.deepEqual(
      [authorizationCode.resourceUri, authorizationCode.clientId, authorizationCode.scopes],
      ['https://graph.example', 'c', undefined],
    )
    assert.ok(!JSON.stringify(shown).includes('a secret'))
    const connection = `${place}/authorizations/a`
    await started.send('PUT', connection, { properties: { oauth2grantType: 'authorizationcode' } })
    assert.equal((await started.json('GET', connection)).location, 'local')
    assert.equal((await started.send('DELETE', place)).status, 200)
  })
})

describe('definitions', () => {
  test('come back as written with what is usual, and are listed with their number', async () => {
    await using started = await startWithApi()
    const product = `${service}/products/pets`
    const written = { displayName: 'Pets', unknown: 1, state: 'PUBLISHED', terms: null }
    assert.equal((await started.send('PUT', product, { properties: written })).status, 201)
    const shown = await started.json('PUT', product, { properties: written })
    assert.deepEqual(shown.properties.groups[0].id, `${service}/groups/administrators`)
    assert.deepEqual((await started.json('GET', product)).properties, {
      displayName: 'Pets',
      subscriptionRequired: true,
      state: 'published',
    })
    assert.equal((await started.json('GET', `${service}/products`)).count, 1)
    const policy = `${product}/policies/policy`
    const value = '<policies><inbound /></policies>'
    await started.send('PUT', policy, { properties: { value } })
    assert.equal((await started.json('GET', policy)).properties.value, value)
    const wrong = started.send('PUT', `${service}/apiVersionSets/v`, {
      properties: { displayName: 'v', versioningScheme: 'Moon' },
    })
    assert.deepEqual(await problemsOf(wrong), ['properties.versioningScheme'])
  })

  test('below an authorization provider that is not there, a DELETE says so', async () => {
    await using started = await startApis()
    await started.call('PUT', service, body)
    const path = `${service}/authorizationProviders/one/authorizations/two`
    for (const gone of [path, `${path}/accessPolicies/three`]) {
      await assert.rejects(started.call('DELETE', gone), { status: 404 })
    }
  })

  test('below a group that is not there, a DELETE says so', async () => {
    await using started = await startWithApi()
    const elsewhere = service.replace('/resourceGroups/rg/', '/resourceGroups/none/')
    for (const path of [elsewhere, `${elsewhere}/products/p`]) {
      await assert.rejects(started.send('DELETE', path), {
        status: 404,
        code: 'ResourceGroupNotFound',
      })
    }
    assert.equal((await started.send('DELETE', `${service}/products/none`)).status, 204)
  })
})

describe('what policies and developers have', () => {
  test('a secret named value and the keys of a subscription come out by their actions alone', async () => {
    await using started = await startWithApi()
    const value = `${service}/namedValues/key`
    const secret = { displayName: 'Key', secret: true, value: 'hush' }
    assert.equal((await started.send('PUT', value, { properties: secret })).status, 201)
    assert.equal((await started.json('GET', value)).properties.value, undefined)
    assert.equal((await started.json('POST', `${value}/listValue`)).value, 'hush')
    const without = { properties: { displayName: 'Key-2', secret: true } }
    await started.send('PUT', value, without)
    assert.equal((await started.json('POST', `${value}/listValue`)).value, 'hush')
    const empty = started.send('PUT', `${service}/namedValues/none`, without)
    assert.deepEqual(await problemsOf(empty), ['properties.value'])
    const plain = { displayName: 'Plain', secret: false, value: 'seen' }
    const shown = await started.json('PUT', `${service}/namedValues/plain`, { properties: plain })
    assert.equal(shown.properties.value, 'seen')

    const subscription = `${service}/subscriptions/one`
    const made = await started.json('PUT', subscription, {
      properties: { displayName: 'All', scope: '/apis', primaryKey: 'given' },
    })
    assert.equal(made.properties.scope.toLowerCase(), `${service}/apis`.toLowerCase())
    assert.equal(JSON.stringify(made).includes('given'), false)
    // A key that was made here comes along for a caller who may list it, and does not in a GET.
    assert.match(made.properties.secondaryKey, /^[\w-]{32}$/)
    assert.ok(!('secondaryKey' in (await started.json('GET', subscription)).properties))
    const before = await started.json('POST', `${subscription}/listSecrets`)
    assert.equal(before.primaryKey, 'given')
    assert.match(before.secondaryKey, /^[\w-]{32}$/)
    await started.send('POST', `${subscription}/regeneratePrimaryKey`)
    const after = await started.json('POST', `${subscription}/listSecrets`)
    assert.notEqual(after.primaryKey, 'given')
    assert.equal(after.secondaryKey, before.secondaryKey)
  })

  test('a subscription is to an API or a product that is there', async () => {
    await using started = await startWithApi()
    const put = (name: string, scope: string) =>
      started.send('PUT', `${service}/subscriptions/${name}`, {
        properties: { displayName: name, scope },
      })
    for (const scope of ['/products/none', '/apis/none', `${service}/products/none`]) {
      assert.deepEqual(await problemsOf(put('one', scope)), ['properties.scope'], scope)
    }
    const product = `${service}/products/pets`
    await started.send('PUT', product, { properties: { displayName: 'Pets' } })
    for (const scope of ['/apis', '/products/pets', product, '/apis/pets', api]) {
      assert.ok((await put('one', scope)).status < 300, scope)
    }
    // An API that it is to may go later; the subscription can still be changed.
    await started.send('DELETE', api, undefined, { ifMatch: '*' })
    assert.equal((await put('one', api)).status, 200)
    assert.deepEqual(await problemsOf(put('two', api)), ['properties.scope'])
  })

  test('subscriptions go with their product or their user where the DELETE says so', async () => {
    await using started = await startWithApi()
    await started.send('PUT', `${service}/products/all`, { properties: { displayName: 'All' } })
    await started.send('PUT', `${service}/users/ada`, {
      properties: { firstName: 'Ada', lastName: 'Example', email: 'ada@example.test' },
    })
    const subscribe = (name: string, properties: object): Promise<unknown> =>
      started.send('PUT', `${service}/subscriptions/${name}`, {
        properties: { displayName: name, ...properties },
      })
    const names = async (): Promise<readonly string[]> =>
      (await started.json('GET', `${service}/subscriptions`)).value.map(({ name }: Wire) => name)
    await subscribe('api', { scope: '/apis/pets', ownerId: '/users/ada' })
    await subscribe('every', { scope: '/apis' })
    // More than one transaction takes.
    for (let number = 0; number < 120; number++) {
      await subscribe(`p${number}`, { scope: '/products/all' })
    }
    const product = `${service}/products/all`
    await assert.rejects(started.send('DELETE', product), {
      code: 'ValidationError',
      message: /Product cannot be deleted since it has existing subscriptions/,
    })
    assert.equal((await names()).length, 100)
    const gone = await started.send('DELETE', `${product}?deleteSubscriptions=true`)
    assert.equal(gone.status, 200)
    assert.deepEqual(await names(), ['api', 'every'])
    await started.send('DELETE', `${service}/users/ada?deleteSubscriptions=True&notify=true`)
    assert.deepEqual(await names(), ['every'])
  })

  test('versions before 2018 name a product and a user', async () => {
    await using started = await startWithApi()
    const product = `${service}/products/pets`
    await started.send('PUT', product, { properties: { displayName: 'Pets' } })
    const subscription = `${service}/subscriptions/one`
    const old = { version: '2017-03-01' }
    const given = { displayName: 'One', productId: '/products/pets', userId: '/users/ada' }
    const made = await started.send('PUT', subscription, { properties: given }, old)
    assert.equal(made.status, 201)
    const { properties } = JSON.parse(JSON.stringify(made.body))
    assert.equal(properties.productId.toLowerCase(), product.toLowerCase())
    assert.equal(properties.userId, '/users/ada')
    assert.deepEqual([properties.scope, properties.ownerId], [undefined, undefined])
    const now = (await started.json('GET', subscription)).properties
    assert.deepEqual([now.scope.toLowerCase(), now.ownerId], [product.toLowerCase(), '/users/ada'])
    // One of all APIs has no product.
    await started.send('PUT', `${service}/subscriptions/all`, {
      properties: { displayName: 'All', scope: '/apis' },
    })
    const all = await started.send('GET', `${service}/subscriptions/all`, undefined, old)
    assert.doesNotMatch(JSON.stringify(all.body), /productId|scope/)
  })

  test('a PUT shows no keys to a caller who may not list them', async () => {
    const mayNot = 'Vendor.ApiManagement/service/subscriptions/listSecrets/action'
    await using started = await startApis({ mayNot })
    await started.call('PUT', service, body)
    const given = { properties: { displayName: 'All', scope: '/apis' } }
    const made = await started.call('PUT', `${service}/subscriptions/one`, given)
    assert.equal(made.status, 201)
    assert.doesNotMatch(JSON.stringify(made.body), /primaryKey|secondaryKey/)
  })

  test('products link APIs and groups that are there, by name alone', async () => {
    await using started = await startWithApi()
    const product = `${service}/products/pets`
    await started.send('PUT', product, { properties: { displayName: 'Pets' } })
    await assert.rejects(started.send('PUT', `${product}/apis/none`), { status: 404 })
    assert.equal((await started.send('PUT', `${product}/apis/pets`)).status, 201)
    assert.equal((await started.send('HEAD', `${product}/apis/pets`)).status, 204)
    await started.send(
      'PUT',
      api,
      { properties: { path: 'pets', displayName: 'Renamed' } },
      {
        ifMatch: '*',
      },
    )
    const { value } = await started.json('GET', `${product}/apis`)
    assert.deepEqual(value[0].properties.displayName, 'Renamed', 'a list looks again')
    await started.send('DELETE', api)
    assert.deepEqual((await started.json('GET', `${product}/apis`)).value, [])
    await assert.rejects(started.send('GET', `${product}/apis/pets`), { status: 404 })
  })

  test('what is made anew under a name has no links of what had it', async () => {
    await using started = await startWithApi()
    const product = `${service}/products/pets`
    const [group, pets] = [`${service}/groups/keepers`, { properties: { displayName: 'Pets' } }]
    const shown = async (path: string): Promise<number> =>
      (await started.json('GET', `${product}/${path}`)).value.length
    await started.send('PUT', product, pets)
    await started.send('PUT', group, pets)
    for (const path of ['apis/pets', 'groups/keepers'])
      await started.send('PUT', `${product}/${path}`)
    // A change of what is linked is no other one.
    await started.send('PUT', group, { properties: { displayName: 'Keepers' } }, { ifMatch: '*' })
    assert.deepEqual([await shown('apis'), await shown('groups')], [1, 2])
    // The moment in which something was made tells it from others.
    const made = Date.now()
    await until(() => Date.now() !== made, 1)
    for (const path of [api, group]) await started.send('DELETE', path)
    await started.send('PUT', api, { properties: { path: 'pets', displayName: 'Others' } })
    await started.send('PUT', group, pets)
    assert.deepEqual([await shown('apis'), await shown('groups')], [0, 1])
    await assert.rejects(started.send('GET', `${product}/apis/pets`), { status: 404 })
    const { properties } = await started.json('PUT', product, pets)
    assert.equal(properties.groups.length, 1)
    assert.equal((await started.send('PUT', `${product}/apis/pets`)).status, 200)
    assert.equal(await shown('apis'), 1)
    const link = await started.json('GET', `${product}/apis/pets`)
    assert.equal(link.properties.targetCreatedAt, undefined)
  })

  test('a version set stays as long as an API belongs to it', async () => {
    await using started = await startWithApi()
    const set = `${service}/apiVersionSets/pets`
    await started.send('PUT', set, {
      properties: { displayName: 'Pets', versioningScheme: 'Segment' },
    })
    const path = `${service}/apis/pets-v2`
    for (const apiVersionSetId of ['/apiVersionSets/Pets', set.toUpperCase()]) {
      const properties = { path: 'pets', apiVersion: 'v2', apiVersionSetId }
      await started.send('PUT', path, { properties }, { ifMatch: '*' })
      await assert.rejects(started.send('DELETE', set), { status: 409, code: 'VersionSetInUse' })
    }
    await started.send('DELETE', path)
    assert.equal((await started.send('DELETE', set)).status, 200)
  })

  test('built-in groups are there with their service, are listed, linked, and stay', async () => {
    await using started = await startWithApi()
    const groups = `${service}/groups`
    const named = async (query: string): Promise<readonly string[]> => {
      const { value } = await started.json('GET', `${groups}?${query}`)
      return value.map(({ name }: { name: string }) => name)
    }
    await started.send('PUT', `${groups}/keepers`, { properties: { displayName: 'Keepers' } })
    assert.deepEqual(await named(''), ['administrators', 'developers', 'guests', 'keepers'])
    assert.deepEqual(await named("$filter=displayName eq 'Developers'"), ['developers'])
    assert.deepEqual(await named('$skip=2'), ['guests', 'keepers'])
    assert.equal((await started.json('GET', groups)).count, 4)
    const { properties } = await started.json('GET', `${groups}/developers`)
    assert.deepEqual([properties.builtIn, properties.type], [true, 'system'])
    const write = started.send('PUT', `${groups}/Guests`, { properties: { displayName: 'Mine' } })
    assert.deepEqual(await problemsOf(write), ['name'])
    assert.deepEqual(await problemsOf(started.send('DELETE', `${groups}/guests`)), ['name'])
    const product = `${service}/products/pets`
    const pets = { properties: { displayName: 'Pets' } }
    await started.send('PUT', product, pets)
    await started.send('PUT', `${product}/groups/developers`)
    await started.send('PUT', `${product}/groups/keepers`)
    const linked = ['Administrators', 'Developers', 'Keepers']
    const again = await started.json('PUT', product, pets)
    assert.deepEqual(
      again.properties.groups.map(({ name }: { name: string }) => name),
      linked,
    )
    const links = await started.json('GET', `${product}/groups`)
    assert.deepEqual(
      links.value.map((one: { properties: { displayName: string } }) => one.properties.displayName),
      linked,
    )
    const elsewhere = started.send('GET', `${service}-2/groups/guests`)
    await assert.rejects(elsewhere, { status: 404 })
  })

  test('the PUT of an API shows its version set, and its settings as lists', async () => {
    await using started = await startWithApi()
    const set = `${service}/apiVersionSets/pets`
    const scheme = { displayName: 'Pets', versioningScheme: 'Segment' }
    await started.send('PUT', set, { properties: scheme })
    const oAuth2 = { authorizationServerId: 'one', scope: 'read' }
    const own = { path: 'pets', apiVersion: 'v2', authenticationSettings: { oAuth2 } }
    const path = `${service}/apis/pets-v2`
    for (const apiVersionSetId of ['/apiVersionSets/pets', set]) {
      const made = await started.json('PUT', path, { properties: { ...own, apiVersionSetId } })
      assert.deepEqual(made.properties.apiVersionSet, {
        id: set,
        name: 'Pets',
        versioningScheme: 'Segment',
      })
      assert.deepEqual(made.properties.authenticationSettings, {
        oAuth2,
        oAuth2AuthenticationSettings: [oAuth2],
      })
    }
    const { properties } = await started.json('GET', path)
    assert.equal(properties.apiVersionSet, undefined)
    const link = await started.json('GET', `${path}?export=true&format=openapi%2Bjson-link`)
    assert.equal(link.value.link, link.properties.value.link)
  })

  test('a logger keeps no credentials, a user is one of a service, a diagnostic hides queries', async () => {
    await using started = await startWithApi()
    const logger = await started.json('PUT', `${service}/loggers/one`, {
      properties: { loggerType: 'azureEventHub', credentials: { connectionString: 'hush' } },
    })
    assert.deepEqual(logger.properties.credentials, {
      connectionString: '{{Logger-Credentials-connectionString}}',
    })
    const user = await started.json('PUT', `${service}/users/ada`, {
      properties: { firstName: 'Ada', lastName: 'E', email: 'a@example.test', password: 'hush' },
    })
    assert.deepEqual(user.properties.identities, [{ provider: 'Basic', id: 'a@example.test' }])
    const diagnostic = await started.json('PUT', `${service}/diagnostics/one`, {
      properties: { loggerId: '/loggers/one' },
    })
    assert.equal(diagnostic.properties.frontend.request.dataMasking.queryParams[0].mode, 'Hide')
    for (const shown of [logger, user]) assert.ok(!JSON.stringify(shown).includes('hush'))
  })

  test('a policy of a service is there from its first day, so a PUT answers 200', async () => {
    await using started = await startWithApi()
    const value = '<policies />'
    for (const [path, status] of [
      [`${service}/policies/policy`, 200],
      [`${api}/policies/policy`, 201],
    ] as const) {
      assert.equal((await started.send('PUT', path, { properties: { value } })).status, status)
    }
  })
})

describe('around an API', () => {
  test('it is of the kind that it is made as, by either name', async () => {
    await using started = await startWithApi()
    for (const apiType of ['http', 'soap', 'websocket', 'GraphQL']) {
      const properties = { path: apiType, displayName: apiType, apiType }
      const made = await started.json('PUT', `${service}/apis/of-${apiType}`, { properties })
      assert.deepEqual(
        [made.properties.type, made.properties.apiType],
        [apiType.toLowerCase(), undefined],
      )
    }
    const value = JSON.stringify({
      openapi: '3.0.3',
      info: { title: 'A', version: '1' },
      paths: {},
    })
    const imported = { path: 'i', format: 'openapi+json', value }
    const put = (apiType: string) =>
      started.send('PUT', `${service}/apis/imported`, { properties: { ...imported, apiType } })
    assert.equal((await put('http')).status, 201)
    assert.deepEqual(await problemsOf(put('soap')), ['properties.apiType'])
    const selected = { properties: { path: 's', wsdlSelector: { wsdlServiceName: 'a' } } }
    assert.deepEqual(await problemsOf(started.send('PUT', `${service}/apis/selected`, selected)), [
      'properties.wsdlSelector',
    ])
  })

  test('its products are listed, over pages, and no more than offer it', async () => {
    await using started = await startWithApi()
    await started.send('PUT', `${service}/apis/other`, { properties: { path: 'other' } })
    for (const name of ['a', 'b', 'c']) {
      const product = `${service}/products/${name}`
      await started.send('PUT', product, { properties: { displayName: name.toUpperCase() } })
      await started.send('PUT', `${product}/apis/${name === 'b' ? 'other' : 'pets'}`)
    }
    const list = `${api}/products`
    const { value } = await started.json('GET', list)
    assert.deepEqual(
      value.map((one: Wire) => [one.id, one.properties.displayName]),
      [
        [`${service}/products/a`, 'A'],
        [`${service}/products/c`, 'C'],
      ],
    )
    const first = await started.send('GET', `${list}?$top=1`)
    const rest = `${list}?$top=1&$skipToken=${encodeURIComponent(first.nextToken ?? '')}`
    const next = await started.json('GET', rest)
    assert.deepEqual(
      next.value.map((one: Wire) => one.name),
      ['c'],
    )
    for (const query of ["$filter=displayName eq 'C'", '$skip=1', '$skip=1&$top=1']) {
      const some = await started.json('GET', `${list}?${query}`)
      assert.deepEqual(
        some.value.map((one: Wire) => one.name),
        ['c'],
        query,
      )
    }
    const wrong = started.send('GET', `${list}?$filter=color eq 'red'`)
    await assert.rejects(wrong, { status: 400 })
    await assert.rejects(started.send('GET', `${service}/apis/none/products`), { status: 404 })
  })

  test('its revisions are listed, and the current one is released', async () => {
    await using started = await startWithApi()
    await started.send('PUT', `${api};rev=2`, {
      properties: { path: 'pets', apiRevisionDescription: 'Next', sourceApiId: '/apis/pets' },
    })
    await started.send('PUT', `${service}/apis/pets-2`, { properties: { path: 'other' } })
    const { value } = await started.json('GET', `${api}/revisions`)
    const shown = value.map((one: Wire) => [one.apiId, one.isCurrent, one.description])
    assert.deepEqual(shown, [
      ['/apis/pets;rev=1', true, undefined],
      ['/apis/pets;rev=2', false, 'Next'],
    ])
    const first = await started.send('GET', `${api}/revisions?$top=1`)
    const rest = `${api}/revisions?$top=1&$skipToken=${encodeURIComponent(first.nextToken ?? '')}`
    assert.equal((await started.json('GET', rest)).value[0].apiId, '/apis/pets;rev=2')

    for (const query of ["$filter=apiRevision eq '2'", '$skip=1']) {
      const some = await started.json('GET', `${api}/revisions?${query}`)
      assert.deepEqual(
        some.value.map((one: Wire) => one.apiRevision),
        ['2'],
        query,
      )
    }

    const release = `${api}/releases/one`
    const made = await started.json('PUT', release, {
      properties: { apiId: '/apis/pets;rev=1', notes: 'First' },
    })
    assert.equal(made.properties.apiId, '/apis/pets;rev=1')
    assert.match(made.properties.createdDateTime, /^20/)
    const other = { properties: { apiId: '/apis/pets;rev=2' } }
    assert.deepEqual(await problemsOf(started.send('PUT', release, other)), ['properties.apiId'])
    const amended = started.send('PATCH', release, other, { ifMatch: '*' })
    assert.deepEqual(await problemsOf(amended), ['properties.apiId'])
    const unnamed = await started.json('PUT', `${api}/releases/two`, { properties: {} })
    assert.equal(unnamed.properties.apiId, api)
  })

  test('it is deleted with its revisions, or after them', async () => {
    await using started = await startWithApi()
    const revision = (number: number): string => `${api};rev=${number}`
    const put = async (path: string): Promise<void> => {
      await started.send('PUT', path, { properties: { path: 'pets', displayName: 'Pets' } })
      await started.send('PUT', `${path}/operations/one`, {
        properties: { displayName: 'One', method: 'GET', urlTemplate: '/' },
      })
    }
    const names = async (): Promise<readonly string[]> =>
      (await started.json('GET', `${service}/apis`)).value.map(({ name }: Wire) => name)
    await put(`${service}/apis/pets-2`)
    // More than one transaction takes.
    for (let number = 2; number < 64; number++) await put(revision(number))
    for (const query of ['', '?deleteRevisions=false']) {
      const alone = started.send('DELETE', `${api}${query}`, undefined, { ifMatch: '*' })
      await assert.rejects(alone, {
        code: 'ValidationError',
        message: /Cannot delete the current revision of an API/,
      })
    }
    const one = await started.send('DELETE', revision(2), undefined, { ifMatch: '*' })
    assert.equal(one.status, 200)
    assert.equal((await names()).length, 63)
    const stale = started.send('DELETE', `${api}?deleteRevisions=true`, undefined, { ifMatch: 'x' })
    await assert.rejects(stale, { status: 412 })
    assert.equal((await names()).length, 63)
    assert.equal((await started.send('DELETE', `${api}?deleteRevisions=true`)).status, 200)
    assert.deepEqual(await names(), ['pets-2'])
    await assert.rejects(started.send('GET', `${revision(3)}/operations/one`), { status: 404 })

    await put(api)
    assert.deepEqual((await started.json('GET', `${api}/revisions`)).value.length, 1)
    await put(revision(2))
    const named = await started.send('DELETE', `${revision(2)}?deleteRevisions=true`)
    assert.equal(named.status, 200)
    assert.deepEqual(await names(), ['pets-2'])
    assert.equal((await started.send('DELETE', `${service}/apis/pets-2`)).status, 200)
  })

  test('it has schemas, and tags of its service, as its operations and products have', async () => {
    await using started = await startWithApi()
    const schema = { contentType: 'application/json', document: { value: '{}' } }
    const made = await started.json('PUT', `${api}/schemas/pet`, { properties: schema })
    assert.deepEqual(made.properties, { provisioningState: 'Succeeded', ...schema })
    const operation = `${api}/operations/one`
    const get = { displayName: 'One', method: 'GET', urlTemplate: '/' }
    await started.send('PUT', operation, { properties: get })
    await started.send('PUT', `${service}/products/all`, { properties: { displayName: 'All' } })
    const marked = [api, operation, `${service}/products/all`]
    for (const path of marked) {
      await assert.rejects(started.send('PUT', `${path}/tags/tame`), { status: 404 })
    }
    await started.send('PUT', `${service}/tags/tame`, { properties: { displayName: 'Tame' } })
    for (const path of marked) {
      const link = await started.json('PUT', `${path}/tags/tame`)
      assert.deepEqual([link.id, link.properties.displayName], [`${path}/tags/tame`, 'Tame'])
      const { value } = await started.json('GET', `${path}/tags`)
      assert.deepEqual(
        value.map(({ name }: Wire) => name),
        ['tame'],
      )
    }
    await started.send('DELETE', `${service}/tags/tame`)
    assert.deepEqual((await started.json('GET', `${api}/tags`)).value, [])
  })
})

describe('what older clients and templates write', () => {
  test('a policy has two names for its text, and older versions answer both', async () => {
    await using started = await startWithApi()
    const path = `${api}/policies/policy`
    const text = '<policies />'
    const given = { policyContent: text, contentFormat: 'rawxml' }
    const newer = { properties: { value: text, format: 'rawxml' } }
    const made = await started.json('PUT', path, { properties: given })
    assert.deepEqual(made.properties, newer.properties)
    const tag = (await started.send('GET', path)).etag
    assert.equal((await started.send('PUT', path, newer)).etag, tag)
    assert.deepEqual(await problemsOf(started.send('PUT', path, { properties: {} })), [
      'properties.value',
    ])
    const operation = `${api}/operations/one`
    const get = { displayName: 'One', method: 'GET', urlTemplate: '/' }
    await started.send('PUT', operation, { properties: get })
    const older = { version: '2018-01-01' }
    const policy = `${operation}/policies/policy`
    const shown = await started.json('PUT', policy, { properties: given }, older)
    assert.deepEqual(shown.properties, {
      ...newer.properties,
      ...given,
    })
  })

  test('a pool of backends has no address; another backend has one', async () => {
    await using started = await startWithApi()
    const pool = { type: 'Pool', pool: { services: [{ id: '/backends/a' }] } }
    const path = `${service}/backends/all`
    const shown = await started.json('PUT', path, { properties: pool })
    assert.deepEqual(shown.properties, pool)
    assert.deepEqual(await problemsOf(started.send('PUT', path, { properties: {} })), [
      'properties.url',
      'properties.protocol',
    ])
  })

  test('the same again keeps its tag where nothing secret is kept of it', async () => {
    await using started = await startWithApi()
    const tagOf = async (path: string, properties: object): Promise<string | undefined> =>
      (await started.send('PUT', path, { properties })).etag
    const logger = { loggerType: 'azureEventHub', credentials: { connectionString: 'hush' } }
    const secret = { displayName: 'Secret', secret: true, value: 'hush' }
    for (const [path, properties, isSame] of [
      [`${service}/loggers/hub`, logger, true],
      [`${service}/namedValues/secret`, secret, false],
    ] as const) {
      const before = await tagOf(path, properties)
      assert.equal((await tagOf(path, properties)) === before, isSame, path)
    }
  })
})

test('a name is free where it is well formed, and it is said what is wrong with it otherwise', async () => {
  await using started = await startWithApi()
  const subscription = service.slice(0, service.indexOf('/resourceGroups'))
  const path = `${subscription}/providers/Vendor.ApiManagement/checkNameAvailability`
  assert.deepEqual(await started.json('POST', path, { name: 'fresh' }), {
    nameAvailable: true,
    reason: 'Valid',
    message: '',
  })
  const bad = await started.json('POST', path, { name: '-bad' })
  assert.deepEqual([bad.nameAvailable, bad.reason], [false, 'Invalid'])
  assert.match(bad.message, /letter first/)
})
