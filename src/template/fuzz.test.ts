/** Any template gives a plan or refusals with positions, in limited time, and never an exception. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../tests/property.ts'
import { templateLanguage } from './language.ts'
import type { JsonObject } from './plan.ts'
import type { Read } from './template.ts'
import { groupContext, noAnswers } from './testing/context.ts'

const long = process.env['ARMATURE_TEST_LONG'] === '1'

const names = fc.constantFrom(
  'a',
  'b',
  'p',
  'v',
  '__proto__',
  'constructor',
  'toString',
  'copy',
  'x/y',
  '',
)
const literals = fc.constantFrom(
  "'a'",
  "'b'",
  '0',
  '1',
  '-1',
  '801',
  "''",
  "'__proto__'",
  "'[x]'",
  "'{0}'",
)

/** Texts that are often expressions, and sometimes broken ones. */
const expressions = fc.letrec<{ node: string; call: string }>((tie) => ({
  node: fc.oneof({ maxDepth: 4, withCrossShrink: true }, literals, tie('call')),
  call: fc
    .tuple(
      fc.constantFrom(
        'parameters',
        'variables',
        'concat',
        'if',
        'equals',
        'createArray',
        'createObject',
        'copyIndex',
        'reference',
        'references',
        'listKeys',
        'resourceId',
        'format',
        'range',
        'map',
        'lambda',
        'lambdaVariables',
        'json',
        'string',
        'length',
        'union',
        'deployment',
        'resourceGroup',
        'newGuid',
        'utcNow',
        'my.f',
        'none',
        '__proto__',
        'constructor',
      ),
      fc.array(tie('node'), { maxLength: 3 }),
      fc.constantFrom('', '', '', '.a', "['__proto__']", '.?x', '[0]', '.constructor'),
    )
    .map(([name, values, after]) => `${name}(${values.join(', ')})${after}`),
})).call

const strings = fc.oneof(
  { weight: 3, arbitrary: expressions.map((text) => `[${text}]`) },
  { weight: 2, arbitrary: names },
  { weight: 1, arbitrary: fc.constantFrom('[', ']', '[[x]', '[]', '[ ]', "['", '[f(]') },
)

const values = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    strings,
    fc.constantFrom(null, true, false, 0, 1, 2, 801, 1.5),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(names, strings), tie('value'), { maxKeys: 3 }),
    fc
      .record({ name: strings, count: fc.oneof(fc.nat(4), strings), input: tie('value') })
      .map((one) => ({ copy: [one] })),
  ),
})).value

const resource = fc.record(
  {
    type: fc.oneof(
      fc.constantFrom(
        'A.B/c',
        'A.B/c',
        'A.B/c/d',
        'A.Resources/deployments',
        'A.Resources/resourceGroups',
      ),
      strings,
    ),
    apiVersion: fc.oneof(fc.constant('1'), strings),
    name: fc.oneof(names, strings),
    condition: fc.oneof(fc.boolean(), strings),
    scope: strings,
    dependsOn: fc.oneof(fc.array(strings, { maxLength: 3 }), values),
    copy: fc.oneof(
      fc.record({
        name: names,
        count: fc.oneof(fc.nat(4), strings),
        mode: fc.constantFrom('serial', 'x'),
      }),
      values,
    ),
    existing: fc.boolean(),
    properties: fc.oneof(
      values,
      fc.record({
        template: values,
        parameters: values,
        expressionEvaluationOptions: fc.record({ scope: fc.constantFrom('inner', 'outer') }),
      }),
    ),
    resources: values,
  },
  { requiredKeys: ['type', 'apiVersion', 'name'] },
)

const types = fc.constantFrom(
  'string',
  'int',
  'object',
  'array',
  'securestring',
  'secureObject',
  'bool',
  'x',
)
const templates = fc
  .record(
    {
      languageVersion: fc.constantFrom('1.0', '2.0'),
      parameters: fc.oneof(
        fc.dictionary(
          names,
          fc.record(
            { type: types, defaultValue: values, nullable: fc.boolean() },
            { requiredKeys: ['type'] },
          ),
          { maxKeys: 4 },
        ),
        values,
      ),
      variables: fc.oneof(fc.dictionary(names, values, { maxKeys: 4 }), values),
      definitions: values,
      functions: fc.oneof(
        fc.constant([
          {
            namespace: 'my',
            members: {
              f: {
                parameters: [{ name: 'a', type: 'string' }],
                output: { type: 'string', value: "[my.f(parameters('a'))]" },
              },
            },
          },
        ]),
        values,
      ),
      resources: fc.oneof(
        fc.array(resource, { maxLength: 4 }),
        fc.dictionary(names, resource, { maxKeys: 4 }),
        values,
      ),
      outputs: fc.oneof(
        fc.dictionary(names, fc.record({ type: types, value: values }), { maxKeys: 3 }),
        values,
      ),
    },
    { requiredKeys: ['resources'] },
  )
  .map((sections) => ({
    $schema: 'deploymentTemplate.json#',
    contentVersion: '1.0.0.0',
    ...sections,
  }))

