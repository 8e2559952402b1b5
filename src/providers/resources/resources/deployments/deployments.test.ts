/** Deployments as a client sees them: everything goes through the plane's own PUT, as the principal who deploys. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import type { Outcome } from '#plane/plane.ts'
import { memoryStore, nobody } from '#plane/testing/start.ts'
import type { TemplateLinks } from '../../provider.ts'
import {
  group,
  type Started,
  startDeployments,
  subscription,
  templateFor,
} from '../../testing/start.ts'

/** Reader, facts 2.6. */
const readerRoleId = 'acdd72a7-3385-48ef-bd42-f606fba81ae7'

const at = (name: string, scope = group): string =>
  `${scope}/providers/Vendor.Resources/deployments/${name}`
const vault = { type: 'Vendor.Secrets/vaults', apiVersion: '2026-01-01', location: 'local' }
const secret = { type: 'Vendor.Secrets/vaults/secrets', apiVersion: '2026-01-01' }
const containers = {
  type: 'Vendor.ContainerInstance/containerGroups',
  apiVersion: '2025-09-01',
  location: 'local',
}

function body(resources: readonly object[], more: object = {}, properties: object = {}): object {
  return {
    properties: { mode: 'Incremental', template: templateFor(resources, more), ...properties },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely here, and only here.
function json(outcome: Outcome): any {
  return JSON.parse(JSON.stringify(outcome.body))
}

async function refusal(work: Promise<unknown>, code: string): Promise<ApiError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof ApiError, String(error))
  assert.equal(error.code, code, error.message)
  return error
}

function assignment(name: string, principalId: string): object {
  const roleDefinitionId = `${subscription}/providers/Vendor.Authorization/roleDefinitions/${readerRoleId}`
  return {
    type: 'Vendor.Authorization/roleAssignments',
    apiVersion: '2022-04-01',
    name,
    properties: { principalId, roleDefinitionId, principalType: 'User' },
  }
}

function web(name: string, image = 'nginx'): object {
  const resources = { requests: { cpu: 1, memoryInGB: 1 } }
  return {
    ...containers,
    name,
    properties: {
      osType: 'Linux',
      containers: [{ name: 'main', properties: { image, resources } }],
    },
  }
}

async function changesOf(started: Started, name: string, asked: object): Promise<string> {
  const answer = json(await started.call('POST', `${at(name)}/whatIf`, asked))
  assert.equal(answer.status, 'Succeeded')
  return answer.properties.changes
    .map((one: { resourceId: string; changeType: string }) =>
      [one.resourceId.split('/').at(-1), one.changeType].join(':'),
    )
    .join(' ')
}

test('deploys in order, waits for engines, answers outputs, keeps secure values to itself', async () => {
  await using started = await startDeployments()
  const password = 'correct horse battery staple'
  const asked = body(
    [
      { ...secret, name: 'v/pw', dependsOn: ['v'], properties: { value: "[parameters('pw')]" } },
      { ...vault, name: 'v', properties: {} },
      web('web'),
      assignment(randomUUID(), randomUUID()),
    ],
    {
      parameters: { pw: { type: 'securestring' }, plain: { type: 'string' } },
      outputs: {
        shown: { type: 'string', value: "[parameters('plain')]" },
        hidden: { type: 'string', value: "[parameters('pw')]" },
        whole: {
          type: 'object',
          value: `[reference('${group}/providers/Vendor.Secrets/vaults/v', '2026-01-01', 'Full')]`,
        },
      },
    },
    { parameters: { pw: { value: password }, plain: { value: 'yes' } } },
  )
  const made = await started.call('PUT', at('first'), asked)
  assert.equal(made.status, 201)
  assert.ok(made.operation)
  assert.equal(json(made).properties.provisioningState, 'Accepted')
  await started.settle()
  const read = json(await started.call('GET', at('first')))
  assert.equal(read.properties.provisioningState, 'Succeeded', JSON.stringify(read))
  assert.equal(read.properties.outputs.shown.value, 'yes')
  assert.equal(read.properties.outputs.whole.value.name, 'v')
  assert.deepEqual(Object.keys(read.properties.outputs.hidden), ['type'])
  assert.equal(read.properties.outputResources.length, 4)
  assert.deepEqual(read.properties.parameters.pw, { type: 'SecureString' })
  const operations = json(await started.call('GET', `${group}/deployments/first/operations`))
  assert.equal(operations.value.length, 4)
  const one = operations.value[0]
  assert.equal(one.properties.provisioningState, 'Succeeded')
  const again = json(
    await started.call('GET', `${group}/deployments/first/operations/${one.operationId}`),
  )
  assert.deepEqual(again, one)
  const pod = `${group}/providers/Vendor.ContainerInstance/containerGroups/web`
  const state = json(await started.call('GET', pod, undefined, { version: '2025-09-01' }))
  assert.equal(state.properties.provisioningState, 'Succeeded')
  const rows = await started.store.list({ under: '/', limit: 1000 })
  for (const row of rows) assert.ok(!row.document.includes(password), row.key)
  assert.equal((await started.call('HEAD', at('first'))).status, 204)
  await refusal(started.call('HEAD', at('none')), 'DeploymentNotFound')
  const exported = json(await started.call('POST', `${at('first')}/exportTemplate`))
  assert.equal(exported.template.resources.length, 4)
  assert.equal(
    await changesOf(started, 'first', asked),
    'v:NoChange pw:Modify web:NoChange ' +
      `${(asked as { properties: { template: { resources: { name: string }[] } } }).properties.template.resources[3]?.name}:NoChange`,
  )
})

