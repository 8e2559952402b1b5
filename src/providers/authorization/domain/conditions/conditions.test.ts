import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { contractWords } from '#kernel/vendor.ts'
import { noAttributes } from '#plane/access.ts'
import { defaultAuthorizationLimits } from '../limits.ts'
import { type ConditionFacts, compileCondition, type Truth } from './condition.ts'
import { like as likeIn } from './like.ts'
import { parseCondition } from './parse.ts'
import { createConditionReader } from './read.ts'
import { createSteps } from './steps.ts'

const facts: ConditionFacts = {
  action: 'vendor.authorization/roleassignments/write',
  principal: new Map([['team_name', ['blue', 'red']]]),
  // A Saturday, a quarter to nine in the evening.
  now: Date.UTC(2026, 0, 31, 20, 45),
  request: new Map<string, string>([
    ['vendor.authorization/roleassignments:principaltype', 'ServicePrincipal'],
    [
      'vendor.authorization/roleassignments:roledefinitionid',
      '00000000-0000-4000-8000-00000000000a',
    ],
  ]),
  resource: new Map<string, string | number>([
    ['vendor.x/things/tags:env', 'Dev'],
    ['vendor.x/things/tags:Env<$key_case_sensitive$>', 'Dev'],
    ['vendor.x/things:size', 7],
    ['vendor.x/things:name', 'PROD'],
    ['vendor.x/things:type', 'Vendor.X/THINGS'],
    ['vendor.x/things/tags:name', 'PROD'],
  ]),
  steps: { left: Number.POSITIVE_INFINITY },
}

function evaluate(text: string, given: ConditionFacts = facts): Truth {
  const parsed = parseCondition(text, contractWords, defaultAuthorizationLimits)
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.message)
  return compileCondition(parsed.node)(given)
}

const role = '@Request[Vendor.Authorization/roleAssignments:RoleDefinitionId]'
const type = '@Request[Vendor.Authorization/roleAssignments:PrincipalType]'
const team = '@Principal[Vendor.Directory/CustomSecurityAttributes/Id:Team_Name]'

const table: readonly (readonly [text: string, expected: boolean])[] = [
  // The value sets of facts 2.7.
  ["{'red','blue'} ForAnyOfAnyValues:StringEquals {'blue','green'}", true],
  ['{10,20} ForAnyOfAllValues:NumericLessThan {15,18}', true],
  ['{10,20} ForAllOfAllValues:NumericLessThan {5,15,18}', false],
  ['{10,20} ForAllOfAllValues:NumericLessThan {25,30}', true],
  ['{10,20} ForAllOfAllValues:NumericLessThan {15,25,30}', false],
  ['{10,20} ForAllOfAnyValues:NumericLessThan {15,18}', false],
  // Actions.
  ["ActionMatches{'Vendor.Authorization/roleAssignments/write'}", true],
  ["ActionMatches{'Vendor.Authorization/*'}", true],
  ["ActionMatches{'*/read', '*/WRITE'}", true],
  ["ActionMatches{'*/read'}", false],
  ["SubOperationMatches{'Blob.List'}", false],
  ["@Request[subOperation] ForAnyOfAnyValues:StringEqualsIgnoreCase {'Blob.List'}", false],
  // Delegation.
  [`${role} ForAnyOfAnyValues:GuidEquals {00000000-0000-4000-8000-00000000000A}`, true],
  [`${role} ForAnyOfAllValues:GuidNotEquals {00000000-0000-4000-8000-00000000000A}`, false],
  [`${role} GuidEquals '00000000-0000-4000-8000-00000000000a'`, true],
  [`${type} StringEqualsIgnoreCase 'serviceprincipal'`, true],
  [`${type} stringequals 'serviceprincipal'`, false],
  // Words in any case, symbols instead of words.
  [`not ${type} StringEquals 'User' && exists ${role}`, true],
  [`!(${type} StringEquals 'User') || false BoolEquals true`, true],
  // A missing attribute is false, and its negation true.
  ["@Resource[Vendor.X/things:colour] StringEquals 'red'", false],
  ["@Resource[Vendor.X/things:colour] StringNotEquals 'red'", false],
  ["!(@Resource[Vendor.X/things:colour] StringEquals 'red')", true],
  ['Exists @Resource[Vendor.X/things:colour]', false],
  ['Exists @Resource[Vendor.X/things:size]', true],
  // A value of another type matches nothing.
  ["@Resource[Vendor.X/things:size] StringEquals '7'", false],
  ['@Resource[Vendor.X/things:size] NumericGreaterThanEquals 7', true],
  // Names and types are compared as ids are, in any case. A tag that is called so is not.
  ["@Resource[Vendor.X/things:name] StringNotEquals 'prod'", false],
  ["'prod' StringEquals @Resource[Vendor.X/things:Name]", true],
  ["@Resource[Vendor.X/things:name] ForAnyOfAnyValues:StringLike {'Pro*'}", true],
  ["@Resource[Vendor.X/things:type] StringNotEquals 'Vendor.X/things'", false],
  ["@Resource[Vendor.X/things/tags:name] StringNotEquals 'prod'", true],
  // Tags.
  ["@Resource[Vendor.X/things/tags:ENV] StringEquals 'Dev'", true],
  ["@Resource[Vendor.X/things/tags:Env<$key_case_sensitive$>] StringEquals 'Dev'", true],
  ["@Resource[Vendor.X/things/tags:ENV<$key_case_sensitive$>] StringEquals 'Dev'", false],
  ["@Resource[Vendor.X/things/tags:env] StringStartsWithIgnoreCase 'de'", true],
  // Sets of the caller. Without a prefix, a set of two is no single value.
  [`${team} ForAnyOfAnyValues:StringEquals {'red'}`, true],
  [`${team} ForAllOfAnyValues:StringEquals {'red'}`, false],
  [`${team} StringEquals 'red'`, false],
  // Time.
  ["@Environment[UtcNow] DateTimeGreaterThan '2026-01-31T20:44:59.9999999Z'", true],
  ["@Environment[UtcNow] DateTimeLessThan '2026-01-31T20:45:00.0Z'", false],
  ['@Environment[UtcHour] NumericEquals 20 AND @Environment[UtcWeekday] NumericEquals 6', true],
  ['@Environment[isPrivateLink] BoolEquals false', true],
  // Parentheses.
  ["(1 NumericEquals 1 AND 'a' StringEquals 'b') OR 2 NumericEquals 2", true],
  ["1 NumericEquals 2 AND ('a' StringEquals 'b' OR 2 NumericEquals 2)", false],
]

