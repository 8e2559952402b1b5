/**
 * Every known request that could block a server or fill its memory: those of the reviews, and generators of the
 * same kind. All are within the limits of the server. Add a line here for a new one.
 */

import { business } from './business-requests.ts'
import { bodyMax, type FreezeFixture, filled, get, type Hostile } from './hostile.ts'
import { largeAnswers } from './large-answers.ts'

export function hostileRequests(fixture: FreezeFixture): readonly Hostile[] {
  return [
    ...business(fixture),
    ...templates(fixture),
    ...bodies(fixture),
    ...longTexts(fixture),
    ...relaxedBodies(fixture),
    ...documents,
    ...manyItems(fixture),
    ...apiDocuments(fixture),
    ...imports(fixture),
    ...filters(fixture),
    ...largeAnswers(fixture),
    // Last, because the deployments go on in the background and use up the allowance for templates.
    ...nestedDeployments(fixture),
  ]
}

function templates({ subscriptionId }: FreezeFixture): readonly Hostile[] {
  const group = `/subscriptions/${subscriptionId}/resourceGroups/bench`
  const path = `${group}/providers/Vendor.Resources/deployments/freeze`
  const at = 'api-version=2025-03-01'
  const template = (sections: object): object => ({
    $schema: 'deploymentTemplate.json#',
    contentVersion: '1.0.0.0',
    resources: [],
    ...sections,
  })
  const validate = (
    name: string,
    expects: number,
    sections: object,
    parameters: object = {},
  ): Hostile => ({
    name: `template: ${name}`,
    expects,
    method: 'POST',
    path: `${path}/validate?${at}`,
    body: JSON.stringify({
      properties: { mode: 'Incremental', template: template(sections), parameters },
    }),
  })
  const output = (value: unknown): object => ({ outputs: { made: { type: 'object', value } } })
  const each = (count: number, body: string): string => `map(range(0,${count}),lambda('i',${body}))`
  const squares = `length(${each(10_000, `length(map(range(0,10000),lambda('j',add(lambdaVariables('j'),1))))`)})`
  const nested = Array.from({ length: 12 }).reduce<string>(
    (inner) => `concat(${inner},${inner})`.slice(0, 20_000),
    "'x'",
  )
  const group800 = {
    type: 'Vendor.ContainerInstance/containerGroups',
    apiVersion: '2025-09-01',
    name: "[format('g{0}', copyIndex())]",
    location: 'local',
    copy: { name: 'loop', count: 800 },
    properties: {
      osType: 'Linux',
      containers: [
        {
          name: 'one',
          properties: { image: 'a', resources: { requests: { cpu: 1, memoryInGB: 1 } } },
        },
      ],
    },
  }
  return [
    validate('ten thousand lambdas of ten thousand', 400, output({ n: `[${squares}]` })),
    validate('arrays of arrays', 400, output({ n: `[${each(4_000, 'range(0,1000)')}]` })),
    validate(
      'texts of four million',
      400,
      output({ n: `[${each(15, "padLeft('x',4000000,'y')")}]` }),
    ),
    validate(
      'comparison of large values',
      200,
      output({ n: `[equals(${each(3_000, 'range(0,100)')},${each(3_000, 'range(0,100)')})]` }),
    ),
    validate(
      'a sort of ten thousand',
      200,
      output({
        n: "[sort(range(0,10000),lambda('a','b',less(lambdaVariables('b'),lambdaVariables('a'))))]",
      }),
    ),
    validate('an expression nested to the end', 400, output({ n: `[${nested}]` })),
    validate('a loop of 800 container groups', 200, { resources: [group800] }),
    validate('19,000 expressions', 400, {
      variables: Object.fromEntries(
        Array.from({ length: 19_000 }, (_, n) => [`v${n}`, `[concat('a', string(${n}))]`]),
      ),
    }),
    validate(
      'a parameter of three million characters',
      200,
      { parameters: { p: { type: 'object' } }, ...output("[parameters('p')]") },
      {
        p: {
          value: Object.fromEntries(
            Array.from({ length: 19_000 }, (_, n) => [`n${n}`, 'x'.repeat(150)]),
          ),
        },
      },
    ),
    validate(
      'a secure parameter of 19,000 texts that all come back',
      200,
      {
        parameters: { p: { type: 'secureObject' } },
        ...output({ n: "[string(parameters('p'))]" }),
      },
      {
        p: {
          value: Object.fromEntries(
            Array.from({ length: 19_000 }, (_, n) => [`n${n}`, `secret ${n}`]),
          ),
        },
      },
    ),
    {
      name: 'template: what-if of 800 container groups',
      expects: 200,
      method: 'POST',
      path: `${path}/whatIf?${at}`,
      body: JSON.stringify({
        properties: { mode: 'Incremental', template: template({ resources: [group800] }) },
      }),
    },
  ]
}

