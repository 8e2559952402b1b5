/** Templates as authors write them: what they expand to, what they wait for, and what is wrong with them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { templateLanguage } from './language.ts'
import type { Runtime } from './plan.ts'
import {
  bodyOf,
  expandAll,
  groupContext,
  groupId,
  noAnswers,
  planOf,
  problemsOf,
  shown,
  template,
} from './testing/context.ts'

const vault = { type: 'Vendor.Secrets/vaults', apiVersion: '2026-01-01' }

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

test('integers of 64 bits are exact: in expressions, bodies, outputs, and as they stand in the text', () => {
  const large = {
    variables: {
      most: "[int('9223372036854775807')]",
      parts: '[createArray(add(9007199254740992, 1), 1)]',
    },
    functions: [
      {
        namespace: 'my',
        members: {
          less: {
            parameters: [{ name: 'one', type: 'int' }],
            output: { type: 'int', value: "[sub(parameters('one'), 1)]" },
          },
        },
      },
    ],
  }
  const properties = {
    text: "[string(my.less(variables('most')))]",
    last: "[mod(variables('most'), 10)]",
    part: "[format('{0:N0}', variables('parts')[0])]",
    whole: "[string(variables('parts'))]",
  }
  const plan = planOf(template({ ...large, resources: [{ ...vault, name: 'v', properties }] }))
  assert.deepEqual(bodyOf(plan.nodes[0]), {
    properties: {
      text: '9223372036854775806',
      last: 7,
      part: '9,007,199,254,740,993',
      whole: '[9007199254740993,1]',
    },
  })
  const outputs = {
    one: { type: 'int', value: "[variables('most')]" },
    all: { type: 'array', value: "[variables('parts')]" },
  }
  const made = planOf(template({ ...large, resources: [], outputs })).outputs
  const resultOf = (output: (typeof made)[number] | undefined) => output?.evaluate(noAnswers)?.value
  assert.equal(resultOf(made[0]), 9223372036854775807n)
  assert.deepEqual(resultOf(made[1]), [9007199254740993n, 1])
  const text = `{ "$schema": "deploymentTemplate.json", "contentVersion": "1.0.0.0",
    "parameters": { "p": { "type": "int", "minValue": 9007199254740993, "allowedValues": [9007199254740993, 9007199254740995] } },
    "resources": [], "outputs": { "o": { "type": "array", "value": ["[parameters('p')]", -9223372036854775808, 9223372036854775808] } } }`
  const given = (n: string) => {
    const read = templateLanguage.parseParameters(`{ "p": { "value": ${n} } }`)
    assert.ok(read.ok)
    return read.value
  }
  const [output] = planOf(text, given('9007199254740993')).outputs
  assert.deepEqual(resultOf(output), [9007199254740993n, -9223372036854775808n, 2 ** 63])
  assert.match(problemsOf(text, given('9007199254740992')).join(), /less than 9007199254740993/)
  assert.match(problemsOf(text, given('9007199254740994')).join(), /not one of the allowed ones/)
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

test('secure values: their paths are known, also through variables; they are shown nowhere', () => {
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
  const plain = expandAll(template({ parameters: { s: { type: 'string' } } }), {
    s: { reference: { keyVault: { id: '/v' }, secretName: 'n' } },
  })
  assert.ok(!plain.ok)
  assert.match(plain.problems.join(), /only parameters of a secure type/)
})

test('expressions of a parameter file read external inputs and nothing else', () => {
  const file = {
    contentVersion: '1.0.0.0',
    externalInputDefinitions: { region: { kind: 'sys.envVar', config: 'REGION' } },
    externalInputs: { region: { value: 'north' }, count: { value: '3' } },
    parameters: {
      plain: { value: "[externalInputs('region')]" },
      name: { expression: "[format('{0}-{1}', externalInputs('Region'), 'x')]" },
      count: { expression: "[int(externalInputs('count'))]" },
    },
  }
  const read = templateLanguage.parseParameters(JSON.stringify(file))
  assert.ok(read.ok)
  assert.deepEqual(
    { ...read.value },
    {
      plain: { value: "[externalInputs('region')]" },
      name: { value: 'north-x' },
      count: { value: 3 },
    },
  )
  const wrong = {
    a: "[externalInputs('other')]",
    b: '[newGuid()]',
    c: '[resourceGroup().location]',
    d: "[parameters('a')]",
    e: 'text',
    f: '[none()]',
    g: "[reference('x', '2020-01-01')]",
  }
  const parameters = Object.fromEntries(
    Object.entries(wrong).map(([name, expression]) => [name, { expression }]),
  )
  const refused = templateLanguage.parseParameters({ ...file, parameters })
  assert.ok(!refused.ok)
  assert.deepEqual(
    refused.problems.map(({ path }) => path),
    Object.keys(wrong).map((name) => `parameters.${name}.expression`),
  )
  assert.match(refused.problems[0]?.message ?? '', /no external input 'other'/)
  const template_ = template({
    outputs: { o: { type: 'string', value: "[externalInputs('region')]" } },
  })
  assert.match(
    problemsOf(template_)[0] ?? '',
    /externalInputs\(\) is for the expressions of a parameter file/,
  )
})

test('a template may say the schema of parameter files, as samples of the published command line do', () => {
  const schema = 'https://schema.example/2015-01-01/deploymentParameters.json#'
  const text = `{ "$schema": "${schema}", "contentVersion": "1.0.0.0", "resources": [] }`
  assert.equal(planOf(text).nodes.length, 0)
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

test('what holds something secure is secure as a whole, however deep; types that name themselves end', () => {
  const secure = { type: 'secureString' }
  const leaf = { $ref: '#/definitions/leaf' }
  const many = Object.fromEntries(
    Array.from({ length: 41 }, (_, at) => {
      const next = { $ref: `#/definitions/d${at + 1}`, nullable: true }
      return [`d${at}`, { type: 'object', properties: { a: next, b: next, c: next, d: next } }]
    }),
  )
  const definitions = {
    leaf: secure,
    self: { type: 'object', properties: { x: { $ref: '#/definitions/self', nullable: true } } },
    list: { type: 'array', items: { $ref: '#/definitions/list' } },
    ...many,
    d41: { type: 'string' },
  }
  const mapping = { a: { type: 'object', properties: { password: secure } } }
  const parameters = {
    property: { type: 'object', properties: { password: secure } },
    deep: { type: 'object', properties: { a: { type: 'object', properties: { b: leaf } } } },
    others: { type: 'object', additionalProperties: secure },
    items: { type: 'array', items: secure },
    prefix: { type: 'array', prefixItems: [{ type: 'string' }, secure] },
    variant: { type: 'object', discriminator: { propertyName: 'kind', mapping } },
    reference: leaf,
    plain: { type: 'object', properties: { name: { type: 'string' } } },
    self: { $ref: '#/definitions/self' },
    list: { $ref: '#/definitions/list' },
    many: { $ref: '#/definitions/d0' },
  }
  const read = templateLanguage.parseTemplate({
    $schema: 'deploymentTemplate.json#',
    contentVersion: '1.0.0.0',
    languageVersion: '2.0',
    definitions,
    parameters,
    resources: {},
  })
  assert.ok(read.ok, JSON.stringify(read))
  const found = Object.entries(read.value.parameters).map(([name, one]) => [name, one.secure])
  const plain = new Set(['plain', 'self', 'list', 'many'])
  assert.deepEqual(
    Object.fromEntries(found),
    Object.fromEntries(Object.keys(parameters).map((name) => [name, !plain.has(name)])),
  )
})

test('assertions have to hold', () => {
  const asserts = { small: "[less(parameters('n'), 5)]", named: '[true()]' }
  const text = template({ parameters: { n: { type: 'int' } }, asserts })
  assert.deepEqual(problemsOf(text, { n: { value: 4 } }), [])
  assert.deepEqual(problemsOf(text, { n: { value: 5 } }), [
    "asserts.small: the assertion 'small' does not hold",
  ])
})

test('a profile gives the api-version of its day to resources without one', () => {
  const offered = {
    'vendor.secrets': ['2016-10-01', '2018-02-14', '2018-02-14-preview', '2026-01-01'],
    'vendor.young': ['2024-01-01', '2025-01-01'],
    'vendor.drafts': ['2017-01-01-preview', '2026-01-01'],
  }
  const context = groupContext({
    provider: (namespace) => ({
      resourceTypes: Object.entries(offered).flatMap(([name, apiVersions]) =>
        name === namespace.toLowerCase() ? [{ resourceType: 'Things', apiVersions }] : [],
      ),
    }),
  })
  const versions = (apiProfile: string): readonly string[] => {
    const resources = ['Secrets', 'Young', 'Drafts', 'Unknown'].map((name) => ({
      type: `Vendor.${name}/things`,
      name: 'one',
    }))
    const own = { type: 'Vendor.Secrets/things', apiVersion: '2016-10-01', name: 'own' }
    const nodes = planOf(
      template({ apiProfile, resources: [...resources, own] }),
      {},
      context,
    ).nodes
    return nodes.map((node) => node.apiVersion)
  }
  assert.deepEqual(versions('2018-03-01-hybrid'), [
    '2018-02-14',
    '2024-01-01',
    '2017-01-01-preview',
    '2018-03-01',
    '2016-10-01',
  ])
  assert.deepEqual(versions('2018–03-01-hybrid'), versions('2018-03-01-hybrid'))
  assert.deepEqual(versions('latest').slice(0, 3), ['2026-01-01', '2025-01-01', '2026-01-01'])
  const [need] = planOf(
    template({
      apiProfile: '2018-03-01-hybrid',
      outputs: {
        o: { type: 'object', value: "[reference(resourceId('Vendor.Secrets/things', 'x'))]" },
      },
    }),
    {},
    context,
  ).outputs.flatMap((one) => one.needs(noAnswers))
  assert.equal(need?.apiVersion, '2018-02-14')
  assert.deepEqual(problemsOf(template({ apiProfile: 'newest', resources: [] })), [
    "apiProfile: expected 'latest' or the name of a profile, such as '2020-09-01-hybrid'",
  ])
})
