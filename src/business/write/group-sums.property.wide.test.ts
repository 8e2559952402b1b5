/**
 * Documents with an invoice discount, after any sequence of writes, on both stores: the values read from running
 * sums equal those calculated over all lines, to the last digit, and the totals are the sums of the lines.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findRow } from '#query/rows.ts'
import type { SqlRow } from '#stores/store.ts'
import { fc } from '../../../tests/property.ts'
import { allocationShown, discountBase, documentAmounts, totalsOf } from '../amounts/document.ts'
import { documents } from '../tables.ts'
import { type BusinessFixture, dialects, openCompany } from '../testing/books.ts'
import { termsOf } from './ledger.ts'
import type { Body } from './values.ts'

type Step =
  | { readonly kind: 'add'; readonly body: Body; readonly sequence: number | undefined }
  | { readonly kind: 'change'; readonly at: number; readonly body: Body }
  | { readonly kind: 'remove'; readonly at: number }
  | { readonly kind: 'discount'; readonly percent: number }

const taxCode = fc.constantFrom('FIVE', 'ODD', 'NONE')
const figures = fc.record(
  {
    quantity: fc.integer({ min: -2, max: 9 }),
    unitPrice: fc.integer({ min: 0, max: 99_999 }).map((cents) => cents / 100),
    taxCode,
    discountPercent: fc.constantFrom(0, 0, 12.5),
  },
  { requiredKeys: ['quantity', 'unitPrice'] },
)
const at = fc.nat({ max: 999 })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      body: figures,
      sequence: fc.option(fc.integer({ min: 1, max: 60_000 }), { nil: undefined }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('change' as const),
      at,
      body: fc.oneof(
        figures,
        taxCode.map((code) => ({ taxCode: code })),
        fc.constant({ lineType: 'Comment' }),
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), at }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('discount' as const),
      percent: fc.integer({ min: 0, max: 100 }),
    }),
  },
)

async function take(books: BusinessFixture, documentId: string, given: Step): Promise<void> {
  const lines = await books.lines(documentId)
  const id = (place: number): string => String(lines[place % lines.length]?.['id'])
  switch (given.kind) {
    case 'add': {
      const isTaken = lines.some((row) => row['sequence'] === given.sequence)
      const body = {
        itemId: books.itemId,
        ...given.body,
        ...(isTaken || given.sequence === undefined ? {} : { sequence: given.sequence }),
      }
      await books.create('salesInvoiceLines', body, { documentId })
      return
    }
    case 'change':
      if (lines.length === 0) return
      // With an item, so that a comment becomes a line again.
      await books.change(
        'salesInvoiceLines',
        id(given.at),
        given.body['lineType'] === 'Comment' ? given.body : { itemId: books.itemId, ...given.body },
        '*',
      )
      return
    case 'remove':
      if (lines.length > 0) await books.remove('salesInvoiceLines', id(given.at))
      return
    case 'discount': {
      const { discount_base: base } = await books.row('salesInvoices', documentId)
      const discountAmount = (Number(base) * given.percent) / 10_000_000
      await books.change('salesInvoices', documentId, { discountAmount }, '*')
      return
    }
    default:
      given satisfies never
  }
}

const shown = [
  'invoice_discount',
  'invoice_discount_allocation',
  'net_amount',
  'net_tax_amount',
  'net_amount_including_tax',
] as const

/** The plain calculation from the values of the lines. */
async function assertAsPlain(books: BusinessFixture, documentId: string): Promise<void> {
  const document = await findRow(books.sql, documents, { id: documentId })
  assert.ok(document)
  const terms = termsOf(document)
  const rows = (await books.lines(documentId)).filter((row) => row['tax_key'] !== '')
  const lines = rows.map((row) => ({
    lineAmount: Number(row['line_amount']),
    taxKey: String(row['tax_key']),
    taxPercent: Number(row['tax_percent']),
    allowsInvoiceDiscount: row['allows_invoice_discount'] === 1,
  }))
  const cell = (row: SqlRow, column: string): number => Number(row[column])
  assert.equal(cell(document, 'discount_base'), discountBase(lines))
  const discount = Number(document['discount_amount'])
  const { shares, groups } = documentAmounts(lines, discount, terms)
  if (discount !== 0) {
    for (const [place, row] of rows.entries()) {
      const share = shares[place]
      assert.ok(share !== undefined)
      const excluding = Number(row['amount_excluding_tax'])
      const wanted = [
        share.invoiceDiscount,
        allocationShown(share, excluding, terms),
        share.net,
        share.including - share.net,
        share.including,
      ]
      assert.deepEqual(
        shown.map((column) => cell(row, column)),
        wanted,
      )
    }
  }
  const totals = totalsOf(groups.values())
  assert.deepEqual(
    ['discount_amount', 'total_amount_excluding_tax', 'total_tax_amount'].map((name) =>
      cell(document, name),
    ),
    [totals.discountAmount, totals.totalAmountExcludingTax, totals.totalTaxAmount],
  )
  const sum = (column: string): number =>
    rows.reduce((whole, row) => whole + Number(row[column]), 0)
  assert.equal(document['total_amount_excluding_tax'], sum('net_amount'))
  assert.equal(document['total_amount_including_tax'], sum('net_amount_including_tax'))
  assert.equal(document['discount_amount'], sum('invoice_discount'))
}

