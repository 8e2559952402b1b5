/** Contract operation 1 over HTTP, row by row: role assignments with every field, scope, list and refusal. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import {
  type Application,
  type AssignmentCalls,
  assertRefused,
  assignmentCalls,
  assignmentPath,
  bodyOf,
  conditionText,
  createApplication,
  grant,
  roleId,
  roles,
} from './access.ts'
import { type Installation, startInstallation } from './installation.ts'

const version = 'api-version=2022-04-01'
const guid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/

let installation: Installation
let put: AssignmentCalls['put']
let get: AssignmentCalls['get']
let created: AssignmentCalls['created']
let subscription: string
let group: string

/** The places an assignment can be made at (contract, Endpoints 1; facts 2.1). */
let scopes: Readonly<Record<string, string>>

before(async () => {
  installation = await startInstallation()
  ;({ put, get, created } = assignmentCalls(installation))
  subscription = `/subscriptions/${installation.subscriptionId}`
  group = `${subscription}/resourceGroups/contract`
  scopes = {
    'the root': '',
    'a management group': '/providers/Vendor.Management/managementGroups/all',
    'a subscription': subscription,
    'a resource group': group,
    'a resource': `${group}/providers/Vendor.ContainerInstance/containerGroups/web`,
    'a nested resource': `${group}/providers/Vendor.ApiManagement/service/one/apis/two/operations/three`,
  }
})

after(() => installation[Symbol.asyncDispose]())

