/** Templates as their authors write them: what they expand to, what they wait for, and what is wrong with them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { templateLanguage } from './language.ts'
import type { Json, Runtime } from './plan.ts'
import { TemplateRefusal } from './plan.ts'
import {
  bodyOf,
  expandAll,
  groupContext,
  groupId,
  noAnswers,
  planOf,
  problemsOf,
  shown,
  subscriptionContext,
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

test('a resource becomes a node, with its id and its body', () => {
  const plan = planOf(
    template({
      parameters: { size: { type: 'int', defaultValue: 3 } },
      variables: { where: '[resourceGroup().location]' },
      resources: [
        {
          ...vault,
          name: 'v',
          location: "[variables('where')]",
          comments: 'not sent',
          tags: { "[concat('a', 'b')]": 'x', none: null },
          properties: { size: "[parameters('size')]", text: '[[literal]', gone: '[null()]' },
        },
      ],
    }),
  )
  const [node] = plan.nodes
  assert.equal(node?.id, `${groupId}/providers/Vendor.Secrets/vaults/v`)
  assert.equal(node?.key, node?.id.toLowerCase())
  assert.deepEqual(bodyOf(node), {
    location: 'local',
    tags: { ab: 'x' },
    properties: { size: 3, text: '[literal]' },
  })
  assert.deepEqual({ ...plan.parameters }, { size: { type: 'Int', value: 3 } })
})

test('loops: of resources, properties, variables and outputs', () => {
  const plan = planOf(
    template({
      variables: {
        copy: [{ name: 'names', count: 3, input: "[concat('n', copyIndex('names', 1))]" }],
      },
      resources: [
        {
          ...vault,
          name: "[concat(variables('names')[copyIndex()])]",
          copy: { name: 'loop', count: 3, mode: 'Serial', batchSize: 2 },
          properties: {
            copy: [
              {
                name: 'rows',
                count: 2,
                input: {
                  at: "[copyIndex('rows')]",
                  of: "[copyIndex('loop')]",
                  copy: [
                    {
                      name: 'cells',
                      count: 2,
                      input: "[concat(copyIndex('rows'), copyIndex('cells'))]",
                    },
                  ],
                },
              },
            ],
          },
        },
        { ...vault, name: 'last', dependsOn: ['loop'] },
      ],
      outputs: {
        all: { type: 'array', copy: { count: 2, input: "[concat('o', copyIndex())]" } },
        none: { type: 'string', condition: false, value: 'x' },
      },
    }),
  )
  assert.deepEqual(
    plan.nodes.map((node) => node.name),
    ['n1', 'n2', 'n3', 'last'],
  )
  assert.deepEqual(
    plan.nodes.map((node) => node.dependsOn.length),
    [0, 0, 2, 3],
  )
  assert.deepEqual(plan.nodes[1]?.copy, { name: 'loop', index: 1 })
  assert.deepEqual(bodyOf(plan.nodes[1]), {
    properties: {
      rows: [
        { at: 0, of: 1, cells: ['00', '01'] },
        { at: 1, of: 1, cells: ['10', '11'] },
      ],
    },
  })
  assert.deepEqual(
    plan.outputs.map((output) => [output.name, output.type, output.evaluate(noAnswers)?.value]),
    [['all', 'Array', ['o0', 'o1']]],
  )
})

test('dependsOn: by name, type and name, id, and loops that run zero times; false conditions drop out', () => {
  const plan = planOf(
    template({
      resources: [
        {
          ...vault,
          name: 'z',
          dependsOn: [
            'a',
            'Vendor.Secrets/vaults/b',
            "[resourceId('Vendor.Secrets/vaults', 'c')]",
            'none',
            'off',
          ],
        },
        { ...vault, name: 'c', dependsOn: ['B'] },
        { ...vault, name: 'b' },
        { ...vault, name: 'a' },
        { ...vault, name: 'n', copy: { name: 'none', count: 0 } },
        { ...vault, name: 'off', condition: '[equals(1, 2)]', dependsOn: ['z'] },
      ],
    }),
  )
  assert.deepEqual(
    plan.nodes.map((node) => node.name),
    ['a', 'b', 'c', 'z'],
  )
})

test('children: inside their parents or beside them, after what contains them', () => {
  const plan = planOf(
    template({
      resources: [
        { type: 'Vendor.Secrets/vaults/secrets', apiVersion: '2026-01-01', name: 'v/second' },
        {
          ...vault,
          name: 'v',
          resources: [
            {
              type: 'secrets',
              apiVersion: '2026-01-01',
              name: 'first',
              resources: [
                { type: 'parts', apiVersion: '2026-01-01', name: 'p', dependsOn: ['second'] },
              ],
            },
          ],
        },
        {
          type: 'Vendor.Authorization/locks',
          apiVersion: '2020-05-01',
          name: 'l',
          scope: "[concat('Vendor.Secrets/vaults/', 'v')]",
        },
        {
          type: 'Vendor.Secrets/vaults/providers/locks',
          apiVersion: '2020-05-01',
          name: 'v/Vendor.Authorization/m',
        },
      ],
    }),
  )
  const id = `${groupId}/providers/Vendor.Secrets/vaults/v`
  assert.deepEqual(
    plan.nodes.map((node) => [node.id, node.type]),
    [
      [id, 'Vendor.Secrets/vaults'],
      [`${id}/secrets/second`, 'Vendor.Secrets/vaults/secrets'],
      [`${id}/secrets/first`, 'Vendor.Secrets/vaults/secrets'],
      [`${id}/secrets/first/parts/p`, 'Vendor.Secrets/vaults/secrets/parts'],
      [`${id}/providers/Vendor.Authorization/locks/l`, 'Vendor.Authorization/locks'],
      [`${id}/providers/Vendor.Authorization/locks/m`, 'Vendor.Authorization/locks'],
    ],
  )
})

test('references wait for what they name, whole or by branch, and are evaluated when answered', () => {
  const plan = planOf(
    template({
      resources: [
        {
          ...vault,
          name: 'user',
          properties: {
            both: "[concat(reference('a').x, reference('b').x)]",
            one: "[if(equals(1, 2), reference('c').x, 'no')]",
            whole: "[reference('a', '2026-01-01', 'Full').location]",
            keys: "[listKeys('/subscriptions/s/providers/Vendor.X/y/z', '2020-01-01').key]",
          },
        },
        { ...vault, name: 'c' },
        { ...vault, name: 'b' },
        { ...vault, name: 'a' },
      ],
      outputs: { x: { type: 'string', value: "[reference('a').x]" } },
    }),
  )
  const user = plan.nodes.find((node) => node.name === 'user')
  assert.ok(user)
  assert.deepEqual(
    user.dependsOn.map((key) => key.slice(-1)),
    ['a', 'b'],
  )
  const needs = user.needs(noAnswers)
  assert.deepEqual(
    needs.map((need) => [need.kind, need.id.split('/').at(-1), need.apiVersion]),
    [
      ['reference', 'a', undefined],
      ['reference', 'b', undefined],
      ['reference', 'a', '2026-01-01'],
      ['list', 'z', '2020-01-01'],
    ],
  )
  assert.throws(() => user.evaluate(noAnswers), /before its needs/)
  const of = `${groupId}/providers/Vendor.Secrets/vaults/`.toLowerCase()
  const runtime: Runtime = {
    answer(key) {
      const [kind, id] = JSON.parse(key)
      if (kind === 'list') return { value: { key: 'k' }, secure: true }
      const x = id.slice(of.length).toUpperCase()
      return { value: { location: 'here', properties: { x } }, secure: false }
    },
  }
  assert.deepEqual(user.needs(runtime), [])
  assert.deepEqual(bodyOf(user, runtime), {
    properties: { both: 'AB', one: 'no', whole: 'here', keys: 'k' },
  })
  assert.deepEqual(user.evaluate(runtime).securePaths, ['properties.keys'])
  assert.equal(plan.outputs[0]?.needs(noAnswers).length, 1)
  assert.equal(plan.outputs[0]?.evaluate(runtime)?.value, 'A')
})

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

test('secure values: their paths are told, also through variables; they are shown nowhere', () => {
  const plan = planOf(
    template({
      parameters: {
        pw: { type: 'secureString' },
        derived: { type: 'string', defaultValue: "[concat(parameters('pw'), '!')]" },
        plain: { type: 'string' },
      },
      variables: { through: { inner: "[parameters('pw')]", 'a.b': 1 } },
      resources: [
        {
          ...vault,
          name: 'v',
          properties: {
            direct: "[parameters('pw')]",
            list: ['x', { deep: "[variables('through').inner]" }],
            plain: "[parameters('plain')]",
            'odd.name': { under: "[parameters('derived')]" },
          },
        },
      ],
      outputs: {
        tainted: { type: 'string', value: "[parameters('derived')]" },
        secure: { type: 'secureString', value: 'x' },
      },
    }),
    { pw: { value: 'hunter2' }, PLAIN: { value: 'p' } },
  )
  assert.deepEqual(plan.nodes[0]?.evaluate(noAnswers).securePaths, [
    'properties.direct',
    'properties.list[1].deep',
    'properties',
  ])
  assert.deepEqual(
    plan.outputs.map((one) => [one.name, one.secure, one.evaluate(noAnswers)?.secure]),
    [
      ['tainted', false, true],
      ['secure', true, false],
    ],
  )
  assert.ok(!JSON.stringify(plan.parameters).includes('hunter2'))
  assert.deepEqual(plan.parameters['pw'], { type: 'SecureString' })
  const failing = problemsOf(
    template({
      parameters: { pw: { type: 'secureObject' } },
      resources: [{ ...vault, name: 'v', properties: { x: "[parameters('pw').none]" } }],
    }),
    { pw: { value: { hunter2: 1 } } },
  )
  assert.match(failing.join(), /not shown/)
  assert.ok(!failing.join().includes('hunter2'))
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

test('user types: properties, arrays, unions by discriminator, references to themselves', () => {
  const definitions = {
    tree: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        inner: { type: 'array', items: { $ref: '#/definitions/tree' }, nullable: true },
      },
      additionalProperties: false,
    },
    shape: {
      type: 'object',
      discriminator: {
        propertyName: 'kind',
        mapping: {
          circle: {
            type: 'object',
            properties: { kind: { type: 'string' }, r: { type: 'int', minValue: 1 } },
          },
          line: { $ref: '#/definitions/line' },
        },
      },
    },
    line: {
      type: 'object',
      properties: {
        kind: { type: 'string' },
        to: { type: 'array', prefixItems: [{ type: 'int' }, { type: 'int' }] },
      },
    },
  }
  const sections = {
    languageVersion: '2.0',
    definitions,
    resources: {},
    parameters: {
      tree: { $ref: '#/definitions/tree' },
      shapes: { type: 'array', items: { $ref: '#/definitions/shape' } },
    },
  }
  const fine = {
    tree: { value: { name: 'a', inner: [{ name: 'b' }] } },
    shapes: {
      value: [
        { kind: 'circle', r: 2 },
        { kind: 'line', to: [1, 2] },
      ],
    },
  }
  assert.deepEqual(problemsOf(template(sections), fine), [])
  const problems = problemsOf(template(sections), {
    tree: { value: { inner: [{ name: 1, more: 2 }] } },
    shapes: { value: [{ kind: 'circle', r: 0 }, { kind: 'none' }, { kind: 'line', to: [1] }] },
  })
  assert.deepEqual(
    problems.map((text) => text.replace(/^parameters\.\w+: /, '')),
    [
      'name: is required',
      'inner[0].name: expected a string, not an integer',
      'inner[0].more: is not a property of this type',
      '[0].r: the value is less than 1',
      '[1].kind: expected one of "circle", "line"',
      '[2].to[1]: is required',
    ],
  )
})

test('variables: lazily, each once, circles named once', () => {
  const circle = problemsOf(
    template({
      variables: {
        a: "[variables('b')]",
        b: "[variables('C')]",
        c: "[variables('a')]",
        unused: "[json('{')]",
      },
      resources: [
        { ...vault, name: "[variables('a')]" },
        { ...vault, name: "[variables('b')]" },
      ],
    }),
  )
  assert.equal(circle.length, 1, circle.join('\n'))
  assert.match(
    circle[0] ?? '',
    /variable 'a' → the variable 'b' → the variable 'c' → the variable 'a'/,
  )
  assert.equal(
    planOf(template({ variables: { unused: '[resourceGroup().none]' } })).nodes.length,
    0,
  )
})

test('user functions: own parameters only; 2.0 lets them call each other', () => {
  const functions = [
    {
      namespace: 'my',
      members: {
        twice: {
          parameters: [{ name: 'x', type: 'string' }],
          output: { type: 'string', value: "[concat(parameters('x'), parameters('x'))]" },
        },
        four: {
          parameters: [{ name: 'x', type: 'string' }],
          output: { type: 'string', value: "[my.twice(my.twice(parameters('x')))]" },
        },
      },
    },
  ]
  const outputs = { a: { type: 'string', value: "[my.twice('u')]" } }
  const plan = planOf(template({ functions, outputs }))
  assert.equal(plan.outputs[0]?.evaluate(noAnswers)?.value, 'uu')
  const four = { b: { type: 'string', value: "[my.FOUR('u')]" } }
  assert.match(
    problemsOf(template({ functions, outputs: four })).join(),
    /only with languageVersion 2.0/,
  )
  const modern = { languageVersion: '2.0', resources: {}, functions, outputs: four }
  assert.equal(planOf(template(modern)).outputs[0]?.evaluate(noAnswers)?.value, 'uuuu')
  const wrong = { c: { type: 'string', value: '[my.twice(7)]' } }
  assert.match(problemsOf(template({ functions, outputs: wrong })).join(), /expected a string/)
})

test('symbolic names: dependsOn, references, loops, and what exists already', () => {
  const plan = planOf(
    template({
      languageVersion: '2.0',
      resources: {
        old: { ...vault, existing: true, name: 'there' },
        again: { ...vault, existing: true, name: 'there' },
        loop: { ...vault, name: "[format('l{0}', copyIndex())]", copy: { name: 'loop', count: 2 } },
        user: {
          ...vault,
          name: 'user',
          dependsOn: ['loop[1]'],
          properties: {
            x: "[reference('old').x]",
            y: "[references('loop')]",
            z: "[reference('loop[0]', '2026-01-01').z]",
          },
        },
        after: { ...vault, name: 'after', dependsOn: ['loop', 'again'] },
      },
    }),
  )
  assert.deepEqual(
    plan.nodes.map((node) => [node.symbolicName, node.existing, node.dependsOn.length]),
    [
      ['again', true, 0],
      ['loop', false, 0],
      ['loop', false, 0],
      ['user', false, 3],
      ['after', false, 3],
    ],
  )
  assert.equal(plan.nodes[3]?.needs(noAnswers).length, 4)
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

test('nested deployments: the inner scope is data, other places are other ids', () => {
  const inner = template({
    parameters: { pw: { type: 'securestring' }, none: { type: 'string', nullable: true } },
    resources: [{ ...vault, name: "[parameters('pw')]", properties: { none: null } }],
  })
  const plan = planOf(
    template({
      parameters: { pw: { type: 'securestring' } },
      resources: [
        {
          type: 'Vendor.Resources/deployments',
          apiVersion: '2025-03-01',
          name: 'in',
          resourceGroup: 'other',
          properties: {
            mode: 'Incremental',
            expressionEvaluationOptions: { scope: 'Inner' },
            template: inner,
            parameters: { pw: { value: "[parameters('pw')]" }, none: { value: null } },
          },
        },
        {
          type: 'Vendor.Resources/deployments',
          apiVersion: '2025-03-01',
          name: 'up',
          subscriptionId: 's2',
          location: 'local',
          properties: { templateLink: { uri: 'https://x.example/t.json' } },
        },
      ],
    }),
    { pw: { value: 'hunter2' } },
  )
  const [first, second] = plan.nodes
  assert.equal(first?.nested, true)
  assert.equal(
    first?.id,
    `/subscriptions/${subscriptionId}/resourceGroups/other/providers/Vendor.Resources/deployments/in`,
  )
  assert.equal(second?.id, '/subscriptions/s2/providers/Vendor.Resources/deployments/up')
  assert.deepEqual(bodyOf(first), {
    properties: {
      mode: 'Incremental',
      template: inner,
      parameters: { pw: { value: 'hunter2' }, none: { value: null } },
    },
  })
  assert.deepEqual(first?.evaluate(noAnswers).securePaths, ['properties.parameters.pw.value'])
  assert.deepEqual(bodyOf(second), {
    location: 'local',
    properties: { templateLink: { uri: 'https://x.example/t.json' } },
  })
})

test('nested deployments in the outer scope: the parent fills in what it knows, secrets as parameters', () => {
  const nested = template({
    parameters: { ignored: { type: 'string' } },
    variables: { ignored: 1 },
    resources: [
      {
        ...vault,
        name: "[concat(parameters('prefix'), copyIndex(), '-', variables('v'))]",
        copy: { name: 'inside', count: "[parameters('n')]" },
        properties: {
          secret: "[parameters('pw')]",
          mixed: "[concat(parameters('pw'), copyIndex('inside'))]",
          looks: "[concat('[', 'x]')]",
          kept: '[[as it is]',
          of: "[reference('here').x]",
        },
      },
      { ...vault, name: 'here' },
    ],
    outputs: { o: { type: 'string', value: '[deployment().name]' } },
  })
  const plan = planOf(
    template({
      parameters: { prefix: { type: 'string' }, n: { type: 'int' }, pw: { type: 'securestring' } },
      variables: { v: 'vee' },
      resources: [
        {
          type: 'Vendor.Resources/deployments',
          apiVersion: '2025-03-01',
          name: 'out',
          properties: { mode: 'Incremental', template: nested },
        },
      ],
    }),
    { prefix: { value: 'p' }, n: { value: 2 }, pw: { value: 'hunter2' } },
  )
  const [node] = plan.nodes
  const body = bodyOf(node) as {
    readonly properties: {
      readonly template: Record<string, never>
      readonly parameters: Record<string, { value: string }>
    }
  }
  const { template: made, parameters } = body.properties
  assert.ok(!JSON.stringify(made).includes('hunter2'))
  assert.deepEqual(Object.values(parameters), [{ value: 'hunter2' }, { value: 'hunter2' }])
  assert.deepEqual(node?.evaluate(noAnswers).securePaths, [
    'properties.parameters.secure0.value',
    'properties.parameters.secure1.value',
  ])
  const inner = planOf(made, parameters, groupContext({ deploymentName: 'out' }))
  assert.deepEqual(
    inner.nodes.map((one) => one.name),
    ['here', 'p0-vee', 'p1-vee'],
  )
  const runtime: Runtime = { answer: () => ({ value: { properties: { x: 'X' } }, secure: false }) }
  assert.deepEqual(bodyOf(inner.nodes[2], runtime), {
    properties: { secret: 'hunter2', mixed: 'hunter21', looks: '[x]', kept: '[as it is]', of: 'X' },
  })
  assert.equal(inner.outputs[0]?.evaluate(noAnswers)?.value, 'd')
})

test('at a subscription: groups, and what is deployed into them after them', () => {
  const plan = planOf(
    {
      ...template({}),
      $schema: 'https://schema.example/2018-05-01/subscriptionDeploymentTemplate.json#',
      resources: [
        {
          type: 'Vendor.Resources/deployments',
          apiVersion: '2025-03-01',
          name: 'in',
          resourceGroup: 'fresh',
          dependsOn: ["[subscriptionResourceId('Vendor.Resources/resourceGroups', 'fresh')]"],
          properties: { expressionEvaluationOptions: { scope: 'inner' }, template: template({}) },
        },
        {
          type: 'Vendor.Resources/resourceGroups',
          apiVersion: '2021-04-01',
          name: 'fresh',
          location: 'local',
        },
      ],
    },
    {},
    subscriptionContext(),
  )
  assert.deepEqual(
    plan.nodes.map((node) => node.id.replace(`/subscriptions/${subscriptionId}`, '')),
    ['/resourceGroups/fresh', '/resourceGroups/fresh/providers/Vendor.Resources/deployments/in'],
  )
  assert.match(
    problemsOf(template({}), {}, subscriptionContext()).join(),
    /\$schema.*deployed to subscription/,
  )
})

test('chance and time: in default values only, the same ones each time', () => {
  const text = template({
    parameters: {
      a: { type: 'string', defaultValue: '[newGuid()]' },
      b: { type: 'string', defaultValue: "[concat(parameters('a'), newGuid(), utcNow())]" },
    },
    outputs: { b: { type: 'string', value: "[parameters('b')]" } },
  })
  assert.equal(shown(planOf(text)), shown(planOf(text)))
  assert.match(
    problemsOf(template({ outputs: { o: { type: 'string', value: '[newGuid()]' } } })).join(),
    /default values/,
  )
  assert.match(
    problemsOf(
      template({
        variables: { v: '[utcNow()]' },
        outputs: { o: { type: 'string', value: "[variables('v')]" } },
      }),
    ).join(),
    /default values/,
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

test('what fails because something else failed is not told again', () => {
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

test('resources of opposite conditions may share a name', () => {
  const plan = planOf(
    template({
      resources: [
        { ...vault, name: 'v', condition: '[equals(1, 2)]', location: 'one' },
        { ...vault, name: 'v', condition: '[equals(1, 1)]', location: 'two' },
        { ...vault, name: 'w', dependsOn: ['v'] },
      ],
    }),
  )
  assert.deepEqual(
    plan.nodes.map((node) => [node.name, node.dependsOn.length]),
    [
      ['v', 0],
      ['w', 1],
    ],
  )
  assert.deepEqual(bodyOf(plan.nodes[0]), { location: 'two' })
})

test('parameter files and bare maps; values in them are literal', () => {
  const file = `{ "$schema": "x", "contentVersion": "1.0.0.0",
    "parameters": { "a": { "value": "[concat('x')]" }, "s": { "reference": { "keyVault": { "id": "/v" }, "secretName": "n" } } } }`
  const read = templateLanguage.parseParameters(file)
  assert.ok(read.ok)
  assert.deepEqual(JSON.parse(JSON.stringify(read.value)), {
    a: { value: "[concat('x')]" },
    s: { reference: { keyVault: { id: '/v' }, secretName: 'n' } },
  })
  const bare = templateLanguage.parseParameters({ parameters: { value: 1 } })
  assert.ok(bare.ok)
  assert.deepEqual(Object.keys(bare.value), ['parameters'])
  const bad = templateLanguage.parseParameters('{ "a": 1,\n "A": {"reference": {}} }')
  assert.ok(!bad.ok)
  assert.deepEqual(
    bad.problems.map((one) => [one.path, one.line]),
    [
      ['A', 2],
      ['a', 1],
      ['A.reference', 2],
    ],
  )
  const made = expandAll(
    template({ parameters: { a: { type: 'string' }, s: { type: 'securestring' } } }),
    read.value,
  )
  assert.ok(!made.ok)
  assert.match(made.problems.join(), /was not fetched/)
})

test('names of prototypes are names like any other', () => {
  const text = `{
    "$schema": "deploymentTemplate.json", "contentVersion": "1.0.0.0",
    "parameters": { "__proto__": { "type": "string" }, "constructor": { "type": "string", "defaultValue": "c" } },
    "variables": { "toString": { "__proto__": "[parameters('__proto__')]" } },
    "resources": [{ "type": "A.B/c", "apiVersion": "1", "name": "hasOwnProperty",
      "properties": { "__proto__": { "x": "[variables('toString').__proto__]" }, "constructor": "[parameters('constructor')]" } }],
    "outputs": { "__proto__": { "type": "string", "value": "o" } }
  }`
  const given = templateLanguage.parseParameters('{ "__proto__": { "value": "p" } }')
  assert.ok(given.ok)
  const plan = planOf(text, given.value)
  assert.equal(
    JSON.stringify(plan.nodes[0]?.evaluate(noAnswers).body),
    '{"properties":{"__proto__":{"x":"p"},"constructor":"c"}}',
  )
  assert.deepEqual(Object.keys(plan.parameters), ['__proto__', 'constructor'])
  assert.equal(plan.outputs[0]?.name, '__proto__')
  assert.equal(({} as Record<string, unknown>)['x'], undefined)
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
