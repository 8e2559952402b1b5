/**
 * Deployments while they run, a group that is missing, and a real container: its log, a shell, what it uses. What
 * `work.test.ts` holds is not held again.
 */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startPodman, testImage } from '../../src/engines/containers/testing/podman.ts'
import { findPostgres } from '../../src/stores/testing/postgres-server.ts'
import { createResourceGroup, grant, revoke, roles } from '../e2e/access.ts'
import { startBalanced } from '../e2e/balanced.ts'
import { type Installation, startInstallation } from '../e2e/installation.ts'
import { findChromium, howToGetChromium } from '../portal/find-chromium.ts'
import { requireOrSkip } from '../require.ts'
import { type Console, openConsole } from './console.ts'
import { assertWalk } from './keyboard.ts'

const isBuilt = existsSync(join(import.meta.dirname, '..', '..', 'console', 'dist', 'index.html'))
const ready = isBuilt && findChromium() !== undefined

test('a browser and a console to work on with', (t) => {
  requireOrSkip(t, ready, `${howToGetChromium}; and \`npm run console\``)
})

if (ready) describe('deployments in the console', { timeout: 600_000 }, journeys)

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

  test('a group that is not there: the form says so, makes it, and deploys into it', async () => {
    const { page } = opened
    await opened.open('/deployments/new?group=nowhere')
    await page.getByText('There is no group nowhere here, or you may not see it.').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Deploy', exact: true }).isDisabled(), true)
    await opened.assertFit('deploy-missing-group')
    await page.getByRole('button', { name: 'Create nowhere' }).click()
    const dialog = page.getByRole('dialog')
    assert.equal(await dialog.getByRole('textbox', { name: 'Name' }).inputValue(), 'nowhere')
    await dialog.getByRole('button', { name: 'Create', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('There is no group nowhere here').waitFor({ state: 'detached' })
    assert.equal(await page.getByRole('combobox', { name: 'Group' }).inputValue(), 'nowhere')
    await page.getByRole('combobox', { name: 'Begin with' }).selectOption('An identity')
    await page.getByRole('textbox', { name: 'Name' }).fill('into-it')
    await page.getByRole('button', { name: 'Deploy', exact: true }).click()
    await opened.heading('into-it')
    await page.getByRole('status').getByText('Succeeded').waitFor()
  })

  test('a running deployment as a graph: who waits for whom, what failed and why, what was not begun', async () => {
    const { page } = opened
    const path = `${group}/providers/Vendor.Resources/deployments/graph`
    const made = await installation.request('PUT', `${path}?api-version=2021-04-01`, {
      body: { properties: { mode: 'Incremental', template: templateThatFails } },
    })
    assert.equal(made.status, 201, made.text)
    await opened.open(`/resource${path}`)
    const graph = page.getByRole('region', { name: 'Steps and what they wait for' })
    const step = (name: string) => graph.getByRole('listitem').filter({ hasText: `shop / ${name}` })
    await step('slow').first().getByText('Running', { exact: true }).waitFor()
    await step('last').first().getByText('Waiting', { exact: true }).waitFor()
    await opened.assertFit('deployment-running')
    await page.getByRole('status').getByText('Failed').waitFor()
    await step('slow').first().getByText('Succeeded', { exact: true }).waitFor()
    await step('bad').first().getByText('Failed', { exact: true }).waitFor()
    await step('last').first().getByText('Not begun', { exact: true }).waitFor()
    await step('last').first().getByText('Waits for shop / bad.').waitFor()
    const reason = page.getByRole('alert').filter({ hasText: 'Why it failed: shop / bad' })
    await reason
      .getByText(/'nonsense' is no word of it/)
      .first()
      .waitFor()
    await page.getByRole('link', { name: 'Deploy again' }).waitFor()
    await opened.assertFit('deployment-failed')
    await assertWalk(opened, 'deployment-failed')
  })

  test('Home: a deployment is under way until it ends', async () => {
    const { page } = opened
    const path = `${group}/providers/Vendor.Resources/deployments/nightly`
    const resources = [
      ...templateThatFails.resources.slice(0, 1),
      templateGroup('long', '', 'exit:0@600s', 'first'),
    ]
    const made = await installation.request('PUT', `${path}?api-version=2021-04-01`, {
      body: { properties: { mode: 'Incremental', template: { ...templateThatFails, resources } } },
    })
    assert.equal(made.status, 201, made.text)
    await opened.open('/')
    const runs = page.getByRole('region', { name: 'Under way' })
    const nightly = runs.getByRole('link', { name: 'nightly', exact: true })
    await nightly.waitFor()
    const bar = page.getByRole('button', { name: /^\d+ operations? under way$/ })
    await bar.click()
    const item = page.getByRole('menuitem', { name: /nightly/ })
    await item.waitFor()
    await opened.assertFit('running', 'light')
    await page.keyboard.press('Escape')
    const ended = await installation.request('POST', `${path}/cancel?api-version=2021-04-01`)
    assert.equal(ended.status, 204, ended.text)
    await nightly.waitFor({ state: 'detached' })
    // What it began goes on.
    await bar.click()
    await page.getByRole('menuitem').first().waitFor()
    await item.waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
  })
}

const groupType = 'Vendor.ContainerInstance/containerGroups'

/** One container and its script. The engine is simulated. */
function templateGroup(name: string, script: string, init: string, before: string) {
  const container = (does: string) => ({
    name: 'web',
    properties: {
      image: 'busybox',
      environmentVariables: [{ name: 'ARMATURE_SIMULATE', value: does }],
      resources: { requests: { cpu: 1, memoryInGB: 1 } },
    },
  })
  return {
    type: groupType,
    apiVersion: '2025-09-01',
    name,
    location: 'local',
    dependsOn: [before],
    properties: {
      osType: 'Linux',
      containers: [container(script)],
      initContainers: [{ ...container(init), name: 'prepare' }],
    },
  }
}

const templateThatFails = {
  $schema: 'https://schema.example/2019-04-01/deploymentTemplate.json#',
  contentVersion: '1.0.0.0',
  resources: [
    ...['first', 'side'].map((name) => ({
      type: 'Vendor.ManagedIdentity/userAssignedIdentities',
      apiVersion: '2023-01-31',
      name,
      location: 'local',
    })),
    templateGroup('slow', '', 'exit:0@4s', 'first'),
    templateGroup('bad', 'nonsense', '', 'slow'),
    templateGroup('last', '', '', 'bad'),
  ],
}

/** Writes 300 lines a second, all of them numbered. */
const talkative =
  'trap \'exit 0\' TERM; i=0; while true; do for j in 1 2 3 4 5 6; do for k in 0 1 2 3 4 5 6 7 8 9; do i=$((i+1)); echo "line $i"; done; done; sleep 0.2; done'

const operator = { signInName: 'operator', password: 'somebody who works at night' }

// Each replica measures by itself, for at most a tenth of the time: with an engine that answers slowly that takes minutes.
test('a real container: its log without a hole, a shell until the right is taken away, what it uses', {
  timeout: 580_000,
}, async (t) => {
  if (!requireOrSkip(t, ready, `${howToGetChromium}; and \`npm run console\``)) return
  const podman = await startPodman()
  const reason = typeof podman === 'string' ? podman : ''
  if (!requireOrSkip(t, reason === '', reason) || typeof podman === 'string') return
  await using _podman = podman
  assert.ok(podman.target.kind === 'socket')
  const environment = {
    ARMATURE_CONTAINERS: 'docker',
    ARMATURE_DOCKER_HOST: `unix://${podman.target.path}`,
  }
  // The shell waits at the replica that answered, and the browser may connect to the other one.
  await using installation =
    findPostgres() === undefined
      ? await startInstallation({ environment })
      : await startBalanced(environment)
  const group = `/subscriptions/${installation.subscriptionId}/resourceGroups/shells`
  await createResourceGroup(installation, group)
  const made = await installation.request('POST', '/directory/users', {
    body: { displayName: 'Operator', ...operator },
  })
  assert.equal(made.status, 201, made.text)
  const principal = String(made.at('principalId'))
  await grant(installation, group, roles.reader, principal)
  const given = await grant(installation, group, roles.contributor, principal)
  const one = `${group}/providers/Vendor.ContainerInstance/containerGroups/one`
  await startContainer(installation, one)
  await using opened = await openConsole(installation, operator)
  const { page } = opened
  await opened.open(`/resource${one}?view=containers`)
  await assertFollowed(page)
  await page.getByRole('switch', { name: 'Follow' }).click()
  await page.getByRole('button', { name: 'Open a shell' }).click()
  const shell = page.getByRole('textbox', { name: 'Shell in web' })
  const type = async (line: string): Promise<void> => {
    await shell.focus()
    await page.keyboard.type(line)
    await page.keyboard.press('Enter')
  }
  const screen = page.locator('.xterm-rows')
  await screen.getByText('#').first().waitFor()
  await type('echo is-$((6*7))')
  await screen.getByText('is-42').waitFor()
  await type("printf '\\033[38;2;255;120;10m%s\\033[0m\\n' coloured")
  await screen.getByText('coloured', { exact: true }).waitFor()
  const [color, display] = await page.evaluate<[string, string]>(
    `[...document.querySelectorAll('.xterm-rows span')].filter((one) => one.textContent === 'coloured')
      .map((one) => getComputedStyle(one)).map(({ color, display }) => [color, display])[0]`,
  )
  // Darker than the program's colour, so that it can be read on a light background.
  assert.match(color, /^rgb\(1\d\d, \d\d, \d+\)$/)
  assert.equal(display, 'inline-block', 'the sheet of the terminal counts')
  await opened.assertFit('shell')
  await page.keyboard.press('Shift+Tab')
  assert.notEqual(
    await page.evaluate<string>('document.activeElement.className'),
    'xterm-helper-textarea',
  )
  await type('exit 3')
  await page.getByText('The shell has ended: exit code 3.').waitFor()
  await page.getByRole('button', { name: 'Open a shell' }).click()
  await type('echo again-$((6*7))')
  await screen.getByText('again-42').waitFor()
  await assertMeasured(installation, opened, one)
  await opened.open(`/resource${one}?view=containers`)
  await page.getByRole('button', { name: 'Open a shell' }).click()
  await screen.getByText('#').first().waitFor()
  await revoke(installation, given)
  await page.getByText('The shell has ended: the right to this was taken away.').waitFor()
  await page.getByRole('button', { name: 'Open a shell' }).click()
  await page.getByText('You may not do this').waitFor()
  assert.doesNotMatch(await page.content(), /eyJ/, 'a token is shown')
  assert.deepEqual(opened.complaints, [])
})

/** More lines than a look brings are written between two looks, and not one of them is lost or shown twice. */
async function assertFollowed(page: Page): Promise<void> {
  const log = page.getByRole('region', { name: 'Log of web' })
  const numbers = async (): Promise<readonly number[]> =>
    ((await log.textContent()) ?? '')
      .split('\n')
      .map((line) => Number(/^line (\d+)$/.exec(line)?.[1]))
  await log.getByText('line').first().waitFor()
  const first = (await numbers()).at(-1) ?? 0
  let shown = await numbers()
  while ((shown.at(-1) ?? 0) < first + 1_000) {
    await page.waitForTimeout(100)
    shown = await numbers()
  }
  const begin = shown[0] ?? 0
  assert.deepEqual(
    shown,
    shown.map((_, index) => begin + index),
  )
}

/** The tab is opened once there is something to show. */
async function assertMeasured(
  installation: Installation,
  { page, open, assertFit }: Console,
  group: string,
): Promise<void> {
  const metrics = `${group}/providers/Vendor.Insights/metrics?api-version=2018-01-01&metricnames=CpuUsage,NetworkBytesReceivedPerSecond`
  // Each replica measures by itself, and either may answer the page.
  for (let measured = 0; measured < 2; ) {
    const answer = await installation.request('GET', metrics)
    assert.equal(answer.status, 200, answer.text)
    const series = ['value.0', 'value.1'].map((one) =>
      answer.at(`${one}.timeseries.0.data.0.average`),
    )
    measured = series.includes(undefined) ? 0 : measured + 1
    if (measured === 0) await page.waitForTimeout(500)
  }
  await open(`/resource${group}?view=metrics`)
  await page.getByRole('img', { name: /CPU usage on all cores.*: web [\d.]+$/ }).waitFor()
  await page.getByRole('img', { name: /memory usage.*: web [\d.]+ [KM]B$/i }).waitFor()
  await page.getByRole('img', { name: /bytes received.*: The whole group [\d.]+ \w+$/ }).waitFor()
  await assertFit('metrics')
}

async function startContainer(installation: Installation, id: string): Promise<void> {
  const path = `${id}?api-version=2025-09-01`
  const container = {
    name: 'web',
    properties: {
      image: testImage,
      command: ['sh', '-c', talkative],
      resources: { requests: { cpu: 0.5, memoryInGB: 0.1 } },
    },
  }
  const body = { location: 'local', properties: { osType: 'Linux', containers: [container] } }
  const made = await installation.request('PUT', path, { body })
  assert.equal(made.status, 201, made.text)
  let state = ''
  while (state !== 'Succeeded') {
    state = String((await installation.request('GET', path)).at('properties.provisioningState'))
    assert.notEqual(state, 'Failed')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
