/** Operation 4 of the contract, its neighbours, and what appears on an invoice. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { account, profile, type Started, startBilling, type Wire } from '../../testing/start.ts'

async function refused(
  work: Promise<unknown>,
  status: number,
  code: string,
  says = /./,
): Promise<void> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof ApiError, String(error))
  assert.deepEqual([error.status, error.code], [status, code], error.message)
  assert.match(error.message, says)
}

/** One row with every field of the contract. */
const full = {
  name: '11111111-2222-4333-8444-0000000000aa',
  tags: { team: 'web' },
  properties: {
    vendorCreditApplied: { currency: 'USD', value: 1.5 },
    vendorPlan: 'Plan A',
    billingCurrency: 'USD',
    billingProfileDisplayName: 'Main',
    consumptionCommitmentDecremented: { currency: 'USD', value: 2.25 },
    creditType: 'VendorFreeCredit',
    customerDisplayName: 'Customer 1',
    customerId: `${profile}/customers/c1`,
    date: '2026-10-01T00:00:00.000Z',
    discount: 12.5,
    effectivePrice: { currency: 'EUR', value: 0.0000123 },
    exchangeRate: 1.0825,
    invoice: 'G123456789',
    invoiceSectionDisplayName: 'Section 1',
    invoiceSectionId: `${profile}/invoiceSections/s1`,
    isThirdParty: true,
    kind: 'Reservation',
    marketPrice: { currency: 'EUR', value: 3 },
    partNumber: 'P-1',
    pricingCurrency: 'EUR',
    productDescription: 'A product',
    productFamily: 'Family',
    productType: 'Type',
    productTypeId: 'T1',
    quantity: 12,
    reasonCode: 'R1',
    refundTransactionDetails: {
      amountRefunded: { currency: 'USD', value: 5 },
      amountRequested: { currency: 'USD', value: 6.01 },
      refundOperationId: 'op-1',
    },
    servicePeriodStartDate: '2026-09-01T00:00:00.000Z',
    servicePeriodEndDate: '2026-09-30T23:59:59.000Z',
    specialTaxationType: 'InvoiceLevel',
    subTotal: { currency: 'USD', value: 10.1 },
    tax: { currency: 'USD', value: 1.92 },
    transactionAmount: { currency: 'USD', value: 12.02 },
    transactionType: 'Purchase',
    unitOfMeasure: '1 Hour',
    unitType: 'Hours',
    units: 3.25,
  },
}

function piece(rows: readonly object[], more: object = {}) {
  return {
    name: 'rows',
    format: 'ndjson',
    position: 0,
    digest: '',
    nextPosition: 100,
    nextDigest: 'd',
    firstLine: 1,
    text: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
    ...more,
  }
}

const rows = (count: number, invoice = 'G123456789') =>
  Array.from({ length: count }, (_, at) => ({
    properties: {
      date: new Date(Date.UTC(2026, 9, 1 + (at % 28))).toISOString(),
      invoice,
      productDescription: `Product ${at % 5}`,
      quantity: at,
      subTotal: { currency: 'USD', value: at - 20.5 },
    },
  }))

const list = `${account}/invoices/G123456789/transactions`

async function withRows(count: number, limits = {}): Promise<Started> {
  const started = await startBilling({ limits })
  const answer = await started.post(`${profile}/importTransactions`, piece(rows(count)))
  assert.deepEqual(answer.refused, [])
  assert.equal(answer.properties.recorded, count)
  return started
}

async function pages(started: Started, query: string): Promise<Wire[]> {
  const found: Wire[] = []
  let token: string | undefined
  do {
    const more: string = token === undefined ? '' : `&$skipToken=${encodeURIComponent(token)}`
    const page = await started.get(`${list}?${query}${more}`)
    found.push(...page.value)
    token = page.nextToken
  } while (token !== undefined)
  return found
}

