/** Templates deployed to a started installation, as a client does it: previewed, deployed, changed, read back. */

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { allDates } from '../../src/providers/api-management/published-versions.ts'
import { until } from '../until.ts'
import { createResourceGroup } from './access.ts'
import { type Answer, type Installation, startInstallation } from './installation.ts'

let installation: Installation
let group: string

before(async () => {
  installation = await startInstallation()
  group = `/subscriptions/${installation.subscriptionId}/resourceGroups/templates`
  await createResourceGroup(installation, group)
})

after(() => installation[Symbol.asyncDispose]())

const deploymentPath = (name: string, action = ''): string =>
  `${group}/providers/Vendor.Resources/deployments/${name}${action}?api-version=2025-03-01`

/** A service, an API, and as many operations as the list has: the template of the guide. */
function petsTemplate(description: string): object {
  const apis = 'Vendor.ApiManagement/service/apis'
  return {
    $schema: 'https://schema.example/2019-04-01/deploymentTemplate.json#',
    contentVersion: '1.0.0.0',
    parameters: {
      service: {
        type: 'string',
        defaultValue: "[format('pets-{0}', uniqueString(resourceGroup().id))]",
      },
      description: { type: 'string', defaultValue: description },
    },
    variables: {
      operations: [
        { name: 'list', method: 'GET', url: '/pets' },
        { name: 'read', method: 'GET', url: '/pets/{petId}', parameters: ['petId'] },
        { name: 'add', method: 'POST', url: '/pets' },
      ],
    },
    resources: [
      {
        type: `${apis}/operations`,
        apiVersion: '2024-05-01',
        name: "[format('{0}/pets/{1}', parameters('service'), variables('operations')[copyIndex()].name)]",
        copy: { name: 'operations', count: "[length(variables('operations'))]" },
        dependsOn: [
          "[resourceId('Vendor.ApiManagement/service/apis', parameters('service'), 'pets')]",
        ],
        properties: {
          displayName: "[concat('Pets: ', variables('operations')[copyIndex()].name)]",
          description: "[if(equals(copyIndex(), 1), parameters('description'), 'Pets.')]",
          method: "[variables('operations')[copyIndex()].method]",
          urlTemplate: "[variables('operations')[copyIndex()].url]",
          copy: [
            {
              name: 'templateParameters',
              count:
                "[length(coalesce(tryGet(variables('operations')[copyIndex('operations')], 'parameters'), createArray()))]",
              input: {
                name: "[variables('operations')[copyIndex('operations')].parameters[copyIndex('templateParameters')]]",
                type: 'string',
                required: true,
              },
            },
          ],
        },
      },
      {
        type: apis,
        apiVersion: '2024-05-01',
        name: "[concat(parameters('service'), '/pets')]",
        dependsOn: ["[parameters('service')]"],
        properties: { displayName: 'Pets', path: 'pets', protocols: ['https'] },
      },
      {
        type: 'Vendor.ApiManagement/service',
        apiVersion: '2024-05-01',
        name: "[parameters('service')]",
        location: '[resourceGroup().location]',
        sku: { name: 'Developer', capacity: 1 },
        properties: { publisherEmail: 'apis@example.test', publisherName: 'Example' },
      },
    ],
    outputs: {
      api: {
        type: 'string',
        value: "[resourceId('Vendor.ApiManagement/service/apis', parameters('service'), 'pets')]",
      },
      shown: {
        type: 'string',
        value: "[reference(concat(parameters('service'), '/pets')).displayName]",
      },
    },
  }
}

const asked = (template: object, parameters: object = {}): { body: object } => ({
  body: { properties: { mode: 'Incremental', template, parameters } },
})

async function deployed(name: string, given: { body: object }): Promise<Answer> {
  const sent = await installation.request('PUT', deploymentPath(name), given)
  assert.ok([200, 201].includes(sent.status), sent.text)
  return until(async () => {
    const answer = await installation.request('GET', deploymentPath(name))
    const state = answer.at('properties.provisioningState')
    return (state === 'Succeeded' || state === 'Failed') && answer
  })
}