/** Nested deployments: as many as allowed, each with as many resources as allowed. */
function nestedDeployments({ subscriptionId }: FreezeFixture): readonly Hostile[] {
  const group = `/subscriptions/${subscriptionId}/resourceGroups/bench`
  const path = `${group}/providers/Vendor.Resources/deployments/nested`
  const template = (resources: readonly object[]): object => ({
    $schema: 'deploymentTemplate.json#',
    contentVersion: '1.0.0.0',
    resources,
  })
  const inner = {
    type: 'Vendor.Authorization/locks',
    apiVersion: '2020-05-01',
    name: "[format('l{0}', copyIndex())]",
    copy: { name: 'inner', count: 800 },
    properties: { level: 'Nothing' },
  }
  const outer = {
    type: 'Vendor.Resources/deployments',
    apiVersion: '2025-03-01',
    name: "[format('inner{0}', copyIndex())]",
    copy: { name: 'outer', count: 800 },
    properties: {
      mode: 'Incremental',
      expressionEvaluationOptions: { scope: 'inner' },
      template: template([inner]),
    },
  }
  const body = JSON.stringify({ properties: { mode: 'Incremental', template: template([outer]) } })
  const at = 'api-version=2025-03-01'
  return [
    {
      name: 'nested: 800 of 800, what-if',
      method: 'POST',
      path: `${path}/whatIf?${at}`,
      body,
      expects: 400,
    },
    {
      name: 'nested: 800 of 800, deployed',
      method: 'PUT',
      path: `${path}?${at}`,
      body,
      // Created, or refused when the allowance for templates is used up.
      expects: [200, 201, 400],
    },
  ]
}

/** Bodies of deployments in the forms that are allowed besides JSON. */
function relaxedBodies({ subscriptionId }: FreezeFixture): readonly Hostile[] {
  const group = `/subscriptions/${subscriptionId}/resourceGroups/bench`
  const path = `${group}/providers/Vendor.Resources/deployments/relaxed?api-version=2025-03-01`
  const size = bodyMax - 1_000
  const put = (name: string, body: string): Hostile => ({
    name: `relaxed body of 4 MB: ${name}`,
    expects: 400,
    method: 'PUT',
    path,
    body,
  })
  const all = (piece: string): string => filled(size, () => piece, '')
  return [
    put('escapes', `{a:"${all('\\n')}"}`),
    put('escaped quotes', `{a:"${all('\\"')}"}`),
    put('quotes', `{a:1 ${all('"')}`),
    put('lines', `{a:1 ${all('\n')} b}`),
    put('comments', `[${'/**/'.repeat(49_990)}${' '.repeat(3_900_000)}1,]`),
    put('names', `{${'a1234567890123456789012345678901234567890:1,'.repeat(49_000)}}`),
    put('elements', `[/**/${'1,'.repeat(99_990)}${' '.repeat(3_900_000)}]`),
    put('long integers', `[${'-9007199254740993,'.repeat(99_990)}1]`),
    put('line breaks in texts', `[${'"\n",'.repeat(49_990)}${' '.repeat(3_900_000)}]`),
  ]
}

const documents: readonly Hostile[] = [get('OpenAPI: the list of documents', '/openapi')]

