/** Deployments, API management and consent by the published typed clients. */

import assert from 'node:assert/strict'
import { ApiManagementClient } from '@azure/arm-apimanagement'
import { ResourceManagementClient } from '@azure/arm-resources'
import { DeploymentsClient } from '@azure/arm-resourcesdeployments'
import { walkConsent } from '../../../src/cli/consent.ts'
import { given, runCases, url } from './cases.mjs'
import { all, credential, options, refused, subscriptionId } from './typed.mjs'

const group = 'deploying'
const service = 'apis-of-a-test'
const resources = new ResourceManagementClient(credential, subscriptionId, options)
const deployments = new DeploymentsClient(credential, subscriptionId, options)
const apis = new ApiManagementClient(credential, subscriptionId, options)
await resources.resourceGroups.createOrUpdate(group, { location: 'local' })

const template = {
  $schema: 'https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#',
  contentVersion: '1.0.0.0',
  parameters: { service: { type: 'string' } },
  resources: [
    {
      type: 'Microsoft.ApiManagement/service',
      apiVersion: '2024-05-01',
      name: "[parameters('service')]",
      location: '[resourceGroup().location]',
      sku: { name: 'Developer', capacity: 1 },
      properties: { publisherEmail: 'a@example.test', publisherName: 'A' },
    },
    {
      type: 'Microsoft.ApiManagement/service/apis',
      apiVersion: '2024-05-01',
      name: "[concat(parameters('service'), '/pets')]",
      dependsOn: ["[resourceId('Microsoft.ApiManagement/service', parameters('service'))]"],
      properties: { displayName: 'Pets', path: 'pets', protocols: ['https'] },
    },
    {
      type: 'Microsoft.ApiManagement/service/apis/operations',
      apiVersion: '2024-05-01',
      name: "[concat(parameters('service'), '/pets/list')]",
      dependsOn: [
        "[resourceId('Microsoft.ApiManagement/service/apis', parameters('service'), 'pets')]",
      ],
      properties: {
        displayName: 'List pets',
        method: 'GET',
        urlTemplate: '/pets/{kind}',
        templateParameters: [{ name: 'kind', type: 'string', required: true }],
        responses: [{ statusCode: 200, description: 'The pets' }],
      },
    },
  ],
  outputs: {
    id: {
      type: 'string',
      value: "[resourceId('Microsoft.ApiManagement/service', parameters('service'))]",
    },
  },
}
const body = {
  properties: { mode: 'Incremental', template, parameters: { service: { value: service } } },
}