async function changes(name: string, given: { body: object }): Promise<readonly string[]> {
  const answer = await installation.request('POST', deploymentPath(name, '/whatIf'), given)
  assert.equal(answer.status, 200, answer.text)
  const { properties } = answer.body as {
    readonly properties: { readonly changes: readonly { changeType: string; resourceId: string }[] }
  }
  return properties.changes.map((one) => `${one.changeType} ${one.resourceId.split('/').at(-1)}`)
}

test('an API with its operations: deployed, one changed, previewed, deployed, read in three versions', async () => {
  const first = asked(petsTemplate('One pet.'))
  const planned = await changes('pets', first)
  assert.equal(planned.length, 5)
  assert.ok(
    planned.every((one) => one.startsWith('Create ')),
    planned.join(),
  )
  const made = await deployed('pets', first)
  assert.equal(made.at('properties.provisioningState'), 'Succeeded', made.text)
  assert.equal(made.at('properties.outputs.shown.value'), 'Pets')
  assert.deepEqual(
    (await changes('pets', first)).filter((one) => !one.startsWith('NoChange ')),
    [],
  )

  const second = asked(petsTemplate('One pet, by its number.'))
  assert.deepEqual(
    (await changes('pets', second)).filter((one) => !one.startsWith('NoChange ')),
    ['Modify read'],
  )
  assert.equal((await deployed('pets', second)).at('properties.provisioningState'), 'Succeeded')
  const api = String(made.at('properties.outputs.api.value'))
  const read = (version: string): Promise<Answer> =>
    installation.request('GET', `${api}/operations/read?api-version=${version}`)
  assert.equal((await read('2016-07-07')).at('description'), 'One pet, by its number.')
  assert.equal((await read('2016-07-07')).at('urlTemplate'), '/pets/{petId}')
  for (const version of ['2019-12-01', '2024-05-01']) {
    const answer = await read(version)
    assert.equal(answer.at('properties.description'), 'One pet, by its number.')
    assert.equal(answer.at('properties.templateParameters.0.name'), 'petId')
  }
})

test('what a type reads to complete a body is what the plan makes before: a link to an API of a product that nobody makes is refused', async () => {
  const { resources, ...rest } = petsTemplate('Linked.') as {
    readonly resources: readonly object[]
  }
  const product = 'Vendor.ApiManagement/service/products'
  const link = {
    type: `${product}/apis`,
    apiVersion: '2024-05-01',
    name: "[concat(parameters('service'), '/linked/pets')]",
    dependsOn: ["[resourceId('Vendor.ApiManagement/service/apis', parameters('service'), 'pets')]"],
  }
  const service = { service: { value: 'linking' } }
  const lost = asked({ ...rest, resources: [...resources, link] }, service)
  const refused = await installation.request('POST', deploymentPath('linked', '/validate'), lost)
  assert.equal(refused.status, 400, refused.text)
  assert.equal(refused.at('error.details.0.code'), 'ParentResourceNotFound')
  assert.equal(refused.at('error.details.1'), undefined, refused.text)
  const made = {
    type: product,
    apiVersion: '2024-05-01',
    name: "[concat(parameters('service'), '/linked')]",
    dependsOn: ["[parameters('service')]"],
    properties: { displayName: 'Linked' },
  }
  const dependsOn = [
    ...link.dependsOn,
    `[resourceId('${product}', parameters('service'), 'linked')]`,
  ]
  const whole = asked({ ...rest, resources: [...resources, made, { ...link, dependsOn }] }, service)
  const planned = await changes('linked', whole)
  assert.deepEqual(
    planned.filter((one) => !/^(Create|Ignore) /.test(one)),
    [],
  )
})

