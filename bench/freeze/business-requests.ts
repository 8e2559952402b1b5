/** Hostile requests of the business application: wide, long and many. */

import { type FreezeFixture, filled, get, type Hostile } from './hostile.ts'

export function business({ companyId, customerId, itemId }: FreezeFixture): readonly Hostile[] {
  const root = '/api/v2.0'
  const company = `${root}/companies(${companyId})`
  const batch = (
    name: string,
    requests: readonly object[],
    expectsAnswers: readonly number[],
    headers: Readonly<Record<string, string>> = {},
  ): Hostile => ({
    name,
    method: 'POST',
    path: `${root}/$batch`,
    body: JSON.stringify({ requests: requests.map((one, id) => ({ id: `${id}`, ...one })) }),
    headers: { prefer: 'odata.continue-on-error', ...headers },
    expects: 200,
    expectsAnswers,
  })
  const times = (count: number, one: (at: number) => object): readonly object[] =>
    Array.from({ length: count }, (_, at) => one(at))
  const list = { method: 'GET', url: `companies(${companyId})/customers` }
  const part = `--b\r\nContent-Type: application/http\r\n\r\nGET ${list.url} HTTP/1.1\r\n\r\n\r\n`
  const terms = Array.from(
    { length: 38 },
    (_, at) => `contains(tolower(displayName),'z${at}')`,
  ).join(' or ')
  const order = ['displayName', 'addressLine1', 'city', 'email', 'website', 'phoneNumber']
  const invoiceOrder = ['number', 'invoiceDate', 'dueDate', 'customerName', 'postingDate']
  const expands = 'salesInvoices($expand=salesInvoiceLines($expand=item)),currency,taxArea'
  const post = (at: number): object => ({
    method: 'POST',
    url: `companies(${companyId})/customers`,
    atomicityGroup: 'g',
    body: { displayName: `Made ${at}` },
  })
  const lines = (count: number): readonly object[] =>
    Array.from({ length: count }, () => ({ itemId, quantity: 1 }))
  const invoice = (count: number): object => ({ customerId, salesInvoiceLines: lines(count) })
  const invoices = (lines: number): readonly object[] =>
    times(100, () => ({
      method: 'POST',
      url: `companies(${companyId})/salesInvoices`,
      atomicityGroup: 'g',
      body: invoice(lines),
    }))
  const large: Hostile = {
    name: 'invoice with a thousand lines',
    method: 'POST',
    path: `${company}/salesInvoices`,
    body: JSON.stringify(invoice(1_000)),
    expects: 201,
  }
  const largeBody = 63 * 1024 * 1024
  const ones = `[${Array.from({ length: 9_000 }, () => 1).join(',')}]`
  return [
    {
      name: 'body of 63 MB of lists',
      expects: [400, 413],
      method: 'POST',
      path: `${root}/companies`,
      body: `{${filled(largeBody, (at) => `"a${at}":${ones}`)}}`,
    },
    {
      name: 'batch with a part of 63 MB of blanks, multipart',
      expects: [200, 400],
      method: 'POST',
      path: `${root}/$batch`,
      type: 'multipart/mixed; boundary=b',
      body: `--b\r\nContent-Type: application/http\r\n\r\nPOST companies HTTP/1.1\r\n\r\n${' '.repeat(largeBody)}\r\n--b--\r\n`,
    },
    get('receivables of 15,000 customers', `${company}/agedAccountsReceivables`),
    batch(
      'batch of 100 lists of 15,000 customers, JSON',
      times(100, () => list),
      [200],
    ),
    {
      name: 'batch of 100 lists of 15,000 customers, multipart',
      expects: 200,
      method: 'POST',
      path: `${root}/$batch`,
      type: 'multipart/mixed; boundary=b',
      body: `${part.repeat(100)}--b--\r\n`,
    },
    {
      name: 'batch of 800,000 empty parts',
      expects: 400,
      method: 'POST',
      path: `${root}/$batch`,
      type: 'multipart/mixed; boundary=b',
      body: `${'--b\r\n'.repeat(800_000)}--b--\r\n`,
    },
    batch(
      'batch of 100 sorted lists in one snapshot',
      times(100, () => ({
        ...list,
        url: `${list.url}?$top=1&$orderby=${order.map((one) => `${one} desc`).join(',')}`,
      })),
      [200],
      { isolation: 'snapshot' },
    ),
    batch(
      'batch of a write and 99 sorted lists in one snapshot',
      times(100, (at) =>
        at === 0
          ? post(at)
          : {
              ...list,
              url: `${list.url}?$top=1&$orderby=${order.map((one) => `${one} desc`).join(',')}`,
            },
      ),
      [201, 400],
      { isolation: 'snapshot' },
    ),
    get(
      'customers with their invoices by five orders',
      `${company}/customers?$expand=salesInvoices($orderby=${invoiceOrder.map((one) => `${one} desc`).join(',')};$count=true)`,
    ),
    batch(
      'batch of 100 lists in one snapshot',
      times(100, () => list),
      [200],
      { isolation: 'snapshot' },
    ),
    batch('change set of 100 new customers', times(100, post), [201]),
    batch('change set of 100 invoices with 10 lines', invoices(10), [201]),
    batch('change set of 100 invoices with 300 lines', invoices(300), [400, 424]),
    get('page of 15,000 customers', `${company}/customers`),
    get(
      'customers by six orders, unindexed',
      `${company}/customers?$orderby=${order.map((one) => `${one} desc`).join(',')}`,
    ),
    get(
      'customers by 38 texts that none holds',
      `${company}/customers?$filter=${encodeURIComponent(terms)}`,
    ),
    get(
      'count of customers by a filter of arithmetic and text',
      `${company}/customers/$count?$filter=${encodeURIComponent("length(concat(toupper(displayName),tolower(city))) add indexof(displayName,'q') mul 3 gt 100000")}`,
    ),
    get('customers with everything expanded', `${company}/customers?$expand=${expands}`),
    get('metadata', `${root}/$metadata`),
    large,
    { ...large, name: 'fifty invoices with a thousand lines at once', atOnce: 50 },
  ]
}
