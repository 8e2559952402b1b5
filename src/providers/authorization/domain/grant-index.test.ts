import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractWords } from '#kernel/vendor.ts'
import { builtInRoles } from './built-in-roles.ts'
import { createGrantIndex } from './grant-index.ts'

test('what is placed by another row by now keeps its place when the row of before goes', () => {
  const index = createGrantIndex(builtInRoles(contractWords), () => undefined)
  const scope = '/subscriptions/s'
  for (const group of ['/a', '/b']) index.putPlacement(`${group}${scope}`, { scope, within: group })
  index.putPlacement(`/b${scope}`, { scope, within: '/b' })
  index.remove(`/a${scope}`)
  assert.equal(index.placeOf(scope), '/b')
  index.remove(`/b${scope}`)
  assert.equal(index.placeOf(scope), undefined)
})