test('problems of a template are refused all at once, each with its path; nothing is there afterwards', async () => {
  const vault = { type: 'Vendor.Secrets/vaults', apiVersion: '2026-01-01' }
  const broken = {
    $schema: 'deploymentTemplate.json#',
    contentVersion: '1.0.0.0',
    parameters: { p: { type: 'int' } },
    resources: [
      { ...vault, name: "[noFunction('x')]" },
      { ...vault, name: "[parameters('q')]" },
      { ...vault, name: 'fine', location: 'local', tags: { id: '[resourceGroup().none]' } },
    ],
  }
  const given = asked(broken, { p: { value: 'seven' } })
  const answer = await installation.request('PUT', deploymentPath('broken'), given)
  assert.equal(answer.status, 400)
  assert.equal(answer.at('error.code'), 'InvalidTemplate')
  assert.equal(answer.at('error.details.0.target'), 'resources[0].name')
  assert.equal(answer.at('error.details.1.target'), 'resources[1].name')
  assert.equal(answer.at('error.details.2.target'), 'parameters.p')
  assert.equal(answer.at('error.details.3.target'), 'resources[2].tags.id')
  assert.equal(answer.at('error.additionalInfo.0.type'), 'TemplateViolation')
  assert.equal((await installation.request('GET', deploymentPath('broken'))).status, 404)
})

test('a linked template is fetched from where the operator allowed it, and from nowhere else', async () => {
  const linked = JSON.stringify(petsTemplate('Linked.'))
  const server = createServer((_, response) => response.end(linked))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A server that listens on a port has an address of that form.
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const link = (uri: string): { body: object } => ({
    body: { properties: { templateLink: { uri } } },
  })
  const refused = await installation.request('PUT', deploymentPath('link'), link(`${origin}/t/a`))
  assert.equal(refused.at('error.code'), 'InvalidContentLink')
  const environment = { ARMATURE_TEMPLATE_LINKS: `${origin}/t/` }
  await using other = await startInstallation({ environment })
  const scope = `/subscriptions/${other.subscriptionId}/resourceGroups/links`
  await createResourceGroup(other, scope)
  const path = `${scope}/providers/Vendor.Resources/deployments/link/whatIf?api-version=2025-03-01`
  const planned = await other.request('POST', path, link(`${origin}/t/pets.json`))
  assert.equal(planned.status, 200, planned.text)
  assert.equal(planned.text.split('"Create"').length - 1, 5)
  const outside = await other.request('POST', path, link(`${origin}/other/pets.json`))
  assert.equal(outside.at('error.code'), 'InvalidContentLink')
  server.close()
})

test('a nested deployment makes its group’s resources, and its outputs are read by the parent', async () => {
  const inner = {
    $schema: 'deploymentTemplate.json#',
    contentVersion: '1.0.0.0',
    parameters: { name: { type: 'string' }, value: { type: 'secureString' } },
    resources: [
      {
        type: 'Vendor.Secrets/vaults',
        apiVersion: '2026-01-01',
        name: "[parameters('name')]",
        location: 'local',
      },
      {
        type: 'Vendor.Secrets/vaults/secrets',
        apiVersion: '2026-01-01',
        name: "[concat(parameters('name'), '/password')]",
        properties: { value: "[parameters('value')]" },
      },
    ],
    outputs: {
      id: { type: 'string', value: "[resourceId('Vendor.Secrets/vaults', parameters('name'))]" },
    },
  }
  const outer = {
    $schema: 'deploymentTemplate.json#',
    contentVersion: '1.0.0.0',
    parameters: { value: { type: 'secureString' } },
    resources: [
      {
        type: 'Vendor.Resources/deployments',
        apiVersion: '2025-03-01',
        name: 'inner',
        properties: {
          mode: 'Incremental',
          expressionEvaluationOptions: { scope: 'inner' },
          template: inner,
          parameters: { name: { value: 'nested' }, value: { value: "[parameters('value')]" } },
        },
      },
    ],
    outputs: { id: { type: 'string', value: "[reference('inner').outputs.id.value]" } },
  }
  const secret = 'correct horse battery staple'
  const given = asked(outer, { value: { value: secret } })
  const answer = await deployed('outer', given)
  assert.equal(answer.at('properties.provisioningState'), 'Succeeded', answer.text)
  const id = `${group}/providers/Vendor.Secrets/vaults/nested`
  assert.equal(answer.at('properties.outputs.id.value'), id)
  const record = await installation.request('GET', deploymentPath('inner'))
  const exported = await installation.request('POST', deploymentPath('outer', '/exportTemplate'))
  for (const one of [answer, record, exported]) assert.ok(!one.text.includes(secret))
  assert.deepEqual(
    (await changes('outer', given)).filter((one) => !/^(NoChange|Ignore) /.test(one)),
    // Writing a value creates a new version.
    ['Modify password'],
  )
})

