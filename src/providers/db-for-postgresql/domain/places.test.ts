/** Who has room for a migration at work: few groups and subscriptions do not take all places. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fullScope } from './places.ts'

/** How many are at work when each group of each subscription starts as many as it may. */
function started(max: number, subscriptions: number, groups: number): readonly number[] {
  let inAll = 0
  return Array.from({ length: subscriptions }, () => {
    let inSubscription = 0
    for (let group = 0; group < groups; group++) {
      let inGroup = 0
      while (fullScope({ inGroup, inSubscription, inAll }, max) === undefined) {
        inGroup++
        inSubscription++
        inAll++
      }
    }
    return inSubscription
  })
}

test('the last places are for resource groups without a migration, and for subscriptions without one', () => {
  assert.deepEqual(started(32, 1, 2), [24], 'two groups leave room')
  assert.deepEqual(started(32, 1, 40), [28], 'one subscription leaves room')
  assert.deepEqual(started(32, 9, 40), [28, 1, 1, 1, 1, 0, 0, 0, 0])
  assert.deepEqual(started(1, 2, 2), [1, 0])
  const full = fullScope({ inGroup: 0, inSubscription: 28, inAll: 28 }, 32)
  assert.equal(
    full?.reason,
    'one of 28 is at its end: the last places are for subscriptions without one',
  )
})
