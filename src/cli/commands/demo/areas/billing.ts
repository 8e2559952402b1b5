/**
 * The demo of billing: a product is bought, credited and refunded, an invoice is made, and operation 4 shows it.
 */

import { textOf } from '#client/answer.ts'
import { propertyOf } from '#client/resource.ts'
import { billingVersion } from '../../../billing.ts'
import { extensionPath } from '../../../resource-path.ts'
import type { DemoArea } from '../area.ts'
import type { DemoSetup } from '../setup.ts'

const version = `api-version=${billingVersion['api-version']}`
const purchase = '0d3a0000-0000-4000-8000-000000000001'
const credit = '0d3a0000-0000-4000-8000-000000000002'
const refund = '0d3a0000-0000-4000-8000-000000000003'

export const area: DemoArea = {
  name: 'billing',
  summary: 'transactions of an invoice',
  operations: [4],
  async prepare(fixture) {
    const account = await ownAccount(fixture)
    const profile = `${account}/billingProfiles/default`
    await fixture.put(
      `${account}/products/demo-seat?${version}`,
      {
        properties: {
          displayName: 'Demo seat',
          productFamily: 'Demo',
          unitOfMeasure: '1 Month',
          price: { currency: 'USD', value: 12.5 },
          discount: 10,
        },
      },
      'Product demo-seat, 12.50 USD less 10 %',
    )
    const send = (path: string, body: object) =>
      fixture.client.send('POST', path, { query: billingVersion, body })
    await send(`${profile}/recordPurchase`, { name: purchase, product: 'demo-seat', quantity: 3 })
    await send(`${profile}/recordCredit`, { name: credit, amount: 2, creditType: 'Other' })
    await send(`${profile}/transactions/${purchase}/refund`, { name: refund, amount: 11.25 })
    // Refused when an earlier run has done it.
    await send(`${profile}/closeInvoices`, {})
    const bought = await fixture.client.request('GET', `${profile}/transactions/${purchase}`, {
      query: billingVersion,
    })
    const invoice = propertyOf(bought.body, 'invoice') || 'Pending'
    fixture.note(`A purchase, a credit and a refund on the invoice ${invoice}`)
    const list = `${account}/invoices/${invoice}/transactions?${version}`
    const call = (title: string, path: string) => ({ operation: 4, title, method: 'GET', path })
    return [
      call('the transactions of an invoice, with their number', `${list}&count=true`),
      call(
        'those that charged something, the largest first',
        `${list}&filter=${encodeURIComponent('properties/subTotal/value gt 0')}&orderBy=${encodeURIComponent('properties/transactionAmount/value desc')}&top=10`,
      ),
      call('a search', `${list}&search=${encodeURIComponent('demo refund')}`),
      call(
        'the sums of the invoice',
        `${account}/invoices/${invoice}/transactionSummary?${version}`,
      ),
    ]
  },
}

async function ownAccount({ client, words }: DemoSetup): Promise<string> {
  const accounts = extensionPath(words, '/', 'Billing/billingAccounts')
  const list = await client.list(accounts, { query: billingVersion })
  const own = list.find((one) => propertyOf(one, 'displayName') === 'This installation')
  const name = textOf(own ?? list[0], 'name')
  if (name === undefined) throw new TypeError('the installation has no billing account')
  return `${accounts}/${name}`
}
