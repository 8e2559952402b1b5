/** What a deployment's body may say beside its template: kept and shown, or refused by name; never dropped. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { memoryStore, owner } from '#plane/testing/start.ts'
import { group, startDeployments, subscription, templateFor } from '../../testing/start.ts'

const vault = { type: 'Vendor.Secrets/vaults', apiVersion: '2026-01-01', location: 'local' }
const at = (name: string, under = group): string =>
  `${under}/providers/Vendor.Resources/deployments/${name}`

// Answers are read as the clients see them.
// biome-ignore lint/suspicious/noExplicitAny: their shape is what is tested.
const json = ({ body }: { readonly body?: unknown }): any => JSON.parse(JSON.stringify(body))

function body(resources: readonly object[], properties: object = {}, outer: object = {}): object {
  const template = templateFor(resources)
  return { ...outer, properties: { mode: 'Incremental', template, ...properties } }
}

test('tags, the level of validation and the providers are part of the record', async () => {
  await using started = await startDeployments()
  const wrong = { ...vault, type: 'Vendor.Secrets/none', name: 'n', condition: false }
  const given = body([{ ...vault, name: 'v' }, wrong], { validationLevel: 'provider' })
  const tags = { team: 'blue', Team2: 'x' }
  await started.call('PUT', at('d'), { ...given, tags })
  await started.settle()
  const read = json(await started.call('GET', at('d')))
  assert.deepEqual(read.tags, tags)
  assert.equal(read.properties.validationLevel, 'Provider')
  assert.deepEqual(read.properties.providers, [
    { namespace: 'Vendor.Secrets', resourceTypes: [{ resourceType: 'vaults', locations: [] }] },
  ])
  await started.call('PUT', at('d'), body([]))
  assert.equal(json(await started.call('GET', at('d'))).tags, undefined)
})

test('with validationLevel Template only the template is looked at beforehand', async () => {
  await using started = await startDeployments()
  const given = body([{ ...vault, type: 'Vendor.Secrets/none', name: 'v' }], {
    validationLevel: 'Template',
  })
  const valid = json(await started.call('POST', `${at('d')}/validate`, given))
  assert.equal(valid.properties.validationLevel, 'Template')
  await started.call('PUT', at('d'), given)
  await started.settle()
  const read = json(await started.call('GET', at('d'))).properties
  assert.equal(read.provisioningState, 'Failed')
  assert.equal(read.error.details[0].code, 'InvalidResourceType')
})

test('what is not served is refused by name, by PUT, validate and whatIf', async () => {
  await using started = await startDeployments()
  const settings = {
    onErrorDeployment: { type: 'Sometimes' },
    debugSetting: { detailLevel: 'requestContent, everything' },
    extensionConfigs: { any: {} },
    validationLevel: 'Half',
  }
  for (const [name, value] of Object.entries(settings)) {
    for (const [method, path] of [
      ['PUT', at('d')],
      ['POST', `${at('d')}/validate`],
      ['POST', `${at('d')}/whatIf`],
    ] as const) {
      await assert.rejects(started.call(method, path, body([], { [name]: value })), {
        code: 'DeploymentSettingNotServed',
        message: new RegExp(`'properties.${name}' is not served here`),
      })
    }
  }
  const harmless = { debugSetting: { detailLevel: 'none' }, extensionConfigs: {} }
  await started.call('PUT', at('d'), body([], { ...harmless, onErrorDeployment: null }))
})

test('parameters are expressions of external inputs, which are shown nowhere', async () => {
  await using started = await startDeployments()
  const parameters = { given: { type: 'object' }, hidden: { type: 'securestring' } }
  const template = templateFor([{ ...vault, name: 'v', tags: "[parameters('given')]" }], {
    parameters,
  })
  const properties = {
    externalInputDefinitions: { team: { kind: 'sys.envVar', config: 'TEAM' } },
    externalInputs: { team: { value: 'blue' }, pass: { value: 'correct-horse' } },
    parameters: {
      given: { expression: "[createObject('team', externalInputs('team'))]" },
      hidden: { expression: "[concat(externalInputs('pass'), '-1')]" },
    },
  }
  const given = body([], { ...properties, template })
  await started.call('PUT', at('d'), given)
  await started.settle()
  const read = json(await started.call('GET', at('d'))).properties
  assert.equal(read.provisioningState, 'Succeeded')
  assert.deepEqual(read.parameters, {
    given: { type: 'Object', value: { team: 'blue' } },
    hidden: { type: 'SecureString' },
  })
  const changes = json(await started.call('POST', `${at('d')}/whatIf`, given)).properties.changes
  assert.equal(changes[0].changeType, 'NoChange')
  for (const { document } of await started.store.list({ under: '/', limit: 100 })) {
    assert.ok(!document.includes('correct-horse'))
  }
  const without = body([], { ...properties, template, externalInputs: {} })
  await assert.rejects(started.call('PUT', at('e'), without), /no external input 'team'/)
})

test('requests and answers are recorded where the debug setting says so, without secure values', async () => {
  await using started = await startDeployments()
  const resources = [{ ...vault, name: 'v', tags: { open: 'seen', hidden: "[parameters('p')]" } }]
  const template = templateFor(resources, { parameters: { p: { type: 'securestring' } } })
  const parameters = { p: { value: 'not to be seen' } }
  const contentOf = async (detailLevel: string) => {
    const debugSetting = { detailLevel }
    await started.call('PUT', at('d'), { properties: { template, parameters, debugSetting } })
    await started.settle()
    const listed = json(await started.call('GET', `${at('d')}/operations`))
    assert.ok(!JSON.stringify(listed.value[0].properties).includes('not to be seen'))
    return listed.value[0].properties
  }
  const both = await contentOf('RequestContent,responseContent')
  assert.deepEqual(both.request.content.tags, { open: 'seen', hidden: '*****' })
  assert.equal(both.response.content.name, 'v')
  assert.equal(both.response.content.tags.hidden, '*****')
  const read = json(await started.call('GET', at('d'))).properties
  assert.deepEqual(read.debugSetting, { detailLevel: 'requestContent, responseContent' })
  const one = await contentOf('responseContent')
  assert.equal(one.request, undefined)
  assert.equal(one.response.content.name, 'v')
  const none = await contentOf('none')
  assert.equal(none.response, undefined)
})

test('refusals of what waits for others have no secret, and ids keep their parts', async () => {
  await using started = await startDeployments()
  const reads = (name: string): string =>
    `[reference(resourceId('Vendor.Secrets/vaults', ${name}), '2026-01-01').vaultUri]`
  await started.call('PUT', at('first'), body([]))
  const resources = [
    { ...vault, name: 'secrets' },
    { ...vault, name: 'w', dependsOn: ['secrets'], tags: { a: reads("parameters('pin')") } },
    { ...vault, name: 'x', tags: { a: reads("concat('a-', parameters('pin'))") } },
  ]
  const outputs = { o: { type: 'string', value: reads("parameters('pin')") } }
  const template = templateFor(resources, {
    parameters: { pin: { type: 'securestring' }, word: { type: 'securestring' } },
    outputs,
  })
  const parameters = { pin: { value: '1234x' }, word: { value: 'secrets' } }
  const error = await started
    .call('POST', `${at('d')}/validate`, { properties: { template, parameters } })
    .then(
      () => undefined,
      (refused) => refused,
    )
  const shown = JSON.stringify([error.message, error.extra])
  assert.ok(!shown.includes('1234x'), shown)
  assert.match(shown, /Vendor\.Secrets\/vaults\/a-\*\*\*\*\*/)
})

