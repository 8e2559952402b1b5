/**
 * Templates and containers: refusals and preview of a template, its steps, a second deployment, a restart.
 */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createResourceGroup } from '../e2e/access.ts'
import { type Installation, startInstallation } from '../e2e/installation.ts'
import { findChromium, howToGetChromium } from '../portal/find-chromium.ts'
import { requireOrSkip } from '../require.ts'
import { type Console, openConsole } from './console.ts'
import { assertWalk } from './keyboard.ts'

const isBuilt = existsSync(join(import.meta.dirname, '..', '..', 'console', 'dist', 'index.html'))
const ready = isBuilt && findChromium() !== undefined

test('a browser and a console to work with', (t) => {
  requireOrSkip(t, ready, `${howToGetChromium}; and \`npm run console\``)
})

if (ready) describe('working in the console', { timeout: 600_000 }, journeys)

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

  test('a template: what is no JSON, what the language refuses, what would change, its steps, once more', async () => {
    const { page } = opened
    await opened.open('/deployments/new?group=shop')
    const template = page.getByRole('textbox', { name: 'Template', exact: true })
    const whole = await template.inputValue()
    await template.fill('{ "resources": [')
    await page.getByText(/This is no JSON/).waitFor()
    await template.fill(whole.replace("parameters('image')", "parameters('imag')"))
    const problems = page.getByRole('region', { name: 'What the template language refuses' })
    await problems.getByText(/containers\[0\]\.properties\.image: .*imag/).waitFor()
    await page
      .getByRole('region', { name: 'Worth a look' })
      .getByText(/never used/)
      .waitFor()
    await opened.assertFit('template-problems')
    await assertWalk(opened, 'template-problems')
    await problems.getByRole('button', { name: /^Line \d+, column \d+$/ }).click()
    const spot = 'document.activeElement.value.slice(document.activeElement.selectionStart)'
    assert.match(await page.evaluate<string>(spot), /^'imag'/)
    await template.fill(whole)
    await problems.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'What would change?' }).click()
    await page.getByText('Create', { exact: true }).waitFor()
    await page.getByText('+ location: local').waitFor()
    await opened.assertFit('what-if')
    await page.getByRole('textbox', { name: 'Name' }).fill('first')
    await page.getByRole('button', { name: 'Deploy', exact: true }).click()
    await opened.heading('first')
    await page.getByRole('status').getByText('Succeeded').waitFor()
    await page.getByRole('link', { name: 'shop / hello' }).waitFor()
    await opened.assertFit('deployment')
    await page.getByRole('link', { name: 'Deploy again' }).click()
    await opened.heading('Deploy a template')
    assert.equal(await template.inputValue(), whole)
    const parameters = page.getByRole('textbox', { name: 'Parameters' })
    assert.deepEqual(JSON.parse(await parameters.inputValue()), {
      name: { value: 'hello' },
      image: { value: 'busybox' },
    })
    await page.getByRole('button', { name: 'Deploy', exact: true }).click()
    await page.getByRole('status').getByText('Succeeded').waitFor()
  })

  test('a template of which a resource would be refused: why, before anything is deployed', async () => {
    const { page } = opened
    const lock = `${group}/providers/Vendor.ContainerInstance/containerGroups/hello/providers/Vendor.Authorization/locks/keep?api-version=2016-09-01`
    const made = await installation.request('PUT', lock, {
      body: { properties: { level: 'ReadOnly' } },
    })
    assert.equal(made.status, 201, made.text)
    await opened.open('/deployments/new?group=shop')
    const template = page.getByRole('textbox', { name: 'Template', exact: true })
    await template.fill((await template.inputValue()).replace('sleep 3600', 'sleep 1800'))
    await page.getByRole('button', { name: 'Deploy', exact: true }).click()
    await page
      .getByRole('alert')
      .getByText(/ScopeLocked|locked/i)
      .first()
      .waitFor()
    await opened.assertFit('deployment-refused')
    assert.equal((await installation.request('DELETE', lock)).status, 200)
  })

  test('the container: its state, what it wrote, a restart', async () => {
    const { page } = opened
    await page.getByRole('link', { name: 'Containers' }).click()
    await page.getByRole('link', { name: 'hello' }).click()
    await page.getByText('Running', { exact: true }).waitFor()
    const log = page.getByRole('region', { name: 'Log of hello' })
    await log
      .getByText(/simulated/i)
      .first()
      .waitFor()
    await page.getByRole('switch', { name: 'Times' }).click()
    await log
      .getByText(/^\d{4}-\d\d-\d\dT\S+Z /)
      .first()
      .waitFor()
    await opened.assertFit('containers')
    await page.getByRole('button', { name: 'Restart' }).click()
    await page.getByText('Running', { exact: true }).waitFor()
    await page.getByRole('tab', { name: 'Metrics' }).click()
    await page.getByText('The container engine of this installation measures nothing.').waitFor()
    await opened.assertFit('metrics-none')
  })
}