test('what-if: Create, Modify with its delta, NoChange, Ignore, Delete; nothing is written', async () => {
  await using started = await startDeployments()
  const first = body([web('a'), web('b'), { ...vault, name: 'v' }])
  assert.equal(await changesOf(started, 'd', first), 'a:Create b:Create v:Create')
  assert.equal((await started.store.list({ under: `${group}/providers`, limit: 9 })).length, 0)
  await started.call('PUT', at('d'), first)
  await started.settle()
  const changed = web('b', 'nginx:2')
  const next = body([web('a'), changed, web('c')])
  assert.equal(await changesOf(started, 'd', next), 'a:NoChange b:Modify c:Create v:Ignore')
  const complete = body([web('a'), changed, web('c')], {}, { mode: 'Complete' })
  assert.equal(await changesOf(started, 'd', complete), 'a:NoChange b:Modify c:Create v:Delete')
  const answer = json(await started.call('POST', `${at('d')}/whatIf`, next))
  const [delta] = answer.properties.changes[1].delta
  assert.equal(delta.path, 'properties.containers')
  const image = { path: 'properties.image', before: 'nginx', after: 'nginx:2' }
  assert.deepEqual(delta.children[0], {
    path: '0',
    propertyChangeType: 'Modify',
    children: [{ ...image, propertyChangeType: 'Modify' }],
  })
  const versionsOf = (one: { before?: object; after?: object }) =>
    [one.before, one.after].map((side) => (side === undefined ? '' : Object(side).apiVersion))
  assert.deepEqual(answer.properties.changes.map(versionsOf), [
    ['2025-09-01', '2025-09-01'],
    ['2025-09-01', '2025-09-01'],
    ['', '2025-09-01'],
    ['2026-01-01', '2026-01-01'],
  ])
  await started.call('PUT', at('d'), complete)
  await started.settle()
  const read = json(await started.call('GET', at('d')))
  assert.equal(read.properties.provisioningState, 'Succeeded', JSON.stringify(read.properties))
  assert.equal(await changesOf(started, 'd', complete), 'a:NoChange b:NoChange c:NoChange')
})

test('what-if says whose template has a resource, and what that template calls it', async () => {
  await using started = await startDeployments()
  const inner = {
    type: 'Vendor.Resources/deployments',
    apiVersion: '2025-03-01',
    name: 'inner',
    properties: { mode: 'Incremental', template: templateFor([{ ...vault, name: 'w' }]) },
  }
  const name = "[format('v{0}', copyIndex())]"
  const vaults = { ...vault, name, copy: { name: 'loop', count: 2 } }
  const template = { ...templateFor([]), languageVersion: '2.0', resources: { vaults, inner } }
  await started.call('PUT', at('left'), body([{ ...vault, name: 'left' }]))
  await started.settle()
  for (const [resultFormat, changeType] of [
    ['FullResourcePayloads', 'Create'],
    ['ResourceIdOnly', 'Deploy'],
  ]) {
    const properties = { mode: 'Incremental', template, whatIfSettings: { resultFormat } }
    const answer = json(await started.call('POST', `${at('d')}/whatIf`, { properties }))
    const { changes } = answer.properties
    const shown = changes.map(
      ({ after: _, before: _before, ...rest }: Record<string, unknown>) => rest,
    )
    const id = (one: string): string => `${group}/providers/Vendor.Secrets/vaults/${one}`
    assert.deepEqual(shown, [
      { resourceId: id('v0'), deploymentId: at('d'), symbolicName: 'vaults[0]', changeType },
      { resourceId: id('v1'), deploymentId: at('d'), symbolicName: 'vaults[1]', changeType },
      { resourceId: id('w'), deploymentId: at('inner'), changeType },
      { resourceId: id('left'), changeType: 'Ignore' },
    ])
  }
})