test('what a type takes and never shows is not recorded either, however it was given', async () => {
  await using started = await startDeployments()
  const parameters = { plain: { type: 'string', defaultValue: 'PlainPw-4411' } }
  const secureValue = "[concat('P1!', parameters('plain'))]"
  const container = {
    image: 'nginx',
    resources: { requests: { cpu: 0.5, memoryInGB: 0.5 } },
    environmentVariables: [{ name: 'A', secureValue }],
  }
  const web = {
    type: 'Vendor.ContainerInstance/containerGroups',
    apiVersion: '2023-05-01',
    name: 'web',
    location: 'local',
    properties: { osType: 'Linux', containers: [{ name: 'web', properties: container }] },
  }
  const debugSetting = { detailLevel: 'requestContent,responseContent' }
  const template = templateFor([web], { parameters })
  await started.call('PUT', at('d'), { properties: { template, debugSetting } })
  await started.settle()
  const listed = json(await started.call('GET', `${at('d')}/operations`))
  const { content } = listed.value[0].properties.request
  const [made] = content.properties.containers
  assert.deepEqual(made.properties.environmentVariables, [{ name: 'A', secureValue: '*****' }])
  assert.ok(!JSON.stringify(listed).includes('PlainPw-4411'))
})

test('what the answer does not show is not recorded, whatever schemas say, nor what was refused', async () => {
  await using started = await startDeployments()
  const properties = { password: 'Undeclared-4411', list: ['Undeclared-4412'], no: false }
  const resources = [
    { ...vault, name: 'v', tags: { open: 'Seen' }, properties },
    { ...vault, name: 'w', location: 'Refused-4413', tags: 'Refused-4414' },
  ]
  const debugSetting = { detailLevel: 'requestContent' }
  const sent = { properties: { template: templateFor(resources), debugSetting } }
  await started.call('PUT', at('d'), sent).catch(() => {})
  await started.settle()
  const listed = await started
    .call('GET', `${at('d')}/operations`)
    .then(json, () => ({ value: [] }))
  assert.doesNotMatch(JSON.stringify(listed), /Undeclared-|Refused-/)
  const one = { properties: { template: templateFor(resources.slice(0, 1)), debugSetting } }
  await started.call('PUT', at('e'), one)
  await started.settle()
  const [made] = json(await started.call('GET', `${at('e')}/operations`)).value
  assert.deepEqual(made.properties.request.content, {
    location: 'local',
    tags: { open: 'Seen' },
    properties: { password: '*****', list: ['*****'], no: false },
  })
})

