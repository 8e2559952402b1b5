/**
 * Every request known that could hold up a server or fill its memory: those of the reviews, and generators of the same
 * kind. Each within what the server's own limits let through. A new one is a line here.
 */

export interface Hostile {
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  /** Below the origin. */
  readonly path: string
  readonly type?: string
  /** Another one for each time it is sent, where the server remembers. */
  readonly body?: string | ((time: number) => string)
  readonly headers?: Readonly<Record<string, string>>
  /** Sent so many times at once. */
  readonly atOnce?: number
}

/** What the requests are about. */
export interface FreezeFixture {
  readonly subscriptionId: string
  readonly companyId: string
  readonly customerId: string
  readonly itemId: string
  /** The path of a billing profile. */
  readonly billingProfile: string
}

const bodyMax = 4 * 1024 * 1024

/** As often as it fits into so many characters. */
function filled(size: number, piece: (at: number) => string, between = ','): string {
  const pieces: string[] = []
  for (let at = 0, length = 0; length < size; at++) {
    const next = piece(at)
    length += next.length + between.length
    if (length >= size) break
    pieces.push(next)
  }
  return pieces.join(between)
}

export function hostileRequests(fixture: FreezeFixture): readonly Hostile[] {
  return [
    ...business(fixture),
    ...templates(fixture),
    ...bodies(fixture),
    ...relaxedBodies(fixture),
    ...documents,
    ...imports(fixture),
    ...filters(fixture),
    // Last: what is begun goes on in the background, and uses up the allowance for templates.
    ...nestedDeployments(fixture),
  ]
}

