/** Billing and service health by the published typed clients, and what every client does: pages and retries. */

import assert from 'node:assert/strict'
import { BillingManagementClient } from '@azure/arm-billing'
import { MicrosoftResourceHealth } from '@azure/arm-resourcehealth'
import { ResourceManagementClient } from '@azure/arm-resources'
import { runCases, scope } from './cases.mjs'
import { all, credential, options, subscriptionId } from './typed.mjs'

const billing = new BillingManagementClient(credential, subscriptionId, options)
const health = new MicrosoftResourceHealth(credential, subscriptionId, options)
const resources = new ResourceManagementClient(credential, subscriptionId, options)

await runCases('transactions', '@azure/arm-billing', {
  async 'lists accounts, profiles, sections, invoices, and the transactions of an invoice over pages'() {
    const [account] = await all(billing.billingAccounts.list())
    assert.equal((await billing.billingAccounts.get(account.name)).name, account.name)
    const [profile] = await all(billing.billingProfiles.listByBillingAccount(account.name))
    assert.ok(profile.billingRelationshipType !== undefined || profile.displayName !== undefined)
    await all(billing.invoiceSections.listByBillingProfile(account.name, profile.name))
    await all(billing.products.listByBillingAccount(account.name))
    const dates = ['2020-01-01', '2099-01-01']
    const invoices = await all(billing.invoices.listByBillingAccount(account.name, ...dates))
    const invoice = invoices.find(({ name }) => name === 'G000000001')
    assert.ok(invoice.amountDue.value !== undefined && invoice.invoiceDate instanceof Date)
    assert.equal((await billing.invoices.get(account.name, invoice.name)).name, invoice.name)
    const pages = []
    for await (const page of billing.transactions
      .listByInvoice(account.name, invoice.name)
      .byPage()) {
      pages.push(page)
    }
    const rows = pages.flat()
    assert.ok(pages.length > 1 && rows.length > 50, `${rows.length} in ${pages.length} pages`)
    assert.equal(new Set(rows.map(({ name }) => name)).size, rows.length)
    for (const row of rows) {
      assert.ok(row.date instanceof Date)
      assert.deepEqual([row.invoice, row.billingCurrency], [invoice.name, 'USD'])
      assert.equal(typeof row.transactionAmount.value, 'number')
      assert.equal(typeof row.transactionType, 'string')
    }
  },

  async 'downloads an invoice as it is printed'() {
    const [account] = await all(billing.billingAccounts.list())
    const name = 'G000000001'
    const { url, expiryTime } = await billing.invoices.beginDownloadInvoiceAndWait(
      account.name,
      name,
      name,
    )
    assert.ok(Date.parse(expiryTime) > Date.now())
    const { token } = await credential.getToken(scope)
    const file = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
    assert.equal(file.headers.get('content-type'), 'application/pdf')
    const bytes = Buffer.from(await file.arrayBuffer())
    assert.equal(bytes.subarray(0, 5).toString(), '%PDF-')
    assert.equal((await fetch(url)).status, 401, 'who has no token gets no invoice')
  },
})

await runCases('health events of a subscription', '@azure/arm-resourcehealth', {
  async 'lists events with a filter and a start, reads one'() {
    const events = await all(health.eventsOperations.listBySubscriptionId())
    assert.deepEqual(events.map(({ name }) => name).toSorted(), ['DEMO-1', 'DEMO-2'])
    const filter = "eventType eq 'ServiceIssue'"
    const queryStartTime = '1/1/2026'
    const [issue, ...others] = await all(
      health.eventsOperations.listBySubscriptionId({ filter, queryStartTime }),
    )
    assert.equal(others.length, 0)
    assert.deepEqual([issue.eventType, issue.title], ['ServiceIssue', 'Vaults answer slowly'])
    assert.ok(issue.impactStartTime instanceof Date)
    assert.equal(issue.impact[0].impactedService, 'Secrets')
    const one = await health.eventOperations.getBySubscriptionIdAndTrackingId('DEMO-1')
    assert.equal(one.name, 'DEMO-1')
    await all(health.eventsOperations.listByTenantId())
  },
})

await runCases('health events of one resource', '@azure/arm-resourcehealth', {
  async 'lists what touches a resource'() {
    const vault = `subscriptions/${subscriptionId}/resourceGroups/demo/providers/Microsoft.Secrets/vaults/demo-health`
    const events = await all(health.eventsOperations.listBySingleResource(vault))
    assert.deepEqual(
      events.map(({ name }) => name),
      ['DEMO-1'],
    )
  },

  async 'an error without an envelope has its code'() {
    await assert.rejects(
      all(health.eventsOperations.listBySubscriptionId({ filter: 'nonsense' })),
      (error) => {
        assert.deepEqual([error.statusCode, error.code], [400, 'InvalidFilter'])
        return true
      },
    )
  },
})

/** A client that has the server fail by the number of the attempt, and counts what it sends. */
function counting(faultOf) {
  const sent = []
  const client = new ResourceManagementClient(credential, subscriptionId, {
    ...options,
    additionalPolicies: [
      {
        position: 'perRetry',
        policy: {
          name: 'count',
          sendRequest(request, next) {
            const fault = faultOf(sent.length)
            if (fault === undefined) request.headers.delete('x-armature-fault')
            else request.headers.set('x-armature-fault', fault)
            sent.push(request.url)
            return next(request)
          },
        },
      },
    ],
  })
  return { client, sent }
}

await runCases('retries', '@azure/arm-resources', {
  async 'what is throttled, away or broken is tried again'() {
    for (const fault of ['status=429; retry-after=1', 'status=503; retry-after=1', 'status=500']) {
      const { client, sent } = counting((at) => (at === 0 ? fault : undefined))
      assert.ok((await all(client.resourceGroups.list())).length > 0)
      assert.equal(sent.length, 2, fault)
    }
  },
})

await runCases('paging', '@azure/arm-resources', {
  async 'lists over pages of the size that is asked for, each once'() {
    for (const name of ['page-1', 'page-2', 'page-3']) {
      await resources.resourceGroups.createOrUpdate(name, { location: 'local' })
    }
    const pages = []
    for await (const page of resources.resourceGroups.list({ top: 2 }).byPage()) pages.push(page)
    assert.ok(pages.length >= 2)
    const names = pages.flat().map(({ name }) => name)
    assert.equal(new Set(names).size, names.length)
    assert.ok(['page-1', 'page-2', 'page-3'].every((name) => names.includes(name)))
  },
})

process.exit(0)