test('what a stack in the template was given is not recorded: its own template says what is secure', async () => {
  await using started = await startDeployments()
  const stack = {
    type: 'Vendor.Resources/deploymentStacks',
    apiVersion: '2024-03-01',
    name: 's',
    properties: {
      actionOnUnmanage: { resources: 'delete' },
      denySettings: { mode: 'none' },
      parameters: { pw: { value: 'StackPw-4411' } },
      template: templateFor([], { parameters: { pw: { type: 'securestring' } } }),
    },
  }
  const debugSetting = { detailLevel: 'requestContent,responseContent' }
  const template = templateFor([stack])
  await started.call('PUT', at('d'), { properties: { template, debugSetting } })
  await started.settle()
  const listed = json(await started.call('GET', `${at('d')}/operations`))
  const [{ properties }] = listed.value
  assert.deepEqual(properties.request.content.properties, {
    actionOnUnmanage: { resources: 'delete' },
    denySettings: { mode: 'none' },
  })
  assert.ok(!JSON.stringify(listed).includes('StackPw-4411'))
})

test('a deployment to a subscription has a location, which stays', async () => {
  await using started = await startDeployments()
  const path = at('d', subscription)
  const template = { ...templateFor([]), $schema: 'subscriptionDeploymentTemplate.json#' }
  const properties = { template }
  for (const [method, to] of [
    ['PUT', path],
    ['POST', `${path}/validate`],
    ['POST', `${path}/whatIf`],
  ] as const) {
    await assert.rejects(started.call(method, to, { properties }), { code: 'LocationRequired' })
  }
  await started.call('PUT', path, { location: 'local', properties })
  await started.settle()
  await assert.rejects(started.call('PUT', path, { location: 'elsewhere', properties }), {
    code: 'InvalidDeploymentLocation',
  })
  await started.call('PUT', path, { location: 'LOCAL', properties })
})

test('a canceled deployment says so in its error', async () => {
  await using started = await startDeployments({ asleep: true })
  await started.call('PUT', at('d'), body([{ ...vault, name: 'v' }]))
  await started.call('POST', `${at('d')}/cancel`)
  started.plane.reconciler.start()
  await started.settle()
  const read = json(await started.call('GET', at('d'))).properties
  assert.equal(read.provisioningState, 'Canceled')
  assert.equal(read.error.code, 'DeploymentCanceled')
  const changes = json(await started.call('POST', `${at('d')}/whatIf`, body([]))).properties
  assert.match(changes.correlationId, /^[\w-]+$/)
})

