/**
 * Walks the whole route table: a principal without any role is refused everywhere, except where everybody may ask.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { nobody } from '#plane/testing/start.ts'
import { openInstallation, subscription } from '../../testing/installation.ts'

/** Open to anybody who is signed in: each shows the caller's own data, or public knowledge. */
const open = new Set([
  'GET /subscriptions',
  'GET /tenants',
  'GET /providers',
  'GET /providers/{providerName}',
  'GET /{scope}/providers/Vendor.Authorization/permissions',
  'POST /providers/Vendor.Management/getEntities',
  'POST /{scope}/providers/Vendor.Authorization/checkAccess',
  // Public knowledge, and the hash of what the caller sends.
  'GET /providers/Vendor.Authorization/providerOperations',
  'POST /providers/Vendor.Resources/calculateTemplateHash',
  // No word is reserved, and what a resource is named tells nothing of those there are.
  'POST /providers/Vendor.Resources/checkResourceName',
  // Either of two permissions suffices (facts 7.4): the action itself refuses a caller with neither.
  'POST /{scope}/providers/Vendor.ResourceHealth/events/{eventName}/fetchEventDetails',
  // Access policies decide, and no role.
  'POST /subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Vendor.ApiManagement/service/{serviceName}/authorizationProviders/{authorizationProviderName}/authorizations/{authorizationName}/getToken',
])

test('every route refuses a principal without any role', async () => {
  await using t = await openInstallation()
  await t.call('PUT', subscription, { displayName: 'One' }, { version: '2020-01-01' })
  const seen: string[] = []
  let refused = 0
  for (const route of t.plane.describe()) {
    const path = route.path
      .replace('/{scope}', subscription)
      .replace('{subscriptionId}', subscription.split('/')[2] ?? '')
      .replace(/\{[^}]+\}/g, 'one')
    const query = new URLSearchParams({ 'api-version': route.versions[0] ?? '2022-04-01' })
    const located = t.plane.locate(route.method, path, query)
    const answer = await Promise.resolve()
      .then(() => t.plane.authorize(located, nobody, 'c'))
      .then(
        () => 'allowed',
        (error: unknown) => {
          assert.ok(error instanceof ApiError, String(error))
          return `${error.status} ${error.code}`
        },
      )
    if (answer === 'allowed') seen.push(`${route.method} ${route.path}`)
    else {
      assert.equal(answer, '403 AuthorizationFailed', route.path)
      refused += 1
    }
  }
  const operations = /^GET \/providers\/Vendor\.\w+\/operations$/
  assert.deepEqual(
    seen.filter((one) => !open.has(one) && !operations.test(one)),
    [],
  )
  assert.ok(refused > 30)
})
