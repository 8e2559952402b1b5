/**
 * Forms made from schemas: a resource created by its fields, refusals at the fields, the JSON beside them, and an
 * edit.
 */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import {
  beginOf,
  changedAt,
  fieldsOf,
  kindOf,
  pathText,
  problemsByPath,
  writable,
} from '../../console/src/components/schema.ts'
import { createResourceGroup } from '../e2e/access.ts'
import { type Installation, startInstallation } from '../e2e/installation.ts'
import { findChromium, howToGetChromium } from '../portal/find-chromium.ts'
import { requireOrSkip } from '../require.ts'
import { type Console, openConsole } from './console.ts'

const isBuilt = existsSync(join(import.meta.dirname, '..', '..', 'console', 'dist', 'index.html'))
const ready = isBuilt && findChromium() !== undefined

test('a schema says its fields: what must be written first, what is read only never', () => {
  const schema = {
    type: 'object',
    required: ['b'],
    properties: {
      a: { type: 'string', readOnly: true },
      c: { type: ['integer', 'null'] },
      b: { type: 'array', items: { type: 'object', required: ['n'], properties: { n: {} } } },
    },
  } as const
  assert.deepEqual(
    fieldsOf(schema).map(({ name }) => name),
    ['b', 'c'],
  )
  assert.equal(kindOf(schema.properties.b), 'list')
  assert.equal(kindOf(schema.properties.c), 'number')
  assert.deepEqual(beginOf(schema), { b: [{}] })
  assert.deepEqual(writable(schema, { a: 'x', c: 1, b: [{ n: 2, other: 3 }], id: '/' }), {
    c: 1,
    b: [{ n: 2 }],
  })
})

test('a value is changed at its path and nowhere else; a problem finds its field', () => {
  const whole = { properties: { list: [{ name: 'a' }, { name: 'b' }], kept: 1 } }
  assert.deepEqual(changedAt(whole, ['properties', 'list', 1, 'name'], 'c'), {
    properties: { list: [{ name: 'a' }, { name: 'c' }], kept: 1 },
  })
  assert.deepEqual(changedAt(whole, ['properties', 'list', 0], undefined), {
    properties: { list: [{ name: 'b' }], kept: 1 },
  })
  assert.deepEqual(Object.keys(Object(changedAt(whole.properties, ['list'], [])) as object), [
    'list',
    'kept',
  ])
  const target = 'properties.list[1].name'
  assert.equal(pathText(['properties', 'list', 1, 'name']), target)
  const problem = { code: 'A', message: 'whole', details: [{ code: 'B', message: 'one', target }] }
  assert.deepEqual([...problemsByPath(problem)], [[target, 'one']])
})

test('a browser and a console to write with', (t) => {
  requireOrSkip(t, ready, `${howToGetChromium}; and \`npm run console\``)
})

if (ready) describe('forms from schemas', { timeout: 600_000 }, journeys)

function journeys(): void {
  let installation: Installation
  let opened: Console
  let group: string

  before(async () => {
    installation = await startInstallation({ environment: { ARMATURE_CONTAINERS: 'simulated' } })
    group = `/subscriptions/${installation.subscriptionId}/resourceGroups/shop`
    await createResourceGroup(installation, group)
    opened = await openConsole(installation)
  })
  after(async () => {
    await opened[Symbol.asyncDispose]()
    await installation[Symbol.asyncDispose]()
    assert.deepEqual(opened.complaints, [])
  })

  test('created by fields: what is refused stands at its field, and then it is made', async () => {
    const { page } = opened
    await opened.open(`/resource${group}`)
    await page.getByRole('link', { name: 'Create a resource' }).click()
    await page
      .getByRole('combobox', { name: 'Type' })
      .selectOption('Vendor.ContainerInstance/containerGroups')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('formed')
    // The container's fields, which the schema requires from the beginning.
    const container = page.getByRole('group', { name: /^containers 1/ })
    await container.getByRole('textbox', { name: 'name', exact: true }).fill('Bad_Name')
    await container
      .getByRole('combobox', { name: 'Add a property to properties.containers[0]', exact: true })
      .selectOption('properties')
    await container
      .getByRole('combobox', { name: 'Add a property to properties.containers[0].properties' })
      .selectOption('image')
    await page
      .getByRole('combobox', { name: 'Add a property to properties', exact: true })
      .selectOption('osType')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await container
      .getByText("The container name 'Bad_Name' is invalid", { exact: false })
      .waitFor()
    await container.getByText('has no image').waitFor()
    await opened.assertFit('create-resource-refused')

    await container.getByRole('textbox', { name: 'name', exact: true }).fill('one')
    await container.getByRole('textbox', { name: 'image', exact: true }).fill('busybox')
    const json = page.getByRole('textbox', { name: 'JSON' })
    const written = JSON.parse(await json.inputValue()) as object
    await json.fill('{ "half": ')
    await page.getByText(/This is no JSON/).waitFor()
    assert.ok(await page.getByRole('button', { name: 'Create', exact: true }).isDisabled())
    const body = {
      ...written,
      tags: { team: 'shop' },
      properties: {
        osType: 'Linux',
        containers: [
          {
            name: 'one',
            properties: { image: 'busybox', resources: { requests: { cpu: 1, memoryInGB: 1 } } },
          },
        ],
      },
    }
    await json.fill(JSON.stringify(body))
    // Values written as JSON appear in the fields.
    await container.getByRole('textbox', { name: 'memoryInGB' }).waitFor()
    await container.getByRole('textbox', { name: 'cpu' }).fill('0.5')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await opened.heading('formed')
    const made = await installation.request(
      'GET',
      `${group}/providers/Vendor.ContainerInstance/containerGroups/formed?api-version=2025-09-01`,
    )
    assert.equal(made.at('properties.containers.0.properties.resources.requests.cpu'), 0.5)
    assert.equal(made.at('tags.team'), 'shop')
  })

  test('changed by fields: nothing else of it is lost', async () => {
    const { page } = opened
    const path = `${group}/providers/Vendor.ContainerInstance/containerGroups/formed`
    await page.getByText('Running', { exact: true }).waitFor()
    await page.getByRole('tab', { name: 'Edit' }).click()
    const tags = page.getByRole('textbox', { name: 'tags' })
    assert.equal(await tags.inputValue(), 'team=shop')
    await tags.fill('team=shop\nstage=test')
    await opened.assertFit('edit')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved', { exact: true }).waitFor()
    const changed = await installation.request('GET', `${path}?api-version=2025-09-01`)
    assert.deepEqual(changed.at('tags'), { team: 'shop', stage: 'test' })
    assert.equal(changed.at('properties.containers.0.properties.image'), 'busybox')
  })

  test('created once more by the same name: what is there is kept', async () => {
    const { page } = opened
    const query = new URLSearchParams({
      group: 'shop',
      type: 'Vendor.ManagedIdentity/userAssignedIdentities',
    })
    for (const isTaken of [false, true]) {
      await opened.open(`/create?${query}`)
      await page.getByRole('textbox', { name: 'Name', exact: true }).fill('worker')
      await page.getByRole('button', { name: 'Create', exact: true }).click()
      if (isTaken) await page.getByText('This name is taken.').waitFor()
      else await opened.heading('worker')
    }
  })
}
