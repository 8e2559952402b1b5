/**
 * Where resources may be: inside others, by symbolic names, in nested deployments of both scopes, at subscriptions.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Runtime } from './plan.ts'
import {
  bodyOf,
  groupContext,
  groupId,
  noAnswers,
  planOf,
  problemsOf,
  subscriptionContext,
  subscriptionId,
  template,
} from './testing/context.ts'

const vault = { type: 'Vendor.Secrets/vaults', apiVersion: '2026-01-01' }

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

const deployment = { type: 'Vendor.Resources/deployments', apiVersion: '2025-03-01' }

test('language version 2.0: a nested template is in the inner scope also where no scope is given', () => {
  const inner = template({
    resources: [{ ...vault, name: "[parameters('name')]" }],
    parameters: { name: { type: 'string', defaultValue: 'own' } },
  })
  const nested = (options: object): ReturnType<typeof template> =>
    template({
      languageVersion: '2.0',
      parameters: { name: { type: 'string', defaultValue: 'of the parent' } },
      resources: { in: { ...deployment, name: 'in', properties: { ...options, template: inner } } },
    })
  for (const options of [
    {},
    { expressionEvaluationOptions: {} },
    { expressionEvaluationOptions: { scope: 'Inner' } },
  ]) {
    const [node] = planOf(nested(options)).nodes
    assert.deepEqual(bodyOf(node), { properties: { template: inner } })
  }
  const [problem] = problemsOf(nested({ expressionEvaluationOptions: { scope: 'outer' } }))
  assert.match(problem ?? '', /^resources\.in\.properties.*scope: .*needs .*'inner'/)
  const old = planOf(
    template({
      parameters: { name: { type: 'string', defaultValue: 'of the parent' } },
      resources: [{ ...deployment, name: 'in', properties: { template: inner } }],
    }),
  )
  assert.match(JSON.stringify(bodyOf(old.nodes[0])), /"name":"of the parent"/)
})

test('loops of properties in the parameters of a nested deployment, in both versions and inside of loops', () => {
  const copy = (input: unknown): object => ({ copy: [{ name: 'value', count: 2, input }] })
  const nested = {
    ...deployment,
    name: "[format('in{0}', copyIndex())]",
    copy: { name: 'outside', count: 2 },
    properties: {
      expressionEvaluationOptions: { scope: 'inner' },
      mode: 'Incremental',
      parameters: {
        list: copy("[format('{0}-{1}', copyIndex('outside'), copyIndex('value'))]"),
        secrets: copy("[concat(parameters('pw'), copyIndex('value'))]"),
        data: { value: { copy: ['left', 'as it is'] } },
      },
      template: template({}),
    },
  }
  const parameters = { pw: { type: 'securestring' } }
  for (const sections of [
    { parameters, resources: [nested] },
    { parameters, languageVersion: '2.0', resources: { nested } },
  ]) {
    const plan = planOf(template(sections), { pw: { value: 'hunter' } })
    const bodies = plan.nodes.map(
      (node) => bodyOf(node) as { readonly properties: { readonly parameters: object } },
    )
    assert.deepEqual(
      bodies.map(({ properties }) => properties.parameters),
      [0, 1].map((index) => ({
        data: { value: { copy: ['left', 'as it is'] } },
        list: { value: [`${index}-0`, `${index}-1`] },
        secrets: { value: ['hunter0', 'hunter1'] },
      })),
    )
    assert.deepEqual(plan.nodes[0]?.evaluate(noAnswers).securePaths, [
      'properties.parameters.secrets.value[0]',
      'properties.parameters.secrets.value[1]',
    ])
  }
})

test('lenient where templates are: a child with its whole type, an empty group, a comma behind the last member', () => {
  const child = { type: 'Vendor.Secrets/vaults/secrets', apiVersion: '2026-01-01', name: 's' }
  const nested = { ...deployment, properties: { template: template({}) } }
  const plan = planOf(
    template({
      resources: [
        { ...vault, name: 'v', resources: [child] },
        { ...nested, name: 'here', resourceGroup: '', subscriptionId: '' },
        { ...nested, name: 'there', resourceGroup: 'other', subscriptionId: '' },
      ],
    }),
  )
  const other = groupId.replace(/[^/]*$/, 'other')
  assert.deepEqual(plan.nodes.map(({ id }) => id).sort(), [
    `${other}/providers/Vendor.Resources/deployments/there`,
    `${groupId}/providers/Vendor.Resources/deployments/here`,
    `${groupId}/providers/Vendor.Secrets/vaults/v`,
    `${groupId}/providers/Vendor.Secrets/vaults/v/secrets/s`,
  ])
  const text = JSON.stringify(template({ resources: [{ ...vault, name: 'v' }] }))
  const commas = text.replace(/[}\]]/g, ' , // the last\n$&')
  assert.deepEqual(planOf(commas).nodes[0]?.id, `${groupId}/providers/Vendor.Secrets/vaults/v`)
  assert.match(problemsOf(text.replace('{', '{,')).join(), /name in quotes/)
})
