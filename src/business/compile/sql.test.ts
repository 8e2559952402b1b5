/** The length of a statement grows with its filter: what is written twice would double with each function around it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseFilter } from '#kernel/filter/parse.ts'
import { businessModel } from '../model.ts'
import { checkFilter } from './check.ts'
import { businessProfile } from './functions.ts'
import { rootSource } from './paths.ts'
import { SqlWriter } from './sql.ts'

const dialects = ['sqlite', 'postgres'] as const

function lengthOf(filter: string, dialect: (typeof dialects)[number]): number {
  const parsed = parseFilter(filter, businessProfile)
  const entity = businessModel.find('customers', 'v2.0')
  assert.ok(parsed.ok && entity)
  const expression = checkFilter(parsed.node, rootSource(entity, 'v2.0'), businessModel)
  const { text } = new SqlWriter({ dialect, clock: { now: () => 0 } }).condition(expression)
  return text.length
}

/** `form` around `inner` so many times. */
function around(times: number, inner: string, form: (inner: string) => string): string {
  return times === 0 ? inner : form(around(times - 1, inner, form))
}

test('what a filter holds again and again is written in a statement whose length is bounded', () => {
  for (const dialect of dialects) {
    const lists = around(12, "(city eq 'x')", (inner) => `(${inner} in (true,false,null))`)
    assert.ok(lengthOf(lists, dialect) < 2_000)
    const rounded = (times: number) =>
      `${around(times, 'balanceDue', (inner) => `round(${inner})`)} eq 7`
    assert.ok(lengthOf(rounded(8), dialect) < 50_000)
    assert.throws(() => lengthOf(rounded(9), dialect), { status: 400, message: /at most 8/ })
  }
})
