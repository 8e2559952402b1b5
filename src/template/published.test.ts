/**
 * Forms of published templates that the language accepts, found by expanding many of them. A test for each cause.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { environmentOf } from './environment.ts'
import { expandNested } from './nested.ts'
import type { Json } from './plan.ts'
import {
  bodyOf,
  groupContext,
  groupId,
  planOf,
  problemsOf,
  subscriptionContext,
  subscriptionId,
  template,
} from './testing/context.ts'

const apiVersion = '2026-01-01'
const machine = { type: 'Vendor.A/machines', apiVersion, name: 'm' }
const ids = (given: object): readonly string[] =>
  planOf(template(given))
    .nodes.map(({ id }) => id.replace(`${groupId}/providers/`, ''))
    .sort()

test('inside another resource: a whole type with a whole name, and types of other namespaces', () => {
  const inner = [
    { type: 'Vendor.A/machines/disks', apiVersion, name: 'm/whole' },
    { type: 'Vendor.A/machines/disks', apiVersion, name: 'short' },
    { type: 'disks', apiVersion, name: 'relative' },
    { type: 'Vendor.B/solutions', apiVersion, name: 's', dependsOn: ['Vendor.A/machines/m'] },
    { type: 'Vendor.B/solutions/parts', apiVersion, name: 's/p' },
  ]
  assert.deepEqual(ids({ resources: [{ ...machine, resources: inner }] }), [
    'Vendor.A/machines/m',
    'Vendor.A/machines/m/disks/relative',
    'Vendor.A/machines/m/disks/short',
    'Vendor.A/machines/m/disks/whole',
    'Vendor.B/solutions/s',
    'Vendor.B/solutions/s/parts/p',
  ])
  const wrong = { type: 'Vendor.A/machines/disks', apiVersion, name: 'm/two/three' }
  const problems = problemsOf(template({ resources: [{ ...machine, resources: [wrong] }] }))
  assert.match(problems.join(), /the name needs as many; it has 4/)
})

test('a reference with a version may name what is not in the template by its type and names', () => {
  const target = 'Vendor.A/sets/s/machines/0/cards/c'
  const outputs = (expression: string) => ({ o: { type: 'string', value: `[${expression}]` } })
  const needOf = (expression: string) =>
    planOf(template({ outputs: outputs(expression) })).outputs[0]?.needs({
      answer: () => undefined,
    })[0]
  const id = `${groupId}/providers/${target}`
  assert.equal(needOf(`reference('${target}', '2020-01-01').x`)?.id, id)
  assert.equal(needOf(`listKeys('${target}', '2020-01-01').x`)?.id, id)
  for (const wrong of [`'${target}'`, "'sets/s', '2020-01-01'", `'${target}/more', '2020-01-01'`]) {
    const problems = problemsOf(template({ outputs: outputs(`reference(${wrong}).x`) }))
    assert.match(problems.join(), /is not defined in the template/, wrong)
  }
})

test('a type may end with a slash', () => {
  assert.deepEqual(ids({ resources: [{ ...machine, type: 'Vendor.A/machines/' }] }), [
    'Vendor.A/machines/m',
  ])
})

test('parameters and outputs without a type take every value', () => {
  const given = {
    parameters: { any: { metadata: {} }, none: { nullable: true } },
    outputs: { o: { value: "[createArray(parameters('any'), parameters('none'))]" } },
  }
  for (const value of ['text', 7, { a: 1 }, [true]]) {
    const plan = planOf(template(given), { any: { value } })
    const [output] = plan.outputs
    assert.deepEqual(JSON.parse(JSON.stringify(output?.evaluate({ answer: () => undefined }))), {
      value: [value, null],
      secure: false,
    })
  }
  assert.match(problemsOf(template(given)).join(), /'any' is required/)
})

test('symbolic names of the experiments before version 2.0', () => {
  for (const languageVersion of ['1.9-experimental', '1.10-experimental', '2.2-experimental']) {
    assert.deepEqual(ids({ languageVersion, resources: { one: machine } }), ['Vendor.A/machines/m'])
  }
  const other = template({ languageVersion: '1.8-experimental', resources: {} })
  assert.match(problemsOf(other).join(), /expected '1.0' or '2.0'/)
})

test('a default that stands as an expression among the allowed values is allowed', () => {
  const place = {
    type: 'string',
    defaultValue: '[resourceGroup().location]',
    allowedValues: ['[resourceGroup().location]', 'north'],
  }
  const given = template({ parameters: { place } })
  assert.deepEqual(planOf(given).parameters['place']?.value, 'local')
  assert.deepEqual(problemsOf(given, { place: { value: 'north' } }), [])
  assert.match(problemsOf(given, { place: { value: 'local' } }).join(), /not one of the allowed/)
  const strict = template({ parameters: { place: { ...place, allowedValues: ['north'] } } })
  assert.match(problemsOf(strict).join(), /not one of the allowed/)
})

test('a property that is given twice is taken when both are the same', () => {
  const text = (second: string): string =>
    `{"$schema": "deploymentTemplate.json", "contentVersion": "1.0.0.0", "resources": [],
      "variables": {"a": {"b": [1]}, "a": ${second}}}`
  assert.deepEqual(problemsOf(text('{"b": [1]}')), [])
  assert.match(problemsOf(text('{"b": [2]}')).join(), /variables\.a .*'a' is given twice/)
})

test('waits that nobody asked for close no circle', () => {
  // The child exists before its parent is changed: the author wants it so.
  const child = { type: 'Vendor.A/machines/disks', apiVersion, name: 'm/d' }
  const parent = { ...machine, dependsOn: ["[resourceId('Vendor.A/machines/disks', 'm', 'd')]"] }
  const plan = planOf(template({ resources: [child, parent] }))
  assert.deepEqual(
    plan.nodes.map(({ name }) => name),
    ['m/d', 'm'],
  )
  const size = `[reference(resourceId('Vendor.A/machines', 'm'), '${apiVersion}').size]`
  const own = planOf(template({ resources: [{ ...machine, properties: { size } }] }))
  assert.deepEqual(own.nodes[0]?.dependsOn, [])
  assert.equal(own.nodes[0]?.needs({ answer: () => undefined }).length, 1)
  const named = { ...machine, properties: { size: "[reference('m').size]" } }
  assert.match(problemsOf(template({ resources: [named] })).join(), /circle/)
})

test('a resource reads itself as it is before the deployment, and waits for nothing by that', () => {
  const properties = { tier: "[coalesce(tryGet(target('full'), 'properties', 'tier'), 'hot')]" }
  const plan = planOf(template({ resources: [{ ...machine, properties }] }))
  const [node] = plan.nodes
  assert.deepEqual(node?.dependsOn, [])
  const [need] = node?.needs({ answer: () => undefined }) ?? []
  assert.deepEqual(need && { ...need, key: '' }, {
    kind: 'reference',
    key: '',
    id: `${groupId}/providers/Vendor.A/machines/m`,
    apiVersion,
    orNull: true,
  })
  const tierOf = (value: Json): unknown => {
    const body = node?.evaluate({ answer: () => ({ value, secure: false }) }).body
    return JSON.stringify(body)
  }
  assert.equal(tierOf(null), '{"properties":{"tier":"hot"}}')
  assert.equal(tierOf({ properties: { tier: 'cool' } }), '{"properties":{"tier":"cool"}}')
  const nested = {
    type: 'Vendor.Resources/deployments',
    apiVersion,
    name: 'n',
    properties: {
      mode: 'Incremental',
      template: template({ resources: [{ ...machine, properties }] }),
    },
  }
  const inner = planOf(template({ resources: [nested] })).nodes[0]
  const made = inner?.evaluate({ answer: () => undefined }).body
  assert.match(JSON.stringify(made), /target\('full'\)/)
  for (const [where, wrong] of [
    ['outputs', { outputs: { o: { type: 'object', value: '[target()]' } } }],
    [
      'variables',
      {
        variables: { v: '[target()]' },
        outputs: { o: { type: 'object', value: "[variables('v')]" } },
      },
    ],
    ['location', { resources: [{ ...machine, location: '[target().x]' }] }],
  ] as const) {
    assert.match(problemsOf(template(wrong)).join(), /target\(\)/, where)
  }
})

test('any text is a version of the content', () => {
  assert.deepEqual(problemsOf({ ...template({}), contentVersion: 'v2-beta' }), [])
  assert.match(
    problemsOf({ ...template({}), contentVersion: 2 }).join(),
    /contentVersion: expected/,
  )
})

test('user types: references into types, and arrays that end with their first elements', () => {
  const definitions = {
    whole: {
      type: 'object',
      properties: {
        Name: { type: 'string', maxLength: 3 },
        list: { type: 'array', items: { type: 'int' } },
        pair: { type: 'array', prefixItems: [{ type: 'int' }, { type: 'bool' }], items: false },
      },
      additionalProperties: { type: 'bool' },
    },
    alias: { $ref: '#/definitions/whole/properties/name' },
    'a/b': {
      type: 'object',
      discriminator: { propertyName: 'k', mapping: { one: { $ref: '#/definitions/whole' } } },
    },
  }
  const refused = (pointer: string, value: string | number | boolean | object): string =>
    problemsOf(
      template({
        languageVersion: '2.0',
        resources: {},
        definitions,
        parameters: { p: { $ref: `#/definitions/${pointer}` } },
      }),
      { p: { value: value as never } },
    ).join()
  assert.equal(refused('alias', 'abc'), '')
  assert.match(refused('alias', 'abcd'), /at most 3/)
  assert.match(refused('whole/properties/list/items', 'x'), /expected an int/)
  assert.equal(refused('whole/properties/pair/prefixItems/1', true), '')
  assert.match(refused('whole/additionalProperties', 'x'), /expected a bool/)
  assert.match(refused('a~1b/discriminator/mapping/one/properties/name', 'abcd'), /at most 3/)
  assert.equal(refused('whole/properties/pair', [1, true]), '')
  assert.match(refused('whole/properties/pair', [1, true, 2]), /one element too many/)
  assert.match(refused('whole/properties/none', 1), /leads to no type/)
  assert.match(refused('whole/nothing', 1), /leads to no type/)
  const circle = { a: { $ref: '#/definitions/b/items' }, b: { $ref: '#/definitions/a' } }
  const endless = template({ languageVersion: '2.0', resources: {}, definitions: circle })
  assert.match(problemsOf(endless).join(), /not there, or to itself/)
})

test('conditions of types: each with its message, in parameters, user types, members of them, and outputs', () => {
  const validate = ["[lambda('x', startsWith(lambdaVariables('x'), 'a'))]", 'begins with a']
  const long = ["[lambda('x', greater(length(lambdaVariables('x')), 2))]"]
  const definitions = { word: { type: 'string', validate: [...validate, ...long] } }
  const word = { $ref: '#/definitions/word' }
  const parameters = {
    one: {
      ...word,
      validate: ["[lambda('x', endsWith(lambdaVariables('x'), 'z'))]", 'ends with z'],
    },
    all: { type: 'object', properties: { list: { type: 'array', items: word } } },
  }
  const given = (one: string, list: readonly string[]) => ({
    one: { value: one },
    all: { value: { list } },
  })
  const whole = template({ languageVersion: '2.0', definitions, parameters, resources: {} })
  assert.equal(planOf(whole, given('abcz', ['abc'])).nodes.length, 0)
  assert.deepEqual(problemsOf(whole, given('bb', ['abc', 'b'])), [
    'parameters.one: begins with a',
    'parameters.one: the value does not fulfil a condition of its type',
    'parameters.one: ends with z',
    'parameters.all: list[1]: begins with a',
    'parameters.all: list[1]: the value does not fulfil a condition of its type',
  ])
  const outputs = { o: { ...word, value: 'b' } }
  const made = problemsOf(template({ languageVersion: '2.0', definitions, resources: {}, outputs }))
  assert.match(made.join(), /outputs\.o.*begins with a/)
  const wrong = { p: { type: 'int', defaultValue: 1, validate: ['[equals(1, 1)]', 'x'] } }
  assert.match(
    problemsOf(template({ parameters: wrong })).join(),
    /validate\[0\].*expected a lambda/,
  )
  const late = {
    p: { type: 'int', defaultValue: 1, validate: ["[lambda('x', parameters('p'))]", 'not here'] },
  }
  assert.match(problemsOf(template({ parameters: late })).join(), /parameters\.p: not here/)
})

test('environment() has every endpoint and suffix that templates ask for', () => {
  const environment = environmentOf({
    name: 'Brand',
    url: 'http://[::1]:8080',
    tenantId: 'tenant',
  })
  const wanted = [
    'name',
    'portal',
    'resourceManager',
    'authentication.audiences[0]',
    'suffixes.azureFrontDoorEndpointSuffix',
    'suffixes.storage',
    'suffixes.keyvaultDns',
  ]
  const outputs = Object.fromEntries(
    wanted.map((one, at) => [`o${at}`, { type: 'string', value: `[environment().${one}]` }]),
  )
  const plan = planOf(template({ outputs }), {}, groupContext({ environment }))
  assert.deepEqual(
    plan.outputs.map((one) => one.evaluate({ answer: () => undefined })?.value),
    [
      'Brand',
      'http://[::1]:8080/',
      'http://[::1]:8080/',
      'http://[::1]:8080',
      'frontdoor.[::1]',
      'core.[::1]',
      '.vault.[::1]',
    ],
  )
})

test('templates inside a plan are expanded where they go, whatever their schema says', () => {
  const inside = template({
    parameters: { p: { type: 'string' } },
    resources: [{ ...machine, name: "[concat(parameters('p'), deployment().location)]" }],
  })
  const deployment = {
    type: 'Vendor.Resources/deployments',
    apiVersion,
    name: 'd',
    location: 'there',
    properties: {
      expressionEvaluationOptions: { scope: 'inner' },
      parameters: { p: { value: 'x' } },
      template: inside,
    },
  }
  const schema = 'https://schema.example/subscriptionDeploymentTemplate.json'
  const outer = {
    ...template({
      resources: [
        deployment,
        { ...deployment, name: 'late', properties: { templateLink: { uri: 'https://x' } } },
        { ...deployment, name: 'wrong', properties: { ...deployment.properties, parameters: {} } },
      ],
    }),
    $schema: schema,
  }
  const context = subscriptionContext()
  const plan = planOf(outer, {}, context)
  const [first, late, wrong] = plan.nodes.map((node) => expandNested(node, context))
  assert.ok(first?.kind === 'expanded')
  assert.equal(
    first.plan.nodes[0]?.id,
    `/subscriptions/${subscriptionId}/providers/Vendor.A/machines/xthere`,
  )
  assert.deepEqual(late, { kind: 'unknown', reason: 'its template is linked' })
  assert.ok(wrong?.kind === 'refused')
  assert.match(wrong.problems[0]?.message ?? '', /'p' is required/)
  assert.deepEqual(Object.keys(bodyOf(plan.nodes[0]) as object), ['location', 'properties'])
  const alone = problemsOf(template({}), {}, context)
  assert.match(alone.join(), /is for the scope resourceGroup/)
})