describe('the fields', () => {
  test('id, name and type: the name is the GUID of the path', async () => {
    const name = randomUUID()
    const made = await put(assignmentPath(group, name), bodyOf())
    assert.equal(made.at('name'), name)
    assert.equal(made.at('type'), 'Vendor.Authorization/roleAssignments')
    assert.equal(made.at('id'), `${group}/providers/Vendor.Authorization/roleAssignments/${name}`)
  })

  test('principalId: a GUID of any case, shown in lower case', async () => {
    const principalId = randomUUID()
    const { made } = await created(group, { principalId: principalId.toUpperCase() })
    assert.equal(made.at('properties.principalId'), principalId)
  })

  for (const missing of ['principalId', 'roleDefinitionId']) {
    test(`${missing} is required`, async () => {
      const answer = await put(assignmentPath(group), bodyOf({ [missing]: undefined }))
      assertRefused(answer, 400, 'InvalidRequestContent', `properties.${missing}`)
    })
  }

  test('both missing are reported at once', async () => {
    const answer = await put(assignmentPath(group), { properties: {} })
    assertRefused(answer, 400, 'InvalidRequestContent')
    const targets = [0, 1].map((at) => answer.at(`error.details.${at}.target`))
    assert.deepEqual(targets.sort(), ['properties.principalId', 'properties.roleDefinitionId'])
  })

  for (const principalType of ['User', 'Group', 'ServicePrincipal', 'ForeignGroup', 'Device']) {
    test(`principalType ${principalType}`, async () => {
      const { made, path } = await created(group, { principalType })
      assert.equal(made.at('properties.principalType'), principalType)
      assert.equal((await get(path)).at('properties.principalType'), principalType)
    })
  }

  test('principalType in another case is shown in its own, and null is one that is left out', async () => {
    const { made } = await created(group, { principalType: 'uSER' })
    assert.equal(made.at('properties.principalType'), 'User')
    const unknown = await put(assignmentPath(group), bodyOf({ principalType: null }))
    assertRefused(unknown, 400, 'PrincipalNotFound')
  })

  for (const principalType of ['Users', 'Robot', '', 7]) {
    test(`principalType ${JSON.stringify(principalType)} is refused`, async () => {
      const answer = await put(assignmentPath(group), bodyOf({ principalType }))
      assertRefused(answer, 400, 'InvalidRequestContent', 'properties.principalType')
    })
  }

  test('principalType is the directory’s where it is left out', async () => {
    const application = await createApplication(installation, 'typed by the directory')
    const { made } = await created(group, {
      principalId: application.principalId,
      principalType: undefined,
    })
    assert.equal(made.at('properties.principalType'), 'ServicePrincipal')
  })

  test('condition and conditionVersion come back as they were given', async () => {
    const condition = conditionText
    const { made, path } = await created(group, { condition, conditionVersion: '2.0' })
    assert.equal(made.at('properties.condition'), condition)
    assert.equal(made.at('properties.conditionVersion'), '2.0')
    assert.equal((await get(path)).at('properties.condition'), condition)
  })

  test('delegatedManagedIdentityResourceId', async () => {
    const delegated = `${group}/providers/Vendor.ManagedIdentity/userAssignedIdentities/one`
    const { path } = await created(group, { delegatedManagedIdentityResourceId: delegated })
    const shown = await get(path)
    assert.equal(shown.at('properties.delegatedManagedIdentityResourceId'), delegated)
  })

  test('description, at most 1024 characters', async () => {
    const longest = 'ü'.repeat(1024)
    const { path } = await created(group, { description: longest })
    assert.equal((await get(path)).at('properties.description'), longest)
    const answer = await put(assignmentPath(group), bodyOf({ description: `${longest}.` }))
    assertRefused(answer, 400, 'InvalidRequestContent', 'properties.description')
  })

  test('what was not given is not shown', async () => {
    const { made } = await created(group)
    for (const field of [
      'condition',
      'conditionVersion',
      'delegatedManagedIdentityResourceId',
      'description',
    ]) {
      assert.equal(made.at(`properties.${field}`), undefined)
    }
  })

  test('created and updated: by whom and when; systemData tells the same', async () => {
    const { made, path } = await created(group)
    for (const field of ['createdBy', 'updatedBy']) {
      assert.equal(made.at(`properties.${field}`), installation.principalId)
    }
    for (const field of ['createdOn', 'updatedOn']) {
      assert.match(String(made.at(`properties.${field}`)), dateTime)
    }
    const shown = await get(path)
    assert.deepEqual(shown.at('systemData'), {
      createdAt: shown.at('properties.createdOn'),
      createdBy: installation.principalId,
      // The owner's own token belongs to a person.
      createdByType: shown.at('systemData.createdByType'),
      lastModifiedAt: shown.at('properties.updatedOn'),
      lastModifiedBy: installation.principalId,
      lastModifiedByType: shown.at('systemData.lastModifiedByType'),
    })
    for (const field of ['createdByType', 'lastModifiedByType']) {
      assert.match(String(shown.at(`systemData.${field}`)), /^(User|Application)$/)
    }
  })

  test('an application that writes is named as one', async () => {
    const writer = await administrator('writer')
    const { principalId } = writer
    const made = await put(assignmentPath(group), bodyOf(), writer.token)
    assert.equal(made.status, 201, made.text)
    assert.equal(made.at('properties.createdBy'), principalId)
    assert.equal(made.at('systemData.createdBy'), principalId)
    assert.equal(made.at('systemData.createdByType'), 'Application')
  })

  test('returned-only fields of a body are ignored, whatever they hold', async () => {
    const { made } = await created(group, {
      scope: '/somewhere/else',
      createdOn: 'yesterday',
      updatedOn: 7,
      createdBy: randomUUID(),
      updatedBy: null,
    })
    assert.equal(made.at('properties.scope'), group)
    assert.equal(made.at('properties.createdBy'), installation.principalId)
    assert.match(String(made.at('properties.createdOn')), dateTime)
  })

  test('properties nobody knows are ignored, and not kept', async () => {
    const body = { ...bodyOf({ colour: 'blue' }), extra: 1 }
    const made = await put(assignmentPath(group), body)
    assert.equal(made.status, 201, made.text)
    assert.ok(!made.text.includes('colour'))
    assert.equal(made.at('extra'), undefined)
  })

  test('only what the contract lists is shown', async () => {
    const { made } = await created(group, {
      condition: conditionText,
      conditionVersion: '2.0',
      description: 'd',
      delegatedManagedIdentityResourceId: '/d',
    })
    assert.deepEqual(Object.keys(Object(made.body)).sort(), [
      'id',
      'name',
      'properties',
      'systemData',
      'type',
    ])
    assert.deepEqual(Object.keys(Object(made.at('properties'))).sort(), [
      'condition',
      'conditionVersion',
      'createdBy',
      'createdOn',
      'delegatedManagedIdentityResourceId',
      'description',
      'principalId',
      'principalType',
      'roleDefinitionId',
      'scope',
      'updatedBy',
      'updatedOn',
    ])
  })

  test('a body that contradicts the path is refused', async () => {
    for (const [field, value] of [
      ['id', `${group}/providers/Vendor.Authorization/roleAssignments/${randomUUID()}`],
      ['name', randomUUID()],
      ['type', 'Vendor.Authorization/roleDefinitions'],
    ] as const) {
      const answer = await put(assignmentPath(group), { ...bodyOf(), [field]: value })
      assertRefused(answer, 400, 'InvalidRequestContent', field)
    }
  })
})

