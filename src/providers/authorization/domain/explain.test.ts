/** An explanation looks at all roles of a caller, and others have turns meanwhile. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Permission } from '../resources/role-definitions/model.ts'
import { createSteps } from './conditions/steps.ts'
import type { Grant } from './decide.ts'
import { explain } from './explain.ts'

test('others have turns while thousands of actions of many roles are looked through', async () => {
  const actions = Array.from({ length: 2_000 }, (_, at) => `Vendor.X${at}/*/y*z/read`)
  const permission: Permission = { actions, notActions: ['a'], dataActions: [], notDataActions: [] }
  const roles = {
    permissionsIn: () => [permission],
    permissionsOf: () => ({ actions: () => false, dataActions: () => false }),
  }
  const grants = Array.from(
    { length: 60 },
    (_, at): Grant => ({
      ...{ key: `/${at}`, principalId: 'p', roleId: `${at}`, scopeKey: '/', isForGroup: false },
      condition: undefined,
    }),
  )
  const facts = {
    action: 'vendor.web/sites/read',
    isDataAction: false,
    principal: new Map(),
    now: 0,
    request: 'unknown',
    resource: 'unknown',
    steps: createSteps(),
  } as const
  let turns = 0
  const count = (): void => {
    turns++
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  const asked = { callerId: 'p', denial: undefined, scopeKeys: ['/'], facts, touchesOwn: false }
  const found = await explain(asked, grants, roles)
  clearImmediate(counting)
  assert.equal(found.decision, 'NotAllowed')
  assert.ok(turns > 2, `${turns} turns`)
})
