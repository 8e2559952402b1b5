/** Bodies against their schemas: all problems of a usual body, the first one of a large body. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import type { Problem } from '#kernel/error.ts'
import { checkSchema } from './check.ts'

const schema = Type.Object({ name: Type.String(), count: Type.Integer() })

function problemsOf(body: unknown): readonly Problem[] {
  let found: readonly Problem[] = []
  const stopped = new Error('refused')
  assert.throws(
    () =>
      checkSchema(schema, 'refuse', body, (problems) => {
        found = problems
        throw stopped
      }),
    stopped,
  )
  return found
}

test('every problem of a body is reported at once, with its path', () => {
  assert.deepEqual(
    problemsOf({ name: 1, count: 'x', other: true })
      .map(({ path }) => path)
      .sort(),
    ['count', 'name', 'other'],
  )
})

test('of a body with very many members one problem is reported', () => {
  const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`n${at}`, 1]))
  assert.equal(problemsOf({ ...many, name: 'x', count: 1 }).length, 1)
  const deep = {
    name: 'x',
    count: 'y',
    other: Array.from({ length: 50 }, () => Array(1_000).fill(0)),
  }
  assert.equal(problemsOf(deep).length, 1)
})
