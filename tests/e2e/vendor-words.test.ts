/** An installation with its own vendor words: nothing it answers or accepts has the contract's. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { assertRefused, createApplication, createResourceGroup, roles } from './access.ts'
import { startInstallation } from './installation.ts'

const groups = 'api-version=2021-04-01'
const assignments = 'api-version=2022-04-01'

test('words of its own: types, actions and headers change, and nothing else answers', async () => {
  await using branded = await startInstallation({
    environment: { ARMATURE_VENDOR_NAMESPACE: 'Contoso', ARMATURE_VENDOR_BRAND: 'Fabrikam' },
  })
  const group = `/subscriptions/${branded.subscriptionId}/resourceGroups/branded`
  const made = await createResourceGroup(branded, group)
  assert.equal(made.at('type'), 'Contoso.Resources/resourceGroups')
  const fresh = () =>
    `${group}/providers/Contoso.Authorization/roleAssignments/${randomUUID()}?${assignments}`
  const body = (namespace: string) => ({
    properties: {
      principalId: randomUUID(),
      principalType: 'User',
      roleDefinitionId: `/providers/${namespace}.Authorization/roleDefinitions/${roles.reader}`,
    },
  })
  const assigned = await branded.request('PUT', fresh(), { body: body('Contoso') })
  assert.equal(assigned.status, 201, assigned.text)
  assert.equal(assigned.at('type'), 'Contoso.Authorization/roleAssignments')
  assert.equal(
    assigned.at('properties.roleDefinitionId'),
    `/providers/Contoso.Authorization/roleDefinitions/${roles.reader}`,
  )
  const foreign = await branded.request('PUT', fresh().replace('Contoso', 'Vendor'), {
    body: body('Contoso'),
  })
  assertRefused(foreign, 404, 'InvalidResourceNamespace')
  assert.match(foreign.text, /'Contoso\.Authorization'.*ARMATURE_VENDOR_NAMESPACE=Vendor\b/)
  const provider = await branded.request('GET', `/providers/Vendor.Billing?${groups}`)
  assert.match(provider.text, /'Contoso\.Billing'.*ARMATURE_VENDOR_NAMESPACE=Vendor\b/)
  const nowhere = await branded.request('GET', `/providers/Vendor.Nowhere?${groups}`)
  assert.doesNotMatch(nowhere.text, /VENDOR_NAMESPACE/)
  const wrongRole = await branded.request('PUT', fresh(), {
    body: body('Vendor'),
  })
  assertRefused(wrongRole, 400, 'InvalidRoleDefinitionId')
  const { token } = await createApplication(branded, 'branded')
  const refused = await branded.request('GET', `${group}?${groups}`, { token })
  assert.match(
    String(refused.at('error.message')),
    /'Contoso\.Resources\/subscriptions\/resourceGroups\/read'/,
  )
  const role = await branded.request(
    'GET',
    `/providers/Contoso.Authorization/roleDefinitions/${roles.userAccessAdministrator}?${assignments}`,
  )
  assert.match(role.text, /"Contoso\.Authorization\/\*"/)
  // One property of events follows the vendor words, in bodies, answers and filters.
  const events = '/providers/Contoso.ResourceHealth/events'
  const event = {
    eventType: 'ServiceIssue',
    title: 'Late',
    impactStartTime: '2026-01-01T00:00:00Z',
    impact: [{ impactedService: 'Role-based access control', impactedRegions: [] }],
  }
  const publish = (properties: object) =>
    branded.request('POST', `${events}/W-1/publish?api-version=2025-05-01`, {
      body: { properties: { ...event, ...properties } },
    })
  assert.equal((await publish({ enableVendorSupport: true })).status, 400)
  const published = await publish({ enableContosoSupport: true })
  assert.equal(published.status, 201, published.text)
  assert.equal(published.at('properties.enableContosoSupport'), true)
  // Also in the steps of a timeline.
  const play = (properties: object) =>
    branded.request('POST', `${events}/W-2/play?api-version=2025-05-01`, {
      body: {
        steps: [
          { after: 'P9D', step: 'publish', body: { properties: { ...event, ...properties } } },
        ],
      },
    })
  assert.equal((await play({ enableVendorSupport: true })).status, 400)
  assert.equal((await play({ enableContosoSupport: true })).status, 200)
  const supported = `$filter=${encodeURIComponent('enableContosoSupport eq true')}`
  const found = await branded.request('GET', `${events}?api-version=2025-05-01&${supported}`)
  assert.deepEqual(
    found.items().map(({ name }) => name),
    ['W-1'],
  )
  // Its service is named as the provider of the assignment declares.
  const reached = await branded.request(
    'GET',
    `${assigned.at('id')}${events}?api-version=2025-05-01`,
  )
  assert.deepEqual(
    reached.items().map(({ name }) => name),
    ['W-1'],
  )
  // Published clients send versions of their own.
  const nearest = await branded.request('GET', `${group}?api-version=2099-01-01-preview`)
  assert.equal(nearest.status, 200, nearest.text)
  assert.equal(nearest.headers.get('x-armature-api-version'), '2025-04-01')
  const listed = await branded.request('GET', `${group}?api-version=2019-05-01`)
  assert.equal(listed.status, 200, listed.text)
  assert.equal(listed.headers.get('x-armature-api-version'), null)
  const missing = await branded.request('GET', `${group}-x?api-version=2000-01-01`)
  assertRefused(missing, 404, 'ResourceGroupNotFound')
  assert.equal(missing.headers.get('x-armature-api-version'), '2019-10-01')
  assertRefused(
    await branded.request('GET', `${group}?api-version=2019-13-45`),
    400,
    'InvalidApiVersionParameter',
  )
  const path = '/openapi/Contoso.Authorization/2020-04-01-preview.json'
  const document = await branded.request('GET', path, { token: null })
  assert.equal(document.at('info.version'), '2018-07-01')
  const accepted = await branded.request('DELETE', `${group}?${groups}`)
  assert.equal(accepted.status, 202)
  assert.match(accepted.headers.get('fabrikam-asyncoperation') ?? '', /\/Contoso\.Resources\//)
  const documents = await branded.request('GET', '/openapi', { token: null })
  assert.match(documents.text, /Contoso\.Authorization/)
  for (const answer of [made, assigned, refused, role, documents]) {
    assert.doesNotMatch(answer.text + [...answer.headers.keys()].join(' '), /vendor/i)
  }
  const status = await branded.cli(['role', 'assignment', 'list', `--scope=${group}-x`, '--json'])
  assert.doesNotMatch(status.error, /Vendor/)
})