/** Documents of APIs that take long to read. What is wrong is said after they were read. */
function apiDocuments({ subscriptionId }: FreezeFixture): readonly Hostile[] {
  const path = `/subscriptions/${subscriptionId}/resourceGroups/bench/providers/Vendor.ApiManagement/service/s/apis/a?api-version=2021-08-01`
  const put = (name: string, value: string): Hostile => ({
    name: `API document: ${name}`,
    method: 'PUT',
    path,
    body: JSON.stringify({ properties: { path: 'a', format: 'openapi', value } }),
    expects: 400,
  })
  const many = (each: number): string => {
    const get = { operationId: 'x', description: 'x'.repeat(each), responses: { 200: {} } }
    const paths = Array.from({ length: 500 }, (_, at) => [`/p${at}`, { get }])
    const info = { title: 'A', version: '1' }
    return JSON.stringify({ openapi: '3.0.0', info, paths: Object.fromEntries(paths) })
  }
  const imported = many(7_000)
  return [
    {
      ...put('500 operations of 7 KB, imported', imported),
      // Another path each time: what is written again unchanged is not written.
      body: (time) =>
        JSON.stringify({
          properties: { path: `a${time}`, format: 'openapi+json', value: imported },
        }),
      expects: [200, 201, 202],
    },
    put(
      'YAML of a megabyte',
      filled(1_000_000, () => '  - a\n', ''),
    ),
    put('JSON of 3 MB', `{${filled(3_000_000, (at) => `"n${at}":"x"`)}}`),
  ]
}

/** As many items as the members of a body allow, for types that take lists. */
function manyItems({ subscriptionId }: FreezeFixture): readonly Hostile[] {
  const scope = `/subscriptions/${subscriptionId}`
  const group = `${scope}/resourceGroups/bench`
  const times = (count: number, one: object | string): string =>
    Array.from({ length: count }, () => JSON.stringify(one)).join()
  const put = (name: string, path: string, body: string): Hostile => ({
    name: `items: ${name}`,
    method: 'PUT',
    path,
    body,
    expects: 400,
  })
  const role = (permissions: string, scopes: string): string =>
    `{"properties":{"roleName":"r","permissions":[${permissions}],"assignableScopes":[${scopes}]}}`
  const roles = `${scope}/providers/Vendor.Authorization/roleDefinitions/aaaaaaaa-0000-4000-8000-00000000000b?api-version=2022-04-01`
  const spec = `${group}/providers/Vendor.Resources/templateSpecs/s/versions/v?api-version=2022-02-01`
  const templates = times(24_900, { path: 'a', template: {} })
  const network = `${group}/providers/Vendor.Network/virtualNetworks/n?api-version=2024-05-01`
  const integers = Array.from({ length: 10_000 }, () => '9007199254740993').join()
  return [
    {
      ...put('10,000 long integers', network, ''),
      body: (time) => `{"location":"local","properties":{"time":${time},"all":[${integers}]}}`,
      expects: [200, 201],
    },
    put('24,900 permissions of a role', roles, role(times(24_900, { actions: ['a'] }), '"/"')),
    put('99,000 actions of a role', roles, role(`{"actions":[${times(99_000, '*/read')}]}`, '"/"')),
    put('70,000 scopes of a role', roles, role('{}', times(70_000, scope))),
    put(
      '24,900 templates of a template spec',
      spec,
      `{"location":"local","properties":{"mainTemplate":{},"linkedTemplates":[${templates}]}}`,
    ),
  ]
}

/** Texts that an expression would look through again from each of their characters. */
function longTexts({ subscriptionId }: FreezeFixture): readonly Hostile[] {
  const path = `/subscriptions/${subscriptionId}/resourceGroups/bench/providers/Vendor.ContainerInstance/containerGroups/g?api-version=2025-09-01`
  const group = (name: string, own: object, volumes: readonly object[] = []): Hostile => {
    const resources = { requests: { cpu: 1, memoryInGB: 1 } }
    const container = { name: 'one', properties: { image: 'a', resources, ...own } }
    const properties = { osType: 'Linux', containers: [container], volumes }
    const body = JSON.stringify({ location: 'local', properties })
    return { name: `long text: ${name}`, method: 'PUT', path, body, expects: 400 }
  }
  const size = bodyMax - 1_000
  const mountPath = `${'/'.repeat(size)}x`
  return [
    group('a profile of system calls', {
      securityContext: { seccompProfile: `${' '.repeat(size)}!` },
    }),
    group('a mount path', { volumeMounts: [{ name: 'e', mountPath }] }, [
      { name: 'e', emptyDir: {} },
    ]),
    {
      name: 'long text: a resource at the token endpoint',
      method: 'POST',
      path: '/common/oauth2/token',
      type: 'application/x-www-form-urlencoded',
      body: `grant_type=client_credentials&client_id=a&client_secret=b&resource=${'/'.repeat(49_000)}x`,
      expects: [400, 401],
    },
    get(
      'long text: 14,000 parameters at the sign-in',
      `/common/oauth2/authorize?client_id=a${'&a'.repeat(14_000)}`,
      400,
    ),
    get('long text: an encoded scope', `/${'%2F'.repeat(10_000)}?api-version=2021-04-01`, 400),
    {
      name: 'long text: a business path that is refused',
      method: 'POST',
      path: `/api/v2.0/${'A'.repeat(31_000)}!`,
      body: '{}',
      expects: 400,
    },
  ]
}

