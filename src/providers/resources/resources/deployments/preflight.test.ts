/** Preflight: what is sure to fail is refused at once, at every depth, each cause once, and nothing is written. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { group, startDeployments, subscription, templateFor } from '../../testing/start.ts'

const vault = { type: 'Vendor.Secrets/vaults', apiVersion: '2026-01-01', location: 'local' }
const secret = { type: 'Vendor.Secrets/vaults/secrets', apiVersion: '2026-01-01' }
const at = (name: string, under = group): string =>
  `${under}/providers/Vendor.Resources/deployments/${name}`

function nested(name: string, resources: readonly object[], change: object = {}): object {
  return {
    type: 'Vendor.Resources/deployments',
    apiVersion: '2025-03-01',
    name,
    properties: {
      mode: 'Incremental',
      expressionEvaluationOptions: { scope: 'inner' },
      template: templateFor(resources),
    },
    ...change,
  }
}

const body = (resources: readonly object[]): object => ({
  properties: { mode: 'Incremental', template: templateFor(resources) },
})

interface Started {
  readonly call: Awaited<ReturnType<typeof startDeployments>>['call']
}

/** `code last-segments-of-the-target` of every detail; the same from all three calls. */
async function refusals(
  { call }: Started,
  path: string,
  given: object,
): Promise<readonly string[]> {
  const answers = await Promise.all(
    (
      [
        ['PUT', path],
        ['POST', `${path}/validate`],
        ['POST', `${path}/whatIf`],
      ] as const
    ).map(async ([method, to]) => {
      try {
        await call(method, to, given)
        return ['accepted']
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        assert.equal(error.code, 'InvalidTemplateDeployment', error.message)
        const { details = [] } = error.extra
        return details.map((one) => `${one.code} ${one.target?.split('/').slice(-1)}`).sort()
      }
    }),
  )
  assert.deepEqual(answers[1], answers[0])
  assert.deepEqual(answers[2], answers[0])
  return answers[0] ?? []
}

test('types, versions and namespaces that nobody serves are named all at once, whatever they depend on', async () => {
  await using started = await startDeployments()
  const dependsOn = ['v']
  const late = "[reference('v').vaultUri]"
  const asked = body([
    { ...vault, name: 'v' },
    { ...vault, type: 'Vendor.Secrets/none', name: 'type', dependsOn },
    { ...vault, type: 'Vendor.None/things', name: 'namespace', dependsOn },
    { ...secret, apiVersion: '2019-13-45', name: 'v/version', properties: { value: late } },
    { ...secret, type: 'Vendor.Secrets/vaults/none', name: 'v/late', properties: { value: late } },
    nested('deployment', [], { apiVersion: 'never', dependsOn }),
  ])
  assert.deepEqual(await refusals(started, at('all'), asked), [
    'InvalidApiVersionParameter deployment',
    'InvalidApiVersionParameter version',
    'InvalidResourceNamespace namespace',
    'InvalidResourceType late',
    'InvalidResourceType type',
  ])
})

test('what is only a consequence of another refusal is no refusal of its own', async () => {
  await using started = await startDeployments()
  const asked = body([
    { ...vault, name: 'v', tags: { 'a<b': 'x' } },
    { ...secret, name: 'v/a', properties: { value: 'x' } },
    { ...secret, name: 'v/b', properties: { value: 'x' }, dependsOn: ['v/a'] },
  ])
  assert.deepEqual(await refusals(started, at('cause'), asked), ['InvalidTagNameCharacters v'])
  const lonely = body([{ ...secret, name: 'none/a', properties: { value: 'x' } }])
  assert.deepEqual(await refusals(started, at('alone'), lonely), ['ParentResourceNotFound a'])
})

test('nested templates are looked into at every depth, in every scope that they reach', async () => {
  await using started = await startDeployments()
  const wrong = { ...vault, type: 'Vendor.Secrets/none' }
  const deep = nested('two', [{ ...wrong, name: 'deep' }], { dependsOn: ['v'] })
  const needs = templateFor([], { parameters: { none: { type: 'string' } } })
  const broken = nested('broken', [], {
    properties: { expressionEvaluationOptions: { scope: 'inner' }, template: needs },
  })
  const asked = body([
    { ...vault, name: 'v' },
    nested('one', [{ ...vault, name: 'v' }, { ...wrong, name: 'first' }, deep]),
    nested('fine', [{ ...vault, name: 'fine' }]),
    broken,
  ])
  const expected = [
    'InvalidResourceType deep',
    'InvalidResourceType first',
    'InvalidTemplate broken',
  ]
  assert.deepEqual(await refusals(started, at('group'), asked), expected)
  const toGroup = nested('inner', [{ ...wrong, name: 'inGroup' }], { resourceGroup: 'rg' })
  const below = { ...body([toGroup]), location: 'local' }
  const schema = { $schema: 'subscriptionDeploymentTemplate.json#' }
  const properties = { mode: 'Incremental', template: { ...templateFor([toGroup]), ...schema } }
  assert.deepEqual(await refusals(started, at('sub', subscription), { ...below, properties }), [
    'InvalidResourceType inGroup',
  ])
  await assert.rejects(started.call('GET', group, undefined, { version: '2021-04-01' }), {
    code: 'SubscriptionNotFound',
  })
})