test('every field of the contract goes in and comes out', async () => {
  await using started = await startBilling()
  await started.post(`${profile}/importTransactions`, piece([full]))
  const { value } = await started.get(list)
  assert.equal(value.length, 1)
  const [shown] = value
  assert.deepEqual(shown.properties, {
    ...full.properties,
    billingProfileId: profile,
    invoiceId: `${account}/invoices/G123456789`,
  })
  assert.deepEqual(shown.tags, full.tags)
  assert.equal(shown.id, `${profile}/transactions/${full.name}`)
  assert.equal(shown.name, full.name)
  assert.equal(shown.type, 'Vendor.Billing/billingAccounts/billingProfiles/transactions')
  assert.equal(shown.systemData.createdByType, 'User')
  // Each field can be used in a filter, with and without `properties/`.
  const walk = (at: object, path: string): readonly (readonly [string, unknown])[] =>
    Object.entries(at).flatMap(([name, value]) =>
      typeof value === 'object' ? walk(value, `${path}${name}/`) : [[path + name, value] as const],
    )
  for (const [path, value] of walk(shown.properties, '')) {
    const isDate = /date$/i.test(path)
    const text = typeof value === 'string' && !isDate ? `'${value}'` : String(value)
    for (const name of [path, `properties/${path}`]) {
      const query = new URLSearchParams({ filter: `${name} eq ${text}`, count: 'true' })
      const found = await started.get(`${list}?${query}`)
      assert.deepEqual([found.value.length, found.count], [1, 1], `${name} eq ${text}`)
      query.set('filter', `${name} ne ${text}`)
      assert.equal((await started.get(`${list}?${query}`)).value.length, 0, name)
      await started.get(`${list}?${new URLSearchParams({ orderBy: `${name} desc` })}`)
    }
  }
})

test('names that break the patterns are refused with what the pattern means', async () => {
  await using started = await startBilling()
  const at = (one: string, invoice: string) =>
    started.get(`/providers/Vendor.Billing/billingAccounts/${one}/invoices/${invoice}/transactions`)
  await refused(at('abc', 'G123456789'), 400, 'InvalidBillingAccountName', /digits/)
  await refused(at('123', 'g123456789'), 400, 'InvalidInvoiceName', /nine capital letters/)
  await refused(at('123', 'EA1'), 400, 'InvalidInvoiceName')
  await refused(at('123', 'G123456789'), 404, 'ResourceNotFound')
  await refused(at('PCN.x1', 'EA12345678'), 404, 'ResourceNotFound')
  await refused(
    started.call(
      'GET',
      '/providers/Vendor.Billing/billingAccounts/1/invoices/G1/transactions',
      undefined,
      { stranger: true },
    ),
    403,
    'AuthorizationFailed',
  )
})

test('top, skip, count, filter, orderBy and search, and what is refused of them', async () => {
  await using started = await withRows(120)
  const first = await started.get(`${list}?top=7&count=true`)
  assert.deepEqual([first.value.length, first.count], [7, 120])
  assert.equal((await started.get(list)).value.length, 50)
  assert.equal((await started.get(list)).count, undefined)
  const all = await pages(started, 'top=7&orderBy=properties/quantity')
  assert.deepEqual(
    all.map((one) => one.properties.quantity),
    Array.from({ length: 120 }, (_, at) => at),
  )
  const skipped = await pages(started, 'top=50&skip=100&orderBy=quantity')
  assert.deepEqual(
    skipped.map((one) => one.properties.quantity),
    Array.from({ length: 20 }, (_, at) => at + 100),
  )
  const rich = await started.get(
    `${list}?filter=subTotal/value gt 97.4&orderBy=subTotal/value desc&count=true`,
  )
  assert.deepEqual(
    [rich.value.map((one: Wire) => one.properties.subTotal.value), rich.count],
    [[98.5, 97.5], 2],
  )
  const found = await started.get(`${list}?search=PRODUCT 3&count=true`)
  assert.equal(found.count, 24)
  assert.ok(found.value.every((one: Wire) => one.properties.productDescription === 'Product 3'))
  assert.equal((await started.get(`${list}?search=nowhere`)).value.length, 0)
  for (const [query, name] of [
    ['top=0', 'top'],
    ['top=51', 'top'],
    ['top=x', 'top'],
    ['skip=-1', 'skip'],
    ['count=maybe', 'count'],
  ] as const) {
    await refused(started.get(`${list}?${query}`), 400, 'InvalidQueryParameter', new RegExp(name))
  }
  await refused(started.get(`${list}?filter=nosuch eq 1`), 400, 'InvalidFilter', /position 0/)
  await refused(started.get(`${list}?filter=quantity gt`), 400, 'InvalidFilter', /position 11/)
  await refused(started.get(`${list}?orderBy=nosuch`), 400, 'InvalidOrderBy', /position 0/)
})

