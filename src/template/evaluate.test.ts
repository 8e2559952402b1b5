/**
 * How expressions are evaluated: members, laziness, lambdas and user functions, positions of failures, and limits
 * of cost.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { evaluate } from './evaluate.ts'
import { EvaluationQuota } from './evaluation-quota.ts'
import { parseExpression } from './expression.ts'
import { ExpressionScope } from './expression-scope.ts'
import type { Json } from './plan.ts'
import { EvaluationError, Unanswered, type UserFunction } from './scope.ts'
import { contextOf } from './testing/answering-scope.ts'
import { problemsOf, template } from './testing/context.ts'

class WithFunctions extends ExpressionScope {
  readonly quota = new EvaluationQuota()

  constructor(parameters: { readonly [name: string]: Json } = {}) {
    super({ context: contextOf(), parameters })
  }

  override userFunction(namespace = '', name = ''): UserFunction | undefined {
    if (`${namespace}.${name}`.toLowerCase() !== 'my.join') return undefined
    return { parameters: ['a', 'b'], call: (values) => values.map(String).join('+') }
  }

  override reference(): Json {
    throw new Unanswered()
  }
}

function run(text: string, scope = new WithFunctions()): Json {
  return JSON.parse(JSON.stringify(evaluate(parseExpression(text), scope)))
}

function failure(text: string, scope = new WithFunctions()): EvaluationError {
  try {
    return assert.fail(`${text} gave ${JSON.stringify(run(text, scope)).slice(0, 200)}`)
  } catch (error) {
    if (error instanceof EvaluationError) return error
    throw error
  }
}

describe('members', () => {
  const o = `json('{"a": {"B": [1, null, {"c": 3}]}, "n": null, "A": "exact"}')`
  const values: readonly (readonly [string, Json])[] = [
    [`${o}.a.b[2].C`, 3],
    [`${o}['A']`, 'exact'],
    [`${o}.N`, null],
    [`${o}.a.b[1]`, null],
    [`${o}.?missing`, null],
    [`${o}.?missing.?deeper[?0]`, null],
    // What follows is not evaluated.
    [`${o}.?missing.x[fail('y')]`, null],
    ['null().?missing.x', null],
    [`${o}.a.b[?7]`, null],
    [`${o}[?concat('a', '')].b[0]`, 1],
    [`${o}[if(true(), 'a', fail('x'))].b[sub(1, 1)]`, 1],
    [`${o}.?constructor`, null],
    [`${o}[?'__proto__']`, null],
    [`createArray(1)[?0]`, 1],
    ['resourceGroup().?toString', null],
  ]
  for (const [text, expected] of values) {
    test(text, () => assert.deepEqual(run(text), expected))
  }

  const refusals: readonly (readonly [string, RegExp])[] = [
    [`${o}.missing`, /no property 'missing'; it has 'a', 'n', 'A'/],
    [`${o}.constructor`, /no property 'constructor'/],
    [`${o}['__proto__']`, /no property '__proto__'/],
    ['createObject().x', /it has none/],
    [`${o}.n.x`, /null has no properties/],
    [`${o}[0]`, /named by a string/],
    [`${o}.a.b['x']`, /named by an integer/],
    [`${o}.a.b[?'x']`, /named by an integer/],
    [`${o}.a.b[3]`, /3 elements, none at 3/],
    [`${o}.a.b[-1]`, /none at -1/],
    ["concat('abc')[0]", /a string has no properties/],
    ["concat('abc').length", /a string has no properties/],
    ['resourceGroup().toString', /no property 'toString'/],
  ]
  for (const [text, expected] of refusals) {
    test(`refuses ${text}`, () => assert.match(failure(text).message, expected))
  }
})

test('user functions take exactly their arguments, in any case of the name', () => {
  assert.equal(run("MY.Join('a', add(1, 1))"), 'a+2')
  assert.match(failure("my.join('a')").message, /my\.join\(\) takes 2 arguments, not 1/)
  assert.match(failure("my.other('a')").message, /'my\.other' is not declared/)
  assert.match(failure("my.concat('a')").message, /not declared/)
})

test('a failure tells where in the text the function stands that failed', () => {
  const places: readonly (readonly [string, number])[] = [
    ["concat('a', div(1, 0))", 12],
    ["concat('a', add('x', div(1, 1)))", 12],
    ["  nothing('x')", 2],
    ["concat('a', resourceGroup().none)", 27],
    ["if(true(), parameters('gone'), 1)", 11],
    ["map(createArray(1), lambda('x', div(lambdaVariables('x'), 0)))", 32],
    ["map(createArray(1, 2), 'x')", 23],
    ['concat(substring())', 7],
    ["concat('a', mul(9007199254740993, 9007199254740993))", 12],
    ["concat('a', my.none())", 12],
  ]
  for (const [text, at] of places) {
    const error = failure(text)
    assert.equal(error.at, at, `${text}: ${error.message}`)
  }
})

test('what is not a failure of the expression goes through as it is', () => {
  assert.throws(() => run("concat(reference('x').y)"), Unanswered)
  assert.equal(run("if(false(), reference('x'), 'no')"), 'no')
})

describe('what it may cost', () => {
  test('values that are nested too deeply to be followed are refused', () => {
    const nested = "reduce(range(0, 10000), 1, lambda('a', 'i', createArray(lambdaVariables('a'))))"
    for (const text of [`string(${nested})`, `equals(${nested}, ${nested})`]) {
      assert.match(failure(text).message, /nested too deeply/)
    }
    const large = { outputs: { o: { type: 'array', value: `[${nested}]` } } }
    assert.match(problemsOf(template(large)).join(), /nests at most 128 deep/)
    const resource = { type: 'Vendor.A/b', apiVersion: '1', name: 'x', properties: `[${nested}]` }
    assert.match(problemsOf(template({ resources: [resource] })).join(), /nests at most 128 deep/)
  })

  const doubled = (times: number, how: string): string =>
    `length(reduce(range(0, ${times}), ${how === 'concat' ? "'x'" : 'createArray(1)'}, lambda('a', 'i', ${how}(lambdaVariables('a'), lambdaVariables('a')))))`
  const costly: readonly string[] = [
    doubled(40, 'concat'),
    "length(map(range(0, 10000), lambda('a', map(range(0, 10000), lambda('b', 1)))))",
    "length(map(range(0, 10000), lambda('a', padLeft('x', 4000000))))",
    "length(map(range(0, 10000), lambda('a', range(0, 10000))))",
    // Shared parts are cheap to keep, and must not be expensive to compare or to write.
    "equals(reduce(range(0, 60), 1, lambda('a', 'i', createArray(lambdaVariables('a'), lambdaVariables('a')))), reduce(range(0, 60), 1, lambda('a', 'i', createArray(lambdaVariables('a'), lambdaVariables('a')))))",
    "length(string(reduce(range(0, 60), 1, lambda('a', 'i', createArray(lambdaVariables('a'), lambdaVariables('a'))))))",
    "length(union(createArray(reduce(range(0, 60), 1, lambda('a', 'i', createArray(lambdaVariables('a'), lambdaVariables('a'))))), createArray(1)))",
    "length(map(range(0, 10000), lambda('a', indexOf(padLeft('', 1000000), 'x'))))",
    "length(map(range(0, 10000), lambda('a', uniqueString(padLeft('', 100000)))))",
    "length(map(range(0, 10000), lambda('a', sort(range(0, 10000), lambda('x', 'y', less(lambdaVariables('y'), lambdaVariables('x')))))))",
    "length(map(range(0, 10000), lambda('a', replace(padLeft('', 2000, 'x'), 'x', padLeft('', 2000)))))",
    "length(map(range(0, 10000), lambda('a', split(padLeft('', 1000000, ','), createArray(',', ';')))))",
  ]
  for (const text of costly) {
    test(`refuses ${text.slice(0, 90)}`, () => {
      assert.match(failure(text).message, /more (?:steps )?than|has at most/)
    })
  }

  // A search that compares each place anew cannot be ended from outside: this file would not end.
  test('a long text is looked for in a time that the lengths bound', () => {
    const half = "padLeft('', 500000, 'a')"
    const text = `concat(${half}, ${half}, ${half})`
    const part = `concat(${half}, 'b', ${half})`
    const results: readonly (readonly [string, Json])[] = [
      [`contains(${text}, ${part})`, false],
      [`indexOf(${text}, ${part})`, -1],
      [`lastIndexOf(${text}, ${part})`, -1],
      [`length(replace(${text}, ${part}, 'x'))`, 1_500_000],
      [`length(split(${text}, ${part}))`, 1],
      [`like(${text}, concat('*', ${part}, '*'))`, false],
    ]
    for (const [expression, result] of results) assert.equal(run(expression), result)
  })

  test('what a template really does is far from the bounds', () => {
    const text =
      "length(map(range(0, 10000), lambda('i', format('{0}-{1:D5}', toLower('ABC'), lambdaVariables('i')))))"
    assert.equal(run(text), 10_000)
  })

  test('all expressions of one scope share its budget', () => {
    const scope = new WithFunctions()
    const text = "length(map(range(0, 10000), lambda('a', range(0, 100))))"
    let done = 0
    assert.match(
      failure(`length(map(range(0, 10000), lambda('x', ${text})))`, scope).message,
      /than/,
    )
    assert.throws(() => {
      for (; done < 100; done += 1) run(text, scope)
    }, EvaluationError)
    assert.equal(done, 0)
  })
})