test('what would be refused is refused before anything is written, every resource with its reason', async () => {
  await using started = await startDeployments()
  const someone = randomUUID()
  const taken = assignment(randomUUID(), someone)
  await started.call('PUT', at('one'), body([taken, web('a')]))
  await started.settle()
  const moved = { ...web('a'), location: 'elsewhere' }
  const asked = body([assignment(randomUUID(), someone), moved, web('new')])
  for (const [method, path] of [
    ['PUT', at('two')],
    ['POST', `${at('two')}/validate`],
    ['POST', `${at('two')}/whatIf`],
  ] as const) {
    const error = await refusal(started.call(method, path, asked), 'InvalidTemplateDeployment')
    const codes = error.extra.details?.map((one) => one.code).sort()
    assert.deepEqual(codes, ['InvalidResourceLocation', 'RoleAssignmentExists'])
  }
  await refusal(started.call('GET', at('two')), 'DeploymentNotFound')
  const fine = json(await started.call('POST', `${at('two')}/validate`, body([web('new')])))
  assert.equal(fine.properties.validatedResources.length, 1)
  const inside = `${group}/providers/Vendor.Secrets/vaults/v`
  await refusal(started.call('PUT', at('x', inside)), 'InvalidRequestContent')
  await refusal(started.call('PUT', at('x', inside), body([])), 'InvalidDeploymentScope')
  const linked = { properties: { templateLink: { uri: 'http://10.0.0.1/t.json' } } }
  await refusal(started.call('PUT', at('x'), linked), 'InvalidContentLink')
  const bad = { properties: { template: { resources: 1 } } }
  const error = await refusal(started.call('PUT', at('x'), bad), 'InvalidTemplate')
  assert.equal(error.extra.additionalInfo?.[0]?.type, 'TemplateViolation')
})

test('the one who deploys needs the right to each resource, as in a direct call', async () => {
  await using started = await startDeployments()
  const name = 'Vendor.Authorization/roleAssignments'
  await started.call('PUT', at('seed'), body([{ ...vault, name: 'v' }]))
  await started.settle()
  await refusal(
    started.call('PUT', at('his'), body([web('a')]), { as: nobody }),
    'AuthorizationFailed',
  )
  const definition = randomUUID()
  const roles = `${group}/providers/Vendor.Authorization/roleDefinitions/${definition}`
  const actions = ['Vendor.Resources/deployments/*']
  const properties = { roleName: 'd', type: 'CustomRole', permissions: [{ actions }] }
  await started.call(
    'PUT',
    roles,
    { properties: { ...properties, assignableScopes: [group] } },
    { version: '2022-04-01' },
  )
  await started.call(
    'PUT',
    `${group}/providers/${name}/${randomUUID()}`,
    { properties: { principalId: nobody.id, roleDefinitionId: roles, principalType: 'User' } },
    { version: '2022-04-01' },
  )
  const error = await refusal(
    started.call('PUT', at('his'), body([web('a')]), { as: nobody }),
    'InvalidTemplateDeployment',
  )
  assert.equal(error.extra.details?.[0]?.code, 'AuthorizationFailed')
})

