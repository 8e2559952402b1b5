/** `@options` of a resource: retried when it is refused, and awaited until it is ready (decision 0172). */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseResourceId } from '#kernel/resource-id.ts'
import { memoryStore } from '#plane/testing/start.ts'
import { until } from '../../../../../tests/until.ts'
import { group, type Started, startDeployments, templateFor } from '../../testing/start.ts'
import type { Progress } from './model.ts'

const vault = { type: 'Vendor.Secrets/vaults', apiVersion: '2026-01-01', location: 'local' }
const secret = { type: 'Vendor.Secrets/vaults/secrets', apiVersion: '2026-01-01' }
const version = { version: '2026-01-01' }
const at = (name: string): string => `${group}/providers/Vendor.Resources/deployments/${name}`
const vaultAt = (name: string): string => `${group}/providers/Vendor.Secrets/vaults/${name}`

/** Preflight lets it through, so that it is refused when it is deployed. */
function body(resources: readonly object[], sections: object = {}): object {
  const template = templateFor(resources, sections)
  return { properties: { mode: 'Incremental', template, validationLevel: 'Template' } }
}

// Answers are read as the clients see them.
// biome-ignore lint/suspicious/noExplicitAny: their shape is what is tested.
async function read({ call }: Started, name: string): Promise<any> {
  const { body: answer } = await call('GET', at(name))
  return JSON.parse(JSON.stringify(answer)).properties
}

async function stepsOf({ plane }: Started, name: string): Promise<Progress['steps']> {
  const id = parseResourceId(at(name))
  const found = id === undefined ? undefined : await plane.reader.get(id)
  return (found?.observed as Progress | undefined)?.steps ?? []
}

const exists = ({ call }: Started, name: string): Promise<boolean> =>
  call('GET', vaultAt(name), undefined, version).then(
    () => true,
    () => false,
  )

test('what is refused is sent again as often as it says, also what is nested, and what only has to be there', async () => {
  await using started = await startDeployments()
  const { call } = started
  const retryOn = (count: number): object => ({
    '@options': { retryOn: [['Conflict', 'parentResourceNotFound', 'ResourceNotFound'], count] },
  })
  const late = { ...secret, name: 'late/one', properties: { value: 'x' } }
  const inner = { ...late, name: 'late/two' }
  const nested = {
    type: 'Vendor.Resources/deployments',
    apiVersion: '2025-03-01',
    name: 'nested',
    properties: {
      mode: 'Incremental',
      validationLevel: 'Template',
      expressionEvaluationOptions: { scope: 'inner' },
      template: templateFor([inner]),
    },
  }
  const there = { ...vault, name: 'late', existing: true }
  const sections = {
    languageVersion: '2.0',
    resources: { n: { ...nested, ...retryOn(9) }, t: { ...there, ...retryOn(9) } },
    outputs: {
      where: { type: 'string', value: "[reference('t', '2026-01-01', 'Full').location]" },
    },
  }
  await call('PUT', at('helped'), body([], sections))
  await call('PUT', at('alone'), body([{ ...late, ...retryOn(9) }]))
  await call('PUT', at('lost'), body([{ ...late, name: 'never/one', ...retryOn(1) }]))
  await call('PUT', at('other'), body([{ ...vault, name: 'v', '@options': { retryOn: [['X']] } }]))
  await until(async () => {
    const all = [...(await stepsOf(started, 'helped')), ...(await stepsOf(started, 'alone'))]
    return all.length === 3 && all.every(({ attempts = 0 }) => attempts > 0)
  })
  assert.equal((await read(started, 'helped')).provisioningState, 'Running')
  await call('PUT', vaultAt('late'), { location: 'local' }, version)
  await started.settle()
  const helped = await read(started, 'helped')
  assert.equal(helped.provisioningState, 'Succeeded', JSON.stringify(helped.error))
  assert.equal(helped.outputs.where.value, 'local')
  for (const name of ['one', 'two']) {
    const path = `${vaultAt('late')}/secrets/${name}`
    assert.equal((await call('GET', path, undefined, version)).status, 200)
  }
  assert.equal((await read(started, 'alone')).provisioningState, 'Succeeded')
  const lost = await read(started, 'lost')
  assert.equal(lost.provisioningState, 'Failed')
  assert.equal(lost.error.details[0].code, 'ParentResourceNotFound')
  assert.deepEqual(
    (await stepsOf(started, 'lost')).map(({ attempts }) => attempts),
    [1],
  )
  assert.equal((await read(started, 'other')).provisioningState, 'Succeeded')
})