function bodies({ subscriptionId }: FreezeFixture): readonly Hostile[] {
  const group = `/subscriptions/${subscriptionId}/resourceGroups/bench`
  const put = (name: string, path: string, body: string): Hostile => ({
    name: `body of 4 MB: ${name}`,
    expects: 400,
    method: 'PUT',
    path,
    body,
  })
  const groups = `${group}/providers/Vendor.ContainerInstance/containerGroups/g?api-version=2025-09-01`
  const size = bodyMax - 1_000
  const resourceGroup = `/subscriptions/${subscriptionId}/resourceGroups/other?api-version=2021-04-01`
  const names = filled(size, (at) => `"n${at}":1`)
  const container = '{"name":"c","properties":{}}'
  return [
    put(
      'tags',
      resourceGroup,
      `{"location":"local","tags":{${filled(size, (at) => `"t${at}":"x"`)}}}`,
    ),
    put('unknown properties', resourceGroup, `{"location":"local",${names}}`),
    put(
      'unknown properties of a container group',
      groups,
      `{"location":"local","properties":{${names}}}`,
    ),
    put(
      'containers with nothing in them',
      groups,
      `{"location":"local","properties":{"osType":"Linux","containers":[${filled(size, () => container)}]}}`,
    ),
    put('a list of numbers', groups, `[${filled(size, () => '1')}]`),
    put(
      'lists in lists, as deep as may be',
      groups,
      `[${filled(size, () => `${'['.repeat(60)}${']'.repeat(60)}`)}]`,
    ),
    put('not JSON at its very end', groups, `[${filled(size, () => '{"a":"b"}')}`),
    put('escapes', groups, `{"location":"${filled(size, () => '\\u0041', '')}"}`),
    {
      ...put('lists', groups, `[${filled(size, () => '[1,2]')}]`),
      name: 'fifty bodies of 4 MB at once',
      atOnce: 50,
    },
    {
      ...put('one text', groups, `{"location":"${'x'.repeat(size)}"}`),
      name: 'fifty bodies of one text of 4 MB at once',
      atOnce: 50,
    },
    {
      name: 'body of 4 MB: environment of a container',
      expects: 400,
      method: 'PUT',
      path: groups,
      body: JSON.stringify({
        location: 'local',
        properties: {
          osType: 'Linux',
          containers: [
            {
              name: 'one',
              properties: {
                image: 'a',
                resources: { requests: { cpu: 1, memoryInGB: 1 } },
                environmentVariables: Array.from({ length: 60_000 }, (_, n) => ({
                  name: `n${n}`,
                  value: 'x',
                })),
              },
            },
          ],
        },
      }),
    },
    {
      name: 'body of 4 MB: form at the token endpoint',
      // The connection is cut, or answered before that.
      expects: [0, 413],
      method: 'POST',
      path: '/common/oauth2/token',
      type: 'application/x-www-form-urlencoded',
      body: filled(size, (at) => `n${at}=1`, '&'),
    },
  ]
}

