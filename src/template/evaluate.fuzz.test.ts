/** Any expression gives a value, or a refusal with its position. No fault, no endless work, no prototype. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../tests/property.ts'
import { evaluate } from './evaluate.ts'
import { ExpressionError, parseExpression } from './expression.ts'
import { functionCatalogue } from './functions/catalogue.ts'
import type { Json } from './plan.ts'
import { EvaluationError } from './scope.ts'
import { AnsweringScope } from './testing/answering-scope.ts'

const runs = process.env['ARMATURE_TEST_LONG'] === '1' ? 200_000 : 3_000
const names = functionCatalogue.map((one) => one.name.replace('*', 'Keys'))
const words = [
  "'a'",
  "'__proto__'",
  "'constructor'",
  "''",
  "'{0,5:X}{1}'",
  "'10.0.0.0/8'",
  "'2020-04-07T14:53:14Z'",
  "'P1D'",
  "'Vendor.A/b'",
  '\'{"__proto__": {"x": [1]}}\'',
  "'http://a.b/c?d'",
  "'b25l'",
  "'😀'",
  '0',
  '1',
  '-1',
  '3',
  '10000',
  '9007199254740991',
  '9223372036854775807',
  'null()',
  'true()',
  "parameters('object')",
  "variables('list')",
  "lambda('a', lambdaVariables('a'))",
  "lambda('a', 'b', createArray(lambdaVariables('a'), lambdaVariables('b')))",
  "lambda('a', 'b', true())",
]

const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    { weight: 2, arbitrary: fc.constantFrom(...words) },
    {
      weight: 5,
      arbitrary: fc
        .tuple(fc.constantFrom(...names), fc.array(tie('expression'), { maxLength: 4 }))
        .map(([name, values]) => `${name}(${values.join(', ')})`),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          tie('expression'),
          fc.constantFrom('.a', '.?b', '.__proto__', '.constructor', "['x']", '[0]', '[?1]'),
        )
        .map(([of, link]) => `createArray(${of})[0]${link}`),
    },
  ),
}))

function outcome(text: string): Json | undefined {
  try {
    return evaluate(parseExpression(text), new AnsweringScope())
  } catch (error) {
    if (error instanceof EvaluationError) {
      assert.ok(error.at !== undefined && error.at >= 0 && error.at < text.length, text)
      assert.notEqual(error.message, '')
    } else if (!(error instanceof ExpressionError)) {
      throw new Error(`${text}\n${error instanceof Error ? error.stack : String(error)}`)
    }
    return undefined
  }
}

/** Plain data at every level: others use the results as JSON. */
function assertData(value: Json, seen: Set<object>): void {
  if (typeof value === 'number') assert.ok(Number.isFinite(value))
  if (typeof value !== 'object' || value === null || seen.has(value)) return
  seen.add(value)
  for (const one of Object.values(value)) {
    assert.notEqual(one, undefined)
    assert.notEqual(typeof one, 'function')
    assertData(one, seen)
  }
}

test('any expression: data, or a refusal with its place', () => {
  const before = Object.keys(Object.prototype).length
  let valued = 0
  fc.assert(
    fc.property(expression, (text) => {
      const value = outcome(text)
      if (value === undefined) return
      valued += 1
      assertData(value, new Set())
    }),
    { numRuns: runs },
  )
  assert.equal(Object.keys(Object.prototype).length, before)
  assert.ok(valued > runs / 50, `only ${valued} of ${runs} had a value`)
})

test('any text: data, or a refusal with its place', () => {
  const pieces = ["'", '(', ')', '[', ']', '.', '?', ',', ' ', 'concat', 'a', '0', '{', '😀', '\n']
  const soup = fc
    .array(fc.constantFrom(...pieces), { maxLength: 30 })
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(soup, (text) => {
      outcome(text)
    }),
    { numRuns: runs },
  )
})
