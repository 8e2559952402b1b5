/** The common catalogue: every entry can be created, and refusals carry their arguments. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, commonErrors, defineErrors, type refuse, refuseProblems } from './error.ts'

function parametersOf(template: string): readonly string[] {
  return [...template.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string) // the one group
}

test('every entry of the common catalogue is complete and can be filled', () => {
  for (const [code, entry] of Object.entries(commonErrors.entries)) {
    assert.match(code, /^[A-Z][A-Za-z]+$/)
    assert.ok(Number.isInteger(entry.status) && entry.status >= 400 && entry.status < 600, code)
    assert.match(entry.advice, /^(User|Operator): /, code)
    assert.doesNotMatch(entry.message, /\{\W|\{\}|undefined/, code)
    const values = parametersOf(entry.message).map((name) => [name, `<${name}>`])
    // The keys are those of the entries.
    const made = commonErrors.refuse[code as keyof typeof refuse](Object.fromEntries(values))
    assert.ok(made instanceof ApiError)
    assert.equal(made.code, code)
    assert.equal(made.status, entry.status)
    assert.doesNotMatch(made.message, /[{}]/, code)
    for (const [name] of values) assert.ok(made.message.includes(`<${name}>`), `${code} ${name}`)
  }
})

test('templates are filled with what was given, as it is', () => {
  const { refuse: say } = defineErrors({
    Odd: { status: 418, message: '{a} then {b}, {a} again, {missing} stays', advice: 'User: no.' },
  })
  assert.equal(say.Odd({ a: '$&{b}', b: 0 }).message, '$&{b} then 0, $&{b} again, {missing} stays')
  assert.equal(say.Odd().message, '{a} then {b}, {a} again, {missing} stays')
  assert.equal(
    defineErrors({ X: { status: 400, message: '{toString}', advice: '' } }).refuse.X().message,
    '{toString}',
  )
  const extra = { target: 'name', headers: { 'Retry-After': '5' } }
  assert.deepEqual(say.Odd({}, extra).extra, extra)
  assert.equal(say.Odd().status, 418)
})

test('problems of a body become one refusal that names each of them', () => {
  const one = refuseProblems([{ path: 'properties.a', message: 'expected a string' }])
  assert.equal(one.code, 'InvalidRequestContent')
  assert.equal(one.status, 400)
  assert.equal(one.message, 'properties.a: expected a string')
  assert.equal(one.extra.target, 'properties.a')

  const coded = refuseProblems([{ path: '', message: 'expected an object', code: 'OwnCode' }])
  assert.equal(coded.code, 'OwnCode')
  assert.equal(coded.message, 'body: expected an object')

  const problems = ['a', 'b', 'c', 'd'].map((path) => ({ path, message: `no ${path}` }))
  const many = refuseProblems(problems)
  assert.equal(many.code, 'InvalidRequestContent')
  assert.equal(
    many.message,
    'The request content is invalid: 4 properties are wrong. a: no a; b: no b; c: no c; …',
  )
  assert.deepEqual(
    many.extra.details?.map((detail) => detail.target),
    ['a', 'b', 'c', 'd'],
  )
  assert.ok(many.extra.details?.every((detail) => detail.code === 'InvalidRequestContent'))

  assert.throws(() => refuseProblems([]), /at least one/)
})
