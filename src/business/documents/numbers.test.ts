/** Number series on both stores: how a company numbers its documents, and that no number is used twice. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { type BusinessFixture, dialects, openCompany } from '../testing/books.ts'

const refused = (pattern: RegExp) => (error: unknown) =>
  error instanceof ApiError && (pattern.test(error.message) || assert.fail(error.message))

for (const dialect of dialects) {
  test(`${dialect}: documents and master data are numbered as the company has it`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const { customerId, itemId } = company
    const all = await company.sql.all('select id, code from business_number_series order by code')
    const idOf = (code: string) => String(all.find((row) => row['code'] === code)?.['id'])
    assert.equal(all.length, 8)
    const change = (code: string, body: object) =>
      company.change('numberSeries', idOf(code), { ...body }, '*')
    const invoice = async () => {
      const salesInvoiceLines = [{ itemId, quantity: 1 }]
      const id = await company.create('salesInvoices', { customerId, salesInvoiceLines })
      return [id, await numberOf(company, 'salesInvoices', id)] as const
    }
    const posted = async () => {
      const [id] = await invoice()
      await company.act('salesInvoices', id, 'post')
      return await numberOf(company, 'salesInvoices', id)
    }
    assert.equal(await posted(), 'PS-INV100001')
    await change('postedInvoice', { prefix: '2026-', digits: 3, lastNumber: 41 })
    assert.equal(await posted(), '2026-042')
    // The series of drafts continues by itself.
    assert.equal((await invoice())[1], 'S-INV100003')

    // A lower number, or one that is in use, is refused, and nothing changes.
    await assert.rejects(change('postedInvoice', { lastNumber: 40 }), refused(/2026-041.*2026-042/))
    await assert.rejects(change('postedInvoice', { lastNumber: 0, digits: 2 }), refused(/2026-042/))
    await assert.rejects(
      change('postedInvoice', { prefix: 'PS-INV1', digits: 5, lastNumber: 0 }),
      refused(/PS-INV100001/),
    )
    await change('postedInvoice', { prefix: 'PS-INV1', digits: 5, lastNumber: 1 })
    assert.equal(await posted(), 'PS-INV100002')
    // Numbers of the other kind, or with other text after the prefix, do not count.
    await change('postedInvoice', { prefix: 'PS-', digits: 4, lastNumber: 0 })
    assert.equal(await posted(), 'PS-0001')

    for (const [body, pattern] of [
      [{ digits: 0 }, /digits/],
      [{ digits: 16 }, /digits/],
      [{ lastNumber: -1 }, /lastNumber/],
      [{ prefix: 'RÉ' }, /prefix/],
      [{ prefix: 'ABCDEFGHIJKLMNO', digits: 6 }, /20 characters/],
    ] as const)
      await assert.rejects(change('postedInvoice', body), refused(pattern))
    await change('postedInvoice', { prefix: 'ABCDEFGHIJKLMNO', digits: 5, lastNumber: 99_998 })
    assert.equal(await posted(), 'ABCDEFGHIJKLMNO99999')
    const [last] = await invoice()
    await assert.rejects(company.act('salesInvoices', last, 'post'), refused(/at its end/))
    assert.equal((await company.row('salesInvoices', last))['status'], 'Draft')

    await change('customer', { prefix: 'D', lastNumber: 70_000 })
    const customer = await company.create('customers', { displayName: 'Next' })
    assert.equal(await numberOf(company, 'customers', customer), 'D70001')
    // Numbers that somebody chose do not stop the series.
    await change('customer', { prefix: 'K2', digits: 2 })
    for (const number of ['K270002', 'K270003', 'K270009', 'K27000X', 'K299999999'])
      await company.create('customers', { displayName: number, number })
    const next = await company.create('customers', { displayName: 'Next' })
    assert.equal(await numberOf(company, 'customers', next), 'K270010')
  })

  test(`${dialect}: behind the last number that a series may have none is looked for`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const create = (number?: string) =>
      company.create('customers', {
        displayName: 'One',
        ...(number === undefined ? {} : { number }),
      })
    const [row] = await company.sql.all(
      "select id from business_number_series where code = 'customer'",
    )
    await company.change('numberSeries', String(row?.['id']), { lastNumber: 2_000_000_000 }, '*')
    assert.equal(await numberOf(company, 'customers', await create()), 'C2000000001')
    for (const number of ['C2000000002', 'C2000000003']) await create(number)
    await assert.rejects(create(), refused(/at its end: C2000000002 is taken/))
  })

  test(`${dialect}: numbers taken at once differ`, async (t) => {
    await using company = await openCompany(t, dialect)
    if (company === undefined) return
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, at) => company.create('customers', { displayName: `${at}` })),
    )
    const numbers = await Promise.all(made.map((id) => numberOf(company, 'customers', id)))
    assert.equal(new Set(numbers).size, 8)
    assert.equal(numbers.toSorted().at(-1), 'C00009')
  })
}

async function numberOf(company: BusinessFixture, set: string, id: string): Promise<string> {
  return String((await company.row(set, id))['number'])
}
