/**
 * Every way in which a request for a role assignment can be wrong: status, code, target, and nothing written (facts
 * 2.4).
 */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import {
  type AssignmentCalls,
  assertRefused,
  assignmentCalls,
  assignmentPath,
  bodyOf,
  conditionText,
  createApplication,
  createGroup,
  roleId,
  roles,
} from './access.ts'
import { type Installation, startInstallation } from './installation.ts'

const version = 'api-version=2022-04-01'

let installation: Installation
let put: AssignmentCalls['put']
let get: AssignmentCalls['get']
let created: AssignmentCalls['created']
let subscription: string
let group: string

before(async () => {
  installation = await startInstallation()
  ;({ put, get, created } = assignmentCalls(installation))
  subscription = `/subscriptions/${installation.subscriptionId}`
  group = `${subscription}/resourceGroups/refusals`
})

after(() => installation[Symbol.asyncDispose]())

describe('refusals', () => {
  test('RoleAssignmentExists: the same under another name; the text names the existing one', async () => {
    const { body, id } = await created(group)
    const answer = await put(assignmentPath(group), body)
    assertRefused(answer, 409, 'RoleAssignmentExists')
    assert.ok(String(answer.at('error.message')).includes(id))
    const elsewhere = await put(assignmentPath(`${group}-2`), body)
    assert.equal(elsewhere.status, 201, 'another scope is another assignment')
    assert.equal((await installation.request('DELETE', `${id}?${version}`)).status, 200)
    assert.equal((await put(assignmentPath(group), body)).status, 201, 'free again')
  })

  test('PrincipalNotFound: unknown, and no type given', async () => {
    const answer = await put(assignmentPath(group), bodyOf({ principalType: undefined }))
    assertRefused(answer, 400, 'PrincipalNotFound')
  })

  test('InvalidPrincipalId', async () => {
    for (const principalId of ['ada', '', '00000000-0000-0000-0000-00000000000g']) {
      const answer = await put(assignmentPath(group), bodyOf({ principalId }))
      assertRefused(answer, 400, 'InvalidPrincipalId', 'properties.principalId')
    }
  })

  test('UnmatchedPrincipalType', async () => {
    const principalId = await createGroup(installation, 'unmatched')
    const answer = await put(assignmentPath(group), bodyOf({ principalId, principalType: 'User' }))
    assertRefused(answer, 400, 'UnmatchedPrincipalType')
  })

  test('InvalidRoleAssignmentId: also on DELETE', async () => {
    const path = assignmentPath(group, 'not-a-guid')
    assertRefused(await put(path, bodyOf()), 400, 'InvalidRoleAssignmentId')
    assertRefused(await installation.request('DELETE', path), 400, 'InvalidRoleAssignmentId')
  })

  test('InvalidRoleDefinitionId: a path that is no role’s', async () => {
    for (const roleDefinitionId of [
      `/providers/Vendor.Authorization/roleDefinitions/reader`,
      `/providers/Vendor.Authorization/roleAssignments/${roles.reader}`,
      `/providers/Other.Authorization/roleDefinitions/${roles.reader}`,
      '/',
    ]) {
      const answer = await put(assignmentPath(group), bodyOf({ roleDefinitionId }))
      assertRefused(answer, 400, 'InvalidRoleDefinitionId', 'properties.roleDefinitionId')
    }
  })

  test('BadRequestFormat: a role id that is no path', async () => {
    for (const roleDefinitionId of ['Reader', roles.reader, '']) {
      const answer = await put(assignmentPath(group), bodyOf({ roleDefinitionId }))
      assertRefused(answer, 400, 'BadRequestFormat', 'properties.roleDefinitionId')
    }
  })

  test('RoleDefinitionDoesNotExist: 400 in an assignment, 404 as a path', async () => {
    const unknown = roleId(randomUUID())
    const answer = await put(assignmentPath(group), bodyOf({ roleDefinitionId: unknown }))
    assertRefused(answer, 400, 'RoleDefinitionDoesNotExist', 'properties.roleDefinitionId')
    assertRefused(await get(`${unknown}?${version}`), 404, 'RoleDefinitionDoesNotExist')
  })

  test('ScopeDoesNotMatchRoleDefinition, and RoleDefinitionHasAssignments on the way', async () => {
    const role = `${subscription}/providers/Vendor.Authorization/roleDefinitions/${randomUUID()}`
    const definition = {
      properties: {
        roleName: 'Only here',
        type: 'CustomRole',
        assignableScopes: [group],
        permissions: [{ actions: ['*/read'], notActions: [] }],
      },
    }
    const made = await put(`${role}?${version}`, definition)
    assert.equal(made.status, 201, made.text)
    const outside = await put(assignmentPath(subscription), bodyOf({ roleDefinitionId: role }))
    assertRefused(outside, 400, 'ScopeDoesNotMatchRoleDefinition', 'properties.roleDefinitionId')
    const { path } = await created(`${group}/providers/Vendor.X/things/y`, {
      roleDefinitionId: role,
    })
    const used = await installation.request('DELETE', `${role}?${version}`)
    assertRefused(used, 400, 'RoleDefinitionHasAssignments')
    assert.equal((await installation.request('DELETE', path)).status, 200)
    assert.equal((await installation.request('DELETE', `${role}?${version}`)).status, 200)
  })

  const conditions: readonly [target: string, properties: Readonly<Record<string, unknown>>][] = [
    ['condition', { condition: '', conditionVersion: '2.0' }],
    ['condition', { condition: ' \n', conditionVersion: '2.0' }],
    ['condition', { condition: 'x'.repeat(8193), conditionVersion: '2.0' }],
    ['condition', { conditionVersion: '2.0' }],
    ['conditionVersion', { condition: conditionText }],
    ['conditionVersion', { condition: conditionText, conditionVersion: '1.0' }],
    ['conditionVersion', { condition: conditionText, conditionVersion: '2' }],
  ]
  for (const [target, properties] of conditions) {
    const shown = JSON.stringify(properties).slice(0, 60)
    test(`InvalidRoleAssignmentCondition: ${shown}`, async () => {
      const answer = await put(assignmentPath(group), bodyOf(properties))
      assertRefused(answer, 400, 'InvalidRoleAssignmentCondition', `properties.${target}`)
    })
  }

  test('all that is wrong comes at once', async () => {
    const answer = await put(
      assignmentPath(group),
      bodyOf({ principalId: 'ada', roleDefinitionId: 'Reader', conditionVersion: '1.0' }),
    )
    assertRefused(answer, 400, 'InvalidRequestContent')
    const codes = [0, 1, 2].map((at) => answer.at(`error.details.${at}.code`))
    assert.deepEqual(codes.sort(), [
      'BadRequestFormat',
      'InvalidPrincipalId',
      'InvalidRoleAssignmentCondition',
    ])
  })

  test('AuthorizationFailed names principal, action and scope, also for what does not exist', async () => {
    const stranger = await createApplication(installation, 'stranger')
    const { path: existing } = await created(group)
    for (const [method, action] of [
      ['GET', 'read'],
      ['PUT', 'write'],
      ['DELETE', 'delete'],
    ] as const) {
      for (const path of [existing, assignmentPath(group)]) {
        const answer = await installation.request(method, path, {
          token: stranger.token,
          ...(method === 'PUT' ? { body: bodyOf() } : {}),
        })
        assertRefused(answer, 403, 'AuthorizationFailed')
        const message = String(answer.at('error.message'))
        assert.ok(message.includes(stranger.principalId), message)
        assert.ok(message.includes(`Vendor.Authorization/roleAssignments/${action}`), message)
        assert.ok(message.includes(path.slice(0, path.indexOf('?'))), message)
      }
    }
  })

  test('RoleAssignmentNotFound', async () => {
    assertRefused(await get(assignmentPath(group)), 404, 'RoleAssignmentNotFound')
  })

  const versions: readonly [query: string, code: string][] = [
    ['', 'MissingApiVersionParameter'],
    ['?api-version=', 'MissingApiVersionParameter'],
    ['?api-version=2022-04-02', 'InvalidApiVersionParameter'],
    ['?api-version=latest', 'InvalidApiVersionParameter'],
  ]
  for (const [query, code] of versions) {
    test(`api-version: ${code} for '${query}'`, async () => {
      const path = assignmentPath(group).replace(/\?.*/, query)
      const answer = await put(path, bodyOf())
      assertRefused(answer, 400, code)
      if (code === 'InvalidApiVersionParameter') {
        assert.match(String(answer.at('error.message')), /2022-04-01/)
      }
    })
  }

  test('PATCH is not offered', async () => {
    const { path } = await created(group)
    const answer = await installation.request('PATCH', path, { body: bodyOf() })
    assertRefused(answer, 405, 'MethodNotAllowed')
    assert.equal(answer.headers.get('allow'), 'GET, HEAD, PUT, DELETE')
  })

  test('bodies that are none', async () => {
    for (const body of ['{', '[]', 'null', '"x"', '7', '{"properties":7}', '{"properties":[]}']) {
      assertRefused(await put(assignmentPath(group), body), 400, 'InvalidRequestContent')
    }
    const none = await installation.request('PUT', assignmentPath(group))
    assertRefused(none, 400, 'InvalidRequestContent')
  })
})