for (const query of [
  '',
  '&orderBy=subTotal/value desc',
  '&orderBy=date desc,productDescription,quantity desc',
  '&orderBy=productDescription,subTotal/value desc',
  '&search=product&orderBy=productDescription desc,quantity,date',
  '&filter=quantity ge 0&orderBy=date,subTotal/value',
]) {
  test(`pages hold while rows are added behind and before: ${query}`, async () => {
    // No number of rows is small here, so that a result that was walked once is not sorted the next time.
    await using started = await withRows(100, { sortRowsMax: 0 })
    const before = new Set((await pages(started, `top=10${query}`)).map((one) => one.name))
    assert.equal(before.size, 100)
    const seen: string[] = []
    let token: string | undefined
    for (let page = 0; ; page++) {
      const more: string = token === undefined ? '' : `&$skipToken=${encodeURIComponent(token)}`
      const answer = await started.get(`${list}?top=10${query}${more}`)
      seen.push(...answer.value.map((one: Wire) => one.name))
      token = answer.nextToken
      if (token === undefined) break
      const body = piece(rows(10), { name: `more-${page}` })
      await started.post(`${profile}/importTransactions`, body)
      assert.ok(page < 300, 'pages without an end')
    }
    assert.equal(new Set(seen).size, seen.length, 'a row came twice')
    for (const name of before) assert.ok(seen.includes(name), 'a row was lost')
  })
}

test('tags are replaced by PATCH, within the contract’s rules', async () => {
  await using started = await startBilling()
  await started.post(`${profile}/importTransactions`, piece([full]))
  const path = `${profile}/transactions/${full.name}`
  const { body } = await started.call('PATCH', path, { tags: { a: 'b' } })
  assert.deepEqual((body as Wire).tags, { a: 'b' })
  assert.deepEqual((await started.get(path)).tags, { a: 'b' })
  for (const tags of [
    { a: '' },
    { a: null },
    { 'a<': 'x' },
    { 'a/b': 'x' },
    { ['k'.repeat(257)]: 'x' },
    { k: 'v'.repeat(257) },
  ]) {
    const error = await started.call('PATCH', path, { tags }).catch((reason) => reason)
    assert.equal(error.status, 400, JSON.stringify(tags))
  }
  await refused(
    started.call('PATCH', `${path.slice(0, -1)}b`, { tags: {} }),
    404,
    'ResourceNotFound',
  )
})

