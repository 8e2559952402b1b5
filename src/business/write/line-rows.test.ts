/**
 * Rows of lines: the columns they are written with, how they are found, and that an answer equals what was written.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inTurn, openCompany } from '../testing/books.ts'
import { caller, type Json } from '../testing/caller.ts'
import { emptyLine } from './line-rows.ts'

for (const { dialect, test } of inTurn()) {
  test(`${dialect}: a row left empty is what is called empty, in every column`, async (t) => {
    await using books = await openCompany(t, dialect)
    if (books === undefined) return
    const { sql } = books
    await sql.transact(async (tx) => {
      await tx.run("insert into business_lines (id, company_id, revision) values ('x', '', 0)")
    })
    const [row] = await sql.all("select * from business_lines where id = 'x'")
    assert.deepEqual({ ...row, id: '' }, { ...emptyLine })
  })

  test(`${dialect}: what a write answers is what a read gives`, async (t) => {
    await using books = await openCompany(t, dialect, { percents: { FURNITURE: 5, TEN: 10 } })
    if (books === undefined) return
    const call = caller(books)
    const { itemId, customerId } = books
    const made = await call(201, 'v2.0', 'POST', 'salesInvoices', {
      customerId,
      salesInvoiceLines: Array.from({ length: 40 }, (_, at) => ({
        itemId,
        quantity: at + 1,
        ...(at % 3 === 0 ? { discountPercent: 10, taxCode: 'TEN' } : {}),
      })),
    })
    const lines = `salesInvoices(${made['id']})/salesInvoiceLines`
    async function answered(answer: Json): Promise<Json> {
      const { '@odata.context': _, ...body } = answer
      for (const version of ['v2.0', 'v1.0'] as const) {
        const key = version === 'v2.0' ? body['id'] : `'${body['documentId']}-${body['sequence']}'`
        const read = await call(200, version, 'GET', `salesInvoiceLines(${key})`)
        if (version === 'v1.0') assert.equal(read['netAmount'], body['netAmount'])
        else assert.deepEqual({ ...read, '@odata.context': _ }, { ...body, '@odata.context': _ })
      }
      return body
    }
    async function write(): Promise<void> {
      const first = await answered(
        await call(201, 'v2.0', 'POST', lines, { itemId, quantity: 3, unitPrice: 0.33 }),
      )
      const own = `${lines}(${first['id']})`
      for (const body of [
        { quantity: 7 },
        { quantity: 7 },
        { description: 'Another', taxCode: 'TEN' },
        { discountAmount: 0.2 },
        { unitPrice: 0.35, taxCode: 'FURNITURE', description2: 'More' },
      ]) {
        await answered(await call(200, 'v2.0', 'PATCH', own, body))
      }
      await answered(
        await call(201, 'v2.0', 'POST', lines, { lineType: 'Comment', description: 'Said' }),
      )
      await call(204, 'v2.0', 'DELETE', own)
    }
    await write()
    // Shares of an invoice discount are calculated when read. Afterwards there are none.
    for (const discountAmount of [17.5, 0]) {
      await call(200, 'v2.0', 'PATCH', `salesInvoices(${made['id']})`, { discountAmount })
      await write()
    }
  })

  test(`${dialect}: after the last line is removed its sequence is free again`, async (t) => {
    await using books = await openCompany(t, dialect)
    if (books === undefined) return
    const { customerId } = books
    const documentId = await books.create('salesQuotes', { customerId })
    const add = async (body: object = {}): Promise<string> =>
      await books.create('salesQuoteLines', { description: 'Said', ...body }, { documentId })
    const sequences = async (): Promise<unknown[]> =>
      (await books.lines(documentId)).map(({ sequence }) => sequence)
    await add()
    const second = await add()
    const third = await add({ sequence: 25_000 })
    await add({ sequence: 7 })
    await books.remove('salesQuoteLines', third)
    await books.remove('salesQuoteLines', second)
    await add()
    assert.deepEqual(await sequences(), [7, 10_000, 20_000])
    for (const { id } of await books.lines(documentId))
      await books.remove('salesQuoteLines', `${id}`)
    await add()
    assert.deepEqual(await sequences(), [10_000])
  })

  test(`${dialect}: lines by the ids of v1.0`, async (t) => {
    await using books = await openCompany(t, dialect)
    if (books === undefined) return
    const call = caller(books)
    const { itemId, customerId } = books
    const documentId = await books.create('salesInvoices', {
      customerId,
      salesInvoiceLines: Array.from({ length: 3 }, () => ({ itemId, quantity: 1 })),
    })
    const id = (at: number): string => `${documentId}-${at}`
    const one = await call(200, 'v1.0', 'GET', `salesInvoiceLines('${id(20_000)}')`)
    assert.equal(one['id'], id(20_000))
    for (const key of [
      id(20_001),
      documentId.replaceAll('-', ''),
      'x',
      'x-',
      `${documentId}-9999999999999`,
    ]) {
      await call(404, 'v1.0', 'GET', `salesInvoiceLines('${key}')`)
    }
    const found = async (filter: string): Promise<unknown[]> => {
      const { value } = await call(200, 'v1.0', 'GET', `salesInvoiceLines?$filter=${filter}`)
      return (value as Json[]).map((line) => line['sequence']) // a list of rows
    }
    assert.deepEqual(await found(`id eq '${id(20_000)}'`), [20_000])
    assert.deepEqual(await found(`id in ('${id(30_000)}','x','${id(10_000)}')`), [10_000, 30_000])
    assert.deepEqual(
      await found(`documentId eq ${documentId} and not (id eq '${id(20_000)}')`),
      [10_000, 30_000],
    )
    assert.deepEqual(
      await found(`documentId eq ${documentId} and id ne 'x'`),
      [10_000, 20_000, 30_000],
    )
  })
}

test('sqlite: lines are found by an index, whatever names them', async (t) => {
  await using books = await openCompany(t, 'sqlite')
  if (books === undefined) return
  const { sql } = books
  const documentId = await books.create('salesInvoices', { customerId: books.customerId })
  const asked: string[] = []
  const { all, scan } = sql
  Object.assign(sql, {
    all: (text: string, ...values: never[]) => {
      asked.push(text)
      return all.call(sql, text, ...values)
    },
    scan: (text: string, ...values: never[]) => {
      asked.push(text)
      return scan.call(sql, text, ...values)
    },
  })
  const call = caller(books)
  const id = `${documentId}-10000`
  await call(404, 'v1.0', 'GET', `salesInvoiceLines('${id}')`)
  await call(404, 'v2.0', 'GET', `salesInvoiceLines(${documentId})`)
  await call(200, 'v1.0', 'GET', `salesInvoiceLines?$filter=id eq '${id}'`)
  await call(200, 'v1.0', 'GET', `salesInvoiceLines?$filter=id in ('${id}','x')`)
  await call(200, 'v2.0', 'GET', `salesInvoiceLines?$filter=documentId eq ${documentId}`)
  const ofLines = asked.filter((text) => text.includes('business_lines'))
  assert.ok(ofLines.length >= 5)
  for (const text of ofLines) {
    const values = Array.from(text.matchAll(/\?/g), () => '')
    // To the store, this is not a read outside of a transaction.
    const plan = await sql.transact((tx) => tx.all(`explain query plan ${text}`, ...values))
    const scans = plan.filter(({ detail }) => /^SCAN (?:business_lines|t0)\b/.test(String(detail)))
    assert.deepEqual(scans, [], text)
  }
})
