/** A fallback repeats the template and the sealed arguments of an earlier deployment: only for whoever deployed it. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Principal } from '#kernel/principal.ts'
import { owner } from '#plane/testing/start.ts'
import { assignRepeated } from '../../domain/deployments/on-error.ts'
import { group, type Started, startDeployments, templateFor } from '../../testing/start.ts'
import type { Deployment } from './model.ts'

const version = '2026-01-01'
const vault = { type: 'Vendor.Secrets/vaults', apiVersion: version, location: 'local' }
const keys = `${group}/providers/Vendor.Secrets/vaults/keys`
const reference = { reference: { keyVault: { id: keys }, secretName: 'pw' } }
const at = (name: string): string => `${group}/providers/Vendor.Resources/deployments/${name}`
const failing = { ...vault, name: '-' }

// Answers are read as the clients see them.
// biome-ignore lint/suspicious/noExplicitAny: their shape is what is tested.
const json = ({ body }: { readonly body?: unknown }): any => JSON.parse(JSON.stringify(body))

function body(resources: readonly object[], parameters: object, given: object): object {
  const template = templateFor(resources, { parameters })
  return { properties: { mode: 'Incremental', template, parameters: given } }
}

const fallingBack = (onErrorDeployment: object): object => {
  const template = templateFor([failing])
  const settings = { validationLevel: 'Template', onErrorDeployment }
  return { properties: { mode: 'Incremental', template, ...settings } }
}
const onErrorOf = (deploymentName: string): object =>
  fallingBack({ type: 'SpecificDeployment', deploymentName })
const last = fallingBack({ type: 'LastSuccessful' })

/** Somebody who may do everything in the group except use secrets of vaults. */
async function contributorOf(started: Started): Promise<Principal> {
  const as = { ...owner, id: randomUUID(), displayName: 'contributor' }
  const under = `${group}/providers/Vendor.Authorization`
  const role = `${under}/roleDefinitions/${randomUUID()}`
  const notActions = ['Vendor.Secrets/vaults/secrets/getValue/action']
  const permissions = [{ actions: ['*'], notActions }]
  const definition = { roleName: 'r', type: 'CustomRole', permissions, assignableScopes: [group] }
  const dated = { version: '2022-04-01' }
  await started.call('PUT', role, { properties: definition }, dated)
  const properties = { principalId: as.id, principalType: 'User', roleDefinitionId: role }
  await started.call('PUT', `${under}/roleAssignments/${randomUUID()}`, { properties }, dated)
  return as
}

async function withVault(): Promise<Started> {
  const started = await startDeployments()
  const value = 'correct horse battery staple'
  await started.call('PUT', keys, { location: 'local' }, { version })
  await started.call('PUT', `${keys}/secrets/pw`, { properties: { value } }, { version })
  return started
}

async function stateOf(started: Started, name: string): Promise<string> {
  await started.settle()
  return json(await started.call('GET', at(name))).properties.provisioningState
}

const given = {
  'from a vault': [{ type: 'securestring' }, reference],
  directly: [{ type: 'securestring' }, { value: 'hush' }],
  'as an object': [{ type: 'secureObject' }, { value: { a: 'hush' } }],
} as const

for (const [how, [type, argument]] of Object.entries(given)) {
  test(`nobody falls back to secure arguments that another gave ${how}, who gave them does`, async () => {
    await using started = await withVault()
    const as = await contributorOf(started)
    await started.call('PUT', at('base'), body([], { pw: type }, { pw: argument }))
    assert.equal(await stateOf(started, 'base'), 'Succeeded')
    for (const [setting, refused] of [
      [onErrorOf('base'), { code: 'OnErrorDeploymentForbidden', status: 403 }],
      [last, { code: 'OnErrorDeploymentNotFound', status: 400 }],
    ] as const) {
      for (const [method, path] of [
        ['PUT', at('his')],
        ['POST', `${at('his')}/validate`],
        ['POST', `${at('his')}/whatIf`],
      ] as const) {
        const answer = started.call(method, path, setting, { as })
        await assert.rejects(answer, refused)
      }
    }
    await assert.rejects(started.call('GET', at('his')), { code: 'DeploymentNotFound' })
    await started.call('PUT', at('own'), onErrorOf('base'))
    assert.equal(await stateOf(started, 'own'), 'Failed')
    const { onErrorDeployment } = json(await started.call('GET', at('own'))).properties
    assert.equal(onErrorDeployment.provisioningState, 'Succeeded')
  })
}

test('nobody carries out with their own rights a template that another deployed', async () => {
  await using started = await withVault()
  const as = await contributorOf(started)
  // For its writer it makes nothing, so that it needs no right of theirs.
  const condition = `[not(equals(deployer().objectId, '${as.id}'))]`
  const trap = body([{ ...vault, name: 'trap', condition }], {}, {})
  await started.call('PUT', at('mine'), body([], {}, {}))
  assert.equal(await stateOf(started, 'mine'), 'Succeeded')
  await started.call('PUT', at('trap'), trap, { as })
  assert.equal(await stateOf(started, 'trap'), 'Succeeded')
  await assert.rejects(started.call('PUT', at('failed'), onErrorOf('trap')), {
    code: 'OnErrorDeploymentForbidden',
  })
  await started.call('PUT', at('failed'), last)
  assert.equal(await stateOf(started, 'failed'), 'Failed')
  const { onErrorDeployment } = json(await started.call('GET', at('failed'))).properties
  assert.equal(onErrorDeployment.deploymentName, 'mine')
  const answer = started.call('GET', `${group}/providers/Vendor.Secrets/vaults/trap`, undefined, {
    version,
  })
  await assert.rejects(answer, { code: 'ResourceNotFound' })
})

test('who gave the secure arguments counts also at the moment of the fallback', async () => {
  await using started = await withVault()
  const as = await contributorOf(started)
  await started.call(
    'PUT',
    at('base'),
    body([], { pw: { type: 'securestring' } }, { pw: reference }),
  )
  assert.equal(await stateOf(started, 'base'), 'Succeeded')
  const row = await started.plane.reader.get(at('base'))
  const repeated = { properties: {} }
  assignRepeated(repeated, { run: randomUUID(), model: row?.model as Deployment })
  await assert.rejects(started.call('PUT', at('base'), repeated, { as }), {
    code: 'OnErrorDeploymentForbidden',
  })
  assert.equal(
    json(await started.call('GET', at('base'))).properties.provisioningState,
    'Succeeded',
  )
})
