/** Action patterns against regular expressions, and roles as sums and differences of patterns. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../tests/property.ts'
import { compileActionPattern, compilePermission } from './action.ts'

const piece = fc.constantFrom('a', 'b', 'ab', '/', '.', 'Read', 'read', '+')
const action = fc.array(piece, { maxLength: 8 }).map((parts) => parts.join(''))
const pattern = fc
  .array(fc.oneof({ arbitrary: piece, weight: 3 }, { arbitrary: fc.constant('*'), weight: 2 }), {
    maxLength: 8,
  })
  .map((parts) => parts.join(''))

function oracle(text: string): RegExp {
  const parts = text.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 'is')
}

test('a star stands for any run of characters, and case does not count', () => {
  const seen = { true: 0, false: 0 }
  fc.assert(
    fc.property(pattern, action, (text, name) => {
      const want = oracle(text).test(name)
      seen[want ? 'true' : 'false']++
      assert.equal(compileActionPattern(text)(name.toLowerCase()), want, `${text} on ${name}`)
      assert.equal(compileActionPattern(text.toUpperCase())(name.toLowerCase()), want)
    }),
    { numRuns: 5000 },
  )
  assert.ok(seen.true > 300 && seen.false > 300, JSON.stringify(seen))
})

test('patterns of real roles', () => {
  const table: readonly (readonly [string, string, boolean])[] = [
    ['*', 'vendor.web/sites/read', true],
    ['*/read', 'vendor.web/sites/read', true],
    ['*/read', 'read', false],
    ['*/read', 'vendor.web/sites/read/action', false],
    ['Vendor.Authorization/*/Write', 'vendor.authorization/roleassignments/write', true],
    ['Vendor.Authorization/*/Write', 'vendor.authorization/write', false],
    ['Vendor.Web/sites/*', 'vendor.web/sites/slots/read', true],
    ['Vendor.Web/sites/*', 'vendor.website/sites/read', false],
    ['Vendor.Web/sites/read', 'vendor.web/sites/read', true],
    ['Vendor.Web/sites/read', 'vendor.web/sites/reads', false],
    ['Vendor.Web/sites/read', 'vendorxweb/sites/read', false],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['a*b*a', 'aba', true],
    ['a*ab*b', 'aabb', true],
    ['a*ab*b', 'abb', false],
    ['', '', true],
    ['', 'a', false],
  ]
  for (const [text, name, want] of table) {
    assert.equal(compileActionPattern(text)(name), want, `${text} on ${name}`)
  }
})

test('a permission is its actions minus its notActions', () => {
  const patterns = fc.array(pattern, { maxLength: 3 })
  fc.assert(
    fc.property(patterns, patterns, action, (actions, notActions, name) => {
      const any = (list: readonly string[]): boolean => list.some((one) => oracle(one).test(name))
      assert.equal(
        compilePermission(actions, notActions)(name.toLowerCase()),
        any(actions) && !any(notActions),
      )
    }),
    { numRuns: 1000 },
  )
})

test('many stars against a long name take no long time to say no', () => {
  const never = compileActionPattern(`${'a*'.repeat(500)}b`)
  assert.equal(never('a'.repeat(20_000)), false)
})
