/** A header that was changed gives the same figures as one that was so from the beginning, on the stores in turn. */

import assert from 'node:assert/strict'
import { ApiError } from '#kernel/error.ts'
import { amount, inTurn, openCompany } from '../testing/books.ts'

const code = (wanted: string) => (error: unknown) =>
  error instanceof ApiError &&
  (error.code === wanted || assert.fail(`${error.code}: ${error.message}`))

type Company = NonNullable<Awaited<ReturnType<typeof openCompany>>>

const totals = async (company: Company, id: string) => {
  const row = await company.row('salesInvoices', id)
  return {
    excluding: amount(row, 'total_amount_excluding_tax'),
    tax: amount(row, 'total_tax_amount'),
    including: amount(row, 'total_amount_including_tax'),
    discount: amount(row, 'discount_amount'),
    lines: (await company.lines(id)).map((line) => [
      amount(line, 'unit_price'),
      amount(line, 'discount_amount'),
      amount(line, 'line_amount'),
      amount(line, 'net_amount_including_tax'),
    ]),
  }
}

const threeLines = (company: Company) => ({
  salesInvoiceLines: [
    { itemId: company.itemId, quantity: 3, unitPrice: 54.9, discountAmount: 10.55 },
    { itemId: company.itemId, quantity: 1 },
    { description: 'thank you' },
  ],
})

for (const { dialect, test } of inTurn()) {
  test(`${dialect}: a change of the customer changes whose invoice it is`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const owed = async (id: string) => amount(await company.row('customers', id), 'balance_due')
    const other = await company.create('customers', { displayName: 'New', city: 'Bern' })
    const id = await company.create('salesInvoices', {
      customerId: company.customerId,
      salesInvoiceLines: [{ itemId: company.itemId, quantity: 1 }],
    })
    await company.change('salesInvoices', id, { customerId: other }, '*')
    const row = await company.row('salesInvoices', id)
    assert.equal(row['bill_to_customer_id'], other)
    assert.equal(row['bill_to_name'], 'New')
    assert.equal(row['bill_to_city'], 'Bern')
    await company.act('salesInvoices', id, 'post')
    assert.deepEqual([await owed(company.customerId), await owed(other)], [0, 100])
    await company.create('customerPayments', {
      customerId: other,
      appliesToInvoiceId: id,
      amount: 100,
    })
    assert.equal((await company.row('salesInvoices', id))['status'], 'Paid')
  })

  test(`${dialect}: who is billed stays where the change names somebody`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const other = await company.create('customers', { displayName: 'New' })
    const payer = await company.create('customers', { displayName: 'Payer' })
    const id = await company.create('salesInvoices', { customerId: company.customerId })
    await company.change('salesInvoices', id, { billToCustomerId: payer }, '*')
    await company.change('salesInvoices', id, { customerId: company.customerId }, '*')
    assert.equal((await company.row('salesInvoices', id))['bill_to_name'], 'Payer')
    await company.change('salesInvoices', id, { customerId: other, billToCustomerId: payer }, '*')
    assert.equal((await company.row('salesInvoices', id))['bill_to_name'], 'Payer')
  })

  test(`${dialect}: a discount of the whole invoice is the whole in another currency too`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    await company.create('currencies', { code: 'JPY', amountRoundingPrecision: 1 })
    await company.create('currencyExchangeRates', {
      currencyCode: 'JPY',
      startingDate: '2026-01-01',
      exchangeRateAmount: 100,
      relationalExchangeRateAmount: 200,
    })
    const line = { itemId: company.itemId, quantity: 1, unitPrice: 2.6 }
    const id = await company.create('salesInvoices', {
      customerId: company.customerId,
      discountAmount: 5.2,
      salesInvoiceLines: [line, line],
    })
    // Each line is 1 yen, and the discount would be 3.
    await company.change('salesInvoices', id, { currencyCode: 'JPY' }, '*')
    assert.equal(amount(await company.row('salesInvoices', id), 'discount_amount'), 2)
    await assert.rejects(
      company.change('salesInvoices', id, { discountAmount: 3 }, '*'),
      code('Application_FieldValidationException'),
    )
  })

  test(`${dialect}: prices follow the customer's kind of prices, there and back`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const { customerId } = company
    const ofTaxedPrices = await company.create('customers', {
      displayName: 'Gross',
      taxLiable: true,
      taxAreaId: String((await company.row('customers', customerId))['tax_area_id']),
      pricesIncludeTax: true,
    })
    const plain = { salesInvoiceLines: [{ itemId: company.itemId, quantity: 3 }] }
    const fresh = await company.create('salesInvoices', { customerId: ofTaxedPrices, ...plain })
    const changed = await company.create('salesInvoices', { customerId, ...plain })
    const before = await totals(company, changed)
    await company.change('salesInvoices', changed, { customerId: ofTaxedPrices }, '*')
    assert.deepEqual(await totals(company, changed), await totals(company, fresh))
    await company.change('salesInvoices', changed, { customerId }, '*')
    assert.deepEqual(await totals(company, changed), before)

    const priced = await company.create('salesInvoices', { customerId, ...threeLines(company) })
    const own = await totals(company, priced)
    await company.change('salesInvoices', priced, { customerId: ofTaxedPrices }, '*')
    const [line] = (await totals(company, priced)).lines
    assert.deepEqual(line?.slice(0, 3), [57.645, 11.08, 161.86])
    await company.change('salesInvoices', priced, { customerId }, '*')
    assert.deepEqual(await totals(company, priced), own)
  })

  test(`${dialect}: an item's price that holds the tax stays as the item has it`, async (t) => {
    await using company = await openCompany(t, dialect, { pricesIncludeTax: true })
    if (company === undefined) return
    await company.change('items', company.itemId, { priceIncludesTax: true }, '*')
    const abroad = await company.create('customers', {
      displayName: 'Abroad',
      pricesIncludeTax: true,
    })
    const id = await company.create('salesInvoices', {
      customerId: company.customerId,
      salesInvoiceLines: [
        { itemId: company.itemId, quantity: 1 },
        { itemId: company.itemId, quantity: 1, unitPrice: 105 },
      ],
    })
    await company.change('salesInvoices', id, { customerId: abroad }, '*')
    assert.deepEqual(
      (await company.lines(id)).map((line) => amount(line, 'unit_price')),
      [100, 100],
      'the item says 100; what was written by hand loses the tax that is not due any more',
    )
  })

  test(`${dialect}: another currency rounds every amount as its own`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    await company.create('currencies', {
      code: 'JPY',
      amountRoundingPrecision: 1,
      amountDecimalPlaces: '0:0',
    })
    const id = await company.create('salesInvoices', {
      customerId: company.customerId,
      ...threeLines(company),
    })
    const before = await totals(company, id)
    await company.change('salesInvoices', id, { currencyCode: 'JPY' }, '*')
    const inYen = await totals(company, id)
    for (const figure of [inYen.including, inYen.excluding, inYen.tax])
      assert.ok(Number.isInteger(figure), JSON.stringify(inYen))
    for (const [, ...amounts] of inYen.lines)
      for (const figure of amounts) assert.ok(Number.isInteger(figure), JSON.stringify(inYen))
    await company.change('salesInvoices', id, { currencyCode: 'USD' }, '*')
    const after = await totals(company, id)
    assert.deepEqual(
      after.lines.map(([price]) => price),
      before.lines.map(([price]) => price),
    )
  })
}