test('an operation in each version of the contract, inside nested deployments of both scopes', async () => {
  const apis = 'Vendor.ApiManagement/service/apis'
  const service = `${group}/providers/Vendor.ApiManagement/service/versions`
  const version = (date: string): string => `?api-version=${date}`
  const newest = '2024-05-01'
  for (const [path, body] of [
    [
      service,
      { location: 'local', sku: { name: 'Developer', capacity: 1 }, properties: publisher },
    ],
    [`${service}/apis/a`, { properties: { displayName: 'A', path: 'a', protocols: ['https'] } }],
  ] as const) {
    const made = await installation.request('PUT', path + version(newest), { body })
    assert.ok(made.status < 300, made.text)
  }
  const scopes = ['inner', 'outer'] as const
  const variables = { words: 'said by the outer template' }
  const nested = allDates.flatMap((date) =>
    scopes.map((scope) => {
      const words = { inner: "[parameters('words')]", outer: "[variables('words')]" }[scope]
      const fields = {
        ...(isFlat(date) ? {} : { displayName: 'Read a pet' }),
        description: words,
        method: 'GET',
        urlTemplate: `/${scope}/${date}/{petId}`,
        templateParameters: [{ name: 'petId', type: 'string', required: true, values: ['a'] }],
        request: { queryParameters: [{ name: 'q', type: 'string' }] },
        responses: [{ statusCode: 200, representations: [{ contentType: 'text/plain' }] }],
      }
      const operation = {
        type: `${apis}/operations`,
        apiVersion: date,
        name: `versions/a/${scope}-${date}`,
        ...(isFlat(date) ? fields : { properties: fields }),
      }
      const head = { $schema: 'deploymentTemplate.json#', contentVersion: '1.0.0.0' }
      const taken = scope === 'inner' ? { parameters: { words: { type: 'string' } } } : {}
      const given = { words: { value: "[variables('words')]" } }
      return {
        type: 'Vendor.Resources/deployments',
        apiVersion: '2025-03-01',
        name: `${scope}-${date}`,
        properties: {
          mode: 'Incremental',
          expressionEvaluationOptions: { scope },
          template: { ...head, ...taken, resources: [operation] },
          ...(scope === 'inner' ? { parameters: given } : {}),
        },
      }
    }),
  )
  const head = { $schema: 'deploymentTemplate.json#', contentVersion: '1.0.0.0', variables }
  const given = asked({ ...head, resources: nested })
  const answer = await deployed('versions', given)
  assert.equal(answer.at('properties.provisioningState'), 'Succeeded', answer.text)
  for (const date of allDates) {
    for (const scope of scopes) {
      const path = `${service}/apis/a/operations/${scope}-${date}`
      const read = await installation.request('GET', path + version(date))
      const at = isFlat(date) ? '' : 'properties.'
      assert.equal(read.at(`${at}description`), variables.words, read.text)
      assert.equal(read.at(`${at}urlTemplate`), `/${scope}/${date}/{petId}`)
    }
  }
  const changed = (await changes('versions', given)).filter(
    (one) => !/^(NoChange|Ignore) /.test(one),
  )
  assert.deepEqual(changed, [])
})

const publisher = { publisherEmail: 'apis@example.test', publisherName: 'Example' }
const isFlat = (date: string): boolean => date < '2017'

test('problems of a template in a body are placed: line, column and path of each', async () => {
  const template = {
    $schema: 'https://schema.example/2019-04-01/deploymentTemplate.json#',
    contentVersion: '1.0.0.0',
    parameters: { count: { type: 'number' } },
    resources: [
      {
        type: 'Vendor.Secrets/vaults',
        apiVersion: '2026-01-01',
        name: "[unknown('x')]",
        location: 'local',
      },
    ],
  }
  const answer = await installation.request('PUT', deploymentPath('wrong'), asked(template))
  assert.equal(answer.status, 400)
  assert.equal(answer.at('error.code'), 'InvalidTemplate')
  const lines = JSON.stringify(template, undefined, 2).split('\n')
  for (const [at, path, text] of [
    [0, 'parameters.count.type', '"number"'],
    [1, 'resources[0].name', "[unknown('x')]"],
  ] as const) {
    const info = answer.at(`error.additionalInfo.${at}.info`)
    const { lineNumber, linePosition, ...rest } = info as {
      readonly lineNumber: number
      readonly linePosition: number
    }
    assert.deepEqual(rest, { path })
    assert.ok(lines[lineNumber - 1]?.includes(text), `${lineNumber}: ${lines[lineNumber - 1]}`)
    assert.ok(linePosition > 0)
  }
})

