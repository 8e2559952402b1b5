/** The first start does not validate what it writes, so that it need not compile the schemas. This test does. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { start } from '../embedded/index.ts'

test('what a first start wrote is what a client may write', async () => {
  await using a = await start()
  const subscription = `/subscriptions/${a.subscriptionId}`
  const list = async (path: string): Promise<readonly string[]> =>
    (await a.client.list(path)).map((one) => `${Object(one).id}?${path.split('?')[1]}`)
  const [account = ''] = await list(
    '/providers/Vendor.Billing/billingAccounts?api-version=2024-04-01',
  )
  const [accountPath = '', billing = ''] = account.split('?')
  const [profile = ''] = await list(`${accountPath}/billingProfiles?${billing}`)
  const written = [
    `${subscription}?api-version=2020-01-01`,
    account,
    profile,
    ...(await list(`${profile.split('?')[0]}/invoiceSections?${billing}`)),
    ...(await list(`${accountPath}/products?${billing}`)),
    ...(await list('/providers/Vendor.Authorization/roleAssignments?api-version=2022-04-01')),
  ]
  assert.equal(written.length, 7)
  for (const path of written) {
    const { body } = await a.client.request('GET', path)
    const { properties, displayName } = Object(body)
    const again = properties === undefined ? { displayName } : { properties }
    const { status } = await a.client.request('PUT', path, { body: again })
    assert.ok(status < 300, path)
  }
})
