/** Template specs: kept in versions, deployed by id with the rights of the principal who deploys. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { memoryStore, owner } from '#plane/testing/start.ts'
import type { Store } from '#stores/store.ts'
import { group as installationGroup, openInstallation } from '../../../testing/installation.ts'
import { group, type Started, startDeployments, templateFor } from '../../testing/start.ts'
import { includedTemplates } from '../template-spec-versions/model.ts'

const version = { version: '2022-02-01' }
const spec = `${group}/providers/Vendor.Resources/templateSpecs/vaults`
const at = (name: string): string => `${group}/providers/Vendor.Resources/deployments/${name}`
const vault = { type: 'Vendor.Secrets/vaults', apiVersion: '2026-01-01', location: 'local' }

// Answers are read as the clients see them.
// biome-ignore lint/suspicious/noExplicitAny: their shape is what is tested.
const json = ({ body }: { readonly body?: unknown }): any => JSON.parse(JSON.stringify(body))

async function publish(started: Started): Promise<string> {
  await started.call('PUT', spec, { location: 'local', properties: {} }, version)
  const mainTemplate = templateFor(
    [
      { ...vault, name: "[parameters('name')]" },
      {
        type: 'Vendor.Resources/deployments',
        apiVersion: '2022-09-01',
        name: 'inner',
        properties: { mode: 'Incremental', templateLink: { relativePath: './parts/other.json' } },
      },
    ],
    { parameters: { name: { type: 'string' } } },
  )
  const included = [
    { path: 'parts/other.json', template: templateFor([{ ...vault, name: 'linked' }]) },
  ]
  const properties = { mainTemplate, [includedTemplates]: included }
  await started.call('PUT', `${spec}/versions/1.0`, { location: 'local', properties }, version)
  return `${spec}/versions/1.0`
}

test('a version is deployed by its id, with the templates that it links to', async () => {
  await using started = await startDeployments()
  const id = await publish(started)
  const parameters = { name: { value: 'kept' } }
  const body = { properties: { mode: 'Incremental', templateLink: { id }, parameters } }
  await started.call('POST', `${at('d')}/validate`, body)
  await started.call('PUT', at('d'), body)
  await started.settle()
  const { properties } = json(await started.call('GET', at('d')))
  assert.equal(properties.provisioningState, 'Succeeded', JSON.stringify(properties.error))
  assert.deepEqual(properties.templateLink, { id })
  for (const name of ['kept', 'linked']) {
    const path = `${group}/providers/Vendor.Secrets/vaults/${name}`
    const read = { version: '2026-01-01' }
    assert.equal((await started.call('GET', path, undefined, read)).status, 200)
  }
  const listed = json(await started.call('GET', `${spec}/versions`, undefined, version))
  assert.equal(listed.value.length, 1)
  // The published command line shows a spec by the names of its versions.
  const withVersions = `${spec}?$expand=versions`
  const expanded = json(await started.call('GET', withVersions, undefined, version))
  assert.deepEqual(Object.keys(expanded.properties.versions), ['1.0'])
  const { properties: _with, ...envelope } = expanded
  const { properties: _without, ...plain } = json(
    await started.call('GET', spec, undefined, version),
  )
  assert.deepEqual(envelope, plain)
})

test('who may not read a version does not deploy it; one that is not there is said so', async () => {
  await using started = await startDeployments()
  const id = await publish(started)
  const body = (link: string) => ({ properties: { templateLink: { id: link } } })
  await assert.rejects(started.call('PUT', at('d'), body(`${spec}/versions/2.0`)), {
    code: 'ResourceNotFound',
  })
  await assert.rejects(started.call('PUT', at('d'), body(spec)), { code: 'InvalidContentLink' })
  const other = `${group.replace(/rg$/, 'apart')}`
  await started.call('PUT', other, { location: 'local' }, { version: '2021-04-01' })
  const elsewhere = spec.replace('Vendor.Resources', 'Vendor.Secrets')
  for (const link of [{ id: `${elsewhere}/versions/1.0` }, { id, contentVersion: '9.0.0.0' }]) {
    const given = { properties: { templateLink: link } }
    await assert.rejects(started.call('PUT', at('d'), given), { code: 'InvalidContentLink' })
  }
  const as = { ...owner, id: randomUUID() }
  const role = 'b24988ac-6180-42a0-ab88-20f7382dd24c'
  const roleDefinitionId = `/providers/Vendor.Authorization/roleDefinitions/${role}`
  const properties = { principalId: as.id, principalType: 'User', roleDefinitionId }
  const assignment = `${other}/providers/Vendor.Authorization/roleAssignments/${randomUUID()}`
  await started.call('PUT', assignment, { properties }, { version: '2022-04-01' })
  const there = `${other}/providers/Vendor.Resources/deployments/d`
  await assert.rejects(started.call('PUT', there, body(id), { as }), {
    code: 'AuthorizationFailed',
  })
})

test('templates that link to each other without end are refused, as is a path that leads nowhere', async () => {
  await using started = await startDeployments()
  await started.call('PUT', spec, { location: 'local', properties: {} }, version)
  const linkTo = (relativePath: string, name: string): object => ({
    type: 'Vendor.Resources/deployments',
    apiVersion: '2022-09-01',
    name,
    properties: { templateLink: { relativePath } },
  })
  const many = Array.from({ length: 50 }, (_, at) => linkTo('itself.json', `d${at}`))
  const around = templateFor([linkTo('nowhere.json', 'd')])
  for (const [path, mainTemplate, resources] of [
    ['itself.json', templateFor([linkTo('itself.json', 'd')]), [linkTo('itself.json', 'd')]],
    ['itself.json', templateFor(many), many],
    ['nowhere.json', around, []],
    ['nowhere.json', templateFor([{ ...linkTo('', 'd'), properties: { template: around } }]), []],
  ] as const) {
    const included = [{ path: 'itself.json', template: templateFor(resources) }]
    const properties = { mainTemplate, [includedTemplates]: included }
    const id = `${spec}/versions/2.0`
    await started.call('PUT', id, { location: 'local', properties }, version)
    await assert.rejects(started.call('PUT', at('d'), { properties: { templateLink: { id } } }), {
      code: 'InvalidContentLink',
      message: new RegExp(path),
    })
  }
})

test('a version written as they were first published is the same one in the newer shape', async () => {
  await using started = await startDeployments()
  const early = { version: '2019-06-01-preview' }
  await started.call('PUT', spec, { location: 'local', properties: {} }, version)
  const template = templateFor([{ ...vault, name: 'early' }])
  const included = { kind: 'template', path: 'a.json', template: templateFor([]) }
  const body = { location: 'local', properties: { template, artifacts: [included] } }
  const path = `${spec}/versions/0.1`
  await started.call('PUT', path, body, early)
  const { properties } = json(await started.call('GET', path, undefined, version))
  assert.deepEqual(properties.mainTemplate, template)
  const { kind: _, ...newer } = included
  assert.deepEqual(properties[includedTemplates], [newer])
  assert.deepEqual(json(await started.call('GET', path, undefined, early)).properties.artifacts, [
    included,
  ])
  const link = { templateLink: { id: path } }
  await started.call('PUT', at('e'), { properties: { mode: 'Incremental', ...link } })
  await started.settle()
  const made = json(await started.call('GET', at('e')))
  assert.equal(made.properties.provisioningState, 'Succeeded')
})

test('the versions of a spec are read one after the other, and none when nobody waits any more', async () => {
  const inner = await memoryStore()
  const gone = new AbortController()
  let pages = 0
  const list: Store['list'] = async (query) => {
    const rows = await inner.list(query)
    if (query.type?.endsWith('templatespecs/versions') !== true) return rows
    pages++
    gone.abort(new Error('nobody waits'))
    return rows
  }
  const store = new Proxy(inner, {
    get(target, name) {
      const member: unknown = name === 'list' ? list : Reflect.get(target, name)
      // Stores have private members, so their methods are bound to them.
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  await using t = await openInstallation('implicit', store)
  await t.call('PUT', installationGroup, { location: 'local' }, { version: '2021-04-01' })
  const path = `${installationGroup}/providers/Vendor.Resources/templateSpecs/large`
  await t.call('PUT', path, { location: 'local' }, version)
  const metadata = { note: 'x'.repeat(2 * 1024 * 1024) }
  const properties = { mainTemplate: templateFor([], { metadata }) }
  for (const name of ['1', '2', '3']) {
    await t.call('PUT', `${path}/versions/${name}`, { location: 'local', properties }, version)
  }
  const shown = t.call('GET', `${path}?$expand=versions`, undefined, {
    ...version,
    signal: gone.signal,
  })
  await assert.rejects(shown, /nobody waits/)
  assert.equal(pages, 1)
})