test('the tags of a scope are deployed, and change nothing the second time', async () => {
  await using started = await startDeployments()
  const tags = { type: 'Vendor.Resources/tags', apiVersion: '2021-04-01', name: 'default' }
  const resources = [
    { ...tags, properties: { tags: { team: 'blue' } } },
    { ...vault, name: 'v' },
    {
      ...tags,
      scope: 'Vendor.Secrets/vaults/v',
      dependsOn: ["[resourceId('Vendor.Secrets/vaults', 'v')]"],
      properties: { tags: { team: 'red' } },
    },
  ]
  await started.call('PUT', group, { location: 'local' }, { version: '2021-04-01' })
  const given = body(resources)
  const before = json(await started.call('POST', `${at('d')}/whatIf`, given)).properties.changes
  assert.deepEqual(
    before.map(({ changeType }: { changeType: string }) => changeType),
    ['Modify', 'Create', 'Modify'],
  )
  await started.call('PUT', at('d'), given)
  await started.settle()
  const read = json(await started.call('GET', at('d'))).properties
  assert.equal(read.provisioningState, 'Succeeded')
  const seen = await started.call('GET', `${group}/providers/Vendor.Secrets/vaults/v`, undefined, {
    version: '2026-01-01',
  })
  assert.deepEqual(json(seen).tags, { team: 'red' })
  const again = body(resources.slice(0, 1))
  const after = json(await started.call('POST', `${at('d')}/whatIf`, again)).properties.changes
  const ofGroup = after.find((one: { resourceId: string }) => /tags\/default$/.test(one.resourceId))
  assert.equal(ofGroup.changeType, 'NoChange')
})

const failing = { ...vault, type: 'Vendor.Secrets/vaults', name: '-' }
const later = { validationLevel: 'Template' }

test('a deployment that fails falls back to the last that succeeded, or to the one that is named', async () => {
  await using started = await startDeployments()
  const none = body([], { onErrorDeployment: { type: 'LastSuccessful' } })
  await assert.rejects(started.call('PUT', at('none'), none), { code: 'OnErrorDeploymentNotFound' })
  for (const action of ['validate', 'whatIf']) {
    await assert.rejects(started.call('POST', `${at('none')}/${action}`, none), {
      code: 'OnErrorDeploymentNotFound',
    })
  }
  const tags = { team: 'blue' }
  await started.call('PUT', at('one'), body([{ ...vault, name: 'one' }], {}, { tags }))
  await started.settle()
  await started.call('PUT', at('two'), body([{ ...vault, name: 'two' }]))
  await started.settle()
  for (const [name, onErrorDeployment, expected] of [
    ['bad', { type: 'LastSuccessful' }, 'two'],
    ['worse', { type: 'SpecificDeployment', deploymentName: 'one' }, 'one'],
  ] as const) {
    await started.call('PUT', at(name), body([failing], { ...later, onErrorDeployment }))
    await started.settle()
    const { properties } = json(await started.call('GET', at(name)))
    assert.equal(properties.provisioningState, 'Failed')
    assert.deepEqual(properties.onErrorDeployment, {
      type: onErrorDeployment.type,
      deploymentName: expected,
      provisioningState: 'Succeeded',
    })
    const vaults = json(
      await started.call('GET', `${group}/providers/Vendor.Secrets/vaults`, undefined, {
        version: '2026-01-01',
      }),
    )
    const names = vaults.value.map((one: { name: string }) => one.name)
    assert.deepEqual(names, [expected], 'what the earlier one does not name goes')
  }
  const inner = {
    type: 'Vendor.Resources/deployments',
    apiVersion: '2022-09-01',
    name: 'inner',
    properties: { template: templateFor([]), onErrorDeployment: { type: 'LastSuccessful' } },
  }
  assert.deepEqual(json(await started.call('GET', at('one'))).tags, tags)
  await assert.rejects(started.call('PUT', at('nest'), body([inner])), {
    code: 'InvalidTemplateDeployment',
    message: /onErrorDeployment/,
  })
  await started.call('PUT', at('nest'), body([inner], later))
  await started.settle()
  const { error } = json(await started.call('GET', at('nest'))).properties
  assert.equal(error.details[0].code, 'DeploymentSettingNotServed')
})

