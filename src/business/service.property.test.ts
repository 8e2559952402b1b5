/** Whatever is sent, the status is below 500, and documents stay consistent with their lines. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { fc } from '../../tests/property.ts'
import { businessModel } from './model.ts'
import { createBusiness } from './service.ts'
import { openCompany } from './testing/books.ts'

const number = fc.oneof(
  fc.constantFrom<unknown>(
    0,
    -1,
    0.005,
    1e10,
    -1e10,
    9_999_999_999,
    1e-7,
    1e300,
    '12.5',
    'x',
    null,
    true,
  ),
  fc.double(),
  fc.integer({ min: -1000, max: 1000 }),
)
const names = [
  ...new Set(businessModel.entities.flatMap(({ fields }) => fields.map(({ name }) => name))),
]

for (const pricesIncludeTax of [false, true]) {
  const kind = pricesIncludeTax ? 'prices with tax' : 'prices without tax'
  test(`fuzzed lines, ${kind}: never a fault, totals are the sums of the lines`, (t) =>
    fuzz(t, pricesIncludeTax))
}

async function fuzz(t: TestContext, pricesIncludeTax: boolean): Promise<void> {
  await using books = await openCompany(t, 'sqlite', {
    percents: { A: 5, B: 19 },
    pricesIncludeTax,
  })
  if (books === undefined) return
  const business = createBusiness({
    sql: books.sql,
    clock: { now: () => 0 },
    ids: { uuid: () => randomUUID(), secret: () => 'x' },
    namespace: 'Vendor',
    publicUrl: () => 'http://host',
    conflictStatus: 409,
    groupsOf: async () => [],
    administers: async () => true,
  })
  const documentId = await books.create('salesInvoices', { customerId: books.customerId })
  const value = fc.oneof(
    number,
    fc.constantFrom<unknown>(
      books.itemId,
      documentId,
      'Item',
      'Comment',
      'Account',
      'A',
      'B',
      'PCS',
      '*',
      {},
      [],
      { code: 'PCS' },
    ),
    fc.string({ maxLength: 8 }),
  )
  const sane = fc.oneof(
    { arbitrary: fc.integer({ min: -500, max: 50_000 }).map((n) => n / 100), weight: 9 },
    { arbitrary: number, weight: 1 },
  )
  const percent = fc.integer({ min: 0, max: 101 })
  const likely = fc.record(
    {
      itemId: fc.constant(books.itemId),
      quantity: sane,
      unitPrice: sane,
      discountPercent: percent,
      discountAmount: sane,
      taxCode: fc.constantFrom('A', 'B', 'C'),
    },
    { requiredKeys: [] },
  )
  const body = fc.oneof(
    { arbitrary: likely, weight: 3 },
    { arbitrary: fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 5 }), weight: 1 },
  )
  const place = fc.constantFrom(
    'line',
    'list',
    'document',
    'discount',
    'delete',
    'batch',
    'group',
    'filter',
  )
  let accepted = 0
  let discounted = 0
  await fc.assert(
    fc.asyncProperty(
      place,
      body,
      fc.nat(),
      fc.string({ maxLength: 30 }),
      async (kind, sent, pick, text) => {
        const at = `companies(${books.companyId})`
        const lines = await books.lines(documentId)
        const line = `${at}/salesInvoiceLines(${lines[pick % Math.max(lines.length, 1)]?.['id'] ?? randomUUID()})`
        const list = `${at}/salesInvoices(${documentId})/salesInvoiceLines`
        const document = `${at}/salesInvoices(${documentId})`
        const wholeText = encodeURIComponent(text)
        const post = (id: string, own: unknown, group: object) => ({
          method: 'POST',
          id,
          url: list,
          headers: { 'content-type': 'application/json' },
          body: own,
          ...group,
        })
        const asked: Record<typeof kind, [string, string, unknown, string?]> = {
          line: ['PATCH', line, sent],
          list: ['POST', list, sent],
          document: ['PATCH', document, sent],
          discount: ['PATCH', document, { discountAmount: pick % 1_000 }],
          delete: ['DELETE', line, undefined],
          batch: ['POST', '$batch', { requests: [post('1', sent, {}), sent] }],
          group: [
            'POST',
            '$batch',
            {
              requests: [
                post(
                  '1',
                  { itemId: books.itemId, quantity: 1, unitPrice: 0.07 },
                  { atomicityGroup: 'a' },
                ),
                post('2', sent, { atomicityGroup: 'a' }),
              ],
            },
          ],
          filter: ['GET', list, undefined, `$filter=${wholeText}&$orderby=${wholeText}`],
        }
        const [method, path, whole, search = ''] = asked[kind]
        const answer = await business.handle({
          method,
          version: pick % 2 === 0 ? 'v2.0' : 'v1.0',
          path,
          search,
          headers: { 'if-match': '*', 'content-type': 'application/json' },
          body: whole === undefined ? undefined : new TextEncoder().encode(JSON.stringify(whole)),
          principal: {
            id: randomUUID(),
            type: 'User',
            tenantId: 't',
            displayName: 'x',
            clientId: 'x',
            groups: [],
          },
          correlationId: 'c',
        })
        assert.ok(answer.status < 500, `${method} ${path} ${JSON.stringify(whole)}: ${answer.body}`)
        if (answer.status < 300) accepted++
        if (kind === 'discount' && answer.status === 200) discounted++
        const header = await books.row('salesInvoices', documentId)
        const rows = await books.lines(documentId)
        const sum = (column: string) => rows.reduce((total, row) => total + Number(row[column]), 0)
        assert.equal(header['total_amount_excluding_tax'], sum('net_amount'))
        assert.equal(header['total_amount_including_tax'], sum('net_amount_including_tax'))
        assert.equal(header['discount_amount'], sum('invoice_discount'))
      },
    ),
    { numRuns: 600 },
  )
  assert.ok(accepted > 100, `${accepted} were accepted`)
  assert.ok(discounted > 10, `${discounted} discounts were set`)
}
