/** What the picker of the scope offers: management groups with what lies in them, as far as one may read. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scopesOf, subscriptionsIn } from '../../console/src/app/scopes.ts'

const groups = '/providers/Vendor.Management/managementGroups'
const group = (name: string, parent: string) => ({
  id: `${groups}/${name}`,
  name,
  type: 'Vendor.Management/managementGroups',
  properties: { displayName: `The ${name}`, parent: { id: `${groups}/${parent}` } },
})
const placed = (name: string, parent: string) => ({
  id: `/subscriptions/${name}`,
  name,
  type: '/subscriptions',
  properties: { displayName: name, parent: { id: `${groups}/${parent}` } },
})
const subscription = (name: string) => ({ subscriptionId: name, displayName: `Sub ${name}` })
const all = ['a', 'b', 'c'].map(subscription)

test('groups stand above what lies in them; one without a subscription to look at is left out', () => {
  const entities = [
    ...[group('outer', 'tenant'), group('INNER', 'outer'), group('empty', 'tenant')],
    ...[placed('a', 'inner'), placed('b', 'tenant')],
  ]
  // Of c, somebody with a role in one of its groups is not told where it lies.
  assert.deepEqual(
    scopesOf(all, entities).map(({ name, level }) => `${level} ${name}`),
    ['0 ', '1 The outer', '2 The INNER', '3 Sub a', '1 Sub b', '1 Sub c'],
  )
  const names = (scope: string) =>
    subscriptionsIn(all, entities, scope).map((one) => one.subscriptionId)
  assert.deepEqual(names('all'), ['a', 'b', 'c'])
  assert.deepEqual(names(`${groups}/outer`), ['a'])
  assert.deepEqual(names(`${groups}/inner`), ['a'])
  assert.deepEqual(names(`${groups}/gone`), [])
})

test('a group whose own group may not be read stands at the top', () => {
  const entities = [group('inner', 'hidden'), placed('a', 'inner')]
  assert.deepEqual(
    scopesOf(all.slice(0, 1), entities).map(({ name, level }) => `${level} ${name}`),
    ['0 ', '1 The inner', '2 Sub a'],
  )
})

test('with one subscription and no group there is nothing to choose', () => {
  assert.equal(scopesOf(all.slice(0, 1), [placed('a', 'tenant')]).length, 1)
  assert.deepEqual(scopesOf([], []), [])
})

test('a circle ends', () => {
  const circle = [group('one', 'two'), group('two', 'one'), placed('a', 'one')]
  assert.deepEqual(scopesOf(all.slice(0, 1), circle), [])
  assert.deepEqual(subscriptionsIn(all, circle, `${groups}/none`), [])
})
