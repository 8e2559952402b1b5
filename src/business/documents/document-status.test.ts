/** A document after its lines, on the stores in turn: review, payments, and what closes it. */

import assert from 'node:assert/strict'
import { ApiError } from '#kernel/error.ts'
import { amount, inTurn, openCompany } from '../testing/books.ts'
import { caller, type Json } from '../testing/caller.ts'
import type { Body } from '../write/values.ts'

const code = (wanted: string) => (error: unknown) =>
  error instanceof ApiError &&
  (error.code === wanted || assert.fail(`${error.code}: ${error.message}`))

type Company = NonNullable<Awaited<ReturnType<typeof openCompany>>>

async function invoice(company: Company, quantity = 1): Promise<string> {
  return await company.create('salesInvoices', {
    customerId: company.customerId,
    salesInvoiceLines: [{ itemId: company.itemId, quantity }],
  })
}

for (const { dialect, test } of inTurn()) {
  test(`${dialect}: a payment as large as one can be leaves room for those of others`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const others = await Promise.all(
      ['B', 'C', 'D'].map((number) => company.create('customers', { number, displayName: number })),
    )
    const sums = [9_999_999_999, 9_999_999_999, 5]
    for (const [at, customerId] of others.entries()) {
      await company.create('customerPayments', { customerId, amount: sums[at] ?? 0 })
    }
  })

  test(`${dialect}: payments close an invoice`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const { customerId } = company
    const owed = async () => amount(await company.row('customers', customerId), 'balance_due')
    const state = async (id: string) => {
      const row = await company.row('salesInvoices', id)
      return [row['status'], amount(row, 'remaining_amount')]
    }
    const pay = (id: string, sum: number) =>
      company.create('customerPayments', { appliesToInvoiceId: id, amount: sum })
    const id = await invoice(company)
    await assert.rejects(pay(id, 5), code('Application_DialogException'), 'a draft is not paid')
    await company.act('salesInvoices', id, 'post')
    assert.deepEqual(await state(id), ['Open', 105])
    assert.equal(await owed(), 105)

    const first = await company.row('customerPayments', await pay(id, 5.25))
    assert.equal(first['customer_id'], customerId)
    assert.equal(first['document_number'], 'PAY00001')
    assert.deepEqual(await state(id), ['Open', 99.75])
    await assert.rejects(pay(id, 99.76), code('Application_FieldValidationException'))
    await assert.rejects(pay(id, 0.001), code('Application_FieldValidationException'))
    await assert.rejects(pay(id, 0), code('BadRequest_RequiredParamNotProvided'))
    await assert.rejects(pay(id, -5.26), code('Application_FieldValidationException'))
    await pay(id, 99.75)
    assert.deepEqual(await state(id), ['Paid', 0])
    assert.equal(await owed(), 0)
    await assert.rejects(
      company.act('salesInvoices', id, 'cancel'),
      code('Application_DialogException'),
    )

    // The payment is reverted.
    await pay(id, -105)
    assert.deepEqual(await state(id), ['Open', 105])
    assert.equal(await owed(), 105)
    const memoId = await company.act('salesInvoices', id, 'makeCorrectiveCreditMemo')
    await company.act('salesCreditMemos', memoId, 'post')
    assert.deepEqual(await state(id), ['Paid', 0])
    const other = await company.create('customers', { displayName: 'Other' })
    await assert.rejects(
      company.create('customerPayments', {
        appliesToInvoiceId: id,
        customerId: other,
        amount: 1,
      }),
      code('Application_FieldValidationException'),
    )
    // A payment on account, for no invoice.
    await company.create('customerPayments', { customerId: other, amount: 7 })
    assert.equal(amount(await company.row('customers', other), 'balance_due'), -7)
    await assert.rejects(company.remove('customers', other), code('Application_DialogException'))
  })

  test(`${dialect}: of payments at once no more goes through than is open`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const id = await invoice(company)
    await company.act('salesInvoices', id, 'post')
    const tries = Array.from({ length: 8 }, () =>
      company.create('customerPayments', { appliesToInvoiceId: id, amount: 30 }),
    )
    const done = (await Promise.allSettled(tries)).filter(({ status }) => status === 'fulfilled')
    assert.equal(done.length, 3)
    assert.equal(amount(await company.row('salesInvoices', id), 'remaining_amount'), 15)
    assert.equal(amount(await company.row('customers', company.customerId), 'balance_due'), 15)
  })

  test(`${dialect}: a document in review`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const { itemId } = company
    const empty = await company.create('salesInvoices', { customerId: company.customerId })
    await assert.rejects(
      company.act('salesInvoices', empty, 'sendToReview'),
      code('Application_DialogException'),
    )
    const id = await invoice(company)
    await company.act('salesInvoices', id, 'sendToReview')
    assert.equal((await company.row('salesInvoices', id))['status'], 'In Review')
    const [line] = await company.lines(id)
    const lineId = String(line?.['id'])
    const closed = code('Application_FieldValidationException')
    await assert.rejects(company.change('salesInvoiceLines', lineId, { quantity: 2 }, '*'), closed)
    await assert.rejects(
      company.create('salesInvoiceLines', { itemId }, { documentId: id }),
      closed,
    )
    await assert.rejects(company.remove('salesInvoiceLines', lineId), closed)
    // Comments can still be edited (business facts 9.2).
    const said = { description: 'Please look at the price.' }
    const comment = await company.create('salesInvoiceLines', said, { documentId: id })
    await company.change('salesInvoiceLines', comment, { description: 'It is fine.' }, '*')
    await assert.rejects(company.change('salesInvoiceLines', comment, { itemId }, '*'), closed)
    await assert.rejects(company.remove('salesInvoices', id), code('Application_DialogException'))
    await assert.rejects(
      company.act('salesInvoices', id, 'post', false),
      code('Authorization_RequestDenied'),
    )

    await company.act('salesInvoices', id, 'reopen')
    await company.change('salesInvoiceLines', lineId, { quantity: 2 }, '*')
    await company.act('salesInvoices', id, 'sendToReview')
    await company.act('salesInvoices', id, 'post')
    const posted = await company.row('salesInvoices', id)
    assert.deepEqual([posted['status'], amount(posted, 'remaining_amount')], ['Open', 210])
    await assert.rejects(
      company.act('salesInvoices', id, 'reopen'),
      code('Application_DialogException'),
    )
  })
}