function imports({ billingProfile }: FreezeFixture): readonly Hostile[] {
  const path = `${billingProfile}/importTransactions?api-version=2024-04-01`
  const header = 'date,invoice,billingCurrency,productDescription,quantity,transactionAmount'
  const piece = (name: string, expects: number, format: string, text: string): Hostile => ({
    name: `import: ${name}`,
    expects,
    method: 'POST',
    path,
    body: (time) =>
      JSON.stringify({
        name: `${name.replace(/\W+/g, '-')}-${time}.${format}`,
        format,
        ...(format === 'csv' ? { header } : {}),
        position: 0,
        digest: '',
        firstLine: 1,
        text,
        nextPosition: text.length,
        nextDigest: 'x',
        completed: true,
      }),
  })
  const size = 2_900_000
  /** The size of texts that JSON makes longer. */
  const escapedSize = 1_900_000
  const row = (at: number): string => `2026-09-01,G1,USD,Product ${at},1,${at}.5\n`
  return [
    piece('2,000 rows', 200, 'csv', Array.from({ length: 2_000 }, (_, at) => row(at)).join('')),
    piece('as many rows as a body holds', 400, 'csv', filled(size, row, '')),
    piece('lines of nothing', 400, 'csv', '\n'.repeat(escapedSize)),
    piece(
      'quotes out of place',
      400,
      'csv',
      filled(escapedSize, () => '"a"b",\n', ''),
    ),
    piece('one field that never ends', 200, 'csv', `"${'x,'.repeat(size / 2)}`),
    piece(
      'lines that are no JSON',
      400,
      'ndjson',
      filled(escapedSize, () => '{\n', ''),
    ),
  ]
}

function filters({ subscriptionId }: FreezeFixture): readonly Hostile[] {
  const scope = `/subscriptions/${subscriptionId}`
  const filter = (text: string): string => `$filter=${encodeURIComponent(text)}`
  const ors = (count: number, one: (at: number) => string): string =>
    Array.from({ length: count }, (_, at) => one(at)).join(' or ')
  const assignment = (name: string, condition: string, expects: Hostile['expects']): Hostile => ({
    name: `condition: ${name}`,
    expects,
    method: 'PUT',
    path: `${scope}/providers/Vendor.Authorization/roleAssignments/aaaaaaaa-0000-4000-8000-000000000001?api-version=2022-04-01`,
    body: JSON.stringify({
      properties: {
        principalId: 'aaaaaaaa-0000-4000-8000-000000000002',
        principalType: 'User',
        roleDefinitionId: `${scope}/providers/Vendor.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7`,
        condition,
        conditionVersion: '2.0',
      },
    }),
  })
  const set = `{${filled(7_000, (at) => `'v${at}'`, ', ')}}`
  return [
    get(
      'filter: 5,000 groups by a tag that none has',
      `${scope}/resourcegroups?api-version=2021-04-01&${filter(ors(1, (at) => `tagName eq 'n${at}'`))}`,
    ),
    get(
      'filter: resources by names that none has',
      `${scope}/resources?api-version=2021-04-01&${filter(ors(45, (at) => `substringof('z${at}', name)`))}`,
    ),
    get(
      'filter: parentheses as deep as may be',
      `${scope}/resources?api-version=2021-04-01&${filter(`${'('.repeat(2_000)}name eq 'x'${')'.repeat(2_000)}`)}`,
      400,
    ),
    get(
      'filter: a text that never ends',
      `${scope}/resources?api-version=2021-04-01&${filter(`name eq '${"''".repeat(3_000)}`)}`,
      400,
    ),
    assignment(
      'a set of a thousand',
      `@Resource[Vendor.X/y:name] ForAnyOfAnyValues:StringLike ${set}`,
      [200, 201],
    ),
    assignment(
      'patterns that go back',
      `@Resource[Vendor.X/y:name] StringLike '${'*a'.repeat(3_000)}'`,
      [200, 201],
    ),
    assignment(
      'parentheses',
      `${'('.repeat(3_000)}@Resource[a:b] StringEquals 'x'${')'.repeat(3_000)}`,
      400,
    ),
    assignment('negations', `${'!'.repeat(7_000)}@Resource[a:b] StringEquals 'x'`, 400),
    get('list of all resource groups', `${scope}/resourcegroups?api-version=2021-04-01&$top=1000`),
    get(
      'role definitions',
      `${scope}/providers/Vendor.Authorization/roleDefinitions?api-version=2022-04-01`,
    ),
    get('providers with all of their types', `${scope}/providers?api-version=2021-04-01`),
  ]
}
