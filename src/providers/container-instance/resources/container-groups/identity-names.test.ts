/** A container group never reveals which identities and profiles exist. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { parseResourceId } from '#kernel/resource-id.ts'
import { contractWords } from '#kernel/vendor.ts'
import { testSeal } from '#plane/testing/provider-context.ts'
import { owner } from '#plane/testing/start.ts'
import { base, ids } from '../../testing/start.ts'
import { prepareGroup } from './prepare.ts'

test('an identity or a profile is refused alike, whether it exists or not', async () => {
  const there = `${base.replace('rg', 'other')}/identities/there`
  const id = parseResourceId(`${base}/containerGroups/one`)
  assert.ok(id)
  const reader = {
    get: async () => undefined,
    list: async () => [],
    async *each() {},
    page: async () => ({ items: [] }),
    feedPosition: async () => undefined,
    byUniqueKey: async () => [],
    hasRoom: async () => true,
    count: async () => 0,
  }
  const context = {
    id,
    reader,
    principal: owner,
    now: 0,
    words: contractWords,
    correlationId: 'c',
    hasRoleBelow: () => Promise.resolve(false),
    may: () => false,
  }
  const deps = {
    tenantId: 't',
    seal: testSeal,
    ids,
    secrets: undefined,
    shareAccounts: undefined,
    identities: {
      useAction: 'ManagedIdentity/userAssignedIdentities/assign/action',
      find: async (asked: string) =>
        asked === there ? { clientId: 'c', principalId: 'p' } : undefined,
    },
  }
  const profile = `${there.slice(0, there.indexOf('/providers'))}/providers/Vendor.ContainerInstance/containerGroupProfiles/gone`
  for (const [body, code] of [
    ...[there, there.replace('there', 'gone')].map(
      (named) =>
        [
          { identity: { userAssignedIdentities: { [named]: {} } }, properties: {} },
          'LinkedAuthorizationFailed',
        ] as const,
    ),
    [{ properties: { containerGroupProfile: { id: profile } } }, 'AuthorizationFailed'],
  ] as const) {
    await assert.rejects(prepareGroup(context, body, deps), (error: unknown) => {
      assert.ok(error instanceof ApiError)
      assert.equal(error.code, code)
      return true
    })
  }
})