test('goes on after a restart; a cancel stops what was not sent; lists are of one scope', async () => {
  await using store = await memoryStore()
  {
    await using asleep = await startDeployments({ store, asleep: true })
    await asleep.call('PUT', at('d'), body([web('a'), { ...vault, name: 'v', dependsOn: ['a'] }]))
    await asleep.call('PUT', at('c'), body([web('never')]))
    assert.equal((await asleep.call('POST', `${at('c')}/cancel`)).status, 204)
    await refusal(asleep.call('DELETE', at('d')), 'DeploymentActive')
    await refusal(asleep.call('PUT', at('d'), body([])), 'DeploymentActive')
  }
  await using started = await startDeployments({ store })
  await started.settle()
  const read = json(await started.call('GET', at('d')))
  assert.equal(read.properties.provisioningState, 'Succeeded', JSON.stringify(read))
  const canceled = json(await started.call('GET', at('c')))
  assert.equal(canceled.properties.provisioningState, 'Canceled')
  await refusal(started.call('POST', `${at('c')}/cancel`), 'DeploymentNotActive')
  const collection = 'providers/Vendor.Resources/deployments'
  const listed = json(await started.call('GET', `${group}/${collection}`))
  assert.equal(listed.value.length, 2)
  const filter = encodeURIComponent("provisioningState eq 'Succeeded'")
  const some = json(await started.call('GET', `${group}/${collection}?$filter=${filter}`))
  assert.equal(some.value.length, 1)
  const above = json(await started.call('GET', `${subscription}/${collection}`))
  assert.equal(above.value.length, 0)
  await started.call('DELETE', at('d'))
  await started.settle()
  await refusal(started.call('GET', at('d')), 'DeploymentNotFound')
})

test('a failure names the resource and holds its error; what depends on it is not sent', async () => {
  await using started = await startDeployments()
  const nested = {
    type: 'Vendor.Resources/deployments',
    apiVersion: '2025-03-01',
    name: 'inner',
    properties: {
      mode: 'Incremental',
      expressionEvaluationOptions: { scope: 'inner' },
      template: templateFor([{ ...vault, name: 'in', location: 'local' }], {
        outputs: { text: { type: 'string', value: "[reference('in').vaultUri]" } },
      }),
    },
  }
  // Its argument is known only after the first one has run.
  const value = "[reference('inner').outputs.text.value]"
  const second = {
    type: 'Vendor.Resources/deployments',
    apiVersion: '2025-03-01',
    name: 'broken',
    dependsOn: ['inner'],
    properties: {
      expressionEvaluationOptions: { scope: 'inner' },
      parameters: { count: { value } },
      template: templateFor([], { parameters: { count: { type: 'int' } } }),
    },
  }
  const last = { ...vault, name: 'later', dependsOn: ['broken'] }
  await started.call('PUT', at('outer'), body([nested, second, last]))
  await started.settle()
  const read = json(await started.call('GET', at('outer')))
  assert.equal(read.properties.provisioningState, 'Failed')
  assert.equal(read.properties.error.code, 'DeploymentFailed')
  assert.equal(read.properties.error.details.length, 1)
  assert.equal(read.properties.error.details[0].code, 'InvalidTemplate')
  assert.ok(read.properties.error.details[0].target.endsWith('/broken'))
  const vaults = `${group}/providers/Vendor.Secrets/vaults`
  const there = json(await started.call('GET', vaults, undefined, { version: '2026-01-01' }))
  assert.deepEqual(
    there.value.map((one: { name: string }) => one.name),
    ['in'],
  )
})

test('at a subscription: resources of its groups, its own list and operations, no complete mode', async () => {
  await using started = await startDeployments()
  const schema = { $schema: 'subscriptionDeploymentTemplate.json#' }
  const asked = body([{ ...vault, name: 'v', scope: group }], schema)
  const path = at('top', subscription)
  assert.equal((await started.call('PUT', path, { location: 'local', ...asked })).status, 201)
  await started.settle()
  const read = json(await started.call('GET', path))
  assert.equal(read.properties.provisioningState, 'Succeeded')
  assert.equal(read.location, 'local')
  const operations = json(await started.call('GET', `${subscription}/deployments/top/operations`))
  assert.equal(operations.value[0].properties.targetResource.resourceType, 'Vendor.Secrets/vaults')
  const listed = json(
    await started.call('GET', `${subscription}/providers/Vendor.Resources/deployments`),
  )
  assert.equal(listed.value.length, 1)
  await refusal(
    started.call('PUT', path, body([], schema, { mode: 'Complete' })),
    'InvalidDeploymentMode',
  )
})