test('purchases, credits and refunds, pending and then on an invoice whose sum is theirs', async () => {
  await using started = await startBilling()
  await started.call('PATCH', profile, {
    properties: { taxPercent: 19, exchangeRates: [{ currency: 'EUR', rate: 1.1 }] },
  })
  const price = { currency: 'EUR', value: 12.345 }
  await started.call('PUT', `${account}/products/seat`, {
    properties: { displayName: 'A seat', price, discount: 10 },
  })
  await started.call('PUT', `${profile}/customers/c1`, { properties: { displayName: 'One' } })
  const bought = await started.post(`${profile}/recordPurchase`, {
    product: 'seat',
    quantity: 3,
    customer: 'c1',
  })
  const p = bought.properties
  // 3 × 11.1105 EUR × 1.1 = 36.66465; of that 19 % is 6.9654.
  assert.deepEqual(
    [p.subTotal.value, p.tax.value, p.transactionAmount.value, p.invoice, p.invoiceId],
    [36.66, 6.97, 43.63, 'Pending', undefined],
  )
  assert.deepEqual([p.effectivePrice, p.discount], [{ currency: 'EUR', value: 11.1105 }, 10])
  const name = '11111111-2222-4333-8444-0000000000bb'
  const credit = { name, amount: 5, creditType: 'VendorCreditOffer' }
  const credited = await started.post(`${profile}/recordCredit`, credit)
  assert.deepEqual(await started.post(`${profile}/recordCredit`, credit), credited)
  await refused(
    started.post(`${profile}/recordCredit`, { ...credit, amount: 6 }),
    409,
    'TransactionNameTaken',
  )
  const part = await started.post(`${bought.id}/refund`, { amount: 10 })
  assert.deepEqual(
    [
      part.properties.subTotal.value,
      part.properties.tax.value,
      part.properties.transactionAmount.value,
    ],
    [-10, -1.9, -11.9],
  )
  assert.equal(part.properties.refundTransactionDetails.amountRefunded.value, 11.9)
  await refused(started.post(`${bought.id}/refund`, { amount: 26.67 }), 409, 'RefundTooLarge')
  const rest = await started.post(`${bought.id}/refund`, {})
  assert.deepEqual([rest.properties.subTotal.value, rest.properties.tax.value], [-26.66, -5.07])
  await refused(started.post(`${part.id}/refund`, {}), 409, 'NotRefundable')

  const period = 'periodStartDate=10-01-2026&periodEndDate=10-31-2026'
  const pending = await started.get(`${profile}/transactions?${period}&type=Unbilled&count=true`)
  assert.equal(pending.count, 4)
  await refused(started.get(`${profile}/transactions?type=Unbilled`), 400, 'InvalidQueryParameter')
  const ofCustomer = `${profile}/customers/c1/transactions?${period}&type=Unbilled&count=true`
  assert.equal((await started.get(ofCustomer)).count, 3)
  const named = `${profile}/transactions?${period}&filter=invoice ne 'Pending'`
  assert.equal((await started.get(`${named}&type=Unbilled`)).value.length, 0)

  const closed = await started.post(`${profile}/closeInvoices`, {})
  const [{ invoice }] = closed.value
  await refused(started.post(`${profile}/closeInvoices`, {}), 409, 'NothingToInvoice')
  // The same entries, but what was noted while they were pending no longer applies.
  assert.equal((await started.get(`${named}&type=Billed`)).value.length, 4)
  const billed = await started.get(`${account}/invoices/${invoice}/transactions`)
  assert.ok(billed.value.every((one: Wire) => one.properties.invoice === invoice))
  assert.equal((await started.get(bought.id)).properties.invoice, invoice)
  const { properties } = await started.get(`${account}/invoices/${invoice}`)
  assert.deepEqual(
    [properties.subTotal.value, properties.taxAmount.value, properties.totalAmount.value],
    [-5, 0, -5],
  )
  const summary = await started.get(`${account}/invoices/${invoice}/transactionSummary`)
  assert.deepEqual(summary, {
    vendorCreditApplied: 5,
    billingCurrency: 'USD',
    consumptionCommitmentDecremented: 0,
    subTotal: -5,
    tax: 0,
    total: -5,
  })
  const some = await started.get(
    `${account}/invoices/${invoice}/transactionSummary?filter=subTotal/value gt 0`,
  )
  assert.equal(some.total, 43.63)
  assert.equal((await started.get(`${account}/invoices?count=true`)).count, 1)
  assert.equal((await started.get(`${profile}/invoices`)).value[0].name, invoice)
  const alias = `/providers/Vendor.Billing/billingAccounts/default/invoices/${invoice}`
  assert.equal((await started.get(alias)).name, invoice)

  const begun = await started.call('POST', `${account}/invoices/${invoice}/transactionsDownload`)
  assert.equal(begun.status, 202)
  const location = new URL(begun.headers?.['Location'] ?? '', 'http://armature.example')
  const result = await started.get(location.pathname + location.search)
  const url = new URL(result.url)
  const file = await started.call('GET', url.pathname + url.search)
  let csv = ''
  for await (const chunk of file.body as AsyncIterable<Uint8Array>) csv += Buffer.from(chunk)
  assert.equal(csv.trim().split('\r\n').length, 5)
  assert.match(csv, /A seat/)

  // Printed: the document that the invoice names, through the address that the answer names.
  const [printable] = properties.documents
  assert.deepEqual([printable.kind, printable.name], ['CreditNote', invoice])
  const printing = await started.call('POST', printable.url)
  assert.equal(printing.status, 202)
  const where = new URL(printing.headers?.['Location'] ?? '', 'http://armature.example')
  const printed = new URL((await started.get(where.pathname + where.search)).url)
  const pdf = await started.call('GET', printed.pathname + printed.search)
  assert.equal(pdf.headers?.['Content-Type'], 'application/pdf')
  let page = ''
  for await (const chunk of pdf.body as AsyncIterable<Uint8Array>) page += Buffer.from(chunk)
  const { title, rows, sums, company } = JSON.parse(page)
  assert.deepEqual([title, company, rows.length], ['Credit note', 'This installation', 4])
  assert.equal(sums.at(-1).value, '-5.00')
  await assert.rejects(
    started.call('POST', `${account}/invoices/${invoice}/download?documentName=other`),
    { code: 'InvoiceDocumentNotFound' },
  )
  // The address of one file leads to no other.
  const crossed = printed.pathname.replace('documentFile', 'transactionsFile') + printed.search
  await assert.rejects(started.call('GET', crossed), { code: 'DownloadExpired' })
})

