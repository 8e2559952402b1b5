/** The limit of role assignments in a subscription, filled. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { assertRefused, assignmentCalls, assignmentPath, bodyOf, roleId, roles } from './access.ts'
import { startInstallation } from './installation.ts'

describe('limits', () => {
  test('no more than 4000 assignments in a subscription', { timeout: 240_000 }, async () => {
    await using installation = await startInstallation()
    const { put } = assignmentCalls(installation)
    const subscription = `/subscriptions/${installation.subscriptionId}`
    const sub = `/subscriptions/${randomUUID()}`
    const role = roleId(roles.reader)
    const left = Array.from({ length: 4000 }, () => randomUUID())
    const statuses = new Map<number, number>()
    await Promise.all(
      Array.from({ length: 64 }, async () => {
        for (let name = left.pop(); name !== undefined; name = left.pop()) {
          const properties = { principalId: name, principalType: 'User', roleDefinitionId: role }
          const { status } = await put(assignmentPath(sub, name), { properties })
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
        }
      }),
    )
    assert.deepEqual([...statuses], [[201, 4000]])
    const below = `${sub}/resourceGroups/g/providers/Vendor.X/things/y`
    for (const scope of [sub, below]) {
      assertRefused(await put(assignmentPath(scope), bodyOf()), 400, 'RoleAssignmentLimitExceeded')
    }
    assert.equal((await put(assignmentPath(subscription), bodyOf())).status, 201)
    assert.equal((await put(assignmentPath(''), bodyOf())).status, 201)
  })
})