test('links: followed where they are allowed, once; what is found is what is recorded', async () => {
  const nested = templateFor([{ ...vault, name: 'n' }])
  const inner = {
    type: 'Vendor.Resources/deployments',
    apiVersion: '2025-03-01',
    name: 'inner',
    properties: { mode: 'Incremental', templateLink: { relativePath: 'nested.json' } },
  }
  const outputs = {
    from: { type: 'string', value: '[deployment().properties.templateLink.uri]' },
  }
  const main = templateFor([{ ...vault, name: "[parameters('name')]" }, inner], {
    parameters: { name: { type: 'string' } },
    outputs,
  })
  const files = new Map([
    ['https://x.example/t/main.json?sig=hush', JSON.stringify(main)],
    ['https://x.example/t/nested.json', JSON.stringify(nested)],
    ['https://x.example/t/bad.json', '{\n  "resources": [,]\n}'],
    ['https://x.example/t/values.json', '{"parameters": {"name": {"value": "linked"}}}'],
  ])
  const asked: string[] = []
  let entered = 0
  const links: TemplateLinks = {
    inRoom: (_, work) => {
      entered += 1
      return work()
    },
    async read(uri) {
      asked.push(uri)
      const text = files.get(uri)
      return text === undefined ? { ok: false, reason: 'it is not there' } : { ok: true, text }
    },
  }
  await using started = await startDeployments({ links })
  const uri = 'https://x.example/t/main.json?sig=hush'
  const properties = {
    templateLink: { uri, contentVersion: '1.0.0.0' },
    parametersLink: { uri: 'https://x.example/t/values.json' },
  }
  await started.call('PUT', at('linked'), { properties })
  await started.settle()
  const read = json(await started.call('GET', at('linked')))
  assert.equal(read.properties.provisioningState, 'Succeeded', JSON.stringify(read))
  assert.equal(read.properties.outputs.from.value, 'https://x.example/t/main.json')
  assert.deepEqual(read.properties.templateLink, {
    uri: 'https://x.example/t/main.json',
    contentVersion: '1.0.0.0',
  })
  assert.ok(!JSON.stringify(read).includes('hush'))
  const vaults = `${group}/providers/Vendor.Secrets/vaults`
  const there = json(await started.call('GET', vaults, undefined, { version: '2026-01-01' }))
  assert.deepEqual(
    there.value.map((one: { name: string }) => one.name),
    ['linked', 'n'],
  )
  assert.equal(asked.filter((one) => one === uri).length, 1)
  assert.ok(entered > 0, 'linked texts have a room')
  const other = { properties: { ...properties, templateLink: { uri, contentVersion: '2.0.0.0' } } }
  await refusal(started.call('PUT', at('other'), other), 'InvalidContentLink')
  const bad = { properties: { templateLink: { uri: 'https://x.example/t/bad.json' } } }
  const error = await refusal(started.call('PUT', at('bad'), bad), 'InvalidTemplate')
  assert.deepEqual(error.extra.additionalInfo?.[0]?.info, {
    lineNumber: 2,
    linePosition: 17,
    path: 'resources[0]',
  })
  const spec = { properties: { templateLink: { id: '/subscriptions/s/x' } } }
  await refusal(started.call('PUT', at('spec'), spec), 'InvalidContentLink')
})

test('secure values in the outer scope of a nested deployment are in no record either', async () => {
  await using started = await startDeployments()
  const password = 'correct horse battery staple'
  const nested = {
    type: 'Vendor.Resources/deployments',
    apiVersion: '2025-03-01',
    name: 'inner',
    properties: {
      mode: 'Incremental',
      template: templateFor(
        [
          { ...vault, name: 'v' },
          { ...secret, name: 'v/pw', properties: { value: "[parameters('pw')]" } },
          {
            ...secret,
            name: "[concat('v/', copyIndex())]",
            copy: { name: 'more', count: 2 },
            properties: { value: "[concat(parameters('pw'), copyIndex())]" },
          },
        ],
        { outputs: { leak: { type: 'string', value: "[parameters('pw')]" } } },
      ),
    },
  }
  const parameters = { pw: { type: 'securestring' } }
  const outputs = { leak: { type: 'string', value: "[parameters('pw')]" } }
  const given = { parameters: { pw: { value: password } } }
  const asked = body([nested], { parameters, outputs }, given)
  await started.call('PUT', at('outer'), asked)
  await started.settle()
  const read = json(await started.call('GET', at('outer')))
  assert.equal(read.properties.provisioningState, 'Succeeded', JSON.stringify(read.properties))
  const inner = json(await started.call('GET', at('inner')))
  assert.equal(inner.properties.provisioningState, 'Succeeded', JSON.stringify(inner.properties))
  const rows = await started.store.list({ under: '/', limit: 1000 })
  assert.ok(rows.some((row) => row.key.endsWith('/secrets/1')))
  for (const row of rows) assert.ok(!row.document.includes(password), row.key)
  const whatIf = await started.call('POST', `${at('outer')}/whatIf`, asked)
  assert.ok(!JSON.stringify(whatIf.body).includes(password))
  // Each value given to a vault secret is a new version, even an equal one.
  assert.ok(!/"changeType":"Create"/.test(JSON.stringify(whatIf.body)))
})

