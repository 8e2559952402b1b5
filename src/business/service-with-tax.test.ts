/** The contract's endpoint table, both versions and both stores, for customers whose prices include tax. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dialects, openCompany } from './testing/books.ts'
import { caller, type Json } from './testing/caller.ts'

function assertShows(json: Json, wanted: Json): void {
  assert.deepEqual(
    Object.fromEntries(Object.keys(wanted).map((name) => [name, json[name]])),
    wanted,
  )
}

/** 3 x 54.90, which includes 5 %. */
const amounts = {
  amountExcludingTax: 156.86,
  totalTaxAmount: 7.84,
  amountIncludingTax: 164.7,
  netAmount: 156.86,
  netTaxAmount: 7.84,
  netAmountIncludingTax: 164.7,
  taxPercent: 5,
}

for (const dialect of dialects) {
  test(`${dialect}: the contract's rows with prices that hold the tax`, async (t) => {
    await using books = await openCompany(t, dialect, {
      pricesIncludeTax: true,
      percents: { FURNITURE: 5, TEN: 10 },
    })
    if (books === undefined) return
    const call = caller(books)
    const { itemId, customerId } = books
    const input = { itemId, lineType: 'Item', unitPrice: 54.9, quantity: 3, taxCode: 'FURNITURE' }
    for (const type of ['salesInvoice', 'salesQuote', 'salesCreditMemo']) {
      const document = await call(201, 'v2.0', 'POST', `${type}s`, { customerId })
      const own = `${type}s(${document['id']})`
      const line = await call(201, 'v2.0', 'POST', `${own}/${type}Lines`, input)
      assertShows(line, amounts)
      const key = type === 'salesInvoice' ? '' : `(${line['id']})`
      const flat = { ...input, documentId: document['id'] }
      const second = await call(201, 'v2.0', 'POST', `${type}Lines${key}`, flat)
      // 329.40 includes 15.69 of tax, of which the first line has 7.84.
      assertShows(second, { ...amounts, netAmount: 156.85, netTaxAmount: 7.85 })
      assertShows(await call(200, 'v2.0', 'GET', own), {
        totalAmountExcludingTax: 313.71,
        totalTaxAmount: 15.69,
        totalAmountIncludingTax: 329.4,
      })
      await call(204, 'v2.0', 'DELETE', `${type}Lines(${second['id']})`)
      for (const path of [`${own}/${type}Lines(${line['id']})`, `${type}Lines(${line['id']})`]) {
        assertShows(await call(200, 'v2.0', 'GET', path), amounts)
      }
      const old = `${own}/${type}Lines('${document['id']}-10000')`
      const seen = await call(200, 'v1.0', 'GET', old)
      assertShows(seen, amounts)

      // A discount of 10 out of 164.70.
      const discounted = await call(200, 'v2.0', 'PATCH', own, { discountAmount: 10 })
      assertShows(discounted, {
        discountAmount: 10,
        totalAmountExcludingTax: 147.33,
        totalTaxAmount: 7.37,
        totalAmountIncludingTax: 154.7,
      })
      const shared = await call(200, 'v1.0', 'GET', old)
      assertShows(shared, {
        ...amounts,
        netAmount: 147.33,
        netTaxAmount: 7.37,
        netAmountIncludingTax: 154.7,
        ...(type === 'salesQuote' ? {} : { invoiceDiscountAllocation: 9.53 }),
      })
      // Values that are calculated when a line is read can be selected, too.
      const lines = `${own}/${type}Lines`
      for (const [path, filter] of [
        [lines, 'netAmount eq ?'],
        [`${type}s`, `${type}Lines/any(l:l/netAmount eq ?)`],
        [`${type}s`, `${type}Lines/all(l:not (l/netAmount ne ?)) and ${type}Lines/any()`],
      ] as const) {
        for (const [value, count] of [
          [147.33, 1],
          [156.86, 0],
        ] as const) {
          const search = `$filter=${filter.replace('?', String(value))}&$orderby=id&$count=true`
          const list = await call(200, 'v2.0', 'GET', `${path}?${search}`)
          assert.equal(list['@odata.count'], count, search)
          assert.equal((list['value'] as readonly unknown[]).length, count, search)
        }
      }
      const ordered = await call(
        200,
        'v2.0',
        'GET',
        `${lines}?$orderby=netTaxAmount desc&$select=id`,
      )
      assert.equal((ordered['value'] as readonly unknown[]).length, 1)
      // The share changed, and with it the line's tag.
      const stale = String(seen['@odata.etag'])
      await call(412, 'v1.0', 'PATCH', old, { quantity: 9 }, stale)
      const fresh = String(shared['@odata.etag'])
      const changed = await call(200, 'v1.0', 'PATCH', old, { quantity: 2 }, fresh)
      assertShows(changed, {
        amountExcludingTax: 104.57,
        amountIncludingTax: 109.8,
        netAmount: 104.57,
        netAmountIncludingTax: 109.8,
      })
      // The line lost its amounts (business facts 5.5).
      assertShows(await call(200, 'v2.0', 'GET', own), { discountAmount: 0 })
      // The price without tax is kept (business facts 5.4).
      const taxed = await call(200, 'v2.0', 'PATCH', `${type}Lines(${line['id']})`, {
        taxCode: 'TEN',
      })
      assertShows(taxed, { unitPrice: 57.51429, taxPercent: 10, amountIncludingTax: 115.03 })
    }
  })
}
