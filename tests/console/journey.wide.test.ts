/**
 * The console in a real browser against a real installation: a journey for each view besides those of `journey.test.ts`.
 * All tests share one browser; `test-results/console` keeps the screenshots.
 */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Installation, startInstallation } from '../e2e/installation.ts'
import { findChromium, howToGetChromium } from '../portal/find-chromium.ts'
import { requireOrSkip } from '../require.ts'
import { type Console, openConsole } from './console.ts'

const isBuilt = existsSync(join(import.meta.dirname, '..', '..', 'console', 'dist', 'index.html'))
const ready = isBuilt && findChromium() !== undefined

test('a browser and a console to look around', (t) => {
  requireOrSkip(t, ready, `${howToGetChromium}; and \`npm run console\``)
})

if (ready) describe('the console, view by view', { timeout: 600_000 }, journeys)

function journeys(): void {
  let installation: Installation
  let opened: Console
  let subscription: string

  before(async () => {
    installation = await startInstallation()
    subscription = `/subscriptions/${installation.subscriptionId}`
    const put = async (path: string, body: object): Promise<void> => {
      const made = await installation.request('PUT', `${subscription}/resourceGroups/web${path}`, {
        body: { location: 'local', ...body },
      })
      assert.equal(made.status, 201, made.text)
    }
    await put('?api-version=2021-04-01', { tags: { team: 'shop' } })
    for (const name of ['first-identity', 'second-identity']) {
      const type = 'providers/Vendor.ManagedIdentity/userAssignedIdentities'
      await put(`/${type}/${name}?api-version=2023-01-31`, { tags: { שם: 'ערך' } })
    }
    opened = await openConsole(installation)
  })
  after(async () => {
    await opened[Symbol.asyncDispose]()
    await installation[Symbol.asyncDispose]()
    assert.deepEqual(opened.complaints, [])
  })

  test('create a group once more by the same name: what is there is kept', async () => {
    const { page } = opened
    await opened.open('/resources?create=group')
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('web')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText('This name is taken. What has it was not changed.').waitFor()
    assert.equal(await page.getByRole('alert').getByText('If-None-Match').count(), 0)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await opened.open(`/resource${subscription}/resourceGroups/web`)
    await page.getByText('team: shop').waitFor()
  })

  test('a subscription: its name and state, its groups, what it cost, who has access, what happened', async () => {
    const { page } = opened
    await opened.open('/')
    await page.getByRole('link', { name: 'First subscription' }).first().click()
    await opened.heading('First subscription')
    const card = (name: string) => page.getByRole('region', { name, exact: true })
    await page.getByRole('main').getByText('Enabled', { exact: true }).first().waitFor()
    await card('Resource groups').getByText('1 group.').waitFor()
    await card('Spent this month').getByText('Nothing was charged yet this month.').waitFor()
    await card('Spent this month')
      .getByText(/^By the invoice section/)
      .waitFor()
    await card('Who has access').getByText('Owner', { exact: true }).first().waitFor()
    await card('What happened lately').getByRole('link', { name: 'web' }).first().waitFor()
    await opened.assertFit('subscription')
    await card('Who has access').getByRole('link', { name: 'See and change access' }).click()
    await page.getByRole('button', { name: 'Add an assignment' }).waitFor()
    await opened.open(`/resource${subscription}`)
    await card('Resource groups').getByRole('link', { name: 'web' }).click()
    await opened.heading('web')
  })

  test('commands and values in a text are drawn as code', async () => {
    const { page } = opened
    await opened.open('/migrations')
    await page.getByText('armature migration server create', { exact: true }).waitFor()
    assert.equal(await page.getByText('`').count(), 0)
    await opened.open('/create?group=web&type=Vendor.DBforPostgreSQL/flexibleServers')
    await page.getByRole('button', { name: 'Create', exact: true }).waitFor()
    await page
      .getByRole('combobox', { name: 'Add a property to properties' })
      .selectOption('sslMode')
    await page.locator('code').getByText('Prefer', { exact: true }).waitFor()
    assert.equal(await page.getByText('`').count(), 0)
  })

  test('resources as a tree: subscription, group, resource and what is nested, by keyboard', async () => {
    const { page } = opened
    const put = async (path: string, version: string, body: object): Promise<void> => {
      const made = await installation.request(
        'PUT',
        `${subscription}/resourceGroups/web/providers/Vendor.ManagedIdentity/userAssignedIdentities/first-identity${path}?api-version=${version}`,
        { body },
      )
      assert.equal(made.status, 201, made.text)
    }
    await put('/federatedIdentityCredentials/nested', '2023-01-31', {
      properties: {
        issuer: 'https://issuer.example',
        subject: 'somebody',
        audiences: ['api://AzureADTokenExchange'],
      },
    })
    await opened.open('/resources')
    await page.getByRole('tab', { name: 'Tree' }).click()
    assert.match(page.url(), /view=tree/)
    const tree = page.getByRole('tree')
    await tree.getByRole('link', { name: 'First subscription' }).waitFor()
    await tree.getByRole('link', { name: 'web' }).waitFor()
    await tree.focus()
    await page.keyboard.press('w')
    await page.keyboard.press('ArrowRight')
    await tree.getByRole('link', { name: 'first-identity' }).waitFor()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    await tree.getByRole('link', { name: 'nested' }).waitFor()
    await opened.assertFit('resource-tree')
    // Left from what is nested leads to its parent, and then closes it.
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    await tree.getByRole('link', { name: 'nested' }).waitFor({ state: 'detached' })
    await page.keyboard.press('Space')
    await tree.getByRole('link', { name: 'nested' }).waitFor()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await opened.heading('nested')
    await page.goBack()
    await tree.getByRole('treeitem', { name: /^web/ }).click()
    await tree.getByRole('treeitem', { name: /^first-identity/ }).click()
    await page.getByRole('link', { name: 'nested' }).click()
    await opened.heading('nested')
    // What it is nested in stands above it.
    await page.getByRole('navigation').getByRole('link', { name: 'first-identity' }).click()
    await opened.heading('first-identity')
  })

  test('one resource: properties, JSON in another version, tags, a lock that keeps it', async () => {
    const { page } = opened
    await opened.open(
      `/resource${subscription}/resourceGroups/web/providers/Vendor.ManagedIdentity/userAssignedIdentities/first-identity`,
    )
    await page.getByText('principalId').waitFor()
    await opened.assertFit('resource')
    await page.getByRole('tab', { name: 'JSON' }).click()
    await page.getByRole('region', { name: 'JSON' }).getByText('"name": "first-identity"').waitFor()
    await page.getByRole('tab', { name: 'Tags' }).click()
    await page.getByRole('button', { name: 'Add a tag' }).click()
    await page.getByRole('textbox', { name: 'Name' }).last().fill('owner')
    await page.getByRole('textbox', { name: 'Value' }).last().fill('Ada')
    await page.getByRole('button', { name: 'Save the tags' }).click()
    await page.getByText('Saved').waitFor()
    await page.getByRole('tab', { name: 'Locks' }).click()
    await page.getByRole('button', { name: 'Create a lock' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.getByText('keep', { exact: true }).waitFor()
    await opened.assertFit('locks')
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    // What is nested in it goes, too.
    await page.getByRole('dialog').getByText('nested').waitFor()
    await page.getByRole('textbox', { name: 'Type first-identity to go on' }).fill('first-identity')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('ScopeLocked').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Delete the lock' }).click()
    await page.getByText('Nothing keeps this from being changed or deleted.').waitFor()
    await page.getByRole('tab', { name: 'Health' }).click()
    await page.getByRole('region', { name: 'Now' }).getByText('Unknown', { exact: true }).waitFor()
    await opened.assertFit('resource-health')
    // The dialog of a group lists what is deleted with it.
    await opened.open(`/resource${subscription}/resourceGroups/web`)
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('These go with it:').waitFor()
    await dialog.getByText('second-identity').waitFor()
    await opened.assertFit('delete-group')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
  })

  test('several subscriptions: one list of what is in all of them, live', async () => {
    const { page } = opened
    const other = `/subscriptions/${randomUUID()}`
    const put = async (path: string, body: object): Promise<void> => {
      const made = await installation.request('PUT', path, { body })
      assert.ok(made.status < 300, made.text)
    }
    await put(`${other}?api-version=2022-12-01`, { displayName: 'מנוי שני' })
    const identities = 'providers/Vendor.ManagedIdentity/userAssignedIdentities'
    const identity = (name: string): string =>
      `${other}/resourceGroups/elsewhere/${identities}/${name}?api-version=2023-01-31`
    await put(`${other}/resourceGroups/elsewhere?api-version=2021-04-01`, { location: 'local' })
    await put(identity('third-identity'), { location: 'local' })
    await opened.open('/resources?q=identity')
    await page.getByText('2 rows', { exact: true }).waitFor()
    await page
      .getByRole('main')
      .getByRole('combobox', { name: 'Subscription' })
      .selectOption('All subscriptions')
    await page.getByText('3 rows', { exact: true }).waitFor()
    await page.getByRole('cell', { name: 'מנוי שני', exact: true }).waitFor()
    await page.getByRole('link', { name: 'first-identity' }).waitFor()
    await opened.assertFit('resources-everywhere')
    await put(identity('fourth-identity'), { location: 'local' })
    await page.getByRole('link', { name: 'fourth-identity' }).waitFor()
  })

  test('the scope: everything, a management group, or a subscription, and each view is of it', async () => {
    const { page } = opened
    const groups = '/providers/Vendor.Management/managementGroups'
    const made = await installation.request('PUT', `${groups}/shops?api-version=2020-05-01`, {
      body: { properties: { displayName: 'All shops' } },
    })
    assert.ok(made.status < 300, made.text)
    const moved = await installation.request(
      'PUT',
      `${groups}/shops${subscription}?api-version=2020-05-01`,
    )
    assert.ok(moved.status < 300, moved.text)
    await opened.open('/resources?q=identity')
    const scope = page.getByRole('combobox', { name: 'Scope' })
    await scope.selectOption('All that you may read')
    await page.getByRole('link', { name: 'fourth-identity' }).waitFor()
    await page.getByRole('link', { name: 'first-identity' }).waitFor()
    await scope.selectOption(`${groups}/shops`)
    await page.getByRole('link', { name: 'fourth-identity' }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'first-identity' }).waitFor()
    await opened.assertFit('scope-group')
    await page.getByRole('link', { name: 'Access', exact: true }).click()
    const where = page.getByRole('combobox', { name: 'Where' })
    await where.waitFor()
    assert.equal(await where.inputValue(), `${groups}/shops`)
    await page.getByRole('cell', { name: 'Owner', exact: true }).first().waitFor()
    await page.getByRole('link', { name: 'Home', exact: true }).click()
    await page.getByText('Nothing is out of order.').waitFor()
    await scope.selectOption('All that you may read')
    await page.getByRole('link', { name: 'Activity', exact: true }).click()
    await opened.heading('Activity')
    await page.getByText('management groups write').first().waitFor()
    await page.getByRole('link', { name: 'Home', exact: true }).click()
    await opened.assertFit('home-everywhere')
    await scope.selectOption('First subscription')
    // In a narrow window the choice is in the menu.
    await page.setViewportSize({ width: 360, height: 740 })
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('combobox', { name: 'Scope' }).waitFor()
    await opened.assertFit('scope-menu', 'narrow')
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  test('search finds people, groups of them and applications, and leads to what they may do', async () => {
    const { page } = opened
    const add = async (kind: string, body: object): Promise<string> => {
      const made = await installation.request('POST', `/directory/${kind}`, { body })
      assert.equal(made.status, 201, made.text)
      return String(made.at('id'))
    }
    const grace = await add('users', { displayName: 'Grace Hopper', signInName: 'ghopper' })
    const crew = await add('groups', { displayName: "Grace's crew" })
    await add('servicePrincipals', { displayName: 'Grace deploys' })
    const joined = await installation.request('PUT', `/directory/groups/${crew}/members/${grace}`)
    assert.equal(joined.status, 204, joined.text)
    const given = await installation.request(
      'PUT',
      `${subscription}/resourceGroups/web/providers/Vendor.Authorization/roleAssignments/${randomUUID()}?api-version=2022-04-01`,
      {
        body: {
          properties: {
            roleDefinitionId:
              '/providers/Vendor.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7',
            principalId: crew,
          },
        },
      },
    )
    assert.equal(given.status, 201, given.text)
    await opened.open('/')
    await page.getByRole('button', { name: 'Search (Ctrl K)' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox').fill('grace')
    await dialog.getByRole('link', { name: "Grace's crew Group of people" }).waitFor()
    await dialog.getByRole('link', { name: 'Grace deploys Application' }).waitFor()
    await opened.assertFit('search-people')
    await dialog.getByRole('textbox').fill('hopp')
    await dialog.getByRole('link', { name: "Grace's crew" }).waitFor({ state: 'detached' })
    await dialog.getByRole('link', { name: 'Grace Hopper Person' }).click()
    const card = page.getByRole('region', { name: 'Grace Hopper' })
    await card.getByText('ghopper').waitFor()
    await card.getByText('Reader').waitFor()
    await card.getByText('by a group').waitFor()
    await opened.assertFit('person')
    await card.getByRole('link', { name: 'web' }).click()
    await page.getByRole('cell', { name: "Grace's crew", exact: true }).waitFor()
  })

  test('a saved view: its filters and columns come back, for this person alone, and it can be removed', async () => {
    const { page } = opened
    await opened.open('/resources?group=web&q=second')
    await page.getByText('1 row', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Location' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Saved views' }).click()
    await page.getByRole('menuitem', { name: 'Save this view' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Second ones')
    await opened.assertFit('save-view')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'Second ones' }).waitFor()
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Location' }).click()
    await page.keyboard.press('Escape')
    await opened.open('/resources')
    await page.getByRole('columnheader', { name: 'Location' }).waitFor()
    await page.getByRole('button', { name: 'Saved views' }).click()
    await page.getByRole('menuitem', { name: 'Second ones' }).click()
    await page.getByText('1 row', { exact: true }).waitFor()
    await page.getByRole('columnheader', { name: 'Location' }).waitFor({ state: 'detached' })
    assert.match(page.url(), /group=web/)
    assert.equal(
      await page.getByRole('searchbox', { name: 'Filter by name' }).inputValue(),
      'second',
    )
    const kept = await page.evaluate<string[]>('Object.keys(localStorage)')
    assert.deepEqual(
      kept.filter((key) => key.includes('views')),
      [`armature.${installation.principalId}.views.resources`],
    )
    await page.getByRole('button', { name: 'Second ones' }).click()
    await opened.assertFit('saved-views')
    await page.getByRole('menuitem', { name: 'Remove Second ones' }).click()
    await page.getByRole('button', { name: 'Saved views' }).waitFor()
  })

  test('activity: what was done is there, with what changed, and what is done meanwhile comes', async () => {
    const { page } = opened
    await opened.open('/')
    await page.getByRole('link', { name: 'Activity' }).click()
    await opened.heading('Activity')
    await page
      .getByRole('button', { name: /Details of .*locks\/delete/ })
      .first()
      .click()
    await opened.assertFit('activity')
    // A filter that stays the same is no step on the way back.
    const steps = await page.evaluate<number>('history.length')
    await page.getByRole('textbox', { name: 'Who' }).focus()
    await page.getByRole('textbox', { name: 'Group' }).focus()
    assert.equal(await page.evaluate<number>('history.length'), steps)
    await page.getByRole('textbox', { name: 'Group' }).fill('web')
    await page.getByRole('textbox', { name: 'Group' }).press('Enter')
    await page.waitForURL(/group=web/)
    await page.goBack()
    assert.equal(await page.getByRole('textbox', { name: 'Group' }).inputValue(), '')
    await page.getByRole('switch', { name: 'Follow' }).click()
    const path = `${subscription}/resourceGroups/while-followed?api-version=2021-04-01`
    const made = await installation.request('PUT', path, { body: { location: 'local' } })
    assert.equal(made.status, 201)
    await page.getByRole('link', { name: 'while-followed' }).waitFor()
  })

  test('what is not there is said so, and back works', async () => {
    const { page } = opened
    await opened.open(`/resource${subscription}/resourceGroups/nowhere`)
    await page.getByText('There is no such thing, or you may not see it').waitFor()
    await opened.assertFit('missing')
    await opened.open('/no/such/page')
    await opened.heading('There is no such page')
    await page.goBack()
    await page.getByText('There is no such thing, or you may not see it').waitFor()
    await opened.open('/resource?view=json')
    await opened.heading('There is no such page')
    // Neither an unknown type nor an unknown subscription has versions to ask for.
    const unknown = 'providers/Vendor.Nothing/things/one'
    for (const place of [`${subscription}/resourceGroups/web`, `/subscriptions/${randomUUID()}`]) {
      await opened.open(`/resource${place}/${unknown}`)
      await page.getByRole('alert').getByText('Correlation id').waitFor()
    }
  })
}
