/**
 * The console in a real browser against a real installation: one journey for each view, the refusals, and the look.
 * All tests share one browser; `test-results/console` keeps the screenshots.
 */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Installation, startInstallation } from '../e2e/installation.ts'
import { findChromium, howToGetChromium } from '../portal/find-chromium.ts'
import { requireOrSkip } from '../require.ts'
import { until } from '../until.ts'
import { type Console, openConsole, settled } from './console.ts'

const isBuilt = existsSync(join(import.meta.dirname, '..', '..', 'console', 'dist', 'index.html'))
const ready = isBuilt && findChromium() !== undefined

test('a browser and a console to look at', (t) => {
  requireOrSkip(t, ready, `${howToGetChromium}; and \`npm run console\``)
})

if (ready) describe('the console', { timeout: 600_000 }, journeys)

function journeys(): void {
  let installation: Installation
  let opened: Console
  let subscription: string

  before(async () => {
    installation = await startInstallation()
    subscription = `/subscriptions/${installation.subscriptionId}`
    opened = await openConsole(installation)
  })
  after(async () => {
    await opened[Symbol.asyncDispose]()
    await installation[Symbol.asyncDispose]()
    assert.deepEqual(opened.complaints, [])
  })

  test('Home: signed in, and the beginning in sight', async () => {
    const { page } = opened
    await page.getByText('Signed in as owner').waitFor()
    await page.getByRole('link', { name: 'First subscription' }).first().waitFor()
    await page.getByText('Nothing is out of order.').waitFor()
    await opened.assertFit('home')
  })

  test('a reload signs in silently, and no token is where other scripts could read it', async () => {
    const { page } = opened
    await page.reload()
    await opened.heading('Home')
    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    )
    assert.doesNotMatch(kept, /eyJ|token/i)
  })

  test('the access token ends: it is renewed once for all calls of that moment, and the page goes on', async () => {
    const { page } = opened
    const grants: string[] = []
    const tokens = new Set<string>()
    page.on('request', (request) => {
      if (request.url().endsWith('/oauth2/token')) grants.push(request.postData() ?? '')
      tokens.add(request.headers()['authorization'] ?? '')
    })
    // An hour later by the browser's clock, without a reload.
    await page.evaluate('{ const now = Date.now; Date.now = () => now() + 3_600_000 }')
    await page.getByRole('link', { name: 'Resources' }).first().click()
    await opened.heading('Resources')
    await page.getByText('Deploy a template or create a group to begin.').waitFor()
    assert.equal(grants.length, 1, grants.join(' '))
    assert.match(grants[0] ?? '', /grant_type=refresh_token/)
  })

  test('a token that the server no longer accepts: refused, renewed, the request repeated, and no word of an end meanwhile', async (t) => {
    const { page } = opened
    const renewal = Promise.withResolvers<void>()
    // The tests after this one share the page, however it ends.
    t.after(async () => {
      renewal.resolve()
      await page.unrouteAll()
    })
    await opened.open('/resources')
    await page.getByText('Deploy a template or create a group to begin.').waitFor()
    // Every request with the token of this moment, however often the page asks, as the stream of changes may have it do.
    const refused = new Set<string>()
    const accepted = new Set<string>()
    await page.route('**/resources?*', async (route) => {
      const headers = route.request().headers()
      const token = headers['authorization'] ?? ''
      if (refused.size === 0) refused.add(token)
      if (!refused.has(token)) accepted.add(token)
      await route.continue(
        refused.has(token) ? { headers: { ...headers, authorization: `${token}x` } } : {},
      )
    })
    // The renewal waits until the page has been looked at.
    await page.route('**/oauth2/token', async (route) => {
      await renewal.promise
      await route.continue()
    })
    const renewing = page.waitForRequest((request) => request.url().endsWith('/oauth2/token'))
    await page.getByRole('button', { name: 'Refresh' }).click()
    await renewing
    // Another look at who is signed in.
    await page.getByRole('tab', { name: 'Resource groups' }).click()
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('menuitem', { name: 'owner' }).waitFor()
    await page.keyboard.press('Escape')
    assert.equal(await page.getByText('Your session has ended.').count(), 0)
    renewal.resolve()
    await page.getByText('No resource groups yet').waitFor()
    await page.getByRole('tab', { name: 'Resources', exact: true }).click()
    await until(() => accepted.size > 0)
    assert.equal(await page.getByText('Your session has ended.').count(), 0)
    await page.getByText('Deploy a template or create a group to begin.').waitFor()
  })

  test('create a group: a bad name is refused in the form, a good one leads to the group', async () => {
    const { page } = opened
    await opened.open('/')
    await page.getByRole('link', { name: 'Create a group' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('bad name.')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('alert').waitFor()
    await opened.assertFit('create-group-refused')
    await page.getByRole('textbox', { name: 'Name' }).fill('web')
    await page.getByRole('textbox', { name: 'Tags' }).fill('team=shop')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await opened.heading('web')
    await page.getByText('team: shop').waitFor()
    const answer = await installation.request(
      'GET',
      `${subscription}/resourceGroups/web?api-version=2021-04-01`,
    )
    assert.equal(answer.at('tags.team'), 'shop')
    await opened.assertFit('group')
  })

  test('the drawer shows the call behind it as HTTP, curl, command', async () => {
    const { page } = opened
    await page.getByRole('button', { name: 'Requests' }).click()
    await page.getByRole('button', { name: /201 PUT .*resourceGroups\/web/ }).click()
    await page.getByRole('tab', { name: 'Command' }).click()
    const text = await page.getByRole('region', { name: 'Command' }).textContent()
    assert.match(
      text ?? '',
      /^armature rest PUT '\/subscriptions\/[^']+\/resourceGroups\/web\?api-version=/,
    )
    assert.doesNotMatch((await page.content()) ?? '', /eyJ/, 'a token is shown')
    await opened.assertFit('requests')
    await page.getByRole('button', { name: 'Close' }).click()
  })

  test('resources: a list, filtered by the address, and one of them by search', async () => {
    const { page } = opened
    for (const name of ['first-identity', 'second-identity']) {
      const made = await installation.request(
        'PUT',
        `${subscription}/resourceGroups/web/providers/Vendor.ManagedIdentity/userAssignedIdentities/${name}?api-version=2023-01-31`,
        { body: { location: 'local', tags: { שם: 'ערך' } } },
      )
      assert.equal(made.status, 201, made.text)
    }
    await opened.open('/resources')
    await page.getByRole('link', { name: 'first-identity' }).waitFor()
    await opened.assertFit('resources')
    await page.getByRole('searchbox', { name: 'Filter by name' }).fill('second')
    await page.getByText('1 row', { exact: true }).waitFor()
    assert.match(page.url(), /q=second/)
    await page.getByRole('searchbox', { name: 'Filter by name' }).fill('')
    await page.getByRole('searchbox', { name: 'Tag, or tag=value' }).fill('שם=ערך')
    await page.getByText('2 rows', { exact: true }).waitFor()
    await page.getByRole('searchbox', { name: 'Tag, or tag=value' }).fill('שם=other')
    await page.getByText('None passes the filters.').waitFor()
    await page.keyboard.press('Control+k')
    await page
      .getByRole('textbox', { name: 'Names, types, groups, tags, people, or an id' })
      .fill('first-id')
    // Enter opens the first result. The identity is also found as a person.
    await page
      .getByRole('dialog')
      .getByRole('link', { name: /first-identity/ })
      .first()
      .waitFor()
    await page.keyboard.press('Enter')
    await opened.heading('first-identity')
  })

  test('what others change is shown without a look: the stream of changes tells of it', async () => {
    const { page } = opened
    await opened.open('/resources?view=groups')
    await page.getByRole('link', { name: 'web' }).waitFor()
    // The first one may be seen by the fetch with which the stream begins.
    for (const name of ['of-somebody-else', 'of-a-third']) {
      const path = `${subscription}/resourceGroups/${name}?api-version=2021-04-01`
      const made = await installation.request('PUT', path, { body: { location: 'local' } })
      assert.equal(made.status, 201)
      await page.getByRole('link', { name }).waitFor()
    }
  })

  test('a look that fails later keeps what is shown; what was never read is said, instead of that all is well', async (t) => {
    const { page } = opened
    t.after(() => page.unrouteAll())
    await opened.open(`/resource${subscription}/resourceGroups/web`)
    await page.getByRole('link', { name: 'first-identity' }).waitFor()
    const refused = page.waitForResponse((answer) => answer.status() === 503)
    await page.route(/resourceGroups\/web\?api-version/, (route) =>
      route.fulfill({ status: 503, body: 'busy' }),
    )
    const path = `${subscription}/resourceGroups/web?api-version=2021-04-01`
    const body = { location: 'local', tags: { team: 'shop', changed: 'yes' } }
    const changed = await installation.request('PUT', path, { body })
    assert.equal(changed.status, 200, changed.text)
    await refused
    await page.evaluate(settled)
    await page.getByRole('tab', { name: 'Overview' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0)
    await page.unrouteAll()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    await page.route('**/resources?*', async (route) => {
      await released
      await route.fulfill({ status: 500, body: 'no' })
    })
    const groups = page.waitForResponse(/\/resourcegroups\?/i)
    await opened.open('/')
    // Groups alone do not say that nothing is out of order.
    await (await groups).finished()
    await page.evaluate(settled)
    const outOfOrder = page.getByRole('region', { name: 'Out of order', exact: true })
    assert.equal(await outOfOrder.getByText(/^Nothing/).count(), 0)
    release()
    for (const name of ['Out of order', 'Under way']) {
      const card = page.getByRole('region', { name, exact: true })
      await card.getByText('The server refused this').first().waitFor()
      assert.equal(await card.getByText(/^(?:Nothing|No deployment)/).count(), 0)
    }
    await page.unrouteAll()
    await opened.open(`/resource${subscription}/resourceGroups/web`)
    await page.getByText('changed: yes').waitFor()
  })
}
