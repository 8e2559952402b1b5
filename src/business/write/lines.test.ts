/** Lines written, on the stores in turn: the contract's numbers, defaults, refusals, tags, and the resulting sums. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { insertRow } from '#query/rows.ts'
import { documentTaxGroups } from '../tables.ts'
import { amount, type BusinessFixture, inTurn, openCompany } from '../testing/books.ts'

const code = (wanted: string) => (error: unknown) =>
  error instanceof ApiError &&
  (error.code === wanted || assert.fail(`${error.code}: ${error.message}`))

async function invoice(books: BusinessFixture): Promise<string> {
  return await books.create('salesInvoices', { customerId: books.customerId })
}

/** Header totals equal the sums of the lines, and every tax group is right to the cent. */
async function assertSums(books: BusinessFixture, set: string, id: string): Promise<void> {
  const header = await books.row(set, id)
  const sums = { net: 0, including: 0, discount: 0 }
  for (const line of await books.lines(id)) {
    sums.net += Number(line['net_amount'])
    sums.including += Number(line['net_amount_including_tax'])
    sums.discount += Number(line['invoice_discount'])
  }
  assert.equal(header['total_amount_excluding_tax'], sums.net)
  assert.equal(header['total_amount_including_tax'], sums.including)
  assert.equal(header['total_tax_amount'], sums.including - sums.net)
  assert.equal(header['discount_amount'], sums.discount)
}