test('a body as the published command line sends it: names without quotes, comments, a last comma; nowhere else', async () => {
  const written = `{"properties": {"mode": "Incremental", "parameters": {}, template:{\r
  // what it is for
  "$schema": "https://schema.example/2019-04-01/deploymentTemplate.json#",
  "contentVersion": "1.0.0.0", /* no resources */
  "resources": [
  ],
  "outputs": { "said": { "type": "string", "value": "[concat('a',
      'b')]" } },
}}}`
  for (const action of ['/validate', '/whatIf']) {
    const answer = await installation.request('POST', deploymentPath('written', action), {
      body: written,
    })
    assert.equal(answer.status, 200, answer.text)
  }
  const sent = await installation.request('PUT', deploymentPath('written'), { body: written })
  assert.equal(sent.status, 201, sent.text)
  const broken = await installation.request('PUT', deploymentPath('written'), {
    body: written.replace('"resources": [', '"resources" ['),
  })
  assert.equal(broken.status, 400)
  assert.match(broken.text, /expected \\":\\" at position \d+ \(line 5, column 15\)/)
  const vault = `${group}/providers/Vendor.Secrets/vaults/v?api-version=2026-01-01`
  for (const body of [
    '{location: "local"}',
    '{"location": "local",}',
    '{"location": "local"} // c',
  ]) {
    const refused = await installation.request('PUT', vault, { body })
    assert.equal(refused.status, 400, body)
    assert.match(refused.text, /InvalidRequestContent/)
  }
})

test('an answer is secret where its action declares so, whatever it is named', async () => {
  const value = 'secret-of-a-named-value'
  const type = 'Vendor.ApiManagement/service'
  const id = `${group}/providers/${type}/secretive`
  const listed = `[listValue('${id}/namedValues/nv', '2024-05-01').value]`
  const nested = {
    $schema: 'deploymentTemplate.json#',
    contentVersion: '1.0.0.0',
    parameters: { p: { type: 'string' } },
    resources: [],
    outputs: { again: { type: 'string', value: "[parameters('p')]" } },
  }
  const version = 'api-version=2024-05-01'
  const service = {
    location: 'local',
    sku: { name: 'Developer', capacity: 1 },
    properties: { publisherEmail: 'apis@example.test', publisherName: 'Example' },
  }
  const made = await installation.request('PUT', `${id}?${version}`, { body: service })
  assert.ok([200, 201, 202].includes(made.status), made.text)
  const properties = { displayName: 'nv', secret: true, value }
  await until(async () => {
    const path = `${id}/namedValues/nv?${version}`
    const put = await installation.request('PUT', path, { body: { properties } })
    return [200, 201].includes(put.status)
  })
  const inner = {
    type: 'Vendor.Resources/deployments',
    apiVersion: '2022-09-01',
    name: 'listed-inner',
    properties: {
      mode: 'Incremental',
      expressionEvaluationOptions: { scope: 'inner' },
      template: nested,
      parameters: { p: { value: listed } },
    },
  }
  const outputs = { listed: { type: 'string', value: listed } }
  const outer = { ...nested, parameters: {}, resources: [inner], outputs }
  const body = { properties: { mode: 'Incremental', template: outer } }
  const answer = await deployed('listed', { body })
  assert.equal(answer.at('properties.provisioningState'), 'Succeeded', answer.text)
  const shown = [answer.text]
  for (const path of [
    deploymentPath('listed-inner'),
    deploymentPath('listed', '/operations'),
    deploymentPath('listed-inner', '/operations'),
  ]) {
    shown.push((await installation.request('GET', path)).text)
  }
  for (const text of shown) assert.ok(!text.includes(value), text)
})
