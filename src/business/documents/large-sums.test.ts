/**
 * Sums of accounts beyond what a number represents exactly: nobody can stop a company's posting by a few payments.
 */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Sql, SqlRow } from '#stores/store.ts'
import { restoreState, type StateOptions, saveState } from '../../control/state.ts'
import { createBusiness } from '../service.ts'
import { dialects, openCompany } from '../testing/books.ts'

const largest = 9_999_999_999
/** Enough that a sum in cents exceeds the exact range of a number. */
const pairs = 75
const owner = '11111111-1111-1111-1111-111111111111'

/** The exact sums of each account. */
async function sumsOf(sql: Sql): Promise<readonly SqlRow[]> {
  const sums = ['net_change', 'total_debit', 'total_credit', 'balance_debit', 'balance_credit']
  const texts = sums.map((name) => `cast(${name} as text) as ${name}`).join(', ')
  return sql.all(`select id, ${texts} from business_accounts order by id`)
}

for (const dialect of dialects) {
  test(`${dialect}: accounts take more than nine of the largest payments, and are read, ordered and changed`, async (t) => {
    await using opened = await openCompany(t, dialect)
    if (opened === undefined) return
    const business = createBusiness({
      sql: opened.sql,
      clock: { now: () => Date.UTC(2026, 10, 21) },
      ids: { uuid: () => randomUUID(), secret: () => 'x' },
      namespace: 'Vendor',
      publicUrl: () => 'http://host',
      conflictStatus: 412,
      groupsOf: async () => [],
      administers: async () => true,
    })
    const company = `companies(${opened.companyId})`
    const call = async (method: string, address: string, body?: object) => {
      const [path = '', search = ''] = address.split('?')
      const answer = await business.handle({
        method,
        version: 'v2.0',
        path: `${company}/${path}`,
        search,
        headers: { 'content-type': 'application/json', 'if-match': '*' },
        body: body === undefined ? undefined : new TextEncoder().encode(JSON.stringify(body)),
        principal: {
          id: owner,
          type: 'User',
          tenantId: 't',
          displayName: 'o',
          clientId: owner,
          groups: [],
        },
        correlationId: 'c0ffee',
      })
      assert.ok(answer.status < 300, answer.body)
      return JSON.parse(answer.body ?? '{}')
    }
    const pay = (customerId: string, amount: number) =>
      call('POST', 'customerPayments', { customerId, amount })
    for (let at = 0; at < 12; at++) {
      const { id } = await call('POST', 'customers', { displayName: `Customer ${at}` })
      await pay(id, largest)
    }
    for (let at = 0; at < pairs; at++) {
      await pay(opened.customerId, largest)
      await pay(opened.customerId, -largest)
    }
    await pay(opened.customerId, 1)
    await pay(opened.customerId, 0.01)
    const sums = await sumsOf(opened.sql)
    // 87 times the largest payment and 1.01, in hundred-thousandths: no number represents it exactly.
    assert.ok(
      sums.some((row) => row['total_debit'] === '86999999991401000'),
      JSON.stringify(sums),
    )
    const options: StateOptions = {
      store: opened.store,
      owner: async () => ({ tenantId: 't', subscriptionId: 's', keyProof: 'k' }),
      reconciledTypes: () => [],
      follows: [],
      now: () => 0,
      clock: () => undefined,
    }
    const saved = await saveState(options)
    await pay(opened.customerId, 2)
    await restoreState(options, saved)
    assert.deepEqual(await sumsOf(opened.sql), sums)
    const filter = '$filter=netChange gt 100000000000&$orderby=netChange desc'
    const { value } = await call('GET', `accounts?${filter}`)
    assert.equal(value.length, 1)
    const [bank] = value
    assert.equal(bank.netChange, 12 * largest + 1.01)
    const [balance] = (await call('GET', `trialBalances?$filter=number eq '${bank.number}'`)).value
    assert.equal(balance.totalDebit, (12 + pairs) * largest + 1.01)
    assert.equal(balance.totalCredit, pairs * largest)
    assert.equal(balance.balanceAtDateDebit, 12 * largest + 1.01)
    const changed = await call('PATCH', `accounts(${bank.id})`, { displayName: 'Bank, full' })
    assert.equal(changed.netChange, bank.netChange)
    const expanded = await call(
      'GET',
      `postingAccounts?$expand=account&$filter=accountId eq ${bank.id}`,
    )
    assert.equal(expanded.value[0].account.netChange, bank.netChange)
  })
}

for (const dialect of dialects) {
  test(`${dialect}: amounts that cancel out fill no account`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const { create, act, customerId } = company
    const accounts = await Promise.all(
      ['Charged', 'Given back'].map((displayName, at) =>
        create('accounts', { number: `99${at}`, displayName }),
      ),
    )
    await create('currencies', { code: 'XLA' })
    await create('currencyExchangeRates', {
      currencyCode: 'XLA',
      startingDate: '2020-01-01',
      relationalExchangeRateAmount: 777.77777,
    })
    const invoice = (amount: number, header: object = {}) =>
      create('salesInvoices', {
        customerId,
        ...header,
        salesInvoiceLines: [amount, 1 - amount].map((unitPrice, at) => ({
          lineType: 'Account',
          accountId: accounts[at],
          quantity: Math.sign(unitPrice),
          unitPrice: Math.abs(unitPrice),
        })),
      })
    const before = await sumsOf(company.sql)
    for (const id of [
      await invoice(largest),
      await invoice(largest, { currencyCode: 'XLA' }),
      await invoice(10_000_000, { currencyCode: 'XLA' }),
    ]) {
      await assert.rejects(act('salesInvoices', id, 'post'), /more than ten digits/)
    }
    assert.deepEqual(await sumsOf(company.sql), before)
    await act('salesInvoices', await invoice(4_000_000_000), 'post')
    await act('salesInvoices', await invoice(1_000_000, { currencyCode: 'XLA' }), 'post')
  })
}