for (const { dialect, test } of inTurn()) {
  test(`${dialect}: lines of sales documents`, async (t) => {
    await using books = await openCompany(t, dialect, {
      percents: { FURNITURE: 5, ODD: 6.0002, TEN: 10 },
    })
    if (books === undefined) return
    const { itemId } = books

    await t.test('no more than twice what may come with a document', async () => {
      const documentId = await invoice(books)
      const add = () => books.create('salesInvoiceLines', { itemId, quantity: 1 }, { documentId })
      const set = (count: number) =>
        books.sql.transact((tx) =>
          tx.run('update business_documents set line_count = ? where id = ?', count, documentId),
        )
      await set(19_999)
      await add()
      await assert.rejects(add, /at most 20000 lines/)
      await set(1)
    })

    await t.test('no more kinds of tax than are written with each line', async () => {
      const documentId = await invoice(books)
      const add = (taxCode: string) =>
        books.create('salesInvoiceLines', { itemId, quantity: 1, taxCode }, { documentId })
      await add('FURNITURE')
      await books.sql.transact(async (tx) => {
        for (let at = 2; at <= 99; at++) {
          await insertRow(tx, documentTaxGroups, {
            ...{ document_id: documentId, tax_key: `OTHER${at}|0`, tax_percent: 0, line_count: 1 },
            ...{ line_amount: 0, invoice_discount: 0, net: 0, including: 0 },
          })
        }
      })
      const odd = await add('ODD')
      const more = await add('FURNITURE')
      const change = (id: string) => books.change('salesInvoiceLines', id, { taxCode: 'TEN' }, '*')
      for (const work of [() => add('TEN'), () => change(more)]) {
        await assert.rejects(work, /at most 100 kinds of tax/)
      }
      // The last line of a kind takes it along.
      await change(odd)
      await assert.rejects(() => add('ODD'), /at most 100 kinds of tax/)
    })

    await t.test('the published invoice, quote and credit memo lines', async () => {
      const published = [
        ['salesInvoice', 54.9, 3, 'FURNITURE', [164.7, 8.24, 172.94]],
        ['salesQuote', 192.8, 10, 'FURNITURE', [1928, 96.4, 2024.4]],
        ['salesCreditMemo', 1000.8, 1, 'ODD', [1000.8, 60.05, 1060.85]],
        ['salesInvoice', 71.1, 96, 'TEN', [6825.6, 682.56, 7508.16]],
      ] as const
      for (const [type, unitPrice, quantity, taxCode, expected] of published) {
        const documentId = await books.create(`${type}s`, { customerId: books.customerId })
        const body = {
          itemId,
          lineType: 'Item',
          lineObjectNumber: '1996-S',
          unitPrice,
          quantity,
          discountAmount: 0,
          discountPercent: 0,
          taxCode,
        }
        const id = await books.create(`${type}Lines`, body, { documentId })
        const row = await books.row(`${type}Lines`, id)
        assert.deepEqual(
          ['amount_excluding_tax', 'total_tax_amount', 'amount_including_tax'].map((c) =>
            amount(row, c),
          ),
          expected,
        )
        assert.deepEqual(
          ['net_amount', 'net_tax_amount', 'net_amount_including_tax'].map((c) => amount(row, c)),
          expected,
        )
        assert.equal(row['sequence'], 10_000)
        await assertSums(books, `${type}s`, documentId)
      }
    })

    await t.test('tax over the running group', async () => {
      const documentId = await invoice(books)
      const ids: string[] = []
      for (let n = 0; n < 3; n++) {
        ids.push(
          await books.create(
            'salesInvoiceLines',
            { itemId, quantity: 1, unitPrice: 0.33, taxCode: 'TEN' },
            { documentId },
          ),
        )
      }
      assert.deepEqual(
        (await books.lines(documentId)).map((row) => amount(row, 'net_tax_amount')),
        [0.03, 0.04, 0.03],
      )
      assert.deepEqual(
        (await books.lines(documentId)).map((row) => row['sequence']),
        [10_000, 20_000, 30_000],
      )
      assert.equal(amount(await books.row('salesInvoices', documentId), 'total_tax_amount'), 0.1)
      await books.remove('salesInvoiceLines', ids[1] ?? '')
      assert.equal(amount(await books.row('salesInvoices', documentId), 'total_tax_amount'), 0.07)
      await assertSums(books, 'salesInvoices', documentId)
    })

    await t.test('invoice discount is spread and follows the lines', async () => {
      const documentId = await invoice(books)
      for (const unitPrice of [33.33, 33.33, 33.34]) {
        await books.create(
          'salesInvoiceLines',
          { itemId, quantity: 1, unitPrice, taxCode: 'FURNITURE' },
          { documentId },
        )
      }
      await books.change('salesInvoices', documentId, { discountAmount: 10 }, '*')
      assert.deepEqual(
        (await books.lines(documentId)).map((row) => amount(row, 'invoice_discount_allocation')),
        [3.33, 3.34, 3.33],
      )
      await assertSums(books, 'salesInvoices', documentId)
      const [first] = await books.lines(documentId)
      await books.change('salesInvoiceLines', String(first?.['id']), { quantity: 2 }, '*')
      assert.equal(amount(await books.row('salesInvoices', documentId), 'discount_amount'), 6.67)
      await assertSums(books, 'salesInvoices', documentId)
      for (const row of await books.lines(documentId))
        await books.remove('salesInvoiceLines', String(row['id']))
      assert.equal(amount(await books.row('salesInvoices', documentId), 'discount_amount'), 0)
      await assert.rejects(
        books.change('salesInvoices', documentId, { discountAmount: 1 }, '*'),
        code('Application_DialogException'),
      )
    })

    await t.test('discounts of a line', async () => {
      const documentId = await invoice(books)
      const id = await books.create(
        'salesInvoiceLines',
        { itemId, quantity: 3, unitPrice: 9.99, discountPercent: 12.5 },
        { documentId },
      )
      assert.equal(amount(await books.row('salesInvoiceLines', id), 'discount_amount'), 3.75)
      await books.change('salesInvoiceLines', id, { discountAmount: 3.7 }, '*')
      assert.equal(amount(await books.row('salesInvoiceLines', id), 'amount_excluding_tax'), 26.27)
      await books.change('salesInvoiceLines', id, { description: 'kept' }, '*')
      assert.equal(amount(await books.row('salesInvoiceLines', id), 'discount_amount'), 3.7)
      await assert.rejects(
        books.change('salesInvoiceLines', id, { discountPercent: 101 }, '*'),
        code('Application_FieldValidationException'),
      )
      await assert.rejects(
        books.create('salesInvoiceLines', { itemId, discountAmount: 1 }, { documentId }),
        code('Application_FieldValidationException'),
      )
    })

    await t.test('types, defaults and refusals', async () => {
      const documentId = await invoice(books)
      const comment = await books.row(
        'salesInvoiceLines',
        await books.create('salesInvoiceLines', { description: 'hello' }, { documentId }),
      )
      assert.equal(comment['line_type'], 'Comment')
      const old = await books.row(
        'salesInvoiceLines',
        await books.create(
          'salesInvoiceLines',
          { itemId, quantity: 2 },
          { documentId, version: 'v1.0' },
        ),
      )
      assert.equal(old['line_type'], 'Item')
      assert.equal(old['legacy_id'], `${documentId}-20000`)
      assert.equal(amount(old, 'unit_price'), 100)
      assert.equal(old['unit_of_measure_code'], 'PCS')
      const id = String(old['id'])
      const [account] = await books.sql.all(
        "select id from business_accounts where number = '4000'",
      )
      await books.change('salesInvoiceLines', id, { accountId: account?.['id'] }, '*')
      assert.equal((await books.row('salesInvoiceLines', id))['line_type'], 'Account')
      await books.change('salesInvoiceLines', id, { itemId, quantity: 1 }, '*')
      assert.equal((await books.row('salesInvoiceLines', id))['line_type'], 'Item')
      await books.change('salesInvoiceLines', id, { lineType: 'Comment' }, '*')
      assert.equal((await books.row('salesInvoiceLines', id))['line_object_number'], '')
      await assertSums(books, 'salesInvoices', documentId)
      const refused = [
        [{ itemId, accountId: account?.['id'] }, 'Application_DialogException'],
        [{ itemId: '99999999-9999-9999-9999-999999999999' }, 'Internal_RecordNotFound'],
        [{ itemId: 'x' }, 'Application_InvalidGUID'],
        [{ itemId, unitOfMeasureCode: 'NONE' }, 'Internal_RecordNotFound'],
        [{ description: 'x'.repeat(101) }, 'Application_StringExceededLength'],
        [{ lineType: 'Nonsense' }, 'Application_EvaluateException'],
        [{ lineType: 'Resource' }, 'Application_FieldValidationException'],
        [{ nonsense: 1 }, 'BadRequest'],
        [{ sequence: 10_000 }, 'Application_DialogException'],
        [
          { itemId, quantity: 9_999_999_999, unitPrice: 9_999_999_999 },
          'Application_FieldValidationException',
        ],
      ] as const
      for (const [body, wanted] of refused) {
        await assert.rejects(books.create('salesInvoiceLines', body, { documentId }), code(wanted))
      }
      await assert.rejects(
        books.create('salesInvoiceLines', { itemId }),
        code('BadRequest_RequiredParamNotProvided'),
      )
      await assert.rejects(
        books.change('salesInvoiceLines', id, { sequence: 5 }, '*'),
        code('Application_DialogException'),
      )
    })

    await t.test('the contract’s create forms with a key', async () => {
      const quoteId = await books.create('salesQuotes', { customerId: books.customerId })
      const first = await books.create('salesQuoteLines', { itemId, documentId: quoteId })
      const second = await books.create('salesQuoteLines', { itemId }, { key: first })
      assert.equal((await books.row('salesQuoteLines', second))['document_id'], quoteId)
      const key = '77777777-7777-7777-7777-777777777777'
      assert.equal(
        await books.create('salesQuoteLines', { itemId, documentId: quoteId }, { key }),
        key,
      )
      assert.equal(
        (
          await books.row(
            'salesQuoteLines',
            await books.create('salesQuoteLines', { itemId }, { key: quoteId }),
          )
        )['document_id'],
        quoteId,
      )
    })

    await t.test('tags: missing, malformed, stale; of two writers one wins', async () => {
      const documentId = await invoice(books)
      const id = await books.create('salesInvoiceLines', { itemId, quantity: 1 }, { documentId })
      const tag = await books.tag('salesInvoiceLines', id)
      await assert.rejects(
        books.change('salesInvoiceLines', id, { quantity: 2 }),
        code('BadRequest_InvalidToken'),
      )
      await assert.rejects(
        books.change('salesInvoiceLines', id, { quantity: 2 }, 'bare'),
        code('BadRequest_InvalidToken'),
      )
      const both = await Promise.allSettled(
        [2, 3].map((quantity) => books.change('salesInvoiceLines', id, { quantity }, tag)),
      )
      assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
      await assert.rejects(
        books.change('salesInvoiceLines', id, { quantity: 9 }, tag.slice(2)),
        code('Request_EntityChanged'),
      )
      await books.change(
        'salesInvoiceLines',
        id,
        { quantity: 4 },
        `"x", ${(await books.tag('salesInvoiceLines', id)).slice(2)}`,
      )
      await assertSums(books, 'salesInvoices', documentId)
    })

    await t.test('many writers at once, and a deep insert', async () => {
      const documentId = await books.create('salesInvoices', {
        customerId: books.customerId,
        salesInvoiceLines: Array.from({ length: 20 }, (_, n) => ({
          itemId,
          quantity: n + 1,
          unitPrice: 0.33,
          taxCode: 'TEN',
        })),
      })
      await Promise.all(
        Array.from({ length: 12 }, (_, n) =>
          books.create(
            'salesInvoiceLines',
            { itemId, quantity: 1, unitPrice: n + 0.07 },
            { documentId },
          ),
        ),
      )
      const tooMany = Array.from({ length: 10_001 }, () => ({}))
      await assert.rejects(
        books.create('salesInvoices', {
          customerId: books.customerId,
          salesInvoiceLines: tooMany,
        }),
        code('Application_FieldValidationException'),
      )
      const lines = await books.lines(documentId)
      assert.deepEqual(
        lines.map((row) => row['sequence']),
        Array.from({ length: 32 }, (_, n) => (n + 1) * 10_000),
      )
      await assertSums(books, 'salesInvoices', documentId)
    })

    await t.test('the life of documents', async () => {
      const made = async () =>
        await books.create('salesInvoices', {
          customerId: books.customerId,
          salesInvoiceLines: [{ itemId, quantity: 2 }],
        })
      const status = async (set: string, id: string) => (await books.row(set, id))['status']
      const one = await made()
      await assert.rejects(
        books.act('salesInvoices', await invoice(books), 'post'),
        code('Application_DialogException'),
      )
      assert.equal(await books.act('salesInvoices', one, 'post'), one)
      assert.equal(await status('salesInvoices', one), 'Open')
      assert.equal(amount(await books.row('salesInvoices', one), 'remaining_amount'), 210)
      assert.equal(amount(await books.row('items', itemId), 'inventory'), -2)
      await assert.rejects(
        books.act('salesInvoices', one, 'post'),
        code('Application_DialogException'),
      )
      await assert.rejects(
        books.create('salesInvoiceLines', { itemId }, { documentId: one }),
        code('Application_FieldValidationException'),
      )
      await assert.rejects(books.remove('salesInvoices', one), code('Application_DialogException'))
      await books.change('salesInvoices', one, { dueDate: '2026-12-31' }, '*')
      const memo = await books.act('salesInvoices', one, 'makeCorrectiveCreditMemo')
      await books.act('salesCreditMemos', memo, 'post')
      assert.equal(await status('salesCreditMemos', memo), 'Corrective')
      assert.equal(await status('salesInvoices', one), 'Paid')
      const two = await made()
      await books.act('salesInvoices', two, 'postAndSend')
      await books.act('salesInvoices', two, 'cancel')
      assert.equal(await status('salesInvoices', two), 'Canceled')
      assert.equal(amount(await books.row('items', itemId), 'inventory'), 0)
      assert.equal(amount(await books.row('customers', books.customerId), 'balance_due'), 0)
      const quote = await books.create('salesQuotes', {
        customerId: books.customerId,
        salesQuoteLines: [{ itemId, quantity: 1 }],
      })
      await books.act('salesQuotes', quote, 'send')
      const ordered = await books.act('salesQuotes', quote, 'makeInvoice')
      assert.equal(await status('salesInvoices', ordered), 'Draft')
      await books.create('salesInvoiceLines', { itemId, quantity: 1 }, { documentId: ordered })
      await assertSums(books, 'salesInvoices', ordered)
      await assert.rejects(books.row('salesQuotes', quote))
    })
  })
}

test('prices that include the tax', async (t) => {
  await using books = await openCompany(t, 'sqlite', {
    pricesIncludeTax: true,
    percents: { A: 25, B: 19 },
  })
  if (books === undefined) return
  const documentId = await books.create('salesInvoices', { customerId: books.customerId })
  for (const taxCode of ['A', 'B']) {
    await books.create(
      'salesInvoiceLines',
      { itemId: books.itemId, quantity: 1, unitPrice: 10, taxCode },
      { documentId },
    )
  }
  const lines = await books.lines(documentId)
  assert.deepEqual(
    lines.map((row) => [amount(row, 'net_amount'), amount(row, 'net_tax_amount')]),
    [
      [8, 2],
      [8.4, 1.6],
    ],
  )
  await assertSums(books, 'salesInvoices', documentId)
})