test('what a nested deployment makes may be built on', async () => {
  await using started = await startDeployments()
  const asked = body([
    nested('makes', [{ ...vault, name: 'v' }]),
    {
      ...secret,
      name: 'v/s',
      properties: { value: 'x' },
      dependsOn: ["[resourceId('Vendor.Resources/deployments', 'makes')]"],
    },
  ])
  assert.deepEqual(await refusals(started, at('built'), asked), ['accepted'])
  await started.settle()
  const { body: read } = await started.call('GET', at('built'))
  assert.equal(JSON.parse(JSON.stringify(read)).properties.provisioningState, 'Succeeded')
})

test('a nested template with the schema of a group goes to a subscription', async () => {
  await using started = await startDeployments()
  const here = nested('here', [nested('there', [{ ...vault, name: 'v' }], { resourceGroup: 'rg' })])
  const template = { ...templateFor([{ ...here, location: 'local' }]) }
  const properties = { template: { ...template, $schema: 'subscriptionDeploymentTemplate.json#' } }
  await started.call('PUT', at('sub', subscription), { location: 'local', properties })
  await started.settle()
  const { body: read } = await started.call('GET', at('sub', subscription))
  const shown = JSON.parse(JSON.stringify(read)).properties
  assert.equal(shown.provisioningState, 'Succeeded', JSON.stringify(shown.error))
})

test('what nothing makes is missing for good, in bodies that wait for others and in outputs', async () => {
  await using started = await startDeployments()
  await started.call('PUT', group, { location: 'local' }, { version: '2021-04-01' })
  const vaultOf = (name: string): string => `resourceId('Vendor.Secrets/vaults', '${name}')`
  const late = `[reference(${vaultOf('none')}, '2026-01-01').vaultUri]`
  const waiting = { ...vault, name: 'w', dependsOn: ['v'], tags: { late } }
  const outputs = {
    missing: { type: 'string', value: late },
    made: { type: 'string', value: `[reference(${vaultOf('v')}, '2026-01-01').vaultUri]` },
  }
  const template = templateFor([{ ...vault, name: 'v' }, waiting], { outputs })
  assert.deepEqual(await refusals(started, at('d'), { properties: { template } }), [
    'ResourceNotFound outputs.missing',
    'ResourceNotFound w',
  ])
  const telemetry = nested('telemetry', [])
  const alone = templateFor([telemetry, { ...vault, name: 'v' }, waiting], {})
  assert.deepEqual(await refusals(started, at('d'), { properties: { template: alone } }), [
    'ResourceNotFound w',
  ])
  // A nested deployment may create anything, so nothing is surely missing.
  const inside = nested('inside', [{ ...vault, name: 'none' }])
  const whole = templateFor([
    { ...vault, name: 'v' },
    { ...waiting, dependsOn: ['v', 'inside'] },
    inside,
  ])
  await started.call('POST', `${at('d')}/validate`, { properties: { template: whole } })
})

