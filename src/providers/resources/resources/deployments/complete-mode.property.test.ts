/**
 * Complete mode over random nests: it deletes exactly what neither the template nor anything nested in it names.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore } from '#plane/testing/start.ts'
import { fc } from '../../../../../tests/property.ts'
import { nestedRunOf, recordOfRun } from '../../domain/deployments/kept-resources.ts'
import { assignNestedRun } from '../../domain/deployments/nesting.ts'
import type { TemplateLinks } from '../../provider.ts'
import {
  group,
  type Started,
  startDeployments,
  subscription,
  templateFor,
} from '../../testing/start.ts'
import type { Deployment } from './model.ts'

const path = `${group}/providers/Vendor.Resources/deployments/root`
const vaults = `${group}/providers/Vendor.Secrets/vaults`
const version = '2026-01-01'
const vault = { type: 'Vendor.Secrets/vaults', apiVersion: version, location: 'local' }
const deployment = { type: 'Vendor.Resources/deployments', apiVersion: '2025-03-01' }

/** The content of the group before anything is deployed. */
const before = ['old0', 'old1', 'old2', 'old3']

interface Nest {
  readonly language: '1.0' | '2.0'
  readonly makes: 0 | 1 | 2
  /** Which of `before` it deploys again; none if there is none at the index. */
  readonly redeploys: number
  /** Which of `before` it refers to as existing. */
  readonly refersTo: number
  readonly scope: 'inner' | 'outer'
  readonly at: 'group' | 'subscription' | 'linked'
  readonly loop: 0 | 1 | 2
  readonly isDeployed: boolean
  /** It waits for a resource of its parent. */
  readonly waits: boolean
  readonly inside: readonly Nest[]
}

const { nest } = fc.letrec<{ nest: Nest; inside: readonly Nest[] }>((tie) => ({
  nest: fc.record<Nest>({
    language: fc.constantFrom('1.0', '2.0'),
    makes: fc.constantFrom(0, 1, 2),
    redeploys: fc.nat(before.length * 2),
    refersTo: fc.nat(before.length * 2),
    scope: fc.constantFrom('inner', 'outer'),
    at: fc.constantFrom('group', 'group', 'subscription', 'linked'),
    loop: fc.constantFrom(0, 0, 1, 2),
    isDeployed: fc.constantFrom(true, true, true, false),
    waits: fc.boolean(),
    inside: tie('inside'),
  }),
  inside: fc.oneof(
    { maxDepth: 3, depthSize: 'max' },
    { weight: 1, arbitrary: fc.constant<readonly Nest[]>([]) },
    { weight: 3, arbitrary: fc.array(tie('nest'), { minLength: 1, maxLength: 2, size: 'max' }) },
  ),
}))

/** Writes a nest as a template, and records what it names in the group. */
class Writer {
  readonly files = new Map<string, string>()
  readonly named = new Set<string>()
  #count = 0

  template(one: Nest, isDeployed: boolean): object {
    const resources = new Map<string, object>()
    const redeployed = before[one.redeploys]
    const made = Array.from({ length: one.makes }, () => this.#next('made'))
    for (const name of redeployed === undefined ? made : [...made, redeployed]) {
      resources.set(name, { ...vault, name })
      if (isDeployed) this.named.add(name)
    }
    const [first] = resources.keys()
    const existing = one.language === '2.0' ? before[one.refersTo] : undefined
    if (existing !== undefined && existing !== redeployed) {
      resources.set('existing', { ...vault, name: existing, existing: true })
      if (isDeployed) this.named.add(existing)
    }
    for (const inner of one.inside) {
      const dependsOn = inner.waits && first !== undefined ? [first] : []
      const name = this.#next('nest')
      const nested = this.#nested(inner, name, one.language, isDeployed)
      resources.set(name, { ...nested, dependsOn })
    }
    if (one.language === '1.0') return templateFor([...resources.values()])
    return { ...templateFor([]), languageVersion: '2.0', resources: Object.fromEntries(resources) }
  }

  #nested(one: Nest, name: string, language: Nest['language'], isInside: boolean): object {
    // The outer scope is for inline templates of the first version of the language.
    const isOuter =
      one.scope === 'outer' &&
      one.at !== 'linked' &&
      [language, one.language].every((word) => word === '1.0')
    const isDeployed = isInside && one.isDeployed
    const template = this.template(one, isDeployed)
    const shown = one.at === 'subscription' ? throughSubscription(template, name) : template
    const uri = `https://templates.example/${name}.json`
    this.files.set(uri, JSON.stringify(shown))
    const isLooped = one.loop > 0
    return {
      ...deployment,
      ...(one.at === 'subscription'
        ? { subscriptionId: subscription.split('/').at(-1), location: 'local' }
        : {}),
      name: isLooped ? `[format('${name}-{0}', copyIndex())]` : name,
      ...(one.isDeployed ? {} : { condition: '[equals(1, 2)]' }),
      // The iterations run one after the other, since each of them deploys the same resources.
      ...(isLooped ? { copy: { name: `loop${name}`, count: one.loop, mode: 'serial' } } : {}),
      properties: {
        mode: 'Incremental',
        ...(isOuter ? {} : { expressionEvaluationOptions: { scope: 'inner' } }),
        ...(one.at === 'linked' ? { templateLink: { uri } } : { template: shown }),
      },
    }
  }