test('the last one is looked for among some megabytes of deployments; one that is named is found among any', async () => {
  await using store = await memoryStore()
  await using started = await startDeployments({ store })
  await started.call('PUT', at('one'), body([]))
  await started.settle()
  const row = await store.get(at('one').toLowerCase())
  assert.ok(row)
  const document = JSON.stringify({ ...JSON.parse(row.document), observed: 'x'.repeat(2_200_000) })
  await store.transact(async (tx) => {
    for (let n = 0; n < 40; n++) {
      const id = at(`large${n}`)
      await tx.insert({ ...row, id, key: id.toLowerCase(), document, uniqueKey: null })
    }
  })
  const last = body([], { onErrorDeployment: { type: 'LastSuccessful' } })
  await assert.rejects(started.call('POST', `${at('new')}/validate`, last), {
    code: 'DeploymentSettingNotServed',
    message: /too large to look through/,
  })
  const validated = await started.call('POST', `${at('new')}/validate`, body([], onErrorOf('one')))
  assert.equal(validated.status, 200)
})

const onErrorOf = (deploymentName: string): object => ({
  onErrorDeployment: { type: 'SpecificDeployment', deploymentName },
})

test('what is nested is never fallen back to: its outermost deployment is', async () => {
  await using started = await startDeployments()
  const inner = {
    type: 'Vendor.Resources/deployments',
    apiVersion: '2022-09-01',
    name: 'inner',
    properties: { mode: 'Incremental', template: templateFor([{ ...vault, name: 'inside' }]) },
  }
  await started.call('PUT', at('main'), body([{ ...vault, name: 'outside' }, inner]))
  await started.settle()
  const last = { onErrorDeployment: { type: 'LastSuccessful' } }
  await started.call('PUT', at('bad'), body([failing], { ...later, ...last }))
  await started.settle()
  const { properties } = json(await started.call('GET', at('bad')))
  assert.equal(properties.onErrorDeployment.deploymentName, 'main')
  const vaults = { version: '2026-01-01' }
  const path = `${group}/providers/Vendor.Secrets/vaults`
  const left = json(await started.call('GET', path, undefined, vaults)).value
  assert.deepEqual(left.map((one: { name: string }) => one.name).sort(), ['inside', 'outside'])
  await assert.rejects(started.call('PUT', at('bad'), body([], onErrorOf('inner'))), {
    code: 'OnErrorDeploymentNotFound',
  })
  await assert.rejects(started.call('PUT', at('bad'), body([], onErrorOf('main/operations/x'))), {
    code: 'DeploymentSettingNotServed',
  })
})

test('who may not carry out a deployment does not fall back to it, nor learn whether it is there', async () => {
  await using started = await startDeployments()
  for (const name of ['one', 'own']) await started.call('PUT', at(name), body([]))
  await started.settle()
  const as = { ...owner, id: randomUUID() }
  const role = 'b24988ac-6180-42a0-ab88-20f7382dd24c'
  const roleDefinitionId = `/providers/Vendor.Authorization/roleDefinitions/${role}`
  const properties = { principalId: as.id, principalType: 'User', roleDefinitionId }
  const assignment = `${at('own')}/providers/Vendor.Authorization/roleAssignments/${randomUUID()}`
  await started.call('PUT', assignment, { properties }, { version: '2022-04-01' })
  await started.call('PUT', at('own'), body([]), { as })
  await started.settle()
  const last = { onErrorDeployment: { type: 'LastSuccessful' } }
  for (const [setting, code] of [
    [onErrorOf('one'), 'LinkedAuthorizationFailed'],
    [onErrorOf('none'), 'LinkedAuthorizationFailed'],
    [last, 'OnErrorDeploymentNotFound'],
  ] as const) {
    for (const [method, path] of [
      ['PUT', at('own')],
      ['POST', `${at('own')}/validate`],
      ['POST', `${at('own')}/whatIf`],
    ] as const) {
      const answer = started.call(method, path, body([], setting), { as })
      await assert.rejects(answer, { code })
    }
  }
})