describe('scopes', () => {
  for (const place of [
    'the root',
    'a management group',
    'a subscription',
    'a resource group',
    'a resource',
    'a nested resource',
  ]) {
    test(`at ${place}: 201, 200, read, deleted`, async () => {
      const scope = scopes[place] ?? ''
      const path = assignmentPath(scope)
      const body = bodyOf({ description: 'first' })
      const made = await put(path, body)
      assert.equal(made.status, 201, made.text)
      assert.equal(made.at('properties.scope'), scope === '' ? '/' : scope)
      const id = String(made.at('id'))
      assert.equal(`${id}?${version}`, path)
      const again = await put(path, body)
      assert.equal(again.status, 200, again.text)
      assert.deepEqual(again.body, made.body, 'an identical PUT changes nothing')
      assert.equal(again.headers.get('etag'), made.headers.get('etag'))
      const changed = await put(path, bodyOf({ ...body.properties, description: 'second' }))
      assert.equal(changed.status, 200, changed.text)
      assert.equal(changed.at('properties.description'), 'second')
      assert.equal(changed.at('properties.createdOn'), made.at('properties.createdOn'))
      const byId = await get(`${id}?${version}`)
      assert.equal(byId.status, 200)
      assert.deepEqual(byId.body, changed.body)
      const gone = await installation.request('DELETE', path)
      assert.equal(gone.status, 200)
      assert.deepEqual(gone.body, changed.body, 'the deleted one is shown')
      const nothing = await installation.request('DELETE', path)
      assert.equal(nothing.status, 204)
      assert.equal(nothing.text, '')
      assertRefused(await get(path), 404, 'RoleAssignmentNotFound')
    })
  }

  test('HEAD tells whether it is there', async () => {
    const { path } = await created(group)
    const there = await installation.request('HEAD', path)
    assert.equal(there.status, 204)
    const missing = await installation.request('HEAD', assignmentPath(group))
    assert.equal(missing.status, 404)
    assert.equal(missing.text, '')
  })

  test('the path compares without case and is shown as it was written', async () => {
    const { path, made } = await created(group)
    const shouted = await get(path.toUpperCase().replace(/\?.*/, `?${version}`))
    assert.equal(shouted.status, 200)
    assert.equal(shouted.at('id'), made.at('id'))
  })

  test('the query tenantId of get and delete is taken and changes nothing', async () => {
    const { path } = await created(group)
    const query = `&tenantId=${installation.tenantId}`
    assert.equal((await get(path + query)).status, 200)
    assert.equal((await installation.request('DELETE', path + query)).status, 200)
  })

  test('an assignment on an assignment', async () => {
    const { id } = await created(group)
    const { made } = await created(id)
    assert.equal(made.at('properties.scope'), id)
  })
})

describe('roleDefinitionId', () => {
  const form = `/providers/Vendor.Authorization/roleDefinitions/${roles.reader}`
  const forms: readonly [name: string, of: () => string][] = [
    ['at the root', () => form],
    ['qualified by a subscription', () => `${subscription}${form}`],
    ['qualified by another subscription', () => `/subscriptions/${randomUUID()}${form}`],
    ['qualified by a group', () => `${group}${form}`],
    ['in capitals', () => form.toUpperCase()],
    ['in small letters', () => `${subscription}${form}`.toLowerCase()],
  ]
  for (const [name, of] of forms) {
    test(`${name} is returned in the one form`, async () => {
      const { made, path } = await created(group, { roleDefinitionId: of() })
      assert.equal(made.at('properties.roleDefinitionId'), form)
      assert.equal((await get(path)).at('properties.roleDefinitionId'), form)
    })
  }
})

