/** The length of a statement grows with its filter: what is written twice would double with each function around it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseFilter } from '#kernel/filter/parse.ts'
import { businessModel } from '../model.ts'
import { checkFilter } from './check.ts'
import { businessProfile, filterFunctions } from './functions.ts'
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

/** Each with a place for what is within it, of the type that it gives itself. */
const within: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['add', 'sub', 'mul', 'div', 'divby', 'mod'].flatMap((operator) => [
      [`${operator}, left`, `(# ${operator} 7)`],
      [`${operator}, right`, `(7 ${operator} #)`],
    ]),
  ),
  round: 'round(#)',
  floor: 'floor(#)',
  ceiling: 'ceiling(#)',
  minus: '-(#)',
}
const withinText: Readonly<Record<string, string>> = {
  tolower: 'tolower(#)',
  toupper: 'toupper(#)',
  trim: 'trim(#)',
  'concat, left': "concat(#,'x')",
  'concat, right': "concat('x',#)",
  substring: 'substring(#,1)',
  'substring, both': 'substring(#,1,2)',
  'substring, from': 'substring(city,length(#))',
  'substring, length': 'substring(city,1,length(#))',
  'substring, indexof': "substring(city,indexof(#,'x'))",
  'substring, in indexof': 'substring(city,indexof(city,#))',
}
const withinCondition: Readonly<Record<string, string>> = {
  not: 'not (#)',
  in: '((#) in (true,null))',
  eq: '((#) eq true)',
  ne: '((#) ne null)',
  and: "((#) and city ne 'x')",
  or: "((#) or city ne 'x')",
}
/** Nothing of their own type can be within them. */
const outermost = ['contains', 'startswith', 'endswith', 'length', 'indexof']
const ofMoments = ['year', 'month', 'day', 'hour', 'minute', 'second', 'date']

test('each level of a function or operator makes a statement longer by as much as the one before', () => {
  const names = Object.keys({ ...within, ...withinText }).map((name) => name.split(',')[0])
  for (const name of Object.keys(filterFunctions)) {
    assert.ok([...names, ...outermost, ...ofMoments].includes(name), name)
  }
  const all = [
    ...Object.values(within).map((form) => [form, 'agedAccountsReceivable/balanceDue', ' eq 7']),
    ...Object.values(withinText).map((form) => [form, 'city', " eq 'x'"]),
    ...Object.values(withinCondition).map((form) => [form, "city eq 'x'", '']),
  ]
  for (const dialect of dialects) {
    for (const [form = '', leaf = '', ending] of all) {
      const lengths = [2, 3, 4, 5].map((times) =>
        lengthOf(`${around(times, leaf, (inner) => form.replace('#', inner))}${ending}`, dialect),
      )
      const [two = 0, three = 0, four = 0, five = 0] = lengths
      assert.equal(four - three, three - two, `${form} ${dialect}`)
      assert.equal(five - four, three - two, `${form} ${dialect}`)
    }
  }
})

test('what cannot be within itself writes its operands a few times', () => {
  const long = `concat(city,'x')`
  const operand = around(10, long, (inner) => `concat(${inner},${long})`)
  for (const dialect of dialects) {
    const length = lengthOf(`${operand} eq 'x'`, dialect)
    for (const name of outermost) {
      const call = name === 'length' ? `length(${operand}) eq 1` : `${name}(${operand},${operand})`
      const filter = name === 'indexof' ? `${call} eq 1` : call
      assert.ok(lengthOf(filter, dialect) < 7 * length, `${name} ${dialect}`)
    }
    for (const name of ofMoments) {
      const ending = name === 'date' ? 'eq 2026-01-01' : 'eq 1'
      assert.ok(lengthOf(`${name}(lastModifiedDateTime) ${ending}`, dialect) < 300, name)
    }
  }
})