for (const { dialect, test } of inTurn()) {
  test(`${dialect}: terms of payment say when a document is due`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const due = async (id: string) => (await company.row('salesInvoices', id))['due_date']
    const change = (id: string, body: object) =>
      company.change('salesInvoices', id, { ...body }, '*')
    const invoiceDate = '2027-03-01'
    const plain = await company.create('salesInvoices', {
      customerId: company.customerId,
      invoiceDate,
    })
    assert.equal(await due(plain), invoiceDate, 'never before the invoice itself')
    const net30 = await company.create('paymentTerms', { code: 'net30', dueDateCalculation: '30D' })
    const month = await company.create('paymentTerms', { code: 'CM', dueDateCalculation: '<CM>' })
    await company.change('customers', company.customerId, { paymentTermsId: net30 }, '*')
    const id = await company.create('salesInvoices', {
      customerId: company.customerId,
      invoiceDate,
    })
    assert.equal(await due(id), '2027-03-31')
    await change(id, { invoiceDate: '2027-04-10' })
    assert.equal(await due(id), '2027-05-10')
    await change(id, { paymentTermsId: month })
    assert.equal(await due(id), '2027-04-30')
    await change(id, { paymentTermsId: net30, dueDate: '2027-06-01' })
    assert.equal(await due(id), '2027-06-01')
    await change(id, { externalDocumentNumber: 'X' })
    assert.equal(await due(id), '2027-06-01', 'what was said stays until dates or terms change')
    for (const body of [{ paymentTermsId: company.itemId }, { shipmentMethodId: company.itemId }])
      await assert.rejects(change(id, body), code('Internal_RecordNotFound'))
    await assert.rejects(
      company.create('customers', { displayName: 'No', paymentMethodId: company.itemId }),
      code('Internal_RecordNotFound'),
    )
    await assert.rejects(
      company.create('paymentTerms', { code: 'ODD', dueDateCalculation: 'soon' }),
      code('Application_FieldValidationException'),
    )
    await assert.rejects(company.remove('paymentTerms', net30), code('Application_DialogException'))
  })
}
