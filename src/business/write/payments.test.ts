/** Payment journals, and the balances of customers by how overdue they are, on the stores in turn. */

import assert from 'node:assert/strict'
import { ApiError } from '#kernel/error.ts'
import { amount, fixtureNow, inTurn, openCompany } from '../testing/books.ts'
import { caller, type Json } from '../testing/caller.ts'

const code = (wanted: string) => (error: unknown) =>
  error instanceof ApiError &&
  (error.code === wanted || assert.fail(`${error.code}: ${error.message}`))

type Company = NonNullable<Awaited<ReturnType<typeof openCompany>>>

async function posted(company: Company, more: Readonly<Record<string, unknown>> = {}) {
  const id = await company.create('salesInvoices', {
    customerId: company.customerId,
    salesInvoiceLines: [{ itemId: company.itemId, quantity: 1 }],
    ...more,
  })
  await company.act('salesInvoices', id, 'post')
  return id
}

/** Debits less credits by account number, and their total. */
async function balances({ sql, companyId }: Company) {
  const rows = await sql.all(
    `select account_number, sum(debit_amount - credit_amount) as balance
       from business_general_ledger_entries where company_id = ? group by account_number`,
    companyId,
  )
  const found = rows.map((row) => [row['account_number'], amount(row, 'balance')] as const)
  assert.equal(
    found.reduce((sum, [, one]) => sum + one, 0),
    0,
  )
  return Object.fromEntries(found)
}

