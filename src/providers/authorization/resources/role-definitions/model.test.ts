/** A role of thousands of actions is looked through once for each action, however many scopes are asked about. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
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
})

test('what is remembered of all roles together is bounded, whatever actions callers name', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const held = (): number => {
    collect()
    collect()
    return process.memoryUsage().heapUsed
  }
  const roles = Array.from({ length: 1_000 }, (_, at) => {
    const actions = Array.from({ length: 16 }, (_, more) => `Vendor.X${at}/${more}/read`)
    return compilePermissions([{ actions, notActions: [], dataActions: [], notDataActions: [] }])
  })
  const before = held()
  for (const [at, { actions: allows }] of roles.entries()) {
    for (let one = 0; one < 60; one++) {
      assert.equal(allows(Buffer.alloc(512, `${at} ${one} `).toString('latin1')), false)
    }
    assert.equal(allows(`vendor.x${at}/7/read`), true)
  }
  const kept = held() - before
  assert.equal(roles.length, 1_000)
  assert.ok(kept < 20 * 1024 * 1024, `${kept} bytes`)
})
