/** The status of accounts, profiles and sections, as published clients read it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { account, profile, startBilling, type Wire } from '../testing/start.ts'

test('an account, a profile and a section say how they stand', async () => {
  await using started = await startBilling()
  const read = async (path: string): Promise<Wire> => (await started.get(path)).properties
  const shown = await read(account)
  assert.deepEqual(
    [shown.accountStatus, shown.agreementType, shown.hasReadAccess],
    ['Active', 'VendorCustomerAgreement', true],
  )
  const { status, spendingLimit, systemId, invoiceDay } = await read(profile)
  assert.deepEqual([status, spendingLimit, systemId, invoiceDay], ['Active', 'Off', 'default', 1])
  assert.equal((await read(`${profile}/invoiceSections/default`)).state, 'Active')
})

test('what is only answered is not written, and an address comes back', async () => {
  await using started = await startBilling()
  const path = `${account.replace(/[^/]+$/, '7001')}`
  const soldTo = { city: 'Here', country: 'DE' }
  const properties = {
    displayName: 'One',
    accountType: 'enterprise',
    accountStatus: 'Deleted',
    soldTo,
  }
  await started.call('PUT', path, { properties })
  const shown = (await started.get(path)).properties
  assert.deepEqual(
    [shown.accountStatus, shown.accountType, shown.agreementType, shown.soldTo],
    ['Active', 'Enterprise', 'EnterpriseAgreement', soldTo],
  )
})

test('an account and a profile that nobody gave an address have one with their name alone', async () => {
  await using started = await startBilling()
  const path = `${account.replace(/[^/]+$/, '7002')}`
  for (const [at, property] of [
    [path, 'soldTo'],
    [`${path}/billingProfiles/one`, 'billTo'],
  ] as const) {
    const body = { properties: { displayName: 'Two', currency: 'EUR' } }
    await started.call('PUT', at, body)
    const { [property]: shown } = (await started.get(at)).properties
    assert.deepEqual([shown.companyName, shown.addressLine1, shown.country], ['Two', '', ''])
  }
})

test('tags and labels of profiles and sections come back as written', async () => {
  await using started = await startBilling()
  const path = `${account.replace(/[^/]+$/, '7003')}`
  await started.call('PUT', path, { properties: { displayName: 'Three' } })
  const tags = { team: 'a' }
  const one = `${path}/billingProfiles/one`
  await started.call('PUT', one, { properties: { displayName: 'One', currency: 'EUR', tags } })
  assert.deepEqual((await started.get(one)).properties.tags, tags)
  const section = `${one}/invoiceSections/team`
  const labels = { cost: '7' }
  await started.call('PUT', section, { properties: { displayName: 'Team', labels, tags } })
  const shown = (await started.get(section)).properties
  assert.deepEqual([shown.labels, shown.tags], [labels, tags])
})

test('what is below is shown inside where $expand asks so, in a list and in one', async () => {
  await using started = await startBilling()
  const plain = (await started.get(account)).properties
  assert.deepEqual(plain.billingProfiles, { hasMoreResults: false })
  const query = '$expand=soldTo,billingProfiles,billingProfiles/invoiceSections'
  const one = await started.get(`${account}?${query}`)
  const list = await started.get(`${account.replace(/\/[^/]+$/, '')}?${query}`)
  for (const shown of [one, list.value[0]]) {
    assert.equal(shown.properties.accountStatus, 'Active')
    const [found] = shown.properties.billingProfiles.value
    assert.equal(found.id, profile)
    assert.equal(found.type, 'Vendor.Billing/billingAccounts/billingProfiles')
    const [section] = found.properties.invoiceSections.value
    assert.deepEqual([section.name, section.properties.state], ['default', 'Active'])
  }
  const own = await started.get(`${profile}?$expand=invoiceSections`)
  assert.equal(own.properties.invoiceSections.value.length, 1)
})

test('subscriptions of an account are those whose usage it is charged, each with its section', async () => {
  await using started = await startBilling()
  const subscription = '11111111-2222-4333-8444-555555555555'
  const version = '2021-04-01'
  const group = `/subscriptions/${subscription}/resourceGroups/rg`
  await started.call('PUT', group, { location: 'local' }, { version })
  const path = `${account}/billingSubscriptions`
  const [one] = (await started.get(path)).value
  assert.equal(one.id, `${path}/${subscription}`)
  assert.deepEqual(
    [one.properties.status, one.properties.billingProfileId, one.properties.invoiceSectionName],
    ['Active', profile, 'default'],
  )
  const properties = { displayName: 'Team', subscriptionIds: [subscription] }
  await started.call('PUT', `${profile}/invoiceSections/team`, { properties })
  const shown = (await started.get(`${path}/${subscription}`)).properties
  assert.equal(shown.invoiceSectionDisplayName, 'Team')
  const asked = `/subscriptions/${subscription}/providers/Vendor.Billing/billingProperty/default`
  const pays = (await started.get(asked)).properties
  assert.deepEqual(
    [pays.billingProfileId, pays.invoiceSectionDisplayName, pays.subscriptionBillingStatus],
    [profile, 'Team', 'Active'],
  )
  await started.call('PUT', `${profile}/customers/one`, { properties: { displayName: 'One' } })
  const [customer] = (await started.get(`${account}/customers`)).value
  assert.equal(customer.id, `${profile}/customers/one`)
  const [permission] = (await started.get(`${profile}/billingPermissions`)).value
  assert.ok(permission.actions.includes('Vendor.Billing/billingAccounts/billingProfiles/write'))
  const other = account.replace(/[^/]+$/, '7001')
  await started.call('PUT', other, { properties: { displayName: 'Other' } })
  assert.deepEqual((await started.get(`${other}/billingSubscriptions`)).value, [])
  assert.deepEqual((await started.get(`${account}/agreements`)).value, [])
})