  #next(kind: string): string {
    this.#count += 1
    return `${kind}${this.#count}`
  }
}

/** A template for the subscription, with a nested deployment that goes back into the group. */
function throughSubscription(template: object, name: string): object {
  const back = {
    ...deployment,
    name: `${name}-back`,
    resourceGroup: group.split('/').at(-1),
    properties: {
      mode: 'Incremental',
      expressionEvaluationOptions: { scope: 'inner' },
      template,
    },
  }
  return { ...templateFor([back]), $schema: 'subscriptionDeploymentTemplate.json#' }
}

async function vaultsOf(started: Started): Promise<readonly string[]> {
  const { body } = await started.call('GET', vaults, undefined, { version })
  const { value } = body as { readonly value: readonly { readonly name: string }[] }
  return value.map(({ name }) => name).sort()
}

async function stateOf(started: Started, at = path): Promise<string> {
  const { body } = await started.call('GET', at)
  return JSON.stringify((body as { readonly properties: object }).properties)
}

test('complete mode deletes exactly what no template of a random nest names, and what-if said so', async () => {
  await fc.assert(
    fc.asyncProperty(nest, async (root) => {
      const writer = new Writer()
      const template = writer.template(root, true)
      const links: TemplateLinks = {
        inRoom: (_, work) => work(),
        async read(uri) {
          const text = writer.files.get(uri)
          return text === undefined ? { ok: false, reason: 'it is not there' } : { ok: true, text }
        },
      }
      await using started = await startDeployments({ links })
      for (const name of before) {
        await started.call('PUT', `${vaults}/${name}`, { location: 'local' }, { version })
      }
      const asked = { properties: { mode: 'Complete', template } }
      const { body } = await started.call('POST', `${path}/whatIf`, asked)
      const { properties } = body as {
        readonly properties: {
          readonly changes: readonly { readonly resourceId: string; readonly changeType: string }[]
        }
      }
      const said = properties.changes
        .filter(({ changeType }) => changeType === 'Delete')
        .map(({ resourceId }) => resourceId.slice(resourceId.lastIndexOf('/') + 1))
      await started.call('PUT', path, asked)
      await started.settle()
      assert.match(await stateOf(started), /^{"provisioningState":"Succeeded"/)
      assert.deepEqual(await vaultsOf(started), [...writer.named].sort())
      const gone = before.filter((name) => !writer.named.has(name))
      assert.deepEqual(said.sort(), gone)
      assert.ok(!properties.changes.some(({ changeType }) => changeType === 'Unsupported'))
    }),
    { numRuns: process.env['ARMATURE_TEST_LONG'] === '1' ? 200 : 25 },
  )
})

function nested(name: string, resources: readonly object[], more: object = {}): object {
  const properties = { mode: 'Incremental', template: templateFor(resources) }
  return { ...deployment, name, properties, ...more }
}

test('two nested deployments of one name, one after the other: what both made is kept', async () => {
  await using started = await startDeployments()
  const template = templateFor([
    nested('a', [nested('same', [{ ...vault, name: 'first' }])]),
    nested('b', [nested('same', [{ ...vault, name: 'second' }])], { dependsOn: ['a'] }),
  ])
  await started.call('PUT', path, { properties: { mode: 'Complete', template } })
  await started.settle()
  assert.match(await stateOf(started), /^{"provisioningState":"Succeeded"/)
  assert.deepEqual(await vaultsOf(started), ['first', 'second'])
})

test('a nested deployment in complete mode is refused before anything is written', async () => {
  await using started = await startDeployments()
  await started.call('PUT', `${vaults}/old`, { location: 'local' }, { version })
  const properties = { mode: 'complete', template: templateFor([]) }
  const template = templateFor([{ ...vault, name: 'v' }, nested('in', [], { properties })])
  for (const mode of ['Incremental', 'Complete']) {
    const asked = { properties: { mode, template } }
    for (const [method, at] of [
      ['PUT', path],
      ['POST', `${path}/validate`],
      ['POST', `${path}/whatIf`],
    ] as const) {
      await assert.rejects(
        started.call(method, at, asked),
        /nested deployment cannot have the mode/,
      )
    }
  }
  assert.deepEqual(await vaultsOf(started), ['old'])
})

test('what a nested deployment names is known only when another has run: what-if says so of the rest', async () => {
  await using started = await startDeployments()
  for (const name of ['old', 'late']) {
    await started.call('PUT', `${vaults}/${name}`, { location: 'local' }, { version })
  }
  const outputs = { name: { type: 'string', value: 'late' } }
  const other = nested('other', [], {
    properties: { mode: 'Incremental', template: { ...templateFor([]), outputs } },
  })
  const last = nested('last', [], {
    properties: {
      mode: 'Incremental',
      expressionEvaluationOptions: { scope: 'inner' },
      parameters: { name: { value: "[reference('other').outputs.name.value]" } },
      template: {
        ...templateFor([{ ...vault, name: "[parameters('name')]" }]),
        parameters: { name: { type: 'string' } },
      },
    },
  })
  const asked = { properties: { mode: 'Complete', template: templateFor([other, last]) } }
  const diagnosed: string[] = []
  const kinds = async (): Promise<readonly string[]> => {
    const { body } = await started.call('POST', `${path}/whatIf`, asked)
    const { properties } = body as {
      readonly properties: {
        readonly changes: readonly { readonly resourceId: string; readonly changeType: string }[]
        readonly diagnostics: readonly { readonly code: string; readonly target: string }[]
      }
    }
    const told = properties.diagnostics.map(
      ({ code, target }) => `${code} ${target.split('/').at(-1)}`,
    )
    assert.ok(told.every((one) => one.startsWith('NestedDeploymentShortCircuited ')))
    diagnosed.splice(0, diagnosed.length, ...told)
    return properties.changes
      .map(({ resourceId, changeType }) => `${resourceId.split('/').at(-1)}:${changeType}`)
      .sort()
  }
  assert.deepEqual(await kinds(), ['last:Unsupported', 'late:Unsupported', 'old:Unsupported'])
  assert.deepEqual(diagnosed, ['NestedDeploymentShortCircuited last'])
  await started.call('PUT', path, asked)
  await started.settle()
  assert.match(await stateOf(started), /^{"provisioningState":"Succeeded"/)
  assert.deepEqual(await vaultsOf(started), ['late'])
})

test('a record that does not say what a nested deployment made: nothing is deleted, and the deployment fails', async () => {
  await using store = await memoryStore()
  const at = `${group}/providers/Vendor.Resources/deployments/in`
  {
    await using asleep = await startDeployments({ store, asleep: true })
    await asleep.call('PUT', `${vaults}/old`, { location: 'local' }, { version })
    const template = templateFor([nested('in', [])])
    await asleep.call('PUT', path, { properties: { mode: 'Complete', template } })
    const row = await store.get(path.toLowerCase())
    assert.ok(row)
    const document = JSON.parse(row.document)
    const { run } = document.model as Deployment
    const ended = { verb: 'Create', state: 'Succeeded', startedAt: 1, endedAt: 2, status: 201 }
    const steps = [{ ...ended, key: at.toLowerCase(), id: at }]
    document.observed = { run, phase: 'ready', steps }
    await store.transact((tx) =>
      tx.update({ ...row, etag: 'edited', document: JSON.stringify(document) }, row.etag),
    )
  }
  await using started = await startDeployments({ store })
  await started.settle()
  assert.match(await stateOf(started), /"Failed".*NestedResourcesUnknown/)
  assert.deepEqual(await vaultsOf(started), ['old'])
})

test('the record of a run is of that run alone', async () => {
  await using started = await startDeployments()
  const asked = { properties: { template: templateFor([{ ...vault, name: 'v' }]) } }
  const { reader } = started.plane
  await started.call('PUT', path, asked)
  await started.settle()
  const first = (await reader.get(path))?.model as Deployment | undefined
  assert.ok(first)
  assert.equal((await recordOfRun(reader, path, first.run))?.state, 'Succeeded')
  await started.call('PUT', path, asked)
  assert.equal(await recordOfRun(reader, path, first.run), undefined)
})

test('a nested deployment that was sent before a restart is awaited, and what it made is kept', async () => {
  await using store = await memoryStore()
  const inner = [{ ...vault, name: 'kept' }]
  const template = templateFor([nested('in', inner)])
  {
    await using asleep = await startDeployments({ store, asleep: true })
    await asleep.call('PUT', `${vaults}/old`, { location: 'local' }, { version })
    await asleep.call('PUT', path, { properties: { mode: 'Complete', template } })
    const root = (await asleep.plane.reader.get(path))?.model as Deployment | undefined
    assert.ok(root)
    const at = `${group}/providers/Vendor.Resources/deployments/in`
    const body = { properties: { mode: 'Incremental', template: templateFor(inner) } }
    assignNestedRun(body, {
      run: nestedRunOf(root.run, { key: at.toLowerCase() }),
      nesting: { root: root.run, depth: 1, parent: { id: path, run: root.run } },
      secrets: [],
    })
    await asleep.call('PUT', at, body)
  }
  await using started = await startDeployments({ store })
  await started.settle()
  assert.match(await stateOf(started), /^{"provisioningState":"Succeeded"/)
  assert.deepEqual(await vaultsOf(started), ['kept'])
})