for (const dialect of dialects) {
  for (const pricesIncludeTax of [false, true]) {
    const kind = pricesIncludeTax ? 'prices with tax' : 'prices without tax'
    test(`${dialect}: a discount read is a discount computed, ${kind}`, async (t) => {
      await using books = await openCompany(t, dialect, {
        percents: { FIVE: 5, ODD: 6.0002, NONE: 0 },
        pricesIncludeTax,
      })
      if (books === undefined) return
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
          const documentId = await books.create('salesInvoices', {
            customerId: books.customerId,
            discountAmount: 20,
            salesInvoiceLines: [9.99, 33.33, 0.01, 120].map((unitPrice) => ({
              itemId: books.itemId,
              quantity: 1,
              unitPrice,
            })),
          })
          const seen = new Map<string, string>()
          for (const one of steps) {
            await take(books, documentId, one)
            await assertAsPlain(books, documentId)
            for (const { revision, run_block: _, ...row } of await books.lines(documentId)) {
              const content: string = JSON.stringify(row)
              const tag: string = `${row['id']};${revision}`
              assert.equal(
                seen.get(tag) ?? content,
                content,
                'a tag stands for one state of its line',
              )
              seen.set(tag, content)
            }
          }
        }),
        { numRuns: process.env['ARMATURE_TEST_LONG'] === '1' ? 300 : 25 },
      )
    })
  }
}

test('a line that carried its whole amount and becomes a comment holds none of it', async (t) => {
  await using books = await openCompany(t, 'sqlite')
  if (books === undefined) return
  const line = { itemId: books.itemId, quantity: 1 }
  const documentId = await books.create('salesInvoices', {
    customerId: books.customerId,
    salesInvoiceLines: [line, line],
  })
  await books.change('salesInvoices', documentId, { discountAmount: 200 }, '*')
  const [first] = await books.lines(documentId)
  const id = String(first?.['id'])
  await books.change('salesInvoiceLines', id, { lineType: 'Comment' }, '*')
  const comment = await books.row('salesInvoiceLines', id)
  assert.deepEqual(
    shown.map((column) => comment[column]),
    shown.map(() => 0),
  )
  await assertAsPlain(books, documentId)
})

test('blocks of running sums are filled, shifted, grown and cut anew', async (t) => {
  await using books = await openCompany(t, 'sqlite')
  if (books === undefined) return
  const { itemId } = books
  const line = { itemId, quantity: 1, unitPrice: 0.37 }
  const documentId = await books.create('salesInvoices', {
    customerId: books.customerId,
    discountAmount: 50,
    salesInvoiceLines: Array.from({ length: 300 }, () => line),
  })
  const blocks = async (): Promise<number> =>
    (await books.sql.all('select block from business_line_blocks')).length
  const add = (sequence?: number): Promise<string> =>
    books.create('salesInvoiceLines', sequence === undefined ? line : { ...line, sequence }, {
      documentId,
    })
  assert.equal(await blocks(), 3)
  for (let n = 0; n < 90; n++) await add()
  assert.equal(await blocks(), 4)
  await assertAsPlain(books, documentId)
  const all = await books.lines(documentId)
  for (const place of [0, 127, 128, 200, 389]) {
    const id = String(all[place]?.['id'])
    await books.change('salesInvoiceLines', id, { quantity: 3 }, '*')
    await assertAsPlain(books, documentId)
    await books.remove('salesInvoiceLines', id)
    await assertAsPlain(books, documentId)
  }
  // All into one block, whose length is limited.
  for (let n = 1; n <= 400; n++) await add(20_000 + n)
  await assertAsPlain(books, documentId)
  assert.equal(await blocks(), 7)
})

for (const dialect of dialects) {
  test(`${dialect}: a document discounted before running sums were kept goes on rightly`, async (t) => {
    await using books = await openCompany(t, dialect, { percents: { FIVE: 5, ODD: 6.0002 } })
    if (books === undefined) return
    const { itemId, sql } = books
    const line = (unitPrice: number) => ({ itemId, quantity: 1, unitPrice })
    for (const write of ['add', 'change', 'remove', 'discount', 'nothing'] as const) {
      const documentId = await books.create('salesInvoices', {
        customerId: books.customerId,
        discountAmount: 10,
        salesInvoiceLines: [33.33, 33.33, 33.34].map(line),
      })
      // As in the first version of the schema: shares in the rows, and nothing else.
      const rows = await books.lines(documentId)
      await sql.transact(async (tx) => {
        for (const row of rows) {
          const cells = shown.map((column) => `${column} = ${row[column]}`).join(', ')
          await tx.run(
            `update business_lines set ${cells}, run_block = 0, run_line_amount = 0, run_eligible = 0 where id = ?`,
            String(row['id']),
          )
        }
        await tx.run(
          'update business_document_tax_groups set eligible = 0, extent = 0, spread = 0 where document_id = ?',
          documentId,
        )
        await tx.run('delete from business_line_blocks where document_id = ?', documentId)
      })
      await assertAsPlain(books, documentId)
      const id = String(rows[1]?.['id'])
      if (write === 'add') await books.create('salesInvoiceLines', line(7.77), { documentId })
      if (write === 'change') await books.change('salesInvoiceLines', id, { quantity: 3 }, '*')
      if (write === 'remove') await books.remove('salesInvoiceLines', id)
      if (write === 'discount') {
        await books.change('salesInvoices', documentId, { discountAmount: 9.99 }, '*')
      }
      if (write === 'nothing') {
        await books.change('salesInvoiceLines', id, { description: 'the same' }, '*')
      }
      await assertAsPlain(books, documentId)
      await books.create('salesInvoiceLines', line(1.23), { documentId })
      await assertAsPlain(books, documentId)
    }
  })
}