/** Most of these give a plan, so that the steps after the refusals are reached as well. */
const mildValues = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(
      "[parameters('p')]",
      "[concat(parameters('p'), variables('a'))]",
      "[variables('b')]",
      "[reference('r0').x]",
      "[if(equals(1, 2), reference('none'), 'no')]",
      "[my.f('x')]",
      '[[literal]',
      'plain',
      7,
      null,
      true,
    ),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom('x', '__proto__', "[parameters('p')]", 'constructor'),
      tie('value'),
      {
        maxKeys: 3,
      },
    ),
    fc
      .record({ name: fc.constantFrom('xs', 'ys'), count: fc.nat(3), input: tie('value') })
      .map((one) => ({ copy: [one] })),
  ),
})).value

const mild = fc
  .record({
    a: mildValues,
    resources: fc.array(
      fc.record({
        properties: mildValues,
        on: fc.nat(5),
        copies: fc.option(fc.nat(3)),
        isOn: fc.boolean(),
      }),
      { maxLength: 5 },
    ),
    output: mildValues,
  })
  .map(({ a, resources, output }) => ({
    $schema: 'deploymentTemplate.json#',
    contentVersion: '1.0.0.0',
    parameters: { p: { type: 'securestring' } },
    variables: { a: 'text', b: a },
    functions: [
      {
        namespace: 'my',
        members: {
          f: {
            parameters: [{ name: 'a', type: 'string' }],
            output: { type: 'string', value: "[parameters('a')]" },
          },
        },
      },
    ],
    resources: [
      { type: 'A.B/c', apiVersion: '1', name: 'r0' },
      ...resources.map(({ properties, on, copies, isOn }, at) => ({
        type: 'A.B/c',
        apiVersion: '1',
        name: copies === null ? `r${at + 1}` : `[concat('r${at + 1}x', copyIndex())]`,
        condition: isOn,
        ...(copies === null ? {} : { copy: { name: `l${at + 1}`, count: copies } }),
        dependsOn: [on <= at && resources[on - 1]?.copies === null ? `r${on}` : 'r0'],
        properties: { of: properties },
      })),
    ],
    outputs: { o: { type: 'object', value: { of: output } } },
  }))

function requirePlaces(read: Read<unknown>, text: string, least = 1): void {
  if (read.ok) return
  assert.ok(read.problems.length >= least && read.problems.length <= 100)
  const lines = text.split('\n')
  for (const { line, column, message } of read.problems) {
    assert.ok(message.length > 0)
    assert.ok(line >= 1 && line <= lines.length, message)
    assert.ok(column >= 1 && column <= (lines[line - 1] ?? '').length + 1, message)
  }
}

test('any template: a plan, or a refusal with its places', () => {
  let plans = 0
  fc.assert(
    fc.property(fc.oneof(templates, mild), (given) => {
      const text = JSON.stringify(given, null, 1)
      const read = templateLanguage.parseTemplate(text)
      requirePlaces(read, text)
      const asObject = templateLanguage.parseTemplate(JSON.parse(text))
      assert.equal(asObject.ok, read.ok)
      if (!read.ok) {
        if (read.partial === undefined) return
        const further = templateLanguage.expand(read.partial, {}, groupContext())
        assert.equal(further.ok, false)
        requirePlaces(further, text, 0)
        return
      }
      const someValues = Object.fromEntries(
        Object.keys(read.value.parameters).map((name) => [name, { value: 'x' }]),
      )
      const made = templateLanguage.expand(read.value, someValues, groupContext())
      requirePlaces(made, text)
      const bare = templateLanguage.expand(read.value, {}, groupContext())
      for (const one of [made, bare]) {
        if (!one.ok) continue
        plans += 1
        for (const node of one.value.nodes) {
          if (node.needs(noAnswers).length === 0) node.evaluate(noAnswers)
        }
        for (const output of one.value.outputs) {
          if (output.needs(noAnswers).length === 0) output.evaluate(noAnswers)
        }
      }
    }),
    { numRuns: long ? 100_000 : 2_000 },
  )
  assert.ok(plans > 200, `only ${plans} of them came to a plan`)
  assert.equal(Object.keys(Object.prototype).length, 0)
})

