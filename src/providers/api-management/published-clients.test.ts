/** What published clients send to API management, and what they read there, beside the contract's rows. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { api, problemsOf, service, startApis, startWithApi } from './testing/start.ts'

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
    assert.equal(properties.gatewayUrl, undefined, 'nothing answers there')
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
      properties: { ...body.properties, disableGateway: true },
    }
    const made = await started.call('PUT', service, given)
    const shown = JSON.parse(JSON.stringify(made.body))
    assert.deepEqual([shown.zones, shown.properties.disableGateway], [['1'], true])
    assert.equal((await started.call('PUT', service, given)).etag, made.etag)
    assert.equal((await started.call('PUT', service, shown)).status, 200)
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