for (const { dialect, test } of inTurn()) {
  test(`${dialect}: no invoice is credited beyond what it came to`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const owed = async () =>
      amount(await company.row('customers', company.customerId), 'balance_due')
    const stock = async () => amount(await company.row('items', company.itemId), 'inventory')
    const before = await stock()
    const id = await invoice(company)
    await company.act('salesInvoices', id, 'post')
    const drafts = [
      await company.act('salesInvoices', id, 'makeCorrectiveCreditMemo'),
      await company.act('salesInvoices', id, 'makeCorrectiveCreditMemo'),
    ]
    const [first = '', second = ''] = drafts
    await company.act('salesCreditMemos', first, 'post')
    assert.deepEqual([await owed(), await stock()], [0, before])
    const post = (memo: string) => company.act('salesCreditMemos', memo, 'post')
    await assert.rejects(post(second), code('Application_DialogException'))
    assert.deepEqual([await owed(), await stock()], [0, before], 'nothing happened')

    // Credits in parts, even of a paid invoice, and never for anything else.
    const paid = await invoice(company)
    await company.act('salesInvoices', paid, 'post')
    await company.create('customerPayments', { appliesToInvoiceId: paid, amount: 105 })
    const part = (unitPrice: number, body: object = {}) =>
      company.create('salesCreditMemos', {
        customerId: company.customerId,
        invoiceId: paid,
        salesCreditMemoLines: [{ itemId: company.itemId, quantity: 1, unitPrice }],
        ...body,
      })
    await post(await part(60))
    assert.equal(await owed(), -63)
    await assert.rejects(post(await part(50)), code('Application_DialogException'))
    await post(await part(40))
    assert.equal(await owed(), -105)
    // What they left over closes the invoice when its payment goes back, whole or in parts.
    const state = async (of: string) => {
      const row = await company.row('salesInvoices', of)
      return [row['status'], amount(row, 'remaining_amount')]
    }
    for (const back of [-63, -42]) {
      await company.create('customerPayments', { appliesToInvoiceId: paid, amount: back })
      assert.deepEqual(await state(paid), ['Paid', 0])
    }
    assert.equal(await owed(), 0)
    const open = await invoice(company)
    await company.act('salesInvoices', open, 'post')
    await company.create('customerPayments', { appliesToInvoiceId: open, amount: 105 })
    await post(await part(60, { invoiceId: open }))
    await company.create('customerPayments', { appliesToInvoiceId: open, amount: -105 })
    assert.deepEqual([await state(open), await owed()], [['Open', 42], 42])
    await assert.rejects(company.act('salesInvoices', open, 'cancel'), /paid or credited in part/)
    await company.create('customerPayments', { appliesToInvoiceId: open, amount: 42 })
    assert.deepEqual([await state(open), await owed()], [['Paid', 0], 0])
    await company.create('currencies', { code: 'EUR' })
    const foreign = await part(0.01, { currencyCode: 'EUR' })
    await assert.rejects(post(foreign), code('Application_FieldValidationException'))

    const canceled = await invoice(company)
    await company.act('salesInvoices', canceled, 'post')
    const late = await company.act('salesInvoices', canceled, 'makeCorrectiveCreditMemo')
    await company.act('salesInvoices', canceled, 'cancel')
    await assert.rejects(post(late), code('Application_DialogException'))
  })

  test(`${dialect}: stock moves in the units of the item, for each of its lines`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const { itemId, customerId } = company
    const boxId = await company.create('unitsOfMeasure', { code: 'BOX', displayName: 'Box' })
    const perBox = { itemId, unitOfMeasureId: boxId, quantityPerUnit: 12.5 }
    const unit = await company.create('itemUnitsOfMeasure', perBox)
    const base = { displayName: 'Hour', baseUnitOfMeasureCode: 'PCS', taxGroupCode: 'FURNITURE' }
    const service = await company.create('items', { ...base, type: 'Service', unitPrice: 1 })
    const id = await company.create('salesInvoices', {
      customerId,
      salesInvoiceLines: [
        { itemId, quantity: 2, unitOfMeasureCode: 'BOX' },
        { itemId, quantity: 0.5 },
        { itemId: service, quantity: 7 },
        { lineType: 'Comment', description: 'Thank you' },
      ],
    })
    const stock = async (of = itemId) => amount(await company.row('items', of), 'inventory')
    const entries = async () => {
      const rows = await company.sql.all(
        'select quantity from business_item_ledger_entries where company_id = ? order by entry_number',
        company.companyId,
      )
      return rows.map((row) => amount(row, 'quantity'))
    }
    await company.act('salesInvoices', id, 'post')
    await assert.rejects(
      company.change('itemUnitsOfMeasure', unit, { quantityPerUnit: 10 }, '*'),
      /in use by a line/,
    )
    await assert.rejects(company.remove('itemUnitsOfMeasure', unit), /in use by a line/)
    assert.deepEqual([await stock(), await stock(service)], [-25.5, 0])
    assert.deepEqual(await entries(), [-25.5], 'one entry of an item, none of what is no stock')
    await company.act('salesInvoices', id, 'cancel')
    assert.deepEqual([await stock(), await stock(service)], [0, 0])
    assert.deepEqual(await entries(), [-25.5, 25.5])

    const many = { itemId, quantity: 6_000_000_000, unitPrice: 0 }
    const both = await company.create('salesInvoices', {
      customerId,
      salesInvoiceLines: [many, many],
    })
    await assert.rejects(
      company.act('salesInvoices', both, 'post'),
      (error) =>
        code('Application_DialogException')(error) && /more than ten digits/.test(String(error)),
    )
    const one = await company.create('salesInvoices', { customerId, salesInvoiceLines: [many] })
    await company.act('salesInvoices', one, 'post')
    const other = await company.create('salesInvoices', { customerId, salesInvoiceLines: [many] })
    await assert.rejects(company.act('salesInvoices', other, 'post'), /more than ten digits/)
    assert.equal(await stock(), -6_000_000_000)
  })

  test(`${dialect}: what is below zero is not posted`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const id = await invoice(company, -1)
    await assert.rejects(
      company.act('salesInvoices', id, 'post'),
      code('Application_DialogException'),
    )
  })

  test(`${dialect}: an unknown tax code is refused, and a rate stays as it was written`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    await assert.rejects(
      company.create('salesInvoices', {
        customerId: company.customerId,
        salesInvoiceLines: [{ itemId: company.itemId, quantity: 1, taxCode: 'TYPO' }],
      }),
      (error: Error) =>
        code('Internal_InvalidTableRelation')(error) && /'FURNITURE'/.test(error.message),
    )
    const id = await invoice(company)
    const [line] = await company.lines(id)
    const lineId = String(line?.['id'])
    const [rate] = await company.sql.all('select id from business_tax_rates')
    await company.change('taxRates', String(rate?.['id']), { taxPercent: 7 }, '*')
    await company.change('salesInvoiceLines', lineId, { description: 'Board' }, '*')
    assert.equal(amount((await company.lines(id))[0] ?? {}, 'tax_percent'), 5)
    await company.change('salesInvoiceLines', lineId, { taxCode: 'FURNITURE' }, '*')
    assert.equal(amount((await company.lines(id))[0] ?? {}, 'tax_percent'), 7)
  })

  test(`${dialect}: a quote is accepted and expires`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const { customerId } = company
    const quote = await company.create('salesQuotes', { customerId, status: 'Accepted' })
    const stands = async (): Promise<readonly unknown[]> => {
      const row = await company.row('salesQuotes', quote)
      return [row['status'], row['accepted_date']]
    }
    const change = (body: Body): Promise<void> => company.change('salesQuotes', quote, body, '*')
    assert.deepEqual(await stands(), ['Draft', '0001-01-01'])
    await change({ acceptedDate: '2026-11-20' })
    assert.deepEqual(await stands(), ['Accepted', '2026-11-20'])
    await change({ acceptedDate: '0001-01-01' })
    assert.deepEqual(await stands(), ['Draft', '0001-01-01'])
    await assert.rejects(change({ status: 'Sent' }), /action send/)
    await company.act('salesQuotes', quote, 'send')
    await change({ status: 'Accepted' })
    assert.deepEqual(await stands(), ['Accepted', '2026-11-21'])
    await change({ validUntilDate: '2026-11-01' })
    assert.deepEqual((await stands())[0], 'Accepted')
    await change({ status: 'Sent' })
    assert.deepEqual(await stands(), ['Sent', '0001-01-01'])
    await change({ validUntilDate: '2026-11-02' })
    assert.deepEqual((await stands())[0], 'Expired')
    await assert.rejects(company.act('salesQuotes', quote, 'makeInvoice'), /Expired/)
    await change({ validUntilDate: '2026-12-31' })
    assert.deepEqual((await stands())[0], 'Sent')
    await company.act('salesQuotes', quote, 'makeInvoice')
    const accepted = await company.create('salesQuotes', { customerId, acceptedDate: '2026-11-19' })
    assert.equal((await company.row('salesQuotes', accepted))['status'], 'Accepted')
  })

  test(`${dialect}: goods of a quote that became an invoice have a day`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const quote = await company.create('salesQuotes', {
      customerId: company.customerId,
      salesQuoteLines: [{ itemId: company.itemId, quantity: 1 }],
    })
    const made = await company.act('salesQuotes', quote, 'makeInvoice')
    assert.equal((await company.lines(made))[0]?.['shipment_date'], '2026-11-21')
  })

  test(`${dialect}: an invoice of a quote is due by its terms, at the rate of its own day`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const { customerId, itemId } = company
    const paymentTermsId = await company.create('paymentTerms', {
      code: 'NET30',
      dueDateCalculation: '30D',
    })
    await company.create('currencies', { code: 'EUR' })
    for (const [startingDate, relationalExchangeRateAmount] of [
      ['2026-01-01', 1],
      ['2026-11-01', 1.25],
    ] as const)
      await company.create('currencyExchangeRates', {
        currencyCode: 'EUR',
        startingDate,
        exchangeRateAmount: 1,
        relationalExchangeRateAmount,
      })
    const quote = await company.create('salesQuotes', {
      customerId,
      paymentTermsId,
      currencyCode: 'EUR',
      documentDate: '2026-02-01',
      salesQuoteLines: [{ itemId, quantity: 1, unitPrice: 100 }],
    })
    const made = await company.act('salesQuotes', quote, 'makeInvoice')
    const row = await company.row('salesInvoices', made)
    assert.deepEqual([row['document_date'], row['due_date']], ['2026-11-21', '2026-12-21'])
    await company.act('salesInvoices', made, 'post')
    assert.equal(amount(await company.row('customers', customerId), 'balance_due'), 131.25)
  })

  test(`${dialect}: what is blocked since it was written is not posted`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const { customerId, itemId } = company
    const payer = await company.create('customers', { displayName: 'Payer' })
    const write = (set: string, lines: string, billToCustomerId = customerId) =>
      company.create(set, { customerId, billToCustomerId, [lines]: [{ itemId, quantity: 1 }] })
    const block = (id: string, blocked: string) => company.change('customers', id, { blocked }, '*')
    const sale = await write('salesInvoices', 'salesInvoiceLines', payer)
    const memo = await write('salesCreditMemos', 'salesCreditMemoLines', payer)
    for (const [id, blocked, memoToo] of [
      [customerId, 'All', true],
      [payer, 'All', true],
      [payer, 'Invoice', false],
      [customerId, 'Ship', false],
    ] as const) {
      await block(id, blocked)
      await assert.rejects(company.act('salesInvoices', sale, 'post'), /is blocked/, blocked)
      await assert.rejects(company.act('salesInvoices', sale, 'sendToReview'), /is blocked/)
      if (memoToo) await assert.rejects(company.act('salesCreditMemos', memo, 'post'), /is blocked/)
      await block(id, ' ')
    }
    await block(payer, 'Invoice')
    await assert.rejects(write('salesInvoices', 'salesInvoiceLines', payer), /is blocked/)
    const credit = await write('salesCreditMemos', 'salesCreditMemoLines', payer)
    await company.act('salesCreditMemos', credit, 'post')
    await block(payer, ' ')
    const blockItem = (body: Body) => company.change('items', itemId, body, '*')
    await blockItem({ blocked: true })
    await assert.rejects(company.act('salesInvoices', sale, 'post'), /1996-S is blocked/)
    await assert.rejects(company.act('salesCreditMemos', memo, 'post'), /1996-S is blocked/)
    await blockItem({ blocked: false, salesBlocked: true })
    await assert.rejects(company.act('salesInvoices', sale, 'post'), /1996-S is blocked/)
    await company.act('salesCreditMemos', memo, 'post')
    await blockItem({ salesBlocked: false })
    await company.act('salesInvoices', sale, 'post')
  })

  test(`${dialect}: what entries were written of stays`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const counted = await company.create('items', { displayName: 'Counted', inventory: 5 })
    await assert.rejects(company.remove('items', counted), /in use by an entry/)
    await company.act('salesInvoices', await invoice(company), 'post')
    const [account] = await company.sql.all(
      "select id from business_accounts where number = '1200'",
    )
    const type = company.change('accounts', String(account?.['id']), { accountType: 'Total' }, '*')
    await assert.rejects(type, /has entries/)
  })

  test(`${dialect}: what posting uses takes postings`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const [bank] = await company.sql.all(
      "select id from business_posting_accounts where code = 'Bank'",
    )
    for (const body of [{ accountType: 'Total' }, { blocked: true }]) {
      const number = `9${Object.keys(body)}`
      const accountId = await company.create('accounts', { number, displayName: 'T', ...body })
      await assert.rejects(
        company.change('postingAccounts', String(bank?.['id']), { accountId }, '*'),
        code('Application_FieldValidationException'),
      )
    }
  })

  test(`${dialect}: a payment without an invoice is in cents`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const { customerId } = company
    await assert.rejects(
      company.create('customerPayments', { customerId, amount: 0.005 }),
      code('Application_FieldValidationException'),
    )
    const journalId = await company.create('customerPaymentJournals', { code: 'BANK' })
    await company.create('customerPayments', { customerId, amount: 0.005, journalId })
    await assert.rejects(company.act('customerPaymentJournals', journalId, 'post'), /multiple/)
  })

  test(`${dialect}: a company whose currency has no cents has none anywhere`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const body = { name: 'Kabushiki', localCurrencyCode: 'jpy' }
    const companyId = await company.create('companies', body)
    const call = caller({ ...company, companyId })
    const made = async (set: string, of: object) =>
      String((await call(201, 'v2.0', 'POST', set, of))['id'])
    const taxAreaId = await made('taxAreas', { code: 'HOME' })
    const taxGroupId = await made('taxGroups', { code: 'FULL' })
    await made('taxRates', { taxAreaId, taxGroupId, taxPercent: 10 })
    await made('unitsOfMeasure', { code: 'PCS' })
    const item = { displayName: 'Tea', baseUnitOfMeasureCode: 'PCS', taxGroupCode: 'FULL' }
    const itemId = await made('items', { ...item, unitPrice: 333 })
    const customer = { displayName: 'Buyer', taxLiable: true, taxAreaId }
    const customerId = await made('customers', customer)
    const currencyId = await made('currencies', { code: 'USD' })
    const rate = { currencyCode: 'USD', startingDate: '2026-01-01' }
    await made('currencyExchangeRates', { ...rate, relationalExchangeRateAmount: 150.123 })
    const sold = async (of: object) => {
      const salesInvoiceLines = [{ itemId, quantity: 1 }]
      const id = await made('salesInvoices', { customerId, salesInvoiceLines, ...of })
      await call(204, 'v2.0', 'POST', `salesInvoices(${id})/Vendor.NAV.post`)
      return (await call(200, 'v2.0', 'GET', `salesInvoices(${id})`))['totalAmountIncludingTax']
    }
    assert.equal(await sold({}), 366, '333 and 33.3 of tax')
    assert.equal(await sold({ currencyCode: 'USD', dueDate: '2026-11-01' }), 2.44)
    const late = await call(200, 'v2.0', 'GET', `agedAccountsReceivables(${customerId})`)
    assert.deepEqual([late['period1Amount'], late['balanceDue']], [366, 366 + 366])
    await call(400, 'v2.0', 'POST', 'customerPayments', { customerId, amount: 0.5 })
    await made('customerPayments', { customerId, amount: 5 })
    // What is posted keeps its cents, whatever its currency has by now.
    await call(200, 'v2.0', 'PATCH', `currencies(${currencyId})`, { amountRoundingPrecision: 1 })
    const dollars = "salesInvoices?$filter=currencyCode eq 'USD'"
    const [{ id } = {}] = (await call(200, 'v2.0', 'GET', dollars))['value'] as readonly Json[]
    await call(200, 'v2.0', 'PATCH', `salesInvoices(${id})`, { dueDate: '2026-11-02' })
    await made('customerPayments', { appliesToInvoiceId: id, amount: 0.44 })
    const { value } = await call(200, 'v2.0', 'GET', 'generalLedgerEntries')
    for (const { debitAmount, creditAmount } of value as readonly Json[])
      assert.ok(Number.isInteger(debitAmount) && Number.isInteger(creditAmount))
    // Its books are kept, even if only payments are left in them.
    await company.sql.transact((tx) =>
      tx.run('delete from business_documents where company_id = ?', companyId),
    )
    await assert.rejects(company.remove('companies', companyId), /posted documents or payments/)
  })
}