test('any text at all: a template, or a refusal with its places', () => {
  fc.assert(
    fc.property(templates, fc.nat(), fc.string({ maxLength: 3 }), (given, where, what) => {
      const text = JSON.stringify(given)
      const at = where % text.length
      const broken = text.slice(0, at) + what + text.slice(at + what.length)
      requirePlaces(templateLanguage.parseTemplate(broken), broken)
      requirePlaces(templateLanguage.parseParameters(broken), broken)
    }),
    { numRuns: long ? 50_000 : 1_000 },
  )
})

test('what is nested without end is refused, not followed', () => {
  const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
  const text = `{"$schema": "deploymentTemplate.json", "contentVersion": "1.0", "resources": [], "variables": ${deep(100_000)}}`
  const read = templateLanguage.parseTemplate(text)
  assert.ok(!read.ok)
  const chain = Object.fromEntries(
    Array.from({ length: 256 }, (_, at) => [
      `v${at}`,
      at === 255 ? 'end' : `[${"concat('',".repeat(100)}variables('v${at + 1}')${')'.repeat(100)}]`,
    ]),
  )
  const made = templateLanguage.parseTemplate({
    $schema: 'deploymentTemplate.json',
    contentVersion: '1.0.0.0',
    variables: chain,
    resources: [],
    outputs: { o: { type: 'string', value: "[variables('v0')]" } },
  })
  assert.ok(made.ok)
  const plan = templateLanguage.expand(made.value, {}, groupContext())
  if (!plan.ok) assert.match(plan.problems.map((one) => one.message).join(), /too deeply/)
})

const resourceOf = (properties: object): object => ({
  type: 'A.B/c',
  apiVersion: '1',
  name: 'x',
  properties,
})

function loopsWithin(depth: number, inside: unknown): object {
  if (depth === 0) return { inside }
  return { copy: [{ name: `c${depth}`, count: 800, input: loopsWithin(depth - 1, inside) }] }
}

/** Small templates that ask for very much. Each would take hours, or all memory. */
const greedy: readonly (readonly [what: string, sections: object, message: RegExp])[] = [
  ['loops within loops', { resources: [resourceOf(loopsWithin(6, 1))] }, /expands to more/],
  [
    'loops within loops that fail',
    { resources: [resourceOf(loopsWithin(6, "[fail('no')]"))] },
    /^no$/,
  ],
  [
    'lambdas within lambdas',
    {
      resources: [
        resourceOf({
          a: "[length(map(range(0,10000), lambda('x', length(map(range(0,10000), lambda('y', add(lambdaVariables('x'), lambdaVariables('y'))))))))]",
        }),
      ],
    },
    /more steps/,
  ],
  [
    'a function with very many allowed values, called very often',
    {
      functions: [
        {
          namespace: 'm',
          members: {
            f: {
              parameters: [
                {
                  name: 'a',
                  type: 'string',
                  allowedValues: Array.from({ length: 100_000 }, (_, at) => `value ${at}`),
                },
              ],
              output: { type: 'string', value: "[parameters('a')]" },
            },
          },
        },
      ],
      resources: [resourceOf({ a: "[map(range(0,10000), lambda('x', m.f('value 1')))]" })],
    },
    /more steps/,
  ],
  [
    'texts that double',
    {
      variables: Object.fromEntries(
        Array.from({ length: 250 }, (_, at) => [
          `v${at}`,
          at === 0 ? 'x' : `[concat(variables('v${at - 1}'), variables('v${at - 1}'))]`,
        ]),
      ),
      resources: [resourceOf({ a: "[variables('v249')]" })],
    },
    /more than|at most/,
  ],
  [
    'a type that is its own variant',
    {
      definitions: {
        a: {
          type: 'object',
          discriminator: { propertyName: 'k', mapping: { x: { $ref: '#/definitions/a' } } },
        },
      },
      parameters: { p: { $ref: '#/definitions/a', defaultValue: { k: 'y' } } },
      resources: [],
    },
    /expected one of/,
  ],
]
for (const [what, sections, message] of greedy) {
  test(`ends soon: ${what}`, () => {
    const read = templateLanguage.parseTemplate({
      $schema: 'deploymentTemplate.json',
      contentVersion: '1.0.0.0',
      // Of the test's own table.
      ...(sections as JsonObject),
    })
    assert.ok(read.ok)
    const made = templateLanguage.expand(read.value, {}, groupContext())
    assert.ok(!made.ok)
    assert.match(made.problems[0]?.message ?? '', message)
    assert.ok(made.problems.length <= 100)
  })
}