function business({ companyId, customerId, itemId }: FreezeFixture): readonly Hostile[] {
  const root = '/api/v2.0'
  const company = `${root}/companies(${companyId})`
  const get = (name: string, path: string): Hostile => ({ name, method: 'GET', path })
  const batch = (
    name: string,
    requests: readonly object[],
    headers: Readonly<Record<string, string>> = {},
  ): Hostile => ({
    name,
    method: 'POST',
    path: `${root}/$batch`,
    body: JSON.stringify({ requests: requests.map((one, id) => ({ id: `${id}`, ...one })) }),
    headers: { prefer: 'odata.continue-on-error', ...headers },
  })
  const times = (count: number, one: (at: number) => object): readonly object[] =>
    Array.from({ length: count }, (_, at) => one(at))
  const list = { method: 'GET', url: `companies(${companyId})/customers` }
  const part = `--b\r\nContent-Type: application/http\r\n\r\nGET ${list.url} HTTP/1.1\r\n\r\n\r\n`
  const terms = Array.from(
    { length: 38 },
    (_, at) => `contains(tolower(displayName),'z${at}')`,
  ).join(' or ')
  const order = ['displayName', 'addressLine1', 'city', 'email', 'website', 'phoneNumber']
  const expands = 'salesInvoices($expand=salesInvoiceLines($expand=item)),currency,taxArea'
  const post = (at: number): object => ({
    method: 'POST',
    url: `companies(${companyId})/customers`,
    atomicityGroup: 'g',
    body: { displayName: `Made ${at}` },
  })
  const lines = (count: number): readonly object[] =>
    Array.from({ length: count }, () => ({ itemId, quantity: 1 }))
  const invoice = (count: number): object => ({ customerId, salesInvoiceLines: lines(count) })
  const invoices = times(100, () => ({
    method: 'POST',
    url: `companies(${companyId})/salesInvoices`,
    atomicityGroup: 'g',
    body: invoice(300),
  }))
  return [
    batch(
      'batch of 100 lists of 15,000 customers, JSON',
      times(100, () => list),
    ),
    {
      name: 'batch of 100 lists of 15,000 customers, multipart',
      method: 'POST',
      path: `${root}/$batch`,
      type: 'multipart/mixed; boundary=b',
      body: `${part.repeat(100)}--b--\r\n`,
    },
    {
      name: 'batch of 800,000 empty parts',
      method: 'POST',
      path: `${root}/$batch`,
      type: 'multipart/mixed; boundary=b',
      body: `${'--b\r\n'.repeat(800_000)}--b--\r\n`,
    },
    batch(
      'batch of 100 sorted lists in one snapshot',
      times(100, () => ({
        ...list,
        url: `${list.url}?$top=1&$orderby=${order.map((one) => `${one} desc`).join(',')}`,
      })),
      { isolation: 'snapshot' },
    ),
    batch(
      'batch of a write and 99 sorted lists in one snapshot',
      times(100, (at) =>
        at === 0
          ? post(at)
          : {
              ...list,
              url: `${list.url}?$top=1&$orderby=${order.map((one) => `${one} desc`).join(',')}`,
            },
      ),
      { isolation: 'snapshot' },
    ),
    get(
      'company with its customers by six orders',
      `${root}/companies?$expand=customers($orderby=${order.map((one) => `${one} desc`).join(',')};$count=true)`,
    ),
    batch(
      'batch of 100 lists in one snapshot',
      times(100, () => list),
      { isolation: 'snapshot' },
    ),
    batch('change set of 100 new customers', times(100, post)),
    batch('change set of 100 invoices with 300 lines', invoices),
    get('page of 15,000 customers', `${company}/customers`),
    get(
      'customers by six orders, unindexed',
      `${company}/customers?$orderby=${order.map((one) => `${one} desc`).join(',')}`,
    ),
    get(
      'customers by 38 texts that none holds',
      `${company}/customers?$filter=${encodeURIComponent(terms)}`,
    ),
    get(
      'count of customers by a filter of arithmetic and text',
      `${company}/customers/$count?$filter=${encodeURIComponent("length(concat(toupper(displayName),tolower(city))) add indexof(displayName,'q') mul 3 gt 100000")}`,
    ),
    get('customers with everything expanded', `${company}/customers?$expand=${expands}`),
    get('metadata', `${root}/$metadata`),
    {
      name: 'invoice with a thousand lines',
      method: 'POST',
      path: `${company}/salesInvoices`,
      body: JSON.stringify(invoice(1_000)),
    },
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
  const validate = (name: string, sections: object, parameters: object = {}): Hostile => ({
    name: `template: ${name}`,
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
    validate('ten thousand lambdas of ten thousand', output({ n: `[${squares}]` })),
    validate('arrays of arrays', output({ n: `[${each(4_000, 'range(0,1000)')}]` })),
    validate('texts of four million', output({ n: `[${each(15, "padLeft('x',4000000,'y')")}]` })),
    validate(
      'comparison of large values',
      output({ n: `[equals(${each(3_000, 'range(0,100)')},${each(3_000, 'range(0,100)')})]` }),
    ),
    validate(
      'a sort of ten thousand',
      output({
        n: "[sort(range(0,10000),lambda('a','b',less(lambdaVariables('b'),lambdaVariables('a'))))]",
      }),
    ),
    validate('an expression nested to the end', output({ n: `[${nested}]` })),
    validate('a loop of 800 container groups', { resources: [group800] }),
    validate('40,000 expressions', {
      variables: Object.fromEntries(
        Array.from({ length: 40_000 }, (_, n) => [`v${n}`, `[concat('a', string(${n}))]`]),
      ),
    }),
    validate(
      'a parameter of three million characters',
      { parameters: { p: { type: 'object' } }, ...output("[parameters('p')]") },
      {
        p: {
          value: Object.fromEntries(
            Array.from({ length: 100_000 }, (_, n) => [`n${n}`, 'x'.repeat(15)]),
          ),
        },
      },
    ),
    validate(
      'a secure parameter of 50,000 texts that all come back',
      {
        parameters: { p: { type: 'secureObject' } },
        ...output({ n: "[string(parameters('p'))]" }),
      },
      {
        p: {
          value: Object.fromEntries(
            Array.from({ length: 50_000 }, (_, n) => [`n${n}`, `secret ${n}`]),
          ),
        },
      },
    ),
    {
      name: 'template: what-if of 800 container groups',
      method: 'POST',
      path: `${path}/whatIf?${at}`,
      body: JSON.stringify({
        properties: { mode: 'Incremental', template: template({ resources: [group800] }) },
      }),
    },
  ]
}

/** Deployments inside of a deployment: as many as may be, each with as many resources as may be. */
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
    { name: 'nested: 800 of 800, what-if', method: 'POST', path: `${path}/whatIf?${at}`, body },
    { name: 'nested: 800 of 800, deployed', method: 'PUT', path: `${path}?${at}`, body },
  ]
}