for (const [text, expected] of table) {
  test(`${text} is ${expected}`, () => assert.equal(evaluate(text), expected))
}

test('what nobody has looked at leaves the answer open, unless the rest decides it', () => {
  const ahead: ConditionFacts = {
    ...facts,
    now: 'unknown',
    request: 'unknown',
    resource: 'unknown',
  }
  const open = `${type} StringEquals 'User'`
  assert.equal(evaluate(open, ahead), undefined)
  assert.equal(evaluate(`!(${open})`, ahead), undefined)
  assert.equal(evaluate(`Exists ${role}`, ahead), undefined)
  assert.equal(
    evaluate("@Environment[UtcNow] DateTimeLessThan '2026-01-31T00:00:00Z'", ahead),
    undefined,
  )
  assert.equal(evaluate(`!(ActionMatches{'*/read'}) OR ${open}`, ahead), true)
  assert.equal(evaluate(`ActionMatches{'*/read'} AND ${open}`, ahead), false)
  // Whether it is missing is known in time, without guessing.
  assert.equal(evaluate(`!(${open})`, { ...ahead, request: noAttributes }), true)
})

interface Refused {
  readonly text: string
  readonly line?: number
  readonly column: number
  readonly expected: RegExp
}

const refused: readonly Refused[] = [
  { text: '', column: 1, expected: /an expression/ },
  { text: '()', column: 2, expected: /an expression/ },
  { text: "a StringEquals 'b'", column: 1, expected: /an expression/ },
  { text: "'a' StringEquals", column: 17, expected: /an attribute, a value or a set/ },
  { text: "'a' StringSimilar 'b'", column: 5, expected: /an operator/ },
  { text: "('a' StringEquals 'b'", column: 22, expected: /"\)"/ },
  { text: "'a' StringEquals 'b' 'c'", column: 22, expected: /AND, OR or the end/ },
  { text: "'a' StringEquals 'b", column: 18, expected: /ends with a quote/ },
  { text: "'a' StringEquals 1", column: 18, expected: /a string in quotes/ },
  { text: "1 NumericEquals 'a'", column: 17, expected: /a whole number/ },
  { text: '1 NumericEquals 1.5', column: 17, expected: /an expression|a value/ },
  { text: "true BoolEquals 'true'", column: 17, expected: /true or false/ },
  { text: `${role} GuidEquals 'reader'`, column: 76, expected: /a GUID/ },
  { text: `${role} StringEquals 'reader'`, column: 65, expected: /GuidEquals/ },
  {
    text: `${type} GuidEquals 00000000-0000-4000-8000-000000000001`,
    column: 62,
    expected: /strings/,
  },
  { text: "{'a'} StringEquals 'a'", column: 1, expected: /a prefix/ },
  {
    text: "{'a'} ForAnyOfAnyValues:StringStartsWith {'a'}",
    column: 7,
    expected: /without a prefix/,
  },
  { text: "{} ForAnyOfAnyValues:StringEquals {'a'}", column: 2, expected: /a value/ },
  { text: "@Other[Vendor.X/y:z] StringEquals 'a'", column: 1, expected: /@Resource/ },
  { text: "@Resource[size] StringEquals 'a'", column: 11, expected: /\{type\}:\{attribute\}/ },
  { text: "@Environment[Now] StringEquals 'a'", column: 14, expected: /UtcNow/ },
  { text: "@Principal[name] StringEquals 'a'", column: 12, expected: /CustomSecurityAttributes/ },
  {
    text: "@Request[Vendor.Authorization/roleAssignments:Role] StringEquals 'a'",
    column: 10,
    expected: /RoleDefinitionId/,
  },
  { text: 'ActionMatches{1}', column: 15, expected: /an action in quotes/ },
  { text: "'a'\n  StringEquals\n  #", line: 3, column: 3, expected: /expression/ },
  {
    text: '1 NumericEquals 1 AND 2 NumericEquals 2 OR 3 NumericEquals 3',
    column: 41,
    expected: /parentheses/,
  },
  {
    text: "@Environment[UtcNow] DateTimeEquals '2026-02-30T00:00:00Z'",
    column: 37,
    expected: /a time/,
  },
  { text: '!!true BoolEquals true', column: 2, expected: /an expression/ },
]