await runCases('deployments', '@azure/arm-resourcesdeployments', {
  async 'validates, says what would change, deploys, reads operations, template and hash'() {
    const name = 'first'
    const valid = await deployments.deployments.validate(group, name, body)
    assert.equal(valid.error, undefined)
    const whatIf = await deployments.deployments.whatIf(group, name, body)
    assert.deepEqual(
      whatIf.changes.map(({ changeType }) => changeType),
      ['Create', 'Create', 'Create'],
    )
    assert.equal((await deployments.deployments.checkExistence(group, name)).body, false)
    const made = await deployments.deployments.createOrUpdate(group, name, body)
    assert.equal(made.properties.provisioningState, 'Succeeded')
    assert.match(made.properties.outputs.id.value, new RegExp(`/${service}$`))
    assert.equal((await deployments.deployments.checkExistence(group, name)).body, true)
    const steps = await all(deployments.deploymentOperations.list(group, name))
    assert.ok(steps.length >= 3 && steps.every(({ properties }) => properties.statusCode))
    const exported = await deployments.deployments.exportTemplate(group, name)
    assert.equal(exported.template.resources.length, 3)
    const hash = await deployments.deployments.calculateTemplateHash(template)
    assert.equal(hash.templateHash, made.properties.templateHash)
    assert.equal((await all(deployments.deployments.listByResourceGroup(group))).length, 1)
    const after = await deployments.deployments.whatIf(group, name, body)
    assert.ok(
      after.changes.every(({ changeType }) => changeType === 'NoChange'),
      JSON.stringify(after.changes),
    )
  },

  async 'deploys at the scope of a subscription, and deletes the deployment'() {
    const nested = {
      $schema:
        'https://schema.management.azure.com/schemas/2018-05-01/subscriptionDeploymentTemplate.json#',
      contentVersion: '1.0.0.0',
      resources: [
        {
          type: 'Microsoft.Resources/resourceGroups',
          apiVersion: '2021-04-01',
          name: 'made-by-deployment',
          location: 'local',
          properties: {},
        },
      ],
    }
    const made = await deployments.deployments.createOrUpdateAtSubscriptionScope('wide', {
      location: 'local',
      properties: { mode: 'Incremental', template: nested },
    })
    assert.equal(made.properties.provisioningState, 'Succeeded')
    assert.equal((await resources.resourceGroups.checkExistence('made-by-deployment')).body, true)
    await deployments.deployments.deleteAtSubscriptionScope('wide')
    await refused(deployments.deployments.getAtSubscriptionScope('wide'), 404, 'DeploymentNotFound')
  },

  async 'a template that is wrong is refused, and one that fails says which resource did'() {
    const wrong = { ...body, properties: { ...body.properties, parameters: {} } }
    await assert.rejects(
      async () => await deployments.deployments.createOrUpdate(group, 'wrong', wrong),
      (error) => {
        assert.deepEqual([error.statusCode, error.code], [400, 'InvalidTemplate'])
        return true
      },
    )
    const failing = structuredClone(body)
    const made = "reference(resourceId('Microsoft.ApiManagement/service', parameters('service')))"
    failing.properties.template.outputs = {
      not: { type: 'int', value: `[int(${made}.publisherName)]` },
    }
    await assert.rejects(
      async () => await deployments.deployments.createOrUpdate(group, 'failing', failing),
      (error) => {
        assert.match(`${error.code} ${error.message}`, /InvalidTemplate.*outputs\.not/)
        return true
      },
    )
    const failed = await deployments.deployments.get(group, 'failing')
    assert.equal(failed.properties.provisioningState, 'Failed')
    assert.ok(failed.properties.error.code)
  },
})

await runCases('operation definitions', '@azure/arm-apimanagement', {
  async 'reads what a template declared, changes it under its tag, makes and deletes others'() {
    const read = await apis.apiOperation.get(group, service, 'pets', 'list')
    assert.deepEqual(
      [read.displayName, read.method, read.urlTemplate],
      ['List pets', 'GET', '/pets/{kind}'],
    )
    const { eTag } = await apis.apiOperation.getEntityTag(group, service, 'pets', 'list')
    assert.equal(eTag, read.eTag)
    const changed = await apis.apiOperation.update(group, service, 'pets', 'list', read.eTag, {
      description: 'Every pet',
    })
    assert.equal(changed.description, 'Every pet')
    const stale = apis.apiOperation.update(group, service, 'pets', 'list', read.eTag, {
      description: 'x',
    })
    await refused(stale, 412, 'PreconditionFailed')
    const made = await apis.apiOperation.createOrUpdate(group, service, 'pets', 'add', {
      displayName: 'Add a pet',
      method: 'POST',
      urlTemplate: '/pets',
      templateParameters: [],
      request: { description: 'A pet', representations: [{ contentType: 'application/json' }] },
    })
    assert.equal(made.method, 'POST')
    const listed = await all(apis.apiOperation.listByApi(group, service, 'pets'))
    assert.deepEqual(listed.map(({ name }) => name).toSorted(), ['add', 'list'])
    const filtered = await all(
      apis.apiOperation.listByApi(group, service, 'pets', { filter: "method eq 'POST'" }),
    )
    assert.equal(filtered.length, 1)
    await apis.apiOperation.delete(group, service, 'pets', 'add', '*')
    await refused(apis.apiOperation.get(group, service, 'pets', 'add'), 404, 'ResourceNotFound')
  },

  async 'imports and exports documents, and keeps products, values and policies'() {
    const document = {
      openapi: '3.0.3',
      info: { title: 'Shops', version: '1' },
      paths: {
        '/shops': { get: { operationId: 'shops', responses: { 200: { description: 'ok' } } } },
      },
    }
    const api = await apis.api.beginCreateOrUpdateAndWait(group, service, 'shops', {
      path: 'shops',
      format: 'openapi+json',
      value: JSON.stringify(document),
    })
    assert.equal(api.displayName, 'Shops')
    assert.equal((await all(apis.apiOperation.listByApi(group, service, 'shops'))).length, 1)
    const exported = await apis.apiExport.get(group, service, 'shops', 'openapi+json-link', 'true')
    assert.ok(exported.value !== undefined)
    assert.equal((await all(apis.api.listByService(group, service))).length, 2)
    await apis.product.createOrUpdate(group, service, 'starter', { displayName: 'Starter' })
    assert.equal((await apis.product.get(group, service, 'starter')).displayName, 'Starter')
    await apis.namedValue.beginCreateOrUpdateAndWait(group, service, 'value', {
      displayName: 'value',
      value: 'one',
    })
    const xml = '<policies><inbound /></policies>'
    await apis.apiPolicy.createOrUpdate(group, service, 'pets', 'policy', {
      value: xml,
      format: 'xml',
    })
    assert.ok((await apis.apiPolicy.get(group, service, 'pets', 'policy')).eTag)
    await apis.api.beginDeleteAndWait(group, service, 'shops', '*')
    const one = await apis.apiManagementService.get(group, service)
    assert.deepEqual([one.publisherName, one.sku.name], ['A', 'Developer'])
    const free = await apis.apiManagementService.checkNameAvailability({ name: 'not-yet-there' })
    assert.equal(free.nameAvailable, true)
  },
})