for (const { dialect, test } of inTurn()) {
  test(`${dialect}: a balance is in the company's own currency`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const owed = async () =>
      amount(await company.row('customers', company.customerId), 'balance_due')
    const yen = await company.create('currencies', { code: 'JPY', amountRoundingPrecision: 1 })
    const inYen = async (body: object = {}) =>
      company.create('salesInvoices', {
        customerId: company.customerId,
        currencyCode: 'JPY',
        salesInvoiceLines: [{ itemId: company.itemId, quantity: 1 }],
        ...body,
      })
    const post = (id: string) => company.act('salesInvoices', id, 'post')
    const early = await inYen()
    await assert.rejects(post(early), /There is no exchange rate of JPY on 2026-11-21/)
    for (const [startingDate, relationalExchangeRateAmount] of [
      ['2026-01-01', 0.65],
      ['2026-11-01', 0.64],
      ['2027-01-01', 0.7],
    ])
      await company.create('currencyExchangeRates', {
        currencyCode: 'JPY',
        startingDate,
        exchangeRateAmount: 100,
        relationalExchangeRateAmount,
      })
    await assert.rejects(
      company.create('currencyExchangeRates', { currencyId: yen, startingDate: '2026-01-01' }),
      code('BadRequest_RequiredParamNotProvided'),
    )

    // 100 USD are 15,625 JPY, with the tax 16,406; of that in dollars 105.00.
    const id = await inYen()
    const row = await company.row('salesInvoices', id)
    assert.equal(amount(row, 'total_amount_including_tax'), 16_406)
    await post(id)
    assert.equal(await owed(), 105)
    const pay = (paid: number) =>
      company.create('customerPayments', { appliesToInvoiceId: id, amount: paid })
    await pay(5_001)
    await pay(3)
    assert.equal(await owed(), 72.97)
    await pay(11_402)
    assert.equal(await owed(), 0, 'what was put on is taken off, whatever the parts')
    await pay(-11_402)
    await company.create('salesInvoices', { customerId: company.customerId })
    const memo = await company.create('salesCreditMemos', {
      customerId: company.customerId,
      currencyCode: 'JPY',
      creditMemoDate: '2027-02-01',
      invoiceId: id,
      salesCreditMemoLines: [{ itemId: company.itemId, quantity: 1, unitPrice: 15_625 }],
    })
    await company.act('salesCreditMemos', memo, 'post')
    assert.equal(await owed(), -32.03, 'at the rate of the invoice')
    const local = await invoice(company)
    await post(local)
    assert.equal(await owed(), 72.97, 'dollars are added to dollars')

    // A draft without a rate takes that of its posting date. A canceled one reverts its own amounts.
    const draft = await company.row('salesInvoices', early)
    assert.equal(amount(draft, 'exchange_rate_amount'), 0)
    await post(early)
    await company.act('salesInvoices', early, 'cancel')
    assert.equal(await owed(), 72.97)
  })

  test(`${dialect}: another currency exchanges what was written`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    await company.create('currencies', { code: 'JPY', amountRoundingPrecision: 1 })
    await company.create('currencyExchangeRates', {
      currencyCode: 'JPY',
      startingDate: '2026-01-01',
      exchangeRateAmount: 100,
      relationalExchangeRateAmount: 0.64,
    })
    const id = await company.create('salesInvoices', {
      customerId: company.customerId,
      discountAmount: 6.4,
      salesInvoiceLines: [
        { itemId: company.itemId, quantity: 1 },
        { itemId: company.itemId, quantity: 2, unitPrice: 32 },
      ],
    })
    const prices = async () => (await company.lines(id)).map((line) => amount(line, 'unit_price'))
    const discount = async () => amount(await company.row('salesInvoices', id), 'discount_amount')
    await company.change('salesInvoices', id, { currencyCode: 'JPY' }, '*')
    assert.deepEqual([await prices(), await discount()], [[15_625, 5_000], 1_000])
    await company.change('salesInvoices', id, { currencyCode: 'USD' }, '*')
    assert.deepEqual([await prices(), await discount()], [[100, 32], 6.4])
  })
}