test('a deployment that was deployed anew since is not fallen back to, and nothing is deleted', async () => {
  await using store = await memoryStore()
  {
    await using started = await startDeployments({ store })
    await started.call('PUT', at('one'), body([{ ...vault, name: 'one' }]))
    await started.settle()
  }
  {
    await using asleep = await startDeployments({ store, asleep: true })
    await asleep.call('PUT', at('bad'), body([failing], { ...later, ...onErrorOf('one') }))
    await asleep.call('PUT', at('one'), body([{ ...vault, name: 'other' }]))
  }
  await using started = await startDeployments({ store })
  await started.settle()
  const { properties } = json(await started.call('GET', at('bad')))
  assert.equal(properties.onErrorDeployment.provisioningState, 'Failed')
  const { code, target } = properties.error.details.at(-1)
  assert.deepEqual({ code, target }, { code: 'DeploymentReplaced', target: 'onErrorDeployment' })
  for (const name of ['one', 'other']) {
    const path = `${group}/providers/Vendor.Secrets/vaults/${name}`
    await started.call('GET', path, undefined, { version: '2026-01-01' })
  }
})

test('outputs that are not shown are listed for who may, and read by the outer template', async () => {
  await using started = await startDeployments()
  const inner = templateFor([], {
    outputs: {
      secret: { type: 'securestring', value: 'hush' },
      plain: { type: 'string', value: 'open' },
    },
  })
  const nested = {
    type: 'Vendor.Resources/deployments',
    apiVersion: '2025-04-01',
    name: 'inner',
    properties: {
      mode: 'Incremental',
      expressionEvaluationOptions: { scope: 'inner' },
      template: inner,
    },
  }
  const secret = "[listOutputsWithSecureValues('inner', '2025-04-01').secret]"
  const outputs = { secret: { type: 'securestring', value: secret } }
  const template = templateFor([nested], { outputs })
  await started.call('PUT', at('d'), { properties: { mode: 'Incremental', template } })
  await started.settle()
  const read = json(await started.call('GET', at('d'))).properties
  assert.equal(read.provisioningState, 'Succeeded', JSON.stringify(read.error))
  assert.ok(!JSON.stringify(read).includes('hush'))
  const listed = await started.call('POST', `${at('d')}/listOutputsWithSecureValues`)
  assert.deepEqual(json(listed), { secret: 'hush' })
  const row = await started.plane.reader.get(at('d'))
  assert.ok(!JSON.stringify(row?.observed).includes('hush'))
  const as = { ...owner, id: randomUUID() }
  const reader = 'acdd72a7-3385-48ef-bd42-f606fba81ae7'
  const roleDefinitionId = `/providers/Vendor.Authorization/roleDefinitions/${reader}`
  const properties = { principalId: as.id, principalType: 'User', roleDefinitionId }
  const assignment = `${group}/providers/Vendor.Authorization/roleAssignments/${randomUUID()}`
  await started.call('PUT', assignment, { properties }, { version: '2022-04-01' })
  await started.call('GET', at('d'), undefined, { as })
  await assert.rejects(
    started.call('POST', `${at('d')}/listOutputsWithSecureValues`, undefined, { as }),
    { code: 'AuthorizationFailed' },
  )
  const ofInner = await started.call('POST', `${at('inner')}/listOutputsWithSecureValues`)
  assert.deepEqual(json(ofInner), { plain: 'open', secret: 'hush' })
})

