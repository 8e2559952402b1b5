/** A role of thousands of actions is looked through once for each action, however many scopes are asked about. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compilePermissions } from './model.ts'

/** How often the runtime looks where a text ends, which each pattern with a star does first or second. */
function looksDuring(work: () => void): number {
  let looks = 0
  const { startsWith } = String.prototype
  String.prototype.startsWith = function counted(...given) {
    looks++
    return startsWith.apply(this, given)
  }
  try {
    work()
  } finally {
    String.prototype.startsWith = startsWith
  }
  return looks
}

test('patterns are compared with the same action once', () => {
  const actions = Array.from({ length: 2_000 }, (_, at) => `Vendor.X${at}/*/read`)
  const notActions = actions.map((action) => action.replace('read', 'write'))
  const { actions: allows } = compilePermissions([
    { actions, notActions, dataActions: [], notDataActions: [] },
  ])
  const asked = Array.from({ length: 50 }, (_, at) => `vendor.web/sites${at}/longer/read`)
  const compared = looksDuring(() => {
    for (const action of asked) assert.equal(allows(action), false)
  })
  assert.ok(compared >= asked.length * actions.length)
  const again = looksDuring(() => {
    for (const action of asked) assert.equal(allows(action), false)
  })
  assert.equal(again, 0)
  assert.equal(allows('vendor.x7/sites/read'), true)
  // Those that are remembered are bounded.
  const many = Array.from({ length: 200 }, (_, at) => `vendor.x${at}/sites/read`)
  for (const action of [...many, ...many]) assert.equal(allows(action), true)
})