test('what nothing makes, at any depth, is missing for good, also where its name stands behind a wait', async () => {
  await using started = await startDeployments()
  const late = "[reference(resourceId('Vendor.Secrets/vaults', 'v')).vaultUri]"
  const waits = { dependsOn: ["[resourceId('Vendor.Secrets/vaults', 'v')]"] }
  const lost = { ...secret, name: 'lost/one', properties: { value: 'x' } }
  const gone = { ...secret, name: 'gone/one', properties: { value: late } }
  const inner = nested('inner', [lost, nested('deeper', [{ ...lost, name: 'deep/one' }])], waits)
  const service = { ...vault, name: 'v' }
  assert.deepEqual(
    await refusals(started, at('d'), body([service, { ...gone, ...waits }, inner])),
    ['ParentResourceNotFound one', 'ParentResourceNotFound one', 'ParentResourceNotFound one'],
  )
  // Somebody creates them, or could.
  const after = { dependsOn: [...waits.dependsOn, 'maker'] }
  const makers = ['gone', 'lost', 'deep'].map((name) => ({ ...vault, name }))
  const maker = nested('maker', makers, waits)
  const all = [service, maker, { ...gone, ...after }, { ...inner, ...after }]
  assert.deepEqual(await refusals(started, at('e'), body(all)), ['accepted'])
  await started.settle()
  assert.equal((await started.call('GET', at('e'))).status, 200)
  // The answer of the other nested deployment is not known before it has run.
  const template = "[reference('first').outputs.t.value]"
  const unknown = { ...maker, properties: { mode: 'Incremental', template }, dependsOn: ['first'] }
  const outer = {
    expressionEvaluationOptions: { scope: 'inner' },
    template: templateFor([], {
      outputs: { t: { type: 'object', value: templateFor([{ ...vault, name: 'far' }]) } },
    }),
  }
  const first = nested('first', [], { properties: { mode: 'Incremental', ...outer } })
  const far = { ...gone, name: 'far/one', ...after }
  const open = body([service, first, unknown, far])
  assert.deepEqual(await refusals(started, at('f'), open), ['accepted'])
  await started.settle()
  const nobody = "[reference(resourceId('Vendor.Secrets/vaults', 'nobody'), '2026-01-01').vaultUri]"
  const asking = { ...secret, name: 'v/asking', properties: { value: nobody } }
  const within = nested('within', [asking], waits)
  const refused = await refusals(started, at('g'), body([service, within]))
  assert.deepEqual(refused, ['ResourceNotFound asking'])
  const existing = { n: { ...vault, existing: true, name: 'nobody' }, v: service }
  const outputs = { o: { type: 'string', value: "[reference('n').vaultUri]" } }
  const declared = { languageVersion: '2.0', resources: existing, outputs }
  const given = { mode: 'Incremental', template: templateFor([], declared) }
  assert.deepEqual(await refusals(started, at('h'), { properties: given }), [
    'ResourceNotFound outputs.o',
  ])
})

test('an id of the wrong form is refused before anything is made, also where its deployment waits', async () => {
  await using started = await startDeployments()
  const assignment = {
    type: 'Vendor.Authorization/roleAssignments',
    apiVersion: '2022-04-01',
    name: '0d3f2a60-5f9b-4b0c-8a0e-1d5a3f7e9c11',
    properties: {
      principalId: '0d3f2a60-5f9b-4b0c-8a0e-1d5a3f7e9c12',
      principalType: 'ServicePrincipal',
      roleDefinitionId: `${subscription}/providers/Vendor.Authorization/roleAssignments/0d3f2a60-5f9b-4b0c-8a0e-1d5a3f7e9c13`,
    },
  }
  const waits = { dependsOn: ["[resourceId('Vendor.Secrets/vaults', 'v')]"] }
  const given = body([{ ...vault, name: 'v' }, nested('assign', [assignment], waits)])
  assert.deepEqual(await refusals(started, at('d'), given), [
    `InvalidRoleDefinitionId ${assignment.name}`,
  ])
})

test('a link that is known is read beforehand, though the arguments of its template are not', async () => {
  const files = new Map([
    ['https://x.example/good.json', JSON.stringify(templateFor([]))],
    ['https://x.example/bad.json', '{\n  "resources": [,]\n}'],
  ])
  await using started = await startDeployments({
    links: {
      inRoom: (_, work) => work(),
      async read(uri) {
        const text = files.get(uri)
        return text === undefined ? { ok: false, reason: 'it is not there' } : { ok: true, text }
      },
    },
  })
  const keys = "[listKeys(resourceId('Vendor.Secrets/vaults', 'v'), '2026-01-01').keys[0].value]"
  const withLink = (name: string): object => ({
    type: 'Vendor.Resources/deployments',
    apiVersion: '2025-03-01',
    name,
    dependsOn: ['v'],
    properties: {
      mode: 'Incremental',
      templateLink: { uri: `[uri('https://x.example/', '${name}.json')]` },
      parameters: { key: { value: keys } },
    },
  })
  const all = ['good', 'bad', 'missing'].map(withLink)
  const found = await refusals(started, at('d'), body([{ ...vault, name: 'v' }, ...all]))
  assert.deepEqual(found, ['InvalidContentLink missing', 'InvalidTemplate bad'])
})