test('what an outer template calls secure is masked in what is nested, and the outer one goes on with it', async () => {
  await using started = await startDeployments()
  const hush = 'correct-horse-battery'
  const q = { q: { type: 'string' } }
  const nested = (name: string, template: object, value: string, more: object = {}): object => ({
    type: 'Vendor.Resources/deployments',
    apiVersion: '2025-04-01',
    name,
    properties: {
      mode: 'Incremental',
      expressionEvaluationOptions: { scope: 'inner' },
      parameters: { q: { value } },
      template,
    },
    ...more,
  })
  const echo = (value: string): object => ({ outputs: { o: { type: 'string', value } } })
  const deeper = templateFor([], { parameters: q, ...echo("[concat('deep-', parameters('q'))]") })
  const inner = templateFor([nested('deeper', deeper, "[parameters('q')]")], {
    parameters: q,
    ...echo("[reference('deeper').outputs.o.value]"),
  })
  // More at once than plans are kept for: the others are made again of what is stored.
  const many = nested("[concat('many-', copyIndex())]", deeper, "[parameters('p')]", {
    copy: { name: 'many', count: 12 },
  })
  const tags = { of: "[reference('inner').outputs.o.value]" }
  const resources = [
    nested('inner', inner, "[parameters('p')]"),
    many,
    { ...vault, name: 'v', tags },
  ]
  const parameters = { p: { type: 'securestring' } }
  const template = templateFor(resources, { parameters, ...echo("[parameters('p')]") })
  const given = { mode: 'Incremental', template, parameters: { p: { value: hush } } }
  const foreseen = await started.call('POST', `${at('d')}/whatIf`, { properties: given })
  assert.ok(!JSON.stringify(foreseen).includes(hush))
  await started.call('PUT', at('d'), { properties: given })
  await started.settle()
  for (const name of ['d', 'inner', 'deeper', 'many-0', 'many-11']) {
    const read = json(await started.call('GET', at(name)))
    assert.equal(read.properties.provisioningState, 'Succeeded', JSON.stringify(read))
    assert.ok(!JSON.stringify(read).includes(hush), JSON.stringify(read))
    const row = await started.plane.reader.get(at(name))
    assert.ok(!JSON.stringify(row?.observed).includes(hush), name)
  }
  const made = json(
    await started.call('GET', `${group}/providers/Vendor.Secrets/vaults/v`, undefined, {
      version: '2026-01-01',
    }),
  )
  assert.equal(made.tags.of, `deep-${hush}`)
  const listed = await started.call('POST', `${at('inner')}/listOutputsWithSecureValues`)
  assert.deepEqual(json(listed), { o: `deep-${hush}` })
})

test('providers() knows any type where any is taken; deployers, tenants and roles have names', async () => {
  await using started = await startDeployments({ generic: true })
  const output = (value: string): object => ({ type: 'string', value })
  const outputs = {
    version: output("[providers('Other.Network', 'networks').apiVersions[0]]"),
    own: output("[providers('Vendor.Secrets', 'vaults').apiVersions[0]]"),
    who: output('[deployer().userPrincipalName]'),
    tenant: output('[tenant().displayName]'),
    role: output("[roleDefinitions('reader').roleDefinitionId]"),
  }
  await started.call('PUT', at('d'), body([], { template: templateFor([], { outputs }) }))
  await started.settle()
  const { outputs: made, error } = json(await started.call('GET', at('d'))).properties
  assert.equal(error, undefined)
  assert.match(made.version.value, /^\d{4}-\d\d-\d\d$/)
  assert.equal(made.own.value, '2026-01-01')
  assert.equal(made.who.value, owner.displayName)
  assert.ok(made.tenant.value)
  assert.equal(made.role.value, 'acdd72a7-3385-48ef-bd42-f606fba81ae7')
})

test('what is only made where it is not there is left as it is', async () => {
  await using started = await startDeployments()
  const tags = (value: string): object => ({ tags: { by: value } })
  const options = { '@options': { onlyIfNotExists: true } }
  const deploy = async (value: string) => {
    const given = body([
      { ...vault, name: 'a', ...options, ...tags(value) },
      { ...vault, name: 'b', ...tags(value) },
    ])
    const foreseen = json(await started.call('POST', `${at('d')}/whatIf`, given)).properties
    await started.call('PUT', at('d'), given)
    await started.settle()
    const read = async (name: string) => {
      const path = `${group}/providers/Vendor.Secrets/vaults/${name}`
      return json(await started.call('GET', path, undefined, { version: '2026-01-01' })).tags.by
    }
    const changed = foreseen.changes.map(
      (one: { readonly changeType: string; readonly resourceId: string }) =>
        `${one.changeType} ${one.resourceId.at(-1)}`,
    )
    return { changed, tags: [await read('a'), await read('b')] }
  }
  assert.deepEqual(await deploy('one'), { changed: ['Create a', 'Create b'], tags: ['one', 'one'] })
  const again = await deploy('two')
  assert.deepEqual(again.tags, ['one', 'two'])
  assert.ok(again.changed.includes('Modify b'))
  assert.ok(!again.changed.includes('Modify a'))
})