describe('refused, with the place and what was expected', () => {
  for (const { text, line = 1, column, expected } of refused) {
    test(JSON.stringify(text), () => {
      const result = parseCondition(text, contractWords, defaultAuthorizationLimits)
      assert.ok(!result.ok, 'it was read')
      assert.deepEqual([result.line, result.column], [line, column], result.message)
      assert.match(result.expected, expected)
    })
  }
})

test('depth, nodes and length are bounded, and refused where the bound is met', () => {
  const read = (text: string) => parseCondition(text, contractWords, defaultAuthorizationLimits)
  const one = 'true BoolEquals true'
  assert.ok(read('('.repeat(64) + one + ')'.repeat(64)).ok)
  const deep = read('('.repeat(4000) + one + ')'.repeat(4000))
  assert.equal(deep.ok ? 0 : deep.column, 65)
  const deepNot = read(`${'!('.repeat(2700)}${one}${')'.repeat(2700)}`)
  assert.ok(!deepNot.ok)
  const wide = read(`1 ForAnyOfAnyValues:NumericEquals {${'1,'.repeat(3000)}1}`)
  assert.match(wide.ok ? '' : wide.expected, /2000/)
  assert.match(mustRefuse(`${one}${' '.repeat(9000)}`), /8192/)
  function mustRefuse(text: string): string {
    const result = read(text)
    return result.ok ? '' : result.expected
  }
})

test('patterns of StringLike', () => {
  const like = (text: string, pattern: string) => likeIn(text, pattern, facts.steps)
  assert.ok(like('abc', 'a*') && like('abc', '*c') && like('abc', 'a?c') && like('', '*'))
  assert.ok(like('a*c', 'a\\*c') && !like('abc', 'a\\*c') && like('a\\c', 'a\\\\c'))
  assert.ok(!like('abc', 'a?') && !like('', '?') && like('aXbXc', 'a*b*c'))
  // A pattern on which a backtracking matcher would never finish.
  assert.ok(!like('a'.repeat(3000), `${'*a'.repeat(60)}b`))
})

test('a condition is compiled when it is evaluated, and texts beyond a bound are forgotten again', () => {
  let read = 0
  const limits = {
    ...defaultAuthorizationLimits,
    get conditionDepthMax() {
      read++
      return defaultAuthorizationLimits.conditionDepthMax
    },
  }
  const readCondition = createConditionReader(contractWords, limits)
  const long = ` or ('${'x'.repeat(8000)}' StringEquals 'b')`
  const all = Array.from({ length: 300 }, (_, at) =>
    readCondition({ condition: `('${at}' StringEquals 'a')${long}`, conditionVersion: '2.0' }),
  )
  assert.equal(read, 0)
  const [first] = all
  assert.equal(first?.(facts), false)
  const once = read
  assert.ok(once > 0)
  assert.equal(first?.(facts), false)
  assert.equal(read, once)
  for (const one of all) one?.(facts)
  const before = read
  first?.(facts)
  assert.equal(read - before, once)
})

describe('conditions that take long never hold', () => {
  const members = (text: string) => `{${Array(500).fill(`'${text}'`).join(',')}}`
  const pairs = `${members('a')} ForAnyOfAnyValues:StringLike ${members('b')}`
  const tag = '@Resource[Vendor.X/things/tags:long]'
  const patterns = `${tag} ForAnyOfAnyValues:StringLike {${Array(30)
    .fill(`'*${'a'.repeat(100)}b'`)
    .join(',')}}`
  const long = { ...facts, resource: new Map([['vendor.x/things/tags:long', 'a'.repeat(256)]]) }
  const readCondition = createConditionReader(contractWords, defaultAuthorizationLimits)
  const read = (condition: string) => readCondition({ condition, conditionVersion: '2.0' })

  for (const [name, text] of Object.entries({ pairs, patterns })) {
    test(`${name}, negated too`, () => {
      assert.equal(read(`!(${text})`)?.({ ...long, steps: createSteps() }), false)
      assert.equal(read(`!(${text})`)?.(long), true)
    })
  }

  test('all conditions of a decision together', () => {
    const steps = createSteps()
    const text = `('a' StringEquals 'a')${' '.repeat(8000)}`
    const held = Array.from({ length: 9 }, () => read(text)?.({ ...facts, steps }))
    assert.deepEqual(held, [...Array(8).fill(true), false])
  })
})
