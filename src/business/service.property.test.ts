/** Whatever is sent, the answer is below 500, and documents stay what their lines are. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { businessModel } from './model.ts'
import { createBusiness } from './service.ts'
import { openBooks } from './testing/books.ts'

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

test('fuzzed lines: never a fault, and totals are the sums of the lines', async (t) => {
  await using books = await openBooks(t, 'sqlite', { percents: { A: 5, B: 19 } })
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
  const place = fc.constantFrom('line', 'list', 'document', 'delete', 'batch', 'filter')
  let accepted = 0
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
        const [method, path, search] =
          kind === 'list'
            ? ['POST', list, '']
            : kind === 'document'
              ? ['PATCH', `${at}/salesInvoices(${documentId})`, '']
              : kind === 'delete'
                ? ['DELETE', line, '']
                : kind === 'batch'
                  ? ['POST', '$batch', '']
                  : kind === 'filter'
                    ? [
                        'GET',
                        list,
                        `$filter=${encodeURIComponent(text)}&$orderby=${encodeURIComponent(text)}`,
                      ]
                    : ['PATCH', line, '']
        const whole =
          kind === 'batch'
            ? {
                requests: [
                  {
                    method: 'POST',
                    id: '1',
                    url: list,
                    headers: { 'content-type': 'application/json' },
                    body: sent,
                  },
                  sent,
                ],
              }
            : sent
        const answer = await business.handle({
          method,
          version: pick % 2 === 0 ? 'v2.0' : 'v1.0',
          path,
          search,
          headers: { 'if-match': '*', 'content-type': 'application/json' },
          body: method === 'GET' ? undefined : new TextEncoder().encode(JSON.stringify(whole)),
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
})
