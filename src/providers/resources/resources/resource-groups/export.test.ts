/** What is exported of a group: a template that makes the same again, elsewhere. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTerminalState } from '#kernel/operation.ts'
import { memoryStore, nobody } from '#plane/testing/start.ts'
import type { Store } from '#stores/store.ts'
import { group, type Started, startDeployments, subscription } from '../../testing/start.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely here, and only here.
type Wire = any

const version = '2021-04-01'
const vault = `${group}/providers/Vendor.Secrets/vaults/one`
const containers = `${group}/providers/Vendor.ContainerInstance/containerGroups/web`

async function start(store?: Store): Promise<Started> {
  const started = await startDeployments(store === undefined ? {} : { store })
  const { call } = started
  await call('PUT', group, { location: 'local' }, { version })
  const body = { location: 'local', tags: { a: 'b' }, properties: {} }
  await call('PUT', vault, body, { version: '2026-01-01' })
  const secret = { properties: { value: 'hush', contentType: '[text]' } }
  await call('PUT', `${vault}/secrets/word`, secret, { version: '2026-01-01' })
  await call(
    'PUT',
    containers,
    {
      location: 'local',
      properties: {
        osType: 'Linux',
        containers: [
          {
            name: 'web',
            properties: { image: 'web', resources: { requests: { cpu: 1, memoryInGB: 1 } } },
          },
        ],
      },
    },
    { version: '2025-09-01' },
  )
  await started.settle()
  return started
}

async function exported({ call }: Started, body: object, options = {}): Promise<Wire> {
  const answer = await call('POST', `${group}/exportTemplate`, body, { version, ...options })
  return JSON.parse(JSON.stringify(answer.body))
}

test('a template of a group makes the same in another group', async () => {
  await using started = await start()
  const { call } = started
  const only = [vault.toLowerCase(), containers]
  const options = 'IncludeParameterDefaultValue,IncludeComments'
  const { template, error } = await exported(started, { resources: only, options })
  assert.equal(error, undefined)
  assert.deepEqual(template.parameters.vaults_one_name, { defaultValue: 'one', type: 'String' })
  const [web, one] = template.resources
  assert.equal(one.name, "[parameters('vaults_one_name')]")
  assert.deepEqual(one.tags, { a: 'b' })
  assert.match(one.comments, /vaults\/one/)
  assert.equal(web.properties.provisioningState, undefined, 'what is only answered is left out')
  const other = `${subscription}/resourceGroups/other`
  await call('PUT', other, { location: 'local' }, { version })
  const deployment = `${other}/providers/Vendor.Resources/deployments/again`
  await call('PUT', deployment, {
    // The name of a vault is given once in an installation.
    properties: {
      mode: 'Incremental',
      template,
      parameters: { vaults_one_name: { value: 'two' } },
    },
  })
  await started.settle()
  const made = JSON.parse(JSON.stringify((await call('GET', deployment)).body))
  assert.ok(isTerminalState(made.properties.provisioningState))
  assert.equal(
    made.properties.provisioningState,
    'Succeeded',
    JSON.stringify(made.properties.error),
  )
  const copy = await call('GET', containers.replace('/rg/', '/other/'), undefined, {
    version: '2025-09-01',
  })
  assert.equal(copy.status, 200)
})

test('children follow their parents, text is no expression, and no secret is in it', async () => {
  await using started = await start()
  const { template } = await exported(started, { resources: ['*'] })
  const text = JSON.stringify(template)
  assert.ok(!text.includes('hush'))
  const secret = template.resources.find((one: Wire) => one.type.endsWith('/secrets'))
  assert.equal(secret.name, "[concat(parameters('vaults_one_name'), '/word')]")
  assert.deepEqual(secret.dependsOn, [
    "[resourceId('Vendor.Secrets/vaults', parameters('vaults_one_name'))]",
  ])
  assert.equal(secret.properties.contentType, '[[text]')
  assert.deepEqual(template.parameters.vaults_one_name, { type: 'String' })
  const plain = await exported(started, { options: 'SkipAllParameterization' })
  assert.deepEqual(plain.template.parameters, {})
  assert.ok(plain.template.resources.some((one: Wire) => one.name === 'one/word'))
})

test('of what is named nothing else is read, and nothing behind what is too large', async () => {
  await using inner = await memoryStore()
  const read: string[] = []
  const got = new Set<string>()
  const store = new Proxy(inner, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      // Stores have private members, so their methods are bound to them.
      if (typeof member !== 'function') return member
      return (...given: readonly unknown[]) => {
        if (name === 'list') read.push(String((given[0] as { type?: string }).type))
        if (name === 'get') got.add(String(given[0]))
        return member.apply(target, given)
      }
    },
  })
  await using started = await start(store)
  read.length = 0
  const { template } = await exported(started, { resources: [vault, `${vault}-none`, group] })
  assert.equal(template.resources.length, 1)
  assert.deepEqual(read, [])
  const [one, rows] = [await inner.get(containers.toLowerCase()), 20]
  assert.ok(one)
  const document = JSON.stringify({
    ...JSON.parse(one.document),
    tags: { a: 'x'.repeat(1_200_000) },
  })
  await inner.transact(async (tx) => {
    for (let at = 0; at < rows; at++) {
      const id = `${containers}${at}`
      await tx.insert({ ...one, id, key: id.toLowerCase(), document, uniqueKey: null })
    }
  })
  await assert.rejects(exported(started, {}), { code: 'ExportTooLarge' })
  const all = read.length
  const large = [...got].filter((key) => /\/web\d/.test(key))
  assert.equal(large.length, 4, 'it stops where it is too large')
  await inner.transact(async (tx) => {
    for (let at = 0; at < 200; at++) {
      const id = `${vault}-${at}`
      await tx.insert({
        ...one,
        id,
        key: id.toLowerCase(),
        type: 'vendor.secrets/vaults',
        uniqueKey: null,
      })
    }
  })
  await assert.rejects(exported(started, {}), { code: 'ExportTooLarge' })
  assert.equal(read.length, all, 'they are counted before any is read')
})

test('it takes a right, and says what it does not make', async () => {
  await using started = await start()
  await assert.rejects(exported(started, {}, { as: nobody }), { status: 403 })
  await assert.rejects(exported(started, { outputFormat: 'Bicep' }), {
    code: 'ExportFormatUnknown',
  })
  await assert.rejects(exported(started, { options: 'Everything' }), {
    code: 'ExportOptionUnknown',
  })
})

test('no word of a name is reserved, whoever asks', async () => {
  await using started = await start()
  const given = { name: 'Armature', type: 'Vendor.Resources/deployments' }
  const path = '/providers/Vendor.Resources/checkResourceName'
  const { body } = await started.call('POST', path, given, { version, as: nobody })
  assert.deepEqual(body, { ...given, status: 'Allowed' })
})

test('the hash of a template is the one that its deployments show', async () => {
  await using started = await start()
  const { call } = started
  const template = { $schema: 'deploymentTemplate.json#', contentVersion: '1.0.0.0', resources: [] }
  const path = '/providers/Vendor.Resources/calculateTemplateHash'
  const hash = JSON.parse(JSON.stringify((await call('POST', path, template, { version })).body))
  assert.equal(hash.minifiedTemplate, JSON.stringify(template))
  const deployment = `${group}/providers/Vendor.Resources/deployments/one`
  await call('PUT', deployment, { properties: { mode: 'Incremental', template } })
  await started.settle()
  const made = JSON.parse(JSON.stringify((await call('GET', deployment)).body))
  assert.equal(made.properties.templateHash, hash.templateHash)
})