/** What the bodies of deployments may be besides JSON. */
function relaxedBodies({ subscriptionId }: FreezeFixture): readonly Hostile[] {
  const group = `/subscriptions/${subscriptionId}/resourceGroups/bench`
  const path = `${group}/providers/Vendor.Resources/deployments/relaxed?api-version=2025-03-01`
  const size = bodyMax - 1_000
  const put = (name: string, body: string): Hostile => ({
    name: `relaxed body of 4 MB: ${name}`,
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
    put('line breaks in texts', `[${'"\n",'.repeat(49_990)}${' '.repeat(3_900_000)}]`),
  ]
}

const documents: readonly Hostile[] = [
  { name: 'OpenAPI: the list of documents', method: 'GET', path: '/openapi' },
]

function bodies({ subscriptionId }: FreezeFixture): readonly Hostile[] {
  const group = `/subscriptions/${subscriptionId}/resourceGroups/bench`
  const put = (name: string, path: string, body: string): Hostile => ({
    name: `body of 4 MB: ${name}`,
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
      name: 'body of 4 MB: environment of a container',
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
  const piece = (name: string, format: string, text: string): Hostile => ({
    name: `import: ${name}`,
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
  const row = (at: number): string => `2026-09-01,G1,USD,Product ${at},1,${at}.5\n`
  return [
    piece('2,000 rows', 'csv', Array.from({ length: 2_000 }, (_, at) => row(at)).join('')),
    piece('as many rows as a body holds', 'csv', filled(size, row, '')),
    piece('lines of nothing', 'csv', '\n'.repeat(size)),
    piece(
      'quotes out of place',
      'csv',
      filled(size, () => '"a"b",\n', ''),
    ),
    piece('one field that never ends', 'csv', `"${'x,'.repeat(size / 2)}`),
    piece(
      'lines that are no JSON',
      'ndjson',
      filled(size, () => '{\n', ''),
    ),
  ]
}

function filters({ subscriptionId }: FreezeFixture): readonly Hostile[] {
  const scope = `/subscriptions/${subscriptionId}`
  const get = (name: string, path: string): Hostile => ({ name, method: 'GET', path })
  const filter = (text: string): string => `$filter=${encodeURIComponent(text)}`
  const ors = (count: number, one: (at: number) => string): string =>
    Array.from({ length: count }, (_, at) => one(at)).join(' or ')
  const assignment = (name: string, condition: string): Hostile => ({
    name: `condition: ${name}`,
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
    ),
    get(
      'filter: a text that never ends',
      `${scope}/resources?api-version=2021-04-01&${filter(`name eq '${"''".repeat(3_000)}`)}`,
    ),
    assignment(
      'a set of a thousand',
      `@Resource[Vendor.X/y:name] ForAnyOfAnyValues:StringLike ${set}`,
    ),
    assignment(
      'patterns that go back',
      `@Resource[Vendor.X/y:name] StringLike '${'*a'.repeat(3_000)}'`,
    ),
    assignment(
      'parentheses',
      `${'('.repeat(3_000)}@Resource[a:b] StringEquals 'x'${')'.repeat(3_000)}`,
    ),
    assignment('negations', `${'!'.repeat(7_000)}@Resource[a:b] StringEquals 'x'`),
    get('list of all resource groups', `${scope}/resourcegroups?api-version=2021-04-01&$top=1000`),
    get(
      'role definitions',
      `${scope}/providers/Vendor.Authorization/roleDefinitions?api-version=2022-04-01`,
    ),
    get('providers with all of their types', `${scope}/providers?api-version=2021-04-01`),
  ]
}