test('nested deployments to other groups, and on what their parent makes first: what-if and deployment agree', async () => {
  await using started = await startDeployments()
  const schema = { $schema: 'subscriptionDeploymentTemplate.json#' }
  const deployment = { type: 'Vendor.Resources/deployments', apiVersion: '2025-03-01' }
  const inner = (name: string, dependsOn: string[], resources: object[], more: object = {}) => ({
    ...deployment,
    name,
    dependsOn,
    ...more,
    properties: {
      mode: 'Incremental',
      expressionEvaluationOptions: { scope: 'inner' },
      template: templateFor(resources),
    },
  })
  const fresh = 'fresh'
  const asked = body(
    [
      inner('second', ['first'], [{ ...secret, name: 'v/s', properties: { value: 'x' } }], {
        resourceGroup: fresh,
      }),
      inner('first', [fresh], [{ ...vault, name: 'v' }], { resourceGroup: fresh }),
      {
        type: 'Vendor.Resources/resourceGroups',
        apiVersion: '2021-04-01',
        name: fresh,
        location: 'local',
      },
    ],
    schema,
  )
  const path = at('top', subscription)
  const location = 'local'
  const kinds = async (): Promise<readonly string[]> => {
    const answer = json(await started.call('POST', `${path}/whatIf`, { ...asked, location }))
    return answer.properties.changes.map(
      (one: { resourceId: string; changeType: string }) =>
        `${one.resourceId.split('/').at(-1)}:${one.changeType}`,
    )
  }
  assert.deepEqual(await kinds(), ['fresh:Create', 'v:Create', 's:Unsupported'])
  await started.call('PUT', path, { ...asked, location })
  await started.settle()
  const read = json(await started.call('GET', path))
  assert.equal(read.properties.provisioningState, 'Succeeded', JSON.stringify(read.properties))
  assert.deepEqual(await kinds(), ['fresh:NoChange', 'v:NoChange', 's:Modify'])
})

test('environment() has endpoints and suffixes of this installation', async () => {
  await using started = await startDeployments()
  const outputs = {
    blob: {
      type: 'string',
      value: "[format('https://a.blob.{0}', environment().suffixes.storage)]",
    },
    vault: { type: 'string', value: "[concat('v', environment().suffixes.keyvaultDns)]" },
    sql: { type: 'string', value: "[concat('s', environment().suffixes.sqlServerHostname)]" },
  }
  await started.call('PUT', at('env'), body([], { outputs }))
  await started.settle()
  const { properties } = json(await started.call('GET', at('env')))
  assert.equal(properties.outputs?.blob.value, 'https://a.blob.core.armature.example')
  assert.equal(properties.outputs.vault.value, 'v.vault.armature.example')
  assert.equal(properties.outputs.sql.value, 's.database.armature.example')
})