test('of three that only make what is not there, one makes it and the others leave it', async () => {
  await using started = await startDeployments()
  const options = { '@options': { onlyIfNotExists: true } }
  const names = Array.from({ length: 12 }, (_, at) => `v${at}`)
  const base = `${group}/providers/Vendor.Secrets/vaults/base`
  await started.call('PUT', base, { location: 'local' }, { version: '2026-01-01' })
  // Between the look and the PUT, what the expression names is read.
  const where = `[reference('${base}', '2026-01-01', 'full').location]`
  const vaultsOf = (by: string): object =>
    body(names.map((name) => ({ ...vault, name, ...options, tags: { by, where } })))
  const writers = ['one', 'two', 'three']
  await Promise.all(writers.map((by) => started.call('PUT', at(by), vaultsOf(by))))
  await started.settle()
  const makers = new Map<string, string[]>()
  for (const by of writers) {
    const { value } = json(await started.call('GET', `${at(by)}/operations`))
    for (const { properties } of value) {
      assert.equal(properties.provisioningState, 'Succeeded')
      const name = properties.targetResource.resourceName
      if (properties.statusCode === 'Created') makers.set(name, [...(makers.get(name) ?? []), by])
    }
  }
  for (const name of names) {
    const path = `${group}/providers/Vendor.Secrets/vaults/${name}`
    const { tags } = json(await started.call('GET', path, undefined, { version: '2026-01-01' }))
    assert.deepEqual(makers.get(name), [tags.by], name)
  }
})

test('what is only made where it is not there, and may not be read, is refused and left as it is', async () => {
  await using started = await startDeployments()
  const writer = { ...owner, id: randomUUID() }
  const under = `${subscription}/providers/Vendor.Authorization`
  const role = `${under}/roleDefinitions/${randomUUID()}`
  const actions = ['Vendor.Resources/deployments/*', 'Vendor.Secrets/vaults/write']
  const roleNamed = { roleName: 'writer', assignableScopes: [subscription] }
  const roleBody = { properties: { ...roleNamed, permissions: [{ actions }] } }
  const properties = { principalId: writer.id, roleDefinitionId: role, principalType: 'User' }
  const vaultAt = `${group}/providers/Vendor.Secrets/vaults/a`
  const version = { version: '2022-04-01' }
  await started.call('PUT', role, roleBody, version)
  await started.call('PUT', `${under}/roleAssignments/${randomUUID()}`, { properties }, version)
  const made = { location: 'local', tags: { by: 'one' } }
  await started.call('PUT', vaultAt, made, { version: '2026-01-01' })
  const options = { '@options': { onlyIfNotExists: true } }
  const as = { as: writer }
  const given = body([{ ...vault, name: 'a', ...options, tags: { by: 'two' } }])
  for (const verb of ['validate', 'whatIf']) {
    await assert.rejects(
      started.call('POST', `${at('d')}/${verb}`, given, as),
      /vaults\/read/,
      verb,
    )
  }
  const unseen = body([{ ...vault, name: 'a', ...options, tags: { by: 'two' } }], {
    validationLevel: 'Template',
  })
  await started.call('PUT', at('d'), unseen, as)
  await started.settle()
  const ended = json(await started.call('GET', at('d'))).properties
  const read = await started.call('GET', vaultAt, undefined, { version: '2026-01-01' })
  assert.deepEqual(json(read).tags, { by: 'one' })
  assert.equal(ended.provisioningState, 'Failed')
  assert.match(JSON.stringify(ended.error), /vaults\/read/)
})
