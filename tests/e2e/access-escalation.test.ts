/** Ways in which somebody with some rights might gain more. Each is closed. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import {
  assertRefused,
  assignmentPath,
  createApplication,
  createResourceGroup,
  grant,
  revoke,
  roleId,
  roles,
} from './access.ts'
import { type Installation, startInstallation } from './installation.ts'

describe('escalation', () => {
  let installation: Installation
  before(async () => {
    installation = await startInstallation({ environment: { ARMATURE_CONTAINERS: 'simulated' } })
  })
  after(() => installation.stop())

  test('a contributor at the root cannot act as others through the directory', async () => {
    const one = await createApplication(installation, 'contributor')
    await grant(installation, '/', roles.contributor, one.principalId)
    const { owner } = installation
    const other = await createApplication(installation, 'other')
    const group = await installation.request('POST', '/directory/groups', {
      body: { displayName: 'owners' },
    })
    const groupId = String(group.at('principalId'))
    const roads: readonly (readonly ['POST' | 'PUT' | 'DELETE', string, object | undefined])[] = [
      [
        'POST',
        `/directory/users/${owner.principalId}/setPassword`,
        { password: 'hijacked-123456' },
      ],
      ['PUT', `/directory/groups/${groupId}/members/${one.principalId}`, undefined],
      ['POST', `/directory/servicePrincipals/${other.principalId}/secrets`, {}],
      ['DELETE', `/directory/servicePrincipals/${other.principalId}`, undefined],
      ['POST', '/directory/keys/rotate', undefined],
    ]
    for (const [method, path, body] of roads) {
      const answer = await installation.request(method, path, {
        token: one.token,
        ...(body === undefined ? {} : { body }),
      })
      assertRefused(answer, 403, 'AuthorizationFailed')
    }
  })

  test('a delegate under a condition cannot widen a role to shed it', async () => {
    const scope = `/subscriptions/${installation.subscriptionId}`
    const role = randomUUID()
    const definition = `${scope}/providers/Vendor.Authorization/roleDefinitions/${role}?api-version=2022-04-01`
    const bodyWith = (action: string) => ({
      properties: {
        roleName: 'narrow',
        assignableScopes: [scope],
        permissions: [{ actions: [action], notActions: [] }],
      },
    })
    const made = await installation.request('PUT', definition, {
      body: bodyWith('Vendor.Resources/subscriptions/read'),
    })
    assert.equal(made.status, 201, made.text)
    const one = await createApplication(installation, 'delegate')
    const only = (source: string, verb: string) =>
      `(!(ActionMatches{'Vendor.Authorization/roleAssignments/${verb}'}) OR (${source}[Vendor.Authorization/roleAssignments:RoleDefinitionId] ForAnyOfAnyValues:GuidEquals {${role}}))`
    const delegated = await installation.request('PUT', assignmentPath(scope), {
      body: {
        properties: {
          principalId: one.principalId,
          roleDefinitionId: roleId(roles.userAccessAdministrator),
          condition: `${only('@Request', 'write')} AND ${only('@Resource', 'delete')}`,
          conditionVersion: '2.0',
        },
      },
    })
    assert.equal(delegated.status, 201, delegated.text)
    const own = await installation.request('PUT', assignmentPath(scope), {
      token: one.token,
      body: { properties: { principalId: one.principalId, roleDefinitionId: roleId(role) } },
    })
    assert.equal(own.status, 201, own.text)
    const widened = await installation.request('PUT', definition, {
      token: one.token,
      body: bodyWith('*'),
    })
    assertRefused(widened, 403, 'AuthorizationFailed')
  })

  test('whoever began an operation follows it, but sees the resource only as a reader', async () => {
    const rg = `/subscriptions/${installation.subscriptionId}/resourceGroups/followed`
    assert.equal((await createResourceGroup(installation, rg)).status, 201)
    const one = await createApplication(installation, 'writer')
    const assignment = await grant(installation, rg, roles.contributor, one.principalId)
    const path = `${rg}/providers/Vendor.ContainerInstance/containerGroups/seen?api-version=2025-09-01`
    const made = await installation.request('PUT', path, {
      token: one.token,
      body: {
        properties: { containers: [{ name: 'one', properties: { image: 'example/one:1' } }] },
      },
    })
    assert.equal(made.status, 201, made.text)
    const location = new URL(made.headers.get('location') ?? '')
    const status = new URL(made.headers.get('vendor-asyncoperation') ?? '')
    const ask = (url: URL) =>
      installation.request('GET', `${url.pathname}${url.search}`, { token: one.token })
    await revoke(installation, assignment)
    assertRefused(
      await installation.request('GET', path, { token: one.token }),
      403,
      'AuthorizationFailed',
    )
    assert.equal((await ask(status)).status, 200)
    for (let tries = 0; tries < 100 && (await ask(status)).at('status') === 'Running'; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    const result = await ask(location)
    assert.equal(result.status, 200)
    assert.equal(result.text, '', 'the resource is shown to somebody who may not read it')
    const elsewhere = location.pathname.replace('Vendor.ContainerInstance', 'Vendor.Resources')
    assertRefused(
      await installation.request('GET', `${elsewhere}${location.search}`),
      404,
      'OperationNotFound',
    )
  })

  test('who owns one revision of an API does not delete the others, and a lock keeps them', async () => {
    const rg = `/subscriptions/${installation.subscriptionId}/resourceGroups/revised`
    assert.equal((await createResourceGroup(installation, rg)).status, 201)
    const service = `${rg}/providers/Vendor.ApiManagement/service/one`
    const version = 'api-version=2024-05-01'
    const put = (path: string, body: object) =>
      installation.request('PUT', `${path}?${version}`, { body })
    await put(service, {
      sku: { name: 'Developer' },
      properties: { publisherEmail: 'a@example.test', publisherName: 'A' },
    })
    const api = `${service}/apis/pets`
    for (const path of [api, `${api};rev=2`]) {
      const made = await put(path, { properties: { path: 'pets', displayName: 'Pets' } })
      assert.equal(made.status, 201, made.text)
    }
    const one = await createApplication(installation, 'publisher')
    await grant(installation, api, roles.contributor, one.principalId)
    const all = `${api}?${version}&deleteRevisions=true`
    const refused = await installation.request('DELETE', all, { token: one.token })
    assertRefused(refused, 403, 'AuthorizationFailed')
    const lock = `${api};rev=2/providers/Vendor.Authorization/locks/keep?api-version=2020-05-01`
    const body = { properties: { level: 'CanNotDelete' } }
    assert.equal((await installation.request('PUT', lock, { body })).status, 201)
    assertRefused(await installation.request('DELETE', all), 409, 'ScopeLocked')
    assert.equal((await installation.request('GET', `${api}?${version}`)).status, 200)
    assert.equal((await installation.request('DELETE', lock)).status, 200)
    await grant(installation, service, roles.contributor, one.principalId)
    const gone = await installation.request('DELETE', all, { token: one.token })
    assert.equal(gone.status, 200, gone.text)
    const left = await installation.request('GET', `${api};rev=2?${version}`)
    assert.equal(left.status, 404)
  })

  test('a group lies in a subscription and nowhere else', async () => {
    const path = '/foo/x/resourceGroups/g/providers/Vendor.ContainerInstance/containerGroups/odd'
    const answer = await installation.request('PUT', `${path}?api-version=2025-09-01`, {
      body: { properties: { containers: [] } },
    })
    assert.equal(answer.status, 404, answer.text)
  })
})