test('a month that is over is closed by itself, and what comes late gets another invoice', async () => {
  await using started = await startBilling()
  await started.call('PUT', `${account}/products/seat`, {
    properties: { price: { currency: 'USD', value: 1 } },
  })
  await started.post(`${profile}/recordPurchase`, { product: 'seat', quantity: 3 })
  const round = () => started.plane.registry.providers[1]?.start?.()[Symbol.asyncDispose]()
  await round()
  assert.equal((await started.get(`${account}/invoices`)).value.length, 0)
  started.clock.set(Date.UTC(2026, 10, 1, 2))
  await round()
  await round()
  assert.equal((await started.get(`${account}/invoices`)).value.length, 1)
  const late = { properties: { date: '2026-10-20', transactionAmount: 4 } }
  await started.post(`${profile}/importTransactions`, piece([late]))
  const period = 'periodStartDate=10-01-2026&periodEndDate=10-31-2026'
  const pending = await started.get(`${profile}/transactions?${period}&type=Unbilled`)
  assert.equal(pending.value.length, 1)
})

test('a refund by a name that a refund of another transaction has is refused, and the same one is made once', async () => {
  await using started = await startBilling()
  await started.call('PUT', `${account}/products/seat`, {
    properties: { price: { currency: 'USD', value: 1 } },
  })
  const buy = () => started.post(`${profile}/recordPurchase`, { product: 'seat', quantity: 3 })
  const [one, other] = [await buy(), await buy()]
  const name = '00000000-0000-4000-8000-000000000001'
  const made = await started.post(`${one.id}/refund`, { name, amount: 1 })
  assert.deepEqual(await started.post(`${one.id}/refund`, { name, amount: 1 }), made)
  await refused(
    started.post(`${other.id}/refund`, { name, amount: 1 }),
    409,
    'TransactionNameTaken',
  )
})
