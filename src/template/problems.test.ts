/** Problems of templates and their arguments: all of them at once, each with its position, none with a value. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { templateLanguage } from './language.ts'
import type { Json, Runtime } from './plan.ts'
import { TemplateRefusal } from './plan.ts'
import {
  bodyOf,
  groupContext,
  groupId,
  planOf,
  problemsOf,
  subscriptionId,
  template,
} from './testing/context.ts'

const vault = { type: 'Vendor.Secrets/vaults', apiVersion: '2026-01-01' }

function answering(answers: Readonly<Record<string, Json>>): Runtime {
  return {
    answer(key) {
      const id = JSON.parse(key)[1]
      const value = answers[id]
      return value === undefined ? undefined : { value, secure: false }
    },
  }
}

test('a late expression that fails is refused with its place', () => {
  const text = JSON.stringify(
    template({
      resources: [
        { ...vault, name: 'a' },
        { ...vault, name: 'b', properties: { x: "[reference('a').none]" } },
      ],
    }),
    null,
    2,
  )
  const plan = planOf(text)
  const node = plan.nodes[1]
  const runtime = answering({
    [`${groupId}/providers/Vendor.Secrets/vaults/a`.toLowerCase()]: { properties: {} },
  })
  assert.throws(
    () => node?.evaluate(runtime),
    (error) => {
      assert.ok(error instanceof TemplateRefusal)
      const [problem] = error.problems
      assert.equal(problem?.path, 'resources[1].properties.x')
      assert.ok((problem?.line ?? 0) > 10)
      return true
    },
  )
})

test('a variable that is first read late tells what is wrong with it too', () => {
  const plan = planOf(
    template({
      variables: { broken: "[json('{')]" },
      resources: [
        { ...vault, name: 'a' },
        {
          ...vault,
          name: 'b',
          properties: { x: "[if(reference('a').on, variables('broken'), 'no')]" },
        },
      ],
    }),
  )
  const id = `${groupId}/providers/Vendor.Secrets/vaults/a`.toLowerCase()
  const runtime = (on: boolean) => answering({ [id]: { properties: { on } } })
  assert.deepEqual(bodyOf(plan.nodes[1], runtime(false)), { properties: { x: 'no' } })
  assert.throws(
    () => plan.nodes[1]?.evaluate(runtime(true)),
    (error) => error instanceof TemplateRefusal && error.problems[0]?.path === 'variables.broken',
  )
})

test('parameters: allowed values are compared without regard to case, and keep the spelling they are given', () => {
  const kind = { type: 'string', allowedValues: ['North', 'south'] }
  const several = { type: 'array', allowedValues: ['North', 1] }
  const resources = [{ ...vault, name: 'a', properties: { kind: "[parameters('kind')]" } }]
  const source = template({ parameters: { kind, several }, resources })
  const given = { kind: { value: 'SOUTH' }, several: { value: ['nORTH'] } }
  assert.deepEqual(bodyOf(planOf(source, given).nodes[0]), { properties: { kind: 'SOUTH' } })
  const refused = problemsOf(source, {
    kind: { value: 'west' },
    several: { value: ['north', '1'] },
  })
  assert.deepEqual(
    refused.map((text) => text.split(':')[0]),
    ['parameters.kind', 'parameters.several'],
  )
})

test('parameters: every misfit at once, none with its value', () => {
  const declared = {
    missing: { type: 'string' },
    kind: { type: 'string', allowedValues: ['a', 'b'] },
    size: { type: 'int', minValue: 1, maxValue: 3 },
    text: { type: 'string', minLength: 3 },
    list: { type: 'array', maxLength: 1 },
    wrong: { type: 'bool' },
    subset: { type: 'array', allowedValues: ['a', 'b', 'c'] },
    nothing: { type: 'string', nullable: true },
    fallback: { type: 'string', defaultValue: 'x' },
  }
  const problems = problemsOf(template({ parameters: declared }), {
    kind: { value: 'SECRET' },
    size: { value: 9 },
    text: { value: 'x' },
    list: { value: [1, 2] },
    wrong: { value: 'SECRET' },
    subset: { value: ['a', 'c'] },
    fallback: { value: null },
    extra: { value: 1 },
  })
  assert.deepEqual(problems.map((text) => text.split(':')[0]).sort(), [
    'parameters.extra',
    'parameters.kind',
    'parameters.list',
    'parameters.missing',
    'parameters.size',
    'parameters.text',
    'parameters.wrong',
  ])
  assert.ok(!problems.join().includes('SECRET'))
})

test('ids that could not be are refused where they are made; what exists may be in another group', () => {
  const problems = problemsOf(
    template({
      resources: [
        { ...vault, name: 'a?b' },
        { ...vault, name: '..' },
        { ...vault, name: 'x', scope: '/subscriptions/s/resourceGroups/g?api-version=1' },
        { ...vault, name: 'y'.repeat(300) },
        { ...vault, name: 'off?', condition: false },
      ],
    }),
  )
  assert.deepEqual(
    problems.map((text) => text.slice(0, 12)),
    ['resources[0]', 'resources[1]', 'resources[2]', 'resources[3]'],
  )
  const plan = planOf(
    template({
      languageVersion: '2.0',
      resources: {
        there: { ...vault, existing: true, name: 't', resourceGroup: 'other' },
        far: { ...vault, existing: true, name: 't', subscriptionId: 's', resourceGroup: 'g' },
      },
    }),
  )
  assert.deepEqual(
    plan.nodes.map((node) => node.id.split('/providers/')[0]),
    [`/subscriptions/${subscriptionId}/resourceGroups/other`, '/subscriptions/s/resourceGroups/g'],
  )
})

test('all independent problems of a template, each with line, column and path', () => {
  const text = `{
  "$schema": "https://schema.example/2019-04-01/deploymentTemplate.json#",
  "contentVersion": "1.0.0.0",
  "parameters": { "p": { "type": "text" } },
  "variables": { "v": "[parameters('q')]" },
  "resources": [
    { "type": "Vendor.Secrets/vaults", "name": "x" },
    { "type": "Vendor.Secrets/vaults", "apiVersion": "1",
      "name": "[concat('a'," },
    { "type": "Vendor.Secrets/vaults", "apiVersion": "1", "name": "[concat('a' 'b')]" }
  ],
  "oops": 1
}`
  assert.deepEqual(problemsOf(text), [
    "oops (12:11): a template has no section 'oops'",
    'parameters.p.type (4:34): expected one of string, securestring, int, bool, object, secureObject, array',
    "variables.v (5:36): the parameter 'q' is not declared",
    "resources[0] (7:5): needs 'apiVersion'",
    "resources[2].name (10:80): expected ',' or ')', found '''",
  ])
})

test('problems of an expansion come all at once too', () => {
  const problems = problemsOf(
    template({
      resources: [
        { ...vault, name: 'a', dependsOn: ['b', 'nobody'] },
        { ...vault, name: 'b', dependsOn: ['c'] },
        { ...vault, name: 'c', dependsOn: ['a'] },
        { ...vault, name: 'x/y' },
        { ...vault, name: 'A' },
        { ...vault, name: 'l', copy: { name: 'l', count: 801 } },
        {
          ...vault,
          name: 'p',
          properties: { bad: '[resourceGroup().none]', ref: "[reference('nobody')]" },
        },
        { ...vault, name: 'q', condition: 'yes' },
      ],
      outputs: { o: { type: 'int', value: 'text' } },
    }),
  )
  for (const wanted of [
    /'nobody' is not defined/,
    /in a circle: a → b → c → a/,
    /resources\[3\].*the name needs as many; it has 2/,
    /resources\[4\].*declared twice/,
    /resources\[5\].*0 to 800 times/,
    /resources\[6\]\.properties\.bad/,
    /resources\[6\]\.properties\.ref.*not defined/,
    /resources\[7\].*true or false/,
    /outputs\.o.*expected an int/,
  ]) {
    assert.ok(
      problems.some((text) => wanted.test(text)),
      `${wanted}\n${problems.join('\n')}`,
    )
  }
})

test('what fails because something else failed is not reported again', () => {
  const problems = problemsOf(
    template({
      parameters: { p: { type: 'int' } },
      variables: { v: "[parameters('p')]" },
      resources: [
        { ...vault, name: "[concat('a', variables('v'))]" },
        { ...vault, name: 'b', dependsOn: ['a7'], properties: { x: "[reference('a7').x]" } },
        { ...vault, name: 'c', condition: 'yes' },
        { ...vault, name: 'd', dependsOn: ['c'], tags: { v: "[variables('v')]" } },
        { ...vault, name: "[reference('d').x]" },
      ],
    }),
  )
  assert.deepEqual(problems, [
    "parameters.p: the parameter 'p' is required, and has no default value",
    "resources[2]: 'condition' has to be true or false",
    'resources[4].name: reference() cannot be used in the name of a resource',
  ])
})

test('what could be read of a broken template shows its further problems, and no plan', () => {
  const read = templateLanguage.parseTemplate(
    template({
      parameters: { p: { type: 'int' }, q: { type: 'text' } },
      resources: [
        { ...vault, name: "[noFunction('x')]" },
        { ...vault, name: 'b', dependsOn: ['whatever'], properties: { q: "[parameters('q')]" } },
        {
          ...vault,
          name: 'c',
          properties: { bad: "[parameters('p').none.of.it]", more: '[broken(]' },
        },
      ],
    }),
  )
  assert.ok(!read.ok)
  assert.deepEqual(
    read.problems.map((one) => one.path),
    ['parameters.q.type', 'resources[0].name', 'resources[2].properties.more'],
  )
  assert.ok(read.partial)
  const more = templateLanguage.expand(
    read.partial,
    { p: { value: 1 }, q: { value: 1 } },
    groupContext(),
  )
  assert.ok(!more.ok)
  assert.deepEqual(
    more.problems.map((one) => one.path),
    ['resources[0].name', 'resources[2].properties.bad'],
  )
  assert.equal(more.problems[0]?.message, read.problems[1]?.message)
  const alone = templateLanguage.parseTemplate(template({ oops: 1 }))
  assert.ok(!alone.ok && alone.partial)
  assert.equal(templateLanguage.expand(alone.partial, {}, groupContext()).ok, false)
})

test('what a template may become is bounded', () => {
  const big = { variables: { v: 'x'.repeat(10_000) } }
  const many = template({
    ...big,
    resources: [
      {
        ...vault,
        name: "[concat('n', copyIndex())]",
        copy: { name: 'l', count: 800 },
        properties: { v: "[variables('v')]" },
      },
    ],
  })
  const problems = problemsOf(many)
  assert.equal(problems.length, 1)
  assert.match(problems[0] ?? '', /more than 4194304 characters/)
  // Empty objects are few characters, and much memory.
  const objects = template({
    variables: { copy: [{ name: 'e', count: 800, input: "[json('{}')]" }] },
    resources: [
      {
        ...vault,
        name: 'v',
        properties: { copy: [{ name: 'a', count: 800, input: "[variables('e')]" }] },
      },
    ],
  })
  assert.match(problemsOf(objects).join(), /more than 4194304 characters/)
  // In the other thread each becomes a list up to its number.
  const numbered = template({
    variables: { copy: [{ name: 'e', count: 800, input: "[createObject('1000', 0)]" }] },
    resources: [
      {
        ...vault,
        name: 'v',
        properties: { copy: [{ name: 'a', count: 2, input: "[variables('e')]" }] },
      },
    ],
  })
  assert.match(problemsOf(numbered).join(), /more than 4194304 characters/)
  // Each time they are written and read again, they take ten times as long as other numbers.
  const long = template({
    variables: { copy: [{ name: 'e', count: 800, input: "[json('-9007199254740993')]" }] },
    resources: [
      {
        ...vault,
        name: 'v',
        properties: { copy: [{ name: 'a', count: 27, input: "[variables('e')]" }] },
      },
    ],
  })
  assert.match(problemsOf(long).join(), /more than 4194304 characters/)
  const doubling = Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => [
      `v${at}`,
      at === 0 ? 'x' : `[createArray(variables('v${at - 1}'), variables('v${at - 1}'))]`,
    ]),
  )
  const doubled = template({
    variables: doubling,
    outputs: { o: { type: 'array', value: "[variables('v59')]" } },
  })
  assert.match(problemsOf(doubled).join(), /more than/)
  const resources = Array.from({ length: 801 }, (_, at) => ({ ...vault, name: `r${at}` }))
  assert.match(problemsOf(template({ resources })).join(), /at most 800 resources/)
})

test('texts that each resource of a loop has anew are bounded', () => {
  const long = (count: number): string => 'x'.repeat(count)
  const copy = { name: 'l', count: 2 }
  const name = "[concat('n', copyIndex())]"
  const one = (more: object): readonly string[] =>
    problemsOf(template({ resources: [{ ...vault, name, copy, ...more }] }))
  assert.deepEqual(one({ apiVersion: long(50), copy: { ...copy, name: long(260) } }), [])
  assert.match(
    one({ apiVersion: long(51) }).join(),
    /^resources\[0\][^ ]*: 'apiVersion' is longer than 50 characters/,
  )
  assert.match(
    one({ copy: { ...copy, name: `[concat('${long(260)}', 'y')]` } }).join(),
    /^resources\[0\].copy: the name of the loop is longer than 260 characters/,
  )
  // The id of a group has nothing of its type.
  assert.match(
    one({ type: `${long(260)}.Resources/resourceGroups` }).join(),
    /^resources\[0\].type: a type has at most 260 characters/,
  )
  const named = (symbol: string): readonly string[] =>
    problemsOf(
      template({ languageVersion: '2.0', resources: { [symbol]: { ...vault, name: 'v' } } }),
    )
  assert.deepEqual(named(long(260)), [])
  assert.match(named(long(261)).join(), /: a symbolic name has at most 260 characters/)
})

test('extensions are refused by name, and what hangs on them is no problem of its own', () => {
  const of = (sections: object): readonly string[] =>
    problemsOf(template({ languageVersion: '2.0', ...sections }))
  const service = { type: 'core/Service@v1', properties: { metadata: { name: 'x' } } }
  const now = of({
    extensions: { k8s: { name: 'Kubernetes', version: '1.0.0' } },
    resources: { svc: { extension: 'k8s', ...service } },
  })
  assert.equal(now.length, 2, now.join('\n'))
  assert.match(now[0] ?? '', /^extensions\.k8s.*the extension 'Kubernetes' is not served here/)
  assert.match(now[1] ?? '', /^resources\.svc\.extension.*the extension 'k8s' are not served here/)
  const before = of({
    imports: { k8s: { provider: 'Kubernetes', version: '1.0.0' } },
    resources: { svc: { import: 'k8s', ...service } },
  })
  assert.match(before[0] ?? '', /^imports\.k8s.*the extension 'Kubernetes' is not served here/)
  assert.equal(before.length, 2)
})

test('what every template has anyway may be declared as an extension, and its resources say so', () => {
  const resources = { v: { ...vault, import: 'az', name: 'v' } }
  const imports = {
    az: { provider: 'VendorResourceManager', version: '1.0.0' },
    sys: { provider: 'System', version: '1.0.0' },
  }
  const plan = planOf(template({ languageVersion: '2.0', imports, resources }))
  assert.deepEqual(bodyOf(plan.nodes[0]), {})
  const extensions = { az: { name: 'VendorResourceManager', version: '1.0.0' } }
  const declared = { v: { ...vault, extension: 'AZ', name: 'v' } }
  planOf(template({ languageVersion: '2.0', extensions, resources: declared }))
})

test('options of a resource are read, and each that is written wrongly is reported by its place', () => {
  const of = (options: object): readonly string[] =>
    problemsOf(template({ resources: [{ ...vault, name: 'v', '@options': options }] }))
  const lambda = "[lambda('r', true())]"
  assert.deepEqual(
    of({ onlyIfNotExists: [], retryOn: [['A'], 3], waitUntil: [lambda, 'PT1M'] }),
    [],
  )
  assert.deepEqual(of({ retryOn: [['A']], waitUntil: [lambda] }), [])
  for (const [name, value, reason] of [
    ['onlyIfNotExists', 'yes', /true or false/],
    ['retryOn', ['A', 3], /codes of errors/],
    ['retryOn', [[], 3], /codes of errors/],
    ['retryOn', [['A', 1], 3], /codes of errors/],
    ['retryOn', [['A'], 0], /1 to 100 times/],
    ['retryOn', [['A'], 101], /1 to 100 times/],
    ['waitUntil', ['[equals(1, 1)]', 'PT1M'], /a lambda/],
    ['waitUntil', [lambda, 'soon'], /at most 6 hours/],
    ['waitUntil', [lambda, 'PT7H'], /at most 6 hours/],
    ['waitUntil', ['[lambda(]', 'PT1M'], /./],
    ['another', true, /the option 'another' is not served here/],
  ] as const) {
    const [problem = '', ...more] = of({ [name]: value })
    assert.match(problem, new RegExp(`^resources\\[0\\]\\['@options'\\]\\.${name}`))
    assert.match(problem, reason)
    assert.equal(more.length, 0)
  }
})
