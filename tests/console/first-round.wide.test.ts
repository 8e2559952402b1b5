/**
 * The first round of somebody who has never used the command line, as in `docs/guides/first-round.md`: a group, an
 * example after a preview of its changes, the container's log, Reader for a colleague, why that colleague may not
 * delete, both in the activity, and the cost. One journey by clicks alone: each step begins where the previous one
 * ended. With ARMATURE_TEST_PICTURES=1 it creates the guide's pictures.
 */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Installation, startInstallation } from '../e2e/installation.ts'
import { findChromium, howToGetChromium } from '../portal/find-chromium.ts'
import { requireOrSkip } from '../require.ts'
import { until } from '../until.ts'
import { type Console, openConsole } from './console.ts'

const isBuilt = existsSync(join(import.meta.dirname, '..', '..', 'console', 'dist', 'index.html'))
const ready = isBuilt && findChromium() !== undefined

test('a browser and a console for a first round', (t) => {
  requireOrSkip(t, ready, `${howToGetChromium}; and \`npm run console\``)
})

if (ready) describe('a first round in the console', { timeout: 600_000 }, journey)

/** Of areas whose view has another title than the menu. */
const titles: Readonly<Record<string, string>> = {
  Containers: 'Container groups',
  Sharing: 'Data sharing',
}

const colleague = { signInName: 'ada', password: 'a colleague of great patience' }