for (const { dialect, test } of inTurn()) {
  test(`${dialect}: a journal's payments wait, are changed, and are posted together or not at all`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const { customerId } = company
    const first = await posted(company)
    const second = await posted(company)
    const petty = await company.create('accounts', { number: '1010', displayName: 'Petty cash' })
    const journal = await company.create('customerPaymentJournals', {
      code: 'general',
      displayName: 'General',
      balancingAccountNumber: '1010',
    })
    const row = await company.row('customerPaymentJournals', journal)
    assert.deepEqual([row['code'], row['balancing_account_id']], ['GENERAL', petty])
    await assert.rejects(
      company.act('customerPaymentJournals', journal, 'post'),
      code('Application_DialogException'),
      'an empty journal',
    )
    const owed = async () => amount(await company.row('customers', customerId), 'balance_due')
    const draft = (body: Readonly<Record<string, unknown>>) =>
      company.create('customerPayments', { journalId: journal, ...body })
    const one = await draft({ appliesToInvoiceId: first, amount: 100 })
    const two = await draft({ appliesToInvoiceId: second, amount: 106 })
    const three = await draft({ customerId, amount: 7, lineNumber: 15_000 })
    assert.equal(await owed(), 210, 'nothing is booked yet')
    const numberOf = async (id: string) =>
      (await company.row('customerPayments', id))['line_number']
    assert.deepEqual([await numberOf(one), await numberOf(two)].map(Number), [10_000, 20_000])

    // The second payment exceeds its invoice, so none is posted.
    await assert.rejects(
      company.act('customerPaymentJournals', journal, 'post'),
      code('Application_FieldValidationException'),
    )
    assert.equal(await owed(), 210)
    await assert.rejects(draft({ customerId, amount: 1, lineNumber: 10_000 }), /10000/)
    await assert.rejects(
      draft({ customerId, amount: 0 }),
      code('BadRequest_RequiredParamNotProvided'),
    )
    await assert.rejects(
      company.create('customerPayments', { journalId: first, customerId, amount: 1 }),
      code('Internal_RecordNotFound'),
      'no journal has this id',
    )
    const tag = await company.tag('customerPayments', two)
    await company.change('customerPayments', two, { amount: 105, comment: 'by cheque' }, tag)
    await assert.rejects(
      company.change('customerPayments', two, { amount: 1 }, tag),
      code('Request_EntityChanged'),
      'a stale tag',
    )
    const other = await company.create('customers', { displayName: 'Other' })
    await assert.rejects(
      company.change(
        'customerPayments',
        two,
        { customerId: other, appliesToInvoiceId: second },
        '*',
      ),
      code('Application_FieldValidationException'),
    )
    await company.change('customerPayments', three, { lineNumber: 30_000 }, '*')
    const last = await draft({ customerId, amount: 99, lineNumber: 2 ** 31 - 1 })
    await assert.rejects(draft({ customerId, amount: 1 }), /no number left behind its last/)
    await company.remove('customerPayments', last)

    await company.act('customerPaymentJournals', journal, 'post')
    assert.equal(await owed(), -2)
    const states = await Promise.all(
      [first, second].map(async (id) => {
        const invoice = await company.row('salesInvoices', id)
        return [invoice['status'], amount(invoice, 'remaining_amount')]
      }),
    )
    assert.deepEqual(states, [
      ['Open', 5],
      ['Paid', 0],
    ])
    const { '1010': cash, '1000': bank = 0, '1200': receivables } = await balances(company)
    assert.deepEqual([cash, bank, receivables], [212, 0, -2])
    await assert.rejects(
      company.change('customerPayments', two, { amount: 1 }, '*'),
      code('Application_DialogException'),
      'what is posted stays',
    )
    await assert.rejects(
      company.remove('customerPayments', two),
      code('Application_DialogException'),
    )
    // A draft that is deleted with its journal was never posted. Posted payments stay.
    await draft({ customerId, amount: 50 })
    await company.remove('customerPaymentJournals', journal)
    const [left] = await company.sql.all('select count(*) as n from business_customer_payments')
    assert.equal(Number(left?.['n']), 3)
    assert.equal(await owed(), -2)
  })

  test(`${dialect}: a draft that takes back counts only what was booked`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const id = await posted(company)
    const journal = await company.create('customerPaymentJournals', { code: 'J' })
    await company.create('customerPayments', {
      journalId: journal,
      appliesToInvoiceId: id,
      amount: 50,
    })
    await assert.rejects(
      company.create('customerPayments', { appliesToInvoiceId: id, amount: -50 }),
      code('Application_FieldValidationException'),
    )
    await company.act('customerPaymentJournals', journal, 'post')
    await company.create('customerPayments', { appliesToInvoiceId: id, amount: -50 })
    const row = await company.row('salesInvoices', id)
    assert.deepEqual([row['status'], amount(row, 'remaining_amount')], ['Open', 105])
  })

  test(`${dialect}: what is owed by how late it is adds up to the balance`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const { customerId } = company
    const day = (ago: number) => new Date(fixtureNow - ago * 86_400_000).toISOString().slice(0, 10)
    // Far from the edges, so that no midnight decides.
    const [open = '', late = '', , oldest = ''] = await Promise.all(
      [-5, 10, 45, 90].map((ago) => posted(company, { dueDate: day(ago) })),
    )
    const currencyId = await company.create('currencies', {
      code: 'JPY',
      displayName: 'Yen',
      amountRoundingPrecision: 1,
    })
    await company.create('currencyExchangeRates', {
      currencyId,
      startingDate: '2020-01-01',
      exchangeRateAmount: 100,
      relationalExchangeRateAmount: 0.64,
    })
    await posted(company, { currencyId, dueDate: day(11) })
    await company.create('customerPayments', { appliesToInvoiceId: late, amount: 5 })
    await company.create('customerPayments', { appliesToInvoiceId: oldest, amount: 105 })
    await company.create('customerPayments', { customerId, amount: 30 })
    // A draft has no balance.
    await company.create('salesInvoices', {
      customerId,
      dueDate: day(80),
      salesInvoiceLines: [{ itemId: company.itemId, quantity: 9 }],
    })
    const row = await company.row('agedAccountsReceivables', customerId)
    const columns = ['period_1', 'period_2', 'period_3', 'current_amount', 'balance_due']
    const [yen = 0] = (
      await company.sql.all(
        "select amount_local from business_customer_ledger_entries where currency_code = 'JPY'",
      )
    ).map((one) => amount(one, 'amount_local'))
    const told = columns.map((column) => amount(row, column))
    assert.deepEqual(told, [100 + yen, 105, 0, 75, 280 + yen])
    const details = await company.row('customerFinancialDetails', customerId)
    assert.equal(amount(details, 'overdue'), 205 + yen)
    await company.act('salesInvoices', open, 'cancel')
    const after = await company.row('customerFinancialDetails', customerId)
    assert.equal(amount(details, 'total_sales') - amount(after, 'total_sales'), 100)
  })

  test(`${dialect}: journals, and what is late, by their addresses`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const { customerId } = company
    const invoice = await posted(company, { dueDate: '2001-01-01' })
    const call = caller(company)
    const { id, code: made } = await call(201, 'v2.0', 'POST', 'customerPaymentJournals', {
      code: 'BANK',
    })
    assert.equal(made, 'BANK')
    const within = `customerPaymentJournals(${id})/customerPayments`
    const body = { appliesToInvoiceId: invoice, amount: 40 }
    const draft = await call(201, 'v2.0', 'POST', within, body)
    const { journalId, lineNumber, customerId: payer } = draft
    assert.deepEqual([journalId, lineNumber, payer], [id, 10_000, customerId])
    await call(200, 'v1.0', 'PATCH', `customerPayments(${draft['id']})`, { amount: 5 })
    const listed = await call(200, 'v2.0', 'GET', `${within}?$expand=customerPaymentJournal`)
    assert.deepEqual(
      (listed['value'] as readonly Json[]).map((one) => [
        one['amount'],
        (one['customerPaymentJournal'] as Json)['code'],
      ]),
      [[5, 'BANK']],
    )
    const clerk = '22222222-2222-4222-8222-222222222222'
    await call(201, 'v2.0', 'POST', 'accessRights', { principalId: clerk, role: 'sales' })
    const asClerk = caller(company, clerk)
    await asClerk(201, 'v2.0', 'POST', within, { customerId, amount: 1 })
    const post = `customerPaymentJournals(${id})/Vendor.NAV.post`
    await asClerk(403, 'v2.0', 'POST', post)
    await asClerk(403, 'v2.0', 'PATCH', `customerPaymentJournals(${id})`, { displayName: 'mine' })
    await call(204, 'v2.0', 'POST', post)
    assert.deepEqual((await call(200, 'v2.0', 'GET', within))['value'], [])

    await company.create('customerPayments', { customerId, amount: 2, postingDate: '2027-01-01' })
    const trial = async (filter: string) => {
      const address = `trialBalances?$filter=number eq '1200'${filter}&$count=true`
      const answer = await call(200, 'v2.0', 'GET', address)
      const [row = {}] = answer['value'] as readonly Json[]
      assert.equal(answer['@odata.count'], 1)
      const { totalDebit, totalCredit, balanceAtDateDebit, balanceAtDateCredit, dateFilter } = row
      return [totalDebit, totalCredit, balanceAtDateDebit, balanceAtDateCredit, dateFilter]
    }
    const none = '0001-01-01'
    assert.deepEqual(await trial(''), [105, 8, 97, 0, none])
    const until = ' and dateFilter ge 2026-01-01 and dateFilter le 2026-12-31'
    assert.deepEqual(await trial(until), [105, 6, 99, 0, '2026-12-31'])
    const from = ' and dateFilter gt 2026-12-31'
    assert.deepEqual(await trial(from), [0, 2, 97, 0, '9999-12-31'])
    assert.deepEqual(await trial(' and dateFilter eq 2027-01-01'), [0, 2, 97, 0, '2027-01-01'])
    const early = ' and 2026-01-01 gt dateFilter and totalDebit eq 0'
    assert.deepEqual(await trial(early), [0, 0, 0, 0, '2025-12-31'])
    await call(200, 'v1.0', 'GET', 'trialBalances?$filter=dateFilter eq 2026-11-21')
    await call(201, 'v2.0', 'POST', 'customerPayments', { customerId, amount: -2 })

    const late = await call(200, 'v2.0', 'GET', `agedAccountsReceivables(${customerId})`)
    const { name, period3Amount, currentAmount, balanceDue, periodLengthFilter } = late
    assert.deepEqual(
      [name, period3Amount, currentAmount, balanceDue, periodLengthFilter],
      ['Adatum', 100, -1, 99, '30D'],
    )
    const found = await call(
      200,
      'v2.0',
      'GET',
      'agedAccountsReceivables?$filter=period3Amount gt 99 and currentAmount lt 0&$orderby=period3Amount&$count=true',
    )
    assert.equal(found['@odata.count'], 1)
    const expanded = await call(
      200,
      'v2.0',
      'GET',
      `customers(${customerId})?$expand=customerFinancialDetail,agedAccountsReceivable`,
    )
    const { customerFinancialDetail: details } = expanded as { customerFinancialDetail: Json }
    const { balance, overdueAmount, totalSalesExcludingTax } = details
    assert.deepEqual([balance, overdueAmount, totalSalesExcludingTax], [99, 100, 100])
    const old = `customers(${customerId})?$expand=customerFinancialDetails`
    const [first] = (await call(200, 'v1.0', 'GET', old))['customerFinancialDetails'] as Json[]
    assert.equal(first?.['overdueAmount'], 100)
    await call(405, 'v2.0', 'PATCH', `customerFinancialDetails(${customerId})`, { balance: 0 })
  })
}
