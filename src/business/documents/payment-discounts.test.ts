/** Discounts for early payment, on the stores in turn, by the terms of the invoice at the time of posting. */

import assert from 'node:assert/strict'
import { ApiError } from '#kernel/error.ts'
import { amount, type BusinessFixture, inTurn, openCompany } from '../testing/books.ts'
import type { Body } from '../write/values.ts'

const refused = (pattern: RegExp) => (error: unknown) =>
  error instanceof ApiError && (pattern.test(error.message) || assert.fail(error.message))

for (const { dialect, test } of inTurn()) {
  test(`${dialect}: a payment before its day closes the invoice less the discount`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const paymentTermsId = await createTerms(company)
    const { state, pay, accountOf, post } = helpers(company)
    const id = await post({ paymentTermsId })
    const { payment_discount_date: until } = await company.row('salesInvoices', id)
    assert.equal(until, '2026-12-01')
    // A later change of the terms does not affect posted invoices.
    await company.change('paymentTerms', paymentTermsId, { discountPercent: 50 }, '*')

    await pay(id, 50, '2026-11-22')
    assert.deepEqual(await state(id), ['Open', 55], 'part of it is a part of it')
    const payment = await pay(id, 52.9, '2026-12-01')
    assert.deepEqual(await state(id), ['Paid', 0])
    assert.equal(amount(await company.row('customerPayments', payment), 'payment_discount'), 2.1)
    assert.equal(await accountOf('4950'), 2.1)
    assert.equal(await accountOf('1000'), 102.9)
    assert.equal(await accountOf('1200'), 0)
    await checkBalance(company)

    // The payment is reverted, and with it the discount. A late payment is due in full.
    await assert.rejects(pay(id, -103, '2026-12-02'), refused(/102.9 was paid/))
    await pay(id, -52.9, '2026-12-02')
    assert.deepEqual(await state(id), ['Open', 55])
    assert.equal(await accountOf('4950'), 0)
    await pay(id, 52.9, '2026-12-02')
    assert.deepEqual(await state(id), ['Open', 2.1])
    await pay(id, 2.1, '2026-12-02')
    assert.deepEqual(await state(id), ['Paid', 0])
    await checkBalance(company)
  })

  test(`${dialect}: no more is taken off than the terms say, of what was not credited`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const paymentTermsId = await createTerms(company)
    const { state, pay, post, accountOf } = helpers(company)
    const one = await post({ paymentTermsId })
    await pay(one, 102.89, '2026-11-22')
    assert.deepEqual(await state(one), ['Open', 2.11], 'a cent too little')

    const other = await post({ paymentTermsId })
    const credit = async (quantity: number, unitPrice: number) => {
      const memo = await company.create('salesCreditMemos', {
        customerId: company.customerId,
        invoiceId: other,
        salesCreditMemoLines: [{ itemId: company.itemId, quantity, unitPrice }],
      })
      await company.act('salesCreditMemos', memo, 'post')
    }
    await credit(1, 50)
    assert.deepEqual(await state(other), ['Open', 52.5])
    await pay(other, 51.45, '2026-11-22')
    assert.deepEqual(await state(other), ['Paid', 0], 'two percent of 52.50')
    assert.equal(await accountOf('4950'), 1.05)
    // Only what was paid can be credited.
    await assert.rejects(credit(1, 50), refused(/51.45 is left/))
    await credit(1, 49)
    await checkBalance(company)

    const without = await post({})
    await pay(without, 104, '2026-11-22')
    assert.deepEqual(await state(without), ['Open', 1], 'terms without a discount')
  })

  test(`${dialect}: in another currency, and out of a journal, the entries add up`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const paymentTermsId = await createTerms(company)
    const { state, pay, post, accountOf } = helpers(company)
    const currencyId = await company.create('currencies', { code: 'EUR', displayName: 'Euro' })
    for (const [startingDate, rate] of [
      ['2026-01-01', 1.1],
      ['2026-11-25', 1.25],
    ] as const) {
      const relational = { relationalExchangeRateAmount: rate }
      await company.create('currencyExchangeRates', { currencyId, startingDate, ...relational })
    }
    const id = await post({ paymentTermsId, currencyCode: 'EUR' }, 33.33)
    const [, total] = await state(id)
    const off = Math.round(Number(total) * 2) / 100
    const journalId = await company.create('customerPaymentJournals', { code: 'BANK' })
    await pay(id, Math.round((Number(total) - off) * 100) / 100, '2026-11-26', { journalId })
    assert.equal((await state(id))[0], 'Open')
    await company.act('customerPaymentJournals', journalId, 'post')
    assert.deepEqual(await state(id), ['Paid', 0])
    assert.equal(await accountOf('1200'), 0)
    assert.ok((await accountOf('4950')) > 0)
    assert.ok((await accountOf('7100')) < 0, 'the rate rose')
    await checkBalance(company)
  })
}

function createTerms(company: BusinessFixture): Promise<string> {
  return company.create('paymentTerms', {
    code: '2-10',
    displayName: '2 % in 10 days',
    dueDateCalculation: '30D',
    discountDateCalculation: '10D',
    discountPercent: 2,
  })
}

function helpers(company: BusinessFixture) {
  const { customerId, itemId } = company
  return {
    post: async (body: Body, unitPrice = 100) => {
      const salesInvoiceLines = [{ itemId, quantity: 1, unitPrice }]
      const id = await company.create('salesInvoices', { customerId, salesInvoiceLines, ...body })
      await company.act('salesInvoices', id, 'post')
      return id
    },
    pay: (appliesToInvoiceId: string, sum: number, postingDate: string, body: Body = {}) =>
      company.create('customerPayments', { appliesToInvoiceId, amount: sum, postingDate, ...body }),
    state: async (id: string) => {
      const row = await company.row('salesInvoices', id)
      return [row['status'], amount(row, 'remaining_amount')]
    },
    accountOf: async (number: string) => {
      const [row] = await company.sql.all(
        'select net_change from business_accounts where company_id = ? and number = ?',
        company.companyId,
        number,
      )
      return Number(row?.['net_change']) / 100_000
    },
  }
}

/** The ledger balances, and the customers' balances equal the sums of their entries and of what is open. */
async function checkBalance({ sql }: BusinessFixture): Promise<void> {
  const [ledger] = await sql.all(
    'select sum(debit_amount) as debit, sum(credit_amount) as credit from business_general_ledger_entries',
  )
  assert.equal(Number(ledger?.['debit']), Number(ledger?.['credit']))
  const [owed] = await sql.all('select sum(balance_due) as due from business_customers')
  const [entries] = await sql.all(
    'select sum(amount_local) as due from business_customer_ledger_entries',
  )
  assert.equal(Number(owed?.['due']), Number(entries?.['due']))
}