await runCases('consent code', '@azure/arm-apimanagement', {
  async 'an authorization is connected by the code that a person came back with, once'() {
    const { clientId, clientSecret } = given.consent
    const provider = await apis.authorizationProvider.createOrUpdate(group, service, 'own', {
      displayName: 'This installation',
      identityProvider: 'aad',
      oauth2: {
        redirectUrl: `${url}/consent/callback`,
        grantTypes: {
          authorizationCode: {
            clientId,
            clientSecret,
            scopes: 'user_impersonation offline_access',
          },
        },
      },
    })
    assert.equal(provider.identityProvider, 'aad')
    const made = await apis.authorization.createOrUpdate(group, service, 'own', 'me', {
      authorizationType: 'OAuth2',
      oAuth2GrantType: 'AuthorizationCode',
    })
    assert.equal(made.authorizationType, 'OAuth2')
    const { loginLink } = await apis.authorizationLoginLinks.post(group, service, 'own', 'me', {
      postLoginRedirectUrl: 'http://127.0.0.1/',
    })
    const consentCode = await walkConsent(loginLink, { ...given, at: [url] })
    const confirmed = await apis.authorization.confirmConsentCode(group, service, 'own', 'me', {
      consentCode,
    })
    assert.ok(confirmed.eTag)
    assert.equal((await apis.authorization.get(group, service, 'own', 'me')).status, 'Connected')
    await assert.rejects(
      apis.authorization.confirmConsentCode(group, service, 'own', 'me', { consentCode }),
      (error) => error.statusCode === 400 && error.code !== undefined,
    )
    const policy = { tenantId: given.tenantId, objectId: given.principalId }
    await apis.authorizationAccessPolicy.createOrUpdate(group, service, 'own', 'me', 'mine', policy)
    assert.equal(
      (await all(apis.authorizationAccessPolicy.listByAuthorization(group, service, 'own', 'me')))
        .length,
      1,
    )
    assert.equal((await all(apis.authorizationProvider.listByService(group, service))).length, 1)
    assert.equal(
      (await all(apis.authorization.listByAuthorizationProvider(group, service, 'own'))).length,
      1,
    )
    await apis.authorization.delete(group, service, 'own', 'me', '*')
    await apis.authorizationProvider.delete(group, service, 'own', '*')
  },
})

process.exit(0)