function journey(): void {
  let installation: Installation
  let opened: Console

  before(async () => {
    installation = await startInstallation({ environment: { ARMATURE_CONTAINERS: 'simulated' } })
    await raisePrice(installation)
    opened = await openConsole(installation)
  })
  after(async () => {
    await opened[Symbol.asyncDispose]()
    await installation[Symbol.asyncDispose]()
    assert.deepEqual(opened.complaints, [])
  })

  test('a group, from Home', async () => {
    const { page } = opened
    await page.getByRole('link', { name: 'Create a group' }).click()
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('shop')
    await opened.picture('create-group')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await opened.heading('shop')
  })

  test('an example, deployed after a look at what it would change', async () => {
    const { page } = opened
    await page.getByRole('link', { name: 'Deploy a template' }).click()
    await opened.heading('Deploy a template')
    await page.getByRole('textbox', { name: 'Name' }).fill('first')
    await page.getByRole('button', { name: 'What would change?' }).click()
    await page.getByText('+ location: local').waitFor()
    await opened.picture('what-if')
    await page.getByRole('button', { name: 'Deploy', exact: true }).click()
    await opened.heading('first')
    await page.getByRole('status').getByText('Succeeded').waitFor()
    await page.getByRole('link', { name: 'shop / hello' }).first().click()
    await opened.heading('hello')
  })

  test('the container: its state, what it wrote, and an end to it', async () => {
    const { page } = opened
    await page.getByText('Running', { exact: true }).waitFor()
    await page
      .getByRole('region', { name: 'Log of hello' })
      .getByText(/simulated/i)
      .first()
      .waitFor()
    await opened.picture('containers')
    // A group that has ended is charged at once; a running one, up to the last measurement.
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Terminated', { exact: true }).waitFor()
  })

  test('a colleague is added, and made Reader', async () => {
    const { page } = opened
    await page.getByRole('link', { name: 'Access', exact: true }).click()
    await page.getByRole('tab', { name: 'People and applications' }).click()
    await page.getByRole('button', { name: 'Add a person' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Ada')
    await dialog.getByRole('textbox', { name: 'Sign-in name' }).fill('owner')
    await dialog.getByLabel('Password').fill(colleague.password)
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await dialog.getByRole('alert').waitFor()
    await opened.assertFit('add-person-refused')
    await dialog.getByRole('textbox', { name: 'Sign-in name' }).fill(colleague.signInName)
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('cell', { name: 'Ada', exact: true }).waitFor()
    await opened.assertFit('people')

    await page.getByRole('tab', { name: 'Assignments' }).click()
    await page.getByRole('combobox', { name: 'Where' }).selectOption('shop')
    await page.getByRole('button', { name: 'Add an assignment' }).click()
    await dialog
      .getByRole('combobox', { name: 'Person, group or application' })
      .selectOption('Ada (User)')
    await dialog.getByRole('combobox', { name: 'Role' }).selectOption('Reader')
    await opened.assertFit('add-assignment')
    await opened.picture('reader')
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('cell', { name: 'Ada', exact: true }).waitFor()
    await page
      .getByRole('combobox', { name: 'Person, group or application' })
      .selectOption('Ada (User)')
    await page.getByRole('button', { name: 'Check' }).click()
    await page
      .getByRole('status')
      .getByText(/the role does not list the action/)
      .waitFor()
    await opened.assertFit('access')
  })

  test('the colleague at first: no refusal on any view of the menu, which has only what they may read', async () => {
    await using hers = await openConsole(installation, colleague)
    const { page } = hers
    const refused: string[] = []
    page.on('response', (response) => {
      if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`)
    })
    await page.reload()
    await hers.heading('Home')
    await page.getByText('Not in the menu, since you may not read them:').waitFor()
    await hers.assertFit('home-of-a-reader')
    const menu = page.getByRole('navigation', { name: 'Areas' }).getByRole('link')
    const areas = await menu.allTextContents()
    assert.deepEqual(
      ['Health', 'Billing', 'Business', 'Activity'].filter((one) => areas.includes(one)),
      [],
    )
    for (const area of areas) {
      await menu.getByText(area, { exact: true }).click()
      await hers.heading(titles[area] ?? area)
      await until(async () => (await page.getByText('Loading').count()) === 0)
      assert.equal(await page.getByText(/^You may not (?:see|do) this$/).count(), 0, area)
      assert.equal(await page.getByRole('alert').count(), 0, area)
    }
    assert.deepEqual(refused, [])
    assert.deepEqual(hers.complaints, [])
  })

  test('the colleague, side by side: sees it, may not delete it, and reads why', async () => {
    await using hers = await openConsole(installation, colleague)
    const { page } = hers
    await page.getByRole('link', { name: 'Resources' }).first().click()
    await page.getByRole('link', { name: 'hello' }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('textbox', { name: 'Type hello to go on' }).fill('hello')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('You may not do this').waitFor()
    await page.getByRole('button', { name: 'Why?' }).click()
    const path = page.getByRole('list', { name: 'How Reader reaches from ada' })
    await path.getByText(/the role does not list the action/).waitFor()
    await hers.assertFit('why')
    await hers.picture('why')
    // Service health answers its refusals in another form.
    await hers.open('/health')
    await page.getByText(/does not have authorization to perform action/).waitFor()
    await page.getByRole('button', { name: 'Why?' }).click()
    await page.getByText('Action: Vendor.ResourceHealth/events/read').waitFor()
    assert.deepEqual(hers.complaints, [])
  })

  test('both are found in the activity: what was given, and what was refused', async () => {
    const { page } = opened
    await page.getByRole('link', { name: 'Activity', exact: true }).click()
    await opened.heading('Activity')
    const given = page.getByRole('button', { name: /Details of .*roleAssignments\/write/ }).first()
    await given.waitFor()
    const refused = page
      .getByRole('button', { name: /Details of .*containerGroups\/delete/ })
      .first()
    await refused.click()
    await page.getByText(/containerGroups\/delete · Forbidden/).waitFor()
    await opened.picture('activity')
    await page.getByRole('combobox', { name: 'Result' }).selectOption('Failed')
    await refused.waitFor()
    await given.waitFor({ state: 'detached' })
  })

  test('what it cost: charged until now, by product', async () => {
    const { page } = opened
    await page.getByRole('link', { name: 'Billing' }).click()
    await page.getByRole('button', { name: 'Charge what ran until now' }).click()
    await page.getByText(/charges? recorded/).waitFor()
    await page.getByRole('combobox', { name: 'By' }).selectOption('Product')
    await page
      .getByRole('rowheader', { name: /^Container group/ })
      .first()
      .waitFor()
    await page
      .getByRole('cell', { name: /^\$(?!0\.00)/ })
      .first()
      .waitFor()
    await opened.assertFit('billing-first')
    await opened.picture('cost')
  })
}

/** Makes seconds cost something: amounts are whole cents. */
async function raisePrice(installation: Installation): Promise<void> {
  const accounts = '/providers/Vendor.Billing/billingAccounts'
  const version = 'api-version=2024-04-01'
  const [account] = (
    await installation.request('GET', `${accounts}?${version}`)
  ).items() as readonly { readonly id: string }[]
  const raised = await installation.request(
    'PUT',
    `${account?.id}/products/container-cpu?${version}`,
    {
      body: {
        properties: {
          displayName: 'Container group, vCPU',
          price: { currency: 'USD', value: 900 },
          unitOfMeasure: '1 Hour',
          meter: 'containerGroups/cpu',
        },
      },
    },
  )
  assert.ok(raised.status < 300, raised.text)
}
