/**
 * Journeys through the other areas: service health, data sharing, business, APIs, explorer. One installation with
 * the data of the demos.
 */

import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Installation, startInstallation } from '../e2e/installation.ts'
import { someOf } from '../long.ts'
import { findChromium, howToGetChromium } from '../portal/find-chromium.ts'
import { requireOrSkip } from '../require.ts'
import { type Console, openConsole } from './console.ts'
import { assertFrameWalk, assertOverlay, assertWalk } from './keyboard.ts'

const isBuilt = existsSync(join(import.meta.dirname, '..', '..', 'console', 'dist', 'index.html'))
const ready = isBuilt && findChromium() !== undefined

test('a browser and a console for its areas', (t) => {
  requireOrSkip(t, ready, `${howToGetChromium}; and \`npm run console\``)
})

/** More than two pages. */
const manyTransactions = 120

if (ready) describe('areas of the console', { timeout: 600_000 }, journeys)

function journeys(): void {
  let installation: Installation
  let opened: Console

  const demo = async (name: string): Promise<void> => {
    const ran = await installation.cli(['demo', name])
    assert.equal(ran.code, 0, ran.error)
  }

  before(async () => {
    installation = await startInstallation({ environment: { ARMATURE_CONTAINERS: 'simulated' } })
    for (const name of ['health', 'sharing', 'business', 'consent', 'billing']) await demo(name)
    opened = await openConsole(installation)
  })
  after(async () => {
    await opened[Symbol.asyncDispose]()
    await installation[Symbol.asyncDispose]()
    assert.deepEqual(opened.complaints, [])
  })

  test('health: the board, an event with its course, and its updates meanwhile', async () => {
    const { page } = opened
    await page.getByRole('link', { name: 'Health' }).click()
    await opened.heading('Health')
    await page.getByRole('rowheader', { name: 'Secrets' }).waitFor()
    await page.getByRole('cell', { name: 'Planned maintenance', exact: true }).waitFor()
    await opened.assertFit('health')
    await page.getByRole('link', { name: 'Vaults answer slowly' }).click()
    await opened.heading('Vaults answer slowly')
    await page.getByText('Reading secrets takes longer than usual.').first().waitFor()
    await page.getByRole('link', { name: 'demo / demo-health' }).waitFor()
    await opened.assertFit('health-event')
    const said = await installation.cli([
      'health',
      'annotate',
      'DEMO-1',
      '--summary',
      'A disk is <b>full</b>.',
    ])
    assert.equal(said.code, 0, said.error)
    await page.getByText('A disk is full.').first().waitFor()
    const gone = await installation.cli(['health', 'resolve', 'DEMO-1', '--summary', 'It is over.'])
    assert.equal(gone.code, 0, gone.error)
    await page.getByText('Resolved').first().waitFor()
  })

  test('Home: a health event is there while it is active', async () => {
    const { page } = opened
    const publish = await installation.cli([
      ...['health', 'publish', 'Shares are slow', '--id', 'HOME-1'],
      ...['--level', 'Error', '--impact', 'Shares=local'],
    ])
    assert.equal(publish.code, 0, publish.error)
    await opened.open('/')
    const card = page.getByRole('region', { name: 'Service health' })
    const link = card.getByRole('link', { name: 'Shares are slow' })
    await link.waitFor()
    assert.equal(await card.getByRole('link', { name: 'Vaults answer slowly' }).count(), 0)
    await opened.assertFit('home-health')
    const gone = await installation.cli(['health', 'resolve', 'HOME-1', '--summary', 'Over.'])
    assert.equal(gone.code, 0, gone.error)
    await link.waitFor({ state: 'detached' })
  })

  test('sharing: an invitation accepted, copies begun by a button and shown in detail, a consumer stopped', async () => {
    const { page } = opened
    const provider = `/subscriptions/${installation.subscriptionId}/resourceGroups/demo/providers/Vendor.DataShare/accounts/demo-provider/shares`
    const version = 'api-version=2021-08-01'
    const made = await installation.request('PUT', `${provider}/second?${version}`, {
      body: { properties: { description: 'For everybody' } },
    })
    assert.ok(made.status < 300, made.text)
    const invited = await installation.request(
      'PUT',
      `${provider}/second/invitations/all?${version}`,
      { body: { properties: { targetActiveDirectoryId: installation.tenantId } } },
    )
    assert.ok(invited.status < 300, invited.text)
    await opened.open('/sharing')
    await page.getByRole('button', { name: 'Accept' }).waitFor()
    await opened.assertFit('sharing')
    await assertOverlay(opened, 'Accept')
    await page.getByRole('button', { name: 'Accept' }).click()
    await page.getByRole('dialog').getByRole('textbox', { name: 'Account' }).fill('newly-made')
    await page.getByRole('dialog').getByRole('button', { name: 'Accept' }).click()
    await opened.heading('second')
    await page.getByText('No target was chosen').waitFor()

    await opened.open('/sharing')
    await page
      .getByRole('region', { name: 'Shares you get: demo / demo-consumer' })
      .getByRole('link', { name: 'demo' })
      .click()
    await opened.heading('demo')
    await page.getByRole('button', { name: 'Copy everything' }).click()
    await page
      .getByText(/^Everything · /)
      .first()
      .waitFor()
    await page.getByText('files File system').waitFor()
    await page
      .getByRole('button', { name: /^Details of/ })
      .last()
      .click()
    await page.getByText(/1 Files/).waitFor()
    await opened.assertFit('synchronization')
    await opened.open(`/resource${provider}/demo`)
    await page.getByText('File system', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Revoked').waitFor()
    await opened.assertFit('share')
  })

  test('a list that is refused or still read is not called empty', async (t) => {
    const { page } = opened
    t.after(() => page.unrouteAll())
    const shares = `/subscriptions/${installation.subscriptionId}/resourceGroups/demo/providers/Vendor.DataShare/accounts`
    const views = [
      ['/sharing', /\/listInvitations\?/, 'Nobody has invited you.'],
      [
        `/resource${shares}/demo-provider/shares/demo`,
        /\/providerShareSubscriptions\?/,
        'Nobody has accepted it yet.',
      ],
      [
        `/resource${shares}/demo-consumer/shareSubscriptions/demo`,
        /\/dataSetMappings\?/,
        'No target was chosen: nothing can be copied yet.',
      ],
      [
        `/resource${shares}/demo-consumer/shareSubscriptions/demo`,
        /\/listSynchronizations\?/,
        'Nothing was copied yet.',
      ],
    ] as const
    for (const [path, list, empty] of views) {
      await page.route(list, (route) => route.fulfill({ status: 403, body: 'no' }))
      await opened.open(path)
      await page.getByText('You may not do this').first().waitFor()
      assert.equal(await page.getByText(empty).count(), 0, empty)
      await page.unrouteAll()
    }
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    await page.route(/\/providers\/Vendor.ResourceHealth\/events\?/, async (route) => {
      await released
      await route.fulfill({ json: { value: [] } })
    })
    await opened.open('/health')
    const works = page.getByText('Every service works in every region')
    const board = page.getByRole('region', { name: 'Services and regions' })
    await board.getByText('Loading').waitFor()
    assert.equal(await works.count(), 0)
    release()
    await works.waitFor()
  })

  test('business: an invoice written like a sheet, its total as one types, what is refused, then posted', async () => {
    const { page } = opened
    await page.getByRole('link', { name: 'Business' }).click()
    await page.getByRole('tab', { name: 'Customers' }).click()
    await page.getByRole('cell', { name: '10000' }).waitFor()
    await opened.assertFit('customers')
    const companies = await installation.request('GET', '/api/v2.0/companies')
    const [company] = companies.items() as readonly { readonly id: string }[]
    const customers = `/api/v2.0/companies(${company?.id})/customers`
    const second = await installation.request('POST', customers, {
      body: { number: '20000', displayName: 'A second one' },
    })
    assert.equal(second.status, 201, second.text)
    // The server sorts: the head asks it for another order, which stands in the address.
    const rows = page.getByRole('table', { name: 'Customers' }).getByRole('row')
    const number = page.getByRole('columnheader', { name: 'Number' })
    await number.getByRole('button').click()
    const descending = page.waitForRequest((request) =>
      /orderby=number[+ ]desc/.test(decodeURIComponent(request.url())),
    )
    await number.getByRole('button').click()
    await descending
    await rows.nth(1).getByRole('cell', { name: '20000' }).waitFor()
    assert.equal(await number.getAttribute('aria-sort'), 'descending')
    assert.match(page.url(), /order=number/)
    await page.getByRole('columnheader', { name: 'Owes' }).getByRole('button').click()
    await rows.nth(2).waitFor()
    const gone = await installation.request('DELETE', `${customers}(${second.at('id')})`, {
      headers: { 'If-Match': '*' },
    })
    assert.equal(gone.status, 204, gone.text)
    await page.getByRole('tab', { name: 'Invoices' }).click()
    await page.getByRole('button', { name: 'New invoice' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
    await page.getByRole('button', { name: 'Add a line' }).click()
    const quantity = page.getByRole('textbox', { name: 'Quantity, line 1' })
    // Lines come back late, as from a slow server: what is typed meanwhile is saved all the same.
    await page.route('**/salesInvoiceLines', async (route) => {
      const isRead = route.request().method() === 'GET'
      if (isRead) await new Promise((resolve) => setTimeout(resolve, 700))
      // The route may be taken away, which lets what waits here go on.
      await route.continue().catch(() => undefined)
    })
    await quantity.fill('3')
    // The typed value, which is not saved yet.
    await page.getByRole('cell', { name: '164.70' }).waitFor()
    await page.getByRole('textbox', { name: 'Discount %, line 1' }).fill('10')
    await page.getByRole('cell', { name: '148.23' }).waitFor()
    await page.getByRole('textbox', { name: 'Discount %, line 1' }).press('Enter')
    await page.getByRole('textbox', { name: 'Quantity, line 2' }).waitFor()
    await page.getByText('213.29 USD').waitFor()
    await page.unroute('**/salesInvoiceLines')
    await opened.assertFit('invoice')
    await opened.picture('invoice')
    await assertWalk(opened, 'invoice')
    await page.getByRole('textbox', { name: 'Quantity, line 2' }).fill('-99999999999999999')
    await page.getByRole('textbox', { name: 'Quantity, line 2' }).press('Tab')
    await page.getByRole('alert').waitFor()
    await opened.assertFit('invoice-refused')
    await page.getByRole('button', { name: 'Remove line 2' }).click()
    await page.getByRole('textbox', { name: 'Quantity, line 2' }).waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Post' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Post' }).click()
    await page.getByText('Open', { exact: true }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Add a line' }).count(), 0)
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as PDF' }).click(),
    ])
    assert.match(file.suggestedFilename(), /^.+\.pdf$/)
    assert.equal(readFileSync(await file.path(), 'latin1').slice(0, 5), '%PDF-')
  })

  test('APIs: operations as documentation, one tried here, a connection consented to and back', async () => {
    const { page } = opened
    const services = `/subscriptions/${installation.subscriptionId}/resourceGroups/demo/providers/Vendor.ApiManagement/service`
    const version = 'api-version=2024-05-01'
    const put = async (path: string, body: object): Promise<void> => {
      const made = await installation.request('PUT', `${services}/${path}?${version}`, { body })
      assert.ok(made.status < 300, made.text)
    }
    const [service] = (
      await installation.request('GET', `${services}?${version}`)
    ).items() as readonly { readonly name: string }[]
    const name = service?.name ?? ''
    await put(`${name}/apis/own`, {
      properties: { displayName: 'Own', path: 'own', serviceUrl: installation.url },
    })
    await put(`${name}/apis/own/operations/groups`, {
      properties: {
        displayName: 'List the groups',
        description: 'All of a <i>subscription</i>.',
        method: 'GET',
        urlTemplate: '/subscriptions/{subscription}/resourceGroups',
        templateParameters: [
          {
            name: 'subscription',
            type: 'string',
            required: true,
            defaultValue: installation.subscriptionId,
          },
        ],
        request: {
          queryParameters: [
            { name: 'api-version', type: 'string', required: true, defaultValue: '2021-04-01' },
          ],
        },
        responses: [{ statusCode: 200, description: 'The groups' }],
      },
    })
    await page.getByRole('link', { name: 'APIs' }).click()
    await page.getByRole('link', { name: 'Own' }).click()
    await page.getByRole('button', { name: 'List the groups' }).click()
    await page.getByText('All of a subscription.').waitFor()
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('region', { name: 'Answer' }).getByText('"name": "demo"').first().waitFor()
    await opened.assertFit('api')

    await put(`${name}/authorizationProviders/own/authorizations/mine`, {
      properties: { authorizationType: 'OAuth2' },
    })
    const mine = `/resource${services}/${name}/authorizationProviders/own/authorizations/mine`
    // A link of somebody else confirms nothing by itself.
    let confirmed = 0
    page.on('request', (request) => {
      if (request.url().includes('/confirmConsentCode')) confirmed++
    })
    await opened.open(`${mine}?view=connection&consentCode=of-somebody-else`)
    await page.getByText(/not begun in this tab/).waitFor()
    assert.doesNotMatch(page.url(), /consentCode/)
    await page.getByRole('button', { name: 'Ignore' }).click()
    assert.equal(confirmed, 0)
    await opened.open(mine)
    await page.getByText('Nobody has consented yet.').waitFor()
    await opened.assertFit('connection')
    await page.getByRole('button', { name: 'Connect' }).click()
    await page.getByRole('button', { name: /Continue/ }).click()
    await page.getByText('Somebody has consented; tokens are kept and renewed.').waitFor()
    assert.doesNotMatch(page.url(), /consentCode/)
    assert.equal(confirmed, 1)
  })

  test('billing: transactions searched and sorted by the server, one refunded, too much refused', async () => {
    const { page } = opened
    await page.getByRole('link', { name: 'Billing' }).click()
    const card = page.getByRole('region', { name: 'Transactions' }).first()
    const rows = card.getByRole('table').getByRole('row')
    // All of this month is invoiced: that is shown, instead of nothing below a sum.
    await card.getByRole('button', { name: 'Demo seat' }).first().waitFor()
    await opened.assertFit('billing')
    await page.getByRole('columnheader', { name: 'Amount' }).last().getByRole('button').click()
    await rows
      .nth(1)
      .getByRole('cell', { name: /^-\$11\.25/ })
      .waitFor()
    await page.getByRole('columnheader', { name: 'Amount' }).last().getByRole('button').click()
    await rows
      .nth(1)
      .getByRole('cell', { name: /^\$33\.75/ })
      .waitFor()
    assert.match(page.url(), /order=properties%2FtransactionAmount%2Fvalue\+desc/)
    await card.getByRole('searchbox').fill('demo refund')
    await card.getByText('1 row', { exact: true }).waitFor()
    await card.getByRole('searchbox').fill('no such thing')
    await card.getByText('Nothing has all of these words.').waitFor()
    await opened.assertFit('billing-nothing-found')
    await card.getByRole('searchbox').fill('')
    await rows.nth(1).getByRole('button', { name: 'Demo seat' }).click()
    const dialog = page.getByRole('dialog')
    const amount = dialog.getByRole('textbox', { name: 'Amount to refund' })
    await amount.fill('a lot')
    await dialog.getByText('This is no amount.').waitFor()
    assert.equal(await dialog.getByRole('button', { name: 'Refund' }).isDisabled(), true)
    await amount.fill('1000')
    await dialog.getByRole('button', { name: 'Refund' }).click()
    await dialog.getByText(/can be refunded up to 22\.5 USD/).waitFor()
    await opened.assertFit('refund-refused')
    await amount.fill('2.5')
    await dialog.getByRole('button', { name: 'Refund' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await card.getByText(/-\$2\.50 recorded/).waitFor()
    await card.getByRole('combobox', { name: 'Show' }).selectOption('Not invoiced yet')
    await card.getByRole('cell', { name: '-$2.50' }).waitFor()
    // A refund can be looked at, and not be refunded.
    await card.getByRole('button', { name: 'Demo seat' }).click()
    await dialog.getByText('Before tax').waitFor()
    assert.equal(await dialog.getByRole('button', { name: 'Refund' }).count(), 0)
    await dialog.getByRole('button', { name: 'Close' }).click()
    await assertOverlay(opened, 'Demo seat')
  })

  test('billing: an invoice opened: its sums, what it is made of, one of its transactions, its PDF', async () => {
    const { page } = opened
    await opened.open('/billing')
    const invoices = page.getByRole('table', { name: 'Invoices' })
    const first = invoices.getByRole('link').first()
    const name = (await first.textContent()) ?? ''
    await first.click()
    await opened.heading(name)
    const sums = page.getByRole('region', { name: 'Sums' })
    await sums.getByText('To pay').waitFor()
    await page
      .getByRole('table', { name: 'What it is made of' })
      .getByRole('rowheader', { name: 'Demo seat' })
      .waitFor()
    await page.getByRole('combobox', { name: 'By' }).selectOption('Kind')
    await page
      .getByRole('rowheader', { name: /refund/i })
      .first()
      .waitFor()
    await opened.assertFit('invoice-of-billing')
    await assertWalk(opened, 'invoice-of-billing')
    const card = page.getByRole('region', { name: 'Transactions' }).first()
    await card.getByRole('searchbox').fill('no such thing')
    await card.getByText('Nothing has all of these words.').waitFor()
    await card.getByRole('searchbox').fill('')
    await card.getByRole('button', { name: 'Demo seat' }).first().click()
    await page.getByRole('dialog').getByText('Before tax').waitFor()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /Close|Cancel/ })
      .click()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as PDF' }).click(),
    ])
    assert.equal(file.suggestedFilename(), `${name}.pdf`)
    assert.equal(readFileSync(await file.path(), 'latin1').slice(0, 5), '%PDF-')
    await page.getByRole('link', { name: 'Billing' }).first().click()
    await opened.heading('Billing')
    await opened.open('/billing?invoice=no-such-invoice')
    await page.getByText('There is no such thing, or you may not see it').waitFor()
  })

  test('billing: a month of many transactions is added up to its end, also on Home', async () => {
    const { page } = opened
    const file = join(installation.home, 'many.ndjson')
    const today = new Date().toISOString().slice(0, 10)
    const row = {
      date: today,
      transactionAmount: { value: 1, currency: 'EUR' },
      productDescription: 'Seat',
    }
    writeFileSync(file, `${JSON.stringify(row)}\n`.repeat(manyTransactions))
    const imported = await installation.cli(['billing', 'import', file])
    assert.equal(imported.code, 0, imported.error)
    await opened.open('/')
    await page.getByText(`€${manyTransactions}.00`, { exact: true }).waitFor()
    await opened.open('/billing')
    const card = page.getByRole('region', { name: 'Spending' }).first()
    await card.getByText(`€${manyTransactions}.00`, { exact: true }).first().waitFor()
  })

  test('explorer: an operation found, tried, and refused with its reason', async () => {
    const { page } = opened
    await page.getByRole('link', { name: 'Explorer' }).click()
    await page
      .getByRole('combobox', { name: 'Document' })
      .selectOption('Vendor.ManagedIdentity/2023-01-31')
    await page.getByRole('searchbox', { name: 'Filter operations' }).fill('create or update')
    await page.getByRole('button', { name: /Create or update user assigned identity$/ }).click()
    await page.getByRole('textbox', { name: 'resourceGroupName' }).fill('demo')
    await page.getByRole('textbox', { name: 'userAssignedIdentityName' }).fill('explored')
    await opened.assertFit('explorer')
    await assertWalk(opened, 'explorer')
    await page.getByRole('textbox', { name: 'Body' }).fill('{"location": 7}')
    await page.getByRole('button', { name: 'Send' }).click()
    await page
      .getByRole('alert')
      .getByText(/location/)
      .first()
      .waitFor()
    await page.getByRole('textbox', { name: 'Body' }).fill('{"location": "local"}')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText(/^201 in/).waitFor()
    await opened.assertFit('explorer-answer')
  })
  test('by keyboard alone: every control of every view is reached, and its focus is seen', async () => {
    const { page } = opened
    await page.emulateMedia({ reducedMotion: 'reduce' })
    const group = `/resource/subscriptions/${installation.subscriptionId}/resourceGroups/demo`
    const container = `${group}/providers/Vendor.ContainerInstance/containerGroups/demo-health`
    const accounts = `${group}/providers/Vendor.DataShare/accounts`
    const service = (
      await installation.request(
        'GET',
        `${group.slice('/resource'.length)}/providers/Vendor.ApiManagement/service?api-version=2024-05-01`,
      )
    ).at('value.0.name')
    await opened.open('/')
    await assertFrameWalk(opened)
    const tabs = (path: string, names: string) =>
      names.split(' ').map((view) => `${path}?view=${view}`)
    const views = [
      ...[
        '/',
        '/resources',
        '/resources?view=groups',
        '/resources?view=tree',
        '/create?group=demo',
      ],
      '/create?group=demo&type=Vendor.ManagedIdentity/userAssignedIdentities',
      ...['/access', '/access?view=people', '/access?view=people&kind=groups'],
      ...['/deployments', '/deployments/new?group=demo', '/containers', '/migrations', '/sharing'],
      ...[
        '/health',
        '/health?event=DEMO-1',
        '/billing',
        '/apis',
        '/activity',
        '/explorer',
        '/account',
      ],
      ...['/business', '/business?kind=customers', '/no/such/page'],
      ...tabs(group, 'overview json tags locks access activity'),
      ...tabs(container, 'containers metrics edit health'),
      `${accounts}/demo-provider/shares/demo`,
      `${accounts}/demo-consumer/shareSubscriptions/demo`,
      `${group}/providers/Vendor.ApiManagement/service/${service}/apis/own?operation=groups`,
      `${group}/providers/Vendor.ApiManagement/service/${service}/authorizationProviders/own/authorizations/mine`,
    ]
    // No journey looks at these.
    const lists = ['/resources?view=groups', '/create?group=demo', '/deployments', '/containers']
    const unseen = [...lists, '/apis', '/business', ...tabs(group, 'json tags access activity')]
    const problems: string[] = []
    const note = (error: unknown): unknown => problems.push(String(error))
    for (const view of someOf(views, 3)) {
      await opened.open(view)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await assertWalk(opened, view).catch(note)
      const name = view.replaceAll(/\W+/g, '-').slice(-40)
      if (unseen.includes(view)) await opened.assertFit(name, 'narrow').catch(note)
    }
    assert.deepEqual(problems, [])
  })

  test('dialogs and menus by keyboard: the focus goes in, stays, and comes back; Escape closes them', async () => {
    const { page } = opened
    const group = `/resource/subscriptions/${installation.subscriptionId}/resourceGroups/demo`
    const overlays: readonly (readonly [view: string, opener: string, role?: 'menu'])[] = [
      ['/', 'Search (Ctrl K)'],
      ['/', 'Requests'],
      ['/', 'Your account', 'menu'],
      ['/resources', 'Create a group'],
      ['/resources', 'Saved views', 'menu'],
      ['/resources', 'Columns', 'menu'],
      [group, 'Delete'],
      [`${group}?view=locks`, 'Create a lock'],
      [`${group}?view=access`, 'Add an assignment'],
      ['/access?view=people', 'Add a person'],
      ['/business', 'New invoice'],
    ]
    const problems: string[] = []
    for (const [view, opener, role = 'dialog'] of overlays) {
      await opened.open(view)
      await page.getByRole('button', { name: opener, exact: true }).first().waitFor()
      await assertOverlay(opened, opener, { role }).catch((error: unknown) =>
        problems.push(`${view}: ${String(error)}`),
      )
    }
    assert.deepEqual(problems, [])
    // In a narrow window the areas are behind a button.
    await page.setViewportSize({ width: 360, height: 740 })
    await opened.open('/')
    const menu = page.getByRole('button', { name: 'Menu' })
    await menu.focus()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Explorer' }).waitFor({ state: 'hidden' })
    assert.equal(await page.evaluate<string>('document.activeElement.ariaLabel'), 'Menu')
    await page.setViewportSize({ width: 1280, height: 800 })
  })
}