test('versions that published templates send, also of resources inside of nested deployments', async () => {
  await using started = await startDeployments()
  const assigned = { ...assignment(randomUUID(), randomUUID()), apiVersion: '2020-04-01-preview' }
  const nested = {
    type: 'Vendor.Resources/deployments',
    apiVersion: '2018-05-01',
    name: 'inner',
    properties: {
      mode: 'Incremental',
      template: templateFor([assigned, { ...web('w'), apiVersion: '2018-10-01' }]),
    },
  }
  const lock = {
    type: 'Vendor.Authorization/locks',
    apiVersion: '2020-05-01',
    name: 'l',
    properties: { level: 'CanNotDelete' },
  }
  const outputs = {
    versions: {
      type: 'array',
      value: "[providers('Vendor.Authorization', 'locks').apiVersions]",
    },
    image: {
      type: 'string',
      value: `[reference('${group}/providers/Vendor.ContainerInstance/containerGroups/w', '2021-09-01').containers[0].properties.image]`,
    },
  }
  const outer = { ...nested, name: 'outer', properties: { template: templateFor([nested]) } }
  const asked = body([outer, lock], { outputs: { versions: outputs.versions } })
  await started.call('PUT', at('old'), asked, { version: '2019-05-10' })
  await started.settle()
  const read = json(await started.call('GET', at('old'), undefined, { version: '2026-06-01' }))
  assert.equal(read.properties.provisioningState, 'Succeeded', JSON.stringify(read.properties))
  assert.ok(read.properties.outputs.versions.value.includes('2020-05-01'))
  assert.equal(await changesOf(started, 'old', body([lock])), 'l:NoChange w:Ignore')
  await started.call('PUT', at('image'), body([], { outputs: { image: outputs.image } }))
  await started.settle()
  const image = json(await started.call('GET', at('image')))
  assert.equal(image.properties.outputs?.image.value, 'nginx', JSON.stringify(image.properties))
  const unlisted = { ...lock, apiVersion: '2019-12-31' }
  await refusal(started.call('PUT', at('no'), body([unlisted])), 'InvalidTemplateDeployment')
})

test('a secure parameter takes its value from a vault, for who may use the secret there', async () => {
  await using started = await startDeployments()
  const password = 'correct horse battery staple'
  const version = vault.apiVersion
  const id = `${group}/providers/Vendor.Secrets/vaults/keys`
  await started.call('PUT', id, { location: 'local' }, { version })
  await started.call('PUT', `${id}/secrets/pw`, { properties: { value: password } }, { version })
  const reference = (secretName: string, vaultId = id): object => ({
    parameters: { pw: { reference: { keyVault: { id: vaultId }, secretName } } },
  })
  const resources = [
    { ...vault, name: 'copy' },
    { ...secret, name: 'copy/pw', properties: { value: "[parameters('pw')]" } },
  ]
  const secure = { parameters: { pw: { type: 'secureString' } } }
  const asked = body(resources, secure, reference('pw'))
  await started.call('PUT', at('taken'), asked)
  await started.settle()
  const read = json(await started.call('GET', at('taken')))
  assert.equal(read.properties.provisioningState, 'Succeeded', JSON.stringify(read.properties))
  const rows = await started.store.list({ under: '/', limit: 1000 })
  for (const row of rows) assert.ok(!row.document.includes(password), row.key)
  // A value given to a vault secret is a new version, even an equal one.
  const literal = body(resources, secure, { parameters: { pw: { value: password } } })
  assert.equal(await changesOf(started, 'taken', literal), 'copy:NoChange pw:Modify keys:Ignore')
  for (const one of [
    reference('none'),
    reference('pw', `${group}/providers/Vendor.Secrets/vaults/x`),
  ]) {
    const missing = body(resources, secure, one)
    await refusal(started.call('PUT', at('missing'), missing), 'ParameterSecretNotFound')
  }
  const plain = body(resources, { parameters: { pw: { type: 'string' } } }, reference('pw'))
  await refusal(started.call('PUT', at('plain'), plain), 'InvalidTemplate')
  const definition = randomUUID()
  const roles = `${group}/providers/Vendor.Authorization/roleDefinitions/${definition}`
  const permissions = [
    { actions: ['*'], notActions: ['Vendor.Secrets/vaults/secrets/getValue/action'] },
  ]
  const properties = { roleName: 'd', type: 'CustomRole', permissions, assignableScopes: [group] }
  await started.call('PUT', roles, { properties }, { version: '2022-04-01' })
  await started.call(
    'PUT',
    `${group}/providers/Vendor.Authorization/roleAssignments/${randomUUID()}`,
    { properties: { principalId: nobody.id, roleDefinitionId: roles, principalType: 'User' } },
    { version: '2022-04-01' },
  )
  for (const one of [asked, body(resources, secure, reference('none'))]) {
    await refusal(started.call('PUT', at('his'), one, { as: nobody }), 'LinkedAuthorizationFailed')
  }
})