describe('update', () => {
  test('description and condition may change; updatedOn and systemData move, createdOn stays', async () => {
    const { path, body, made } = await created(group)
    const writer = await administrator('updater')
    const changes = { description: 'new', condition: conditionText, conditionVersion: '2.0' }
    const changed = await put(path, bodyOf({ ...body.properties, ...changes }), writer.token)
    assert.equal(changed.status, 200, changed.text)
    assert.equal(changed.at('properties.createdOn'), made.at('properties.createdOn'))
    assert.equal(changed.at('properties.createdBy'), installation.principalId)
    assert.equal(changed.at('properties.updatedBy'), writer.principalId)
    assert.equal(changed.at('systemData.lastModifiedBy'), writer.principalId)
    const updatedOn = Date.parse(String(changed.at('properties.updatedOn')))
    assert.ok(updatedOn >= Date.parse(String(made.at('properties.updatedOn'))))
    assert.notEqual(changed.headers.get('etag'), made.headers.get('etag'))
    const cleared = await put(path, body)
    assert.equal(cleared.status, 200)
    assert.equal(cleared.at('properties.condition'), undefined, 'left out is taken away')
  })

  const fixed: readonly [field: string, value: () => unknown][] = [
    ['principalId', () => randomUUID()],
    ['roleDefinitionId', () => roleId(roles.contributor)],
    ['principalType', () => 'Group'],
    ['delegatedManagedIdentityResourceId', () => `${group}/providers/Vendor.X/things/y`],
  ]
  for (const [field, value] of fixed) {
    test(`${field} may not change`, async () => {
      const { path, body, made } = await created(group)
      const answer = await put(path, bodyOf({ ...body.properties, [field]: value() }))
      assertRefused(answer, 400, 'RoleAssignmentUpdateNotPermitted', `properties.${field}`)
      assert.deepEqual((await get(path)).body, made.body)
    })
  }

  test('an assignment outlives its principal and can still be described', async () => {
    const { principalId } = await createApplication(installation, 'leaves soon')
    const { path, body } = await created(group, { principalId, principalType: undefined })
    const gone = await installation.request('DELETE', `/directory/servicePrincipals/${principalId}`)
    assert.equal(gone.status, 204, gone.text)
    const again = await put(path, bodyOf({ ...body.properties, description: 'orphan' }))
    assert.equal(again.status, 200, again.text)
    assert.equal((await get(path)).at('properties.principalType'), 'ServicePrincipal')
  })

  test('preconditions by entity tag', async () => {
    const path = assignmentPath(group)
    const body = bodyOf()
    const send = (headers: Readonly<Record<string, string>>, description?: string) =>
      installation.request('PUT', path, {
        body: bodyOf({ ...body.properties, description }),
        headers,
      })
    assertRefused(await send({ 'if-match': '*' }), 412, 'PreconditionFailed')
    const made = await send({ 'if-none-match': '*' })
    assert.equal(made.status, 201)
    const etag = made.headers.get('etag') ?? ''
    assert.match(etag, /^"[^"]+"$/)
    assertRefused(await send({ 'if-none-match': '*' }), 412, 'PreconditionFailed')
    assertRefused(await send({ 'if-match': '"stale"' }, 'no'), 412, 'PreconditionFailed')
    assert.equal((await send({ 'if-match': etag }, 'yes')).status, 200)
    const stale = await installation.request('DELETE', path, { headers: { 'if-match': etag } })
    assertRefused(stale, 412, 'PreconditionFailed')
    assert.equal((await get(path)).at('properties.description'), 'yes')
    const cached = (await get(path)).headers.get('etag') ?? ''
    const unchanged = await installation.request('GET', path, {
      headers: { 'if-none-match': cached },
    })
    assert.equal(unchanged.status, 304)
    assert.equal(unchanged.text, '')
  })
})

/** May grant roles, and nothing else that matters here. */
async function administrator(name: string): Promise<Application> {
  const application = await createApplication(installation, name)
  await grant(installation, subscription, roles.userAccessAdministrator, application.principalId)
  assert.match(application.principalId, guid)
  return application
}