test('what is waited for is done when it is ready, also after a restart, and fails when its time is over', async () => {
  const store = await memoryStore()
  const waitUntil = (state: string, time: string): object => ({
    '@options': {
      waitUntil: [`[lambda('r', equals(lambdaVariables('r').tags.state, '${state}'))]`, time],
    },
  })
  const waited = { ...vault, name: 'w', tags: { state: 'made' }, ...waitUntil('ready', 'PT1H') }
  const after = {
    ...vault,
    name: 'after',
    dependsOn: ["[resourceId('Vendor.Secrets/vaults', 'w')]"],
  }
  {
    await using started = await startDeployments({ store })
    const { call } = started
    await call('PUT', at('d'), body([waited, after]))
    const never = { ...vault, name: 'n', tags: { state: 'made' }, ...waitUntil('x', 'PT0S') }
    const lacks = { ...vault, name: 'm', ...waitUntil('x', 'PT0S') }
    const here = { ...vault, name: 'h', tags: { state: 'x' }, ...waitUntil('x', 'PT1M') }
    await call('PUT', at('e'), body([never, lacks, here]))
    await until(async () => (await read(started, 'e')).provisioningState === 'Failed')
    const { error } = await read(started, 'e')
    assert.deepEqual(
      error.details.map((one: { readonly code: string; readonly target: string }) => [
        one.code,
        one.target.at(-1),
      ]),
      [
        ['ResourceNotReady', 'n'],
        ['ResourceNotReady', 'm'],
      ],
    )
    await until(async () => (await stepsOf(started, 'd')).length > 0)
    assert.ok(await exists(started, 'w'))
    assert.ok(!(await exists(started, 'after')))
  }
  await using started = await startDeployments({ store })
  const tags = { state: 'ready' }
  await started.call('PUT', vaultAt('w'), { location: 'local', tags }, version)
  await started.settle()
  assert.equal((await read(started, 'd')).provisioningState, 'Succeeded')
  assert.ok(await exists(started, 'after'))
})

test('a resource reads what it was before; an existing one that may be missing is null', async () => {
  await using started = await startDeployments()
  const { call } = started
  const description = "[coalesce(tryGet(target('full'), 'properties', 'description'), 'first')]"
  const name = "[format('kept-{0}', copyIndex())]"
  const copy = { name: 'kept', count: 2 }
  const other = "reference('other', null(), 'full')"
  const sections = {
    languageVersion: '2.1-experimental',
    resources: {
      other: { ...vault, existing: true, name: 'other', '@options': { nullIfNotFound: [] } },
      kept: { ...vault, name, copy, properties: { description } },
      seen: {
        ...vault,
        name: 'seen',
        properties: { description: "[if(empty(target()), 'new', target().description)]" },
      },
    },
    outputs: {
      isThere: { type: 'bool', value: `[not(equals(${other}, null()))]` },
      location: { type: 'string', value: `[coalesce(tryGet(${other}, 'location'), 'nowhere')]` },
    },
  }
  const deployed = async (): Promise<unknown> => {
    await call('PUT', at('self'), body([], sections))
    await started.settle()
    const { provisioningState, outputs, error } = await read(started, 'self')
    assert.equal(provisioningState, 'Succeeded', JSON.stringify(error))
    return [outputs.isThere.value, outputs.location.value]
  }
  const descriptions = async (): Promise<readonly unknown[]> => {
    const names = ['kept-0', 'kept-1', 'seen']
    const all = await Promise.all(names.map((one) => call('GET', vaultAt(one), undefined, version)))
    return all.map(({ body: one }) => JSON.parse(JSON.stringify(one)).properties.description)
  }
  assert.deepEqual(await deployed(), [false, 'nowhere'])
  assert.deepEqual(await descriptions(), ['first', 'first', 'new'])
  const changed = { location: 'local', properties: { description: 'by hand' } }
  for (const one of ['kept-1', 'other']) await call('PUT', vaultAt(one), changed, version)
  const template = templateFor([], sections)
  const { body: found } = await call('POST', `${at('self')}/whatIf`, {
    properties: { mode: 'Incremental', template },
  })
  const { changes } = JSON.parse(JSON.stringify(found)).properties
  const kinds = changes.map(({ changeType }: { readonly changeType: string }) => changeType)
  assert.deepEqual(kinds, ['NoChange', 'NoChange', 'NoChange'])
  assert.deepEqual(await deployed(), [true, 'local'])
  assert.deepEqual(await descriptions(), ['first', 'by hand', 'new'])
})
