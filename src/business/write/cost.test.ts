/** The cost of a line does not depend on how many lines its document has: counted in statements, not in time. */

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { SqlTx, TransactionMode } from '#stores/store.ts'
import { businessMigrations } from '../migrations.ts'
import { type BusinessFixture, dialects, openCompany } from '../testing/books.ts'
import { caller } from '../testing/caller.ts'

/** Counts the statements of some work, and the rows they returned and changed. `texts` takes the statements. */
function costIn({ sql }: BusinessFixture, texts = new Set<string>()) {
  return async (work: () => Promise<unknown>): Promise<readonly [number, number]> => {
    let statements = 0
    let rows = 0
    const { transact } = sql
    const counting = (tx: SqlTx): SqlTx => {
      const run: SqlTx['run'] = async (text, ...values) => {
        statements++
        texts.add(text)
        const changed = await tx.run(text, ...values)
        rows += changed
        return changed
      }
      return {
        async all(text, ...values) {
          statements++
          texts.add(text)
          const given = await tx.all(text, ...values)
          rows += given.length
          return given
        },
        run,
        send: run,
        prefetch: (text, ...values) => tx.prefetch(text, ...values),
        follow: (feed, key) => tx.follow(feed, key),
        record: (event) => tx.record(event),
      }
    }
    Object.assign(sql, {
      transact: (inner: (tx: SqlTx) => Promise<unknown>) =>
        transact.call(sql, (tx) => inner(counting(tx))),
    })
    await work()
    Object.assign(sql, { transact })
    return [statements, rows]
  }
}

test('adding, changing and removing a line costs the same in long and short documents', async (t) => {
  await using books = await openCompany(t, 'sqlite')
  if (books === undefined) return
  const { itemId, customerId } = books
  const costOf = costIn(books)
  const line = { itemId, quantity: 1, unitPrice: 0.33 }
  const costs: (readonly [number, number])[][] = []
  for (const size of [10, 1000]) {
    const documentId = await books.create('salesInvoices', {
      customerId,
      salesInvoiceLines: Array.from({ length: size }, () => line),
    })
    let id = ''
    costs.push([
      await costOf(async () => {
        id = await books.create('salesInvoiceLines', line, { documentId })
      }),
      await costOf(() => books.change('salesInvoiceLines', id, { quantity: 2 }, '*')),
      await costOf(() => books.remove('salesInvoiceLines', id)),
    ])
  }
  assert.deepEqual(costs[1], costs[0])
  assert.ok((costs[0]?.[0]?.[0] ?? 0) > 3, 'the counting counts')
})

test('a request for a line asks each thing once', async (t) => {
  await using books = await openCompany(t, 'sqlite')
  if (books === undefined) return
  const { itemId, customerId, companyId } = books
  const call = caller(books)
  const line = { itemId, quantity: 1 }
  const documentId = await books.create('salesInvoices', { customerId, salesInvoiceLines: [line] })
  const lines = `salesInvoices(${documentId})/salesInvoiceLines`
  const texts = new Set<string>()
  const costOf = costIn(books, texts)
  let id: unknown
  const [added] = await costOf(async () => {
    id = (await call(201, 'v2.0', 'POST', lines, line))['id']
  })
  const [changed] = await costOf(() =>
    call(200, 'v2.0', 'PATCH', `${lines}(${id})`, { quantity: 2 }),
  )
  // The company, the document, the item and its tax, the last line, the tax group; then the line, its tax group and its document.
  assert.deepEqual([added, changed], [9, 7])
  const inOther = caller({ ...books, companyId: documentId })
  for (const [method, path] of [
    ['POST', lines],
    ['PATCH', `${lines}(${id})`],
    ['DELETE', `${lines}(${id})`],
  ] as const) {
    const refused = await inOther(404, 'v2.0', method, path, { quantity: 2 })
    assert.match(JSON.stringify(refused), /Internal_CompanyNotFound/)
    const absent = path.replace(documentId, companyId)
    const missing = await call(404, 'v2.0', method, absent, { quantity: 2 })
    assert.match(JSON.stringify(missing), /BadRequest_ResourceNotFound/)
  }
})

test('a read of one row asks for it alone, and for its company where there is no such row', async (t) => {
  await using books = await openCompany(t, 'sqlite')
  if (books === undefined) return
  const { itemId, customerId, companyId, sql } = books
  const call = caller(books)
  const documentId = await books.create('salesInvoices', {
    customerId,
    salesInvoiceLines: [{ itemId, quantity: 1 }],
  })
  const lines = `salesInvoices(${documentId})/salesInvoiceLines`
  const { value } = await call(200, 'v2.0', 'GET', lines)
  const [line] = value as readonly { readonly id: string }[]
  const { all } = sql
  const texts: string[] = []
  const noting: typeof all = (text, ...values) => {
    texts.push(text)
    return all.call(sql, text, ...values)
  }
  Object.assign(sql, { all: noting })
  const path = `${lines}(${line?.id})`
  await call(200, 'v2.0', 'GET', path)
  assert.equal(texts.length, 1)
  const missing = await call(404, 'v2.0', 'GET', path.replace(documentId, companyId))
  assert.match(JSON.stringify(missing), /BadRequest_ResourceNotFound/)
  const inOther = caller({ ...books, companyId: documentId })
  assert.match(JSON.stringify(await inOther(404, 'v2.0', 'GET', path)), /Internal_CompanyNotFound/)
  Object.assign(sql, { all })
})

test('so it is with an invoice discount; in the middle a line costs its block', async (t) => {
  await using books = await openCompany(t, 'sqlite')
  if (books === undefined) return
  const { itemId, customerId } = books
  const costOf = costIn(books)
  const line = { itemId, quantity: 1, unitPrice: 0.33 }
  const costs: (readonly [number, number])[] = []
  for (const size of [10, 1000]) {
    const documentId = await books.create('salesInvoices', {
      customerId,
      discountAmount: 1,
      salesInvoiceLines: Array.from({ length: size }, () => line),
    })
    const add = () => books.create('salesInvoiceLines', line, { documentId })
    costs.push(await costOf(add))
    const [first] = await books.lines(documentId)
    const id = String(first?.['id'])
    const [, changed] = await costOf(() =>
      books.change('salesInvoiceLines', id, { quantity: 2 }, '*'),
    )
    assert.ok(changed < 300, `${changed} rows`)
    const [, removed] = await costOf(() => books.remove('salesInvoiceLines', id))
    assert.ok(removed < 300, `${removed} rows`)
  }
  assert.deepEqual(costs[1], costs[0])
})

test('whether an account has entries is seen by one of them', async (t) => {
  await using books = await openCompany(t, 'sqlite')
  if (books === undefined) return
  const costOf = costIn(books)
  const costs: (readonly [number, number])[] = []
  for (let posted = 0; posted < 3; posted++) {
    const { customerId, itemId } = books
    const line = { itemId, quantity: 1, unitPrice: 2 }
    const id = await books.create('salesInvoices', { customerId, salesInvoiceLines: [line] })
    await books.act('salesInvoices', id, 'post')
    const [entry] = await books.sql.all(
      `select account_id from business_general_ledger_entries order by account_number limit 1`,
    )
    const change = () =>
      books.change('accounts', String(entry?.['account_id']), { accountType: 'Total' }, '*')
    costs.push(await costOf(() => assert.rejects(change, /has entries/)))
  }
  assert.deepEqual(costs[2], costs[0])
})

test('removing master data, a company, and sending look through no table', async (t) => {
  await using books = await openCompany(t, 'sqlite')
  if (books === undefined) return
  const texts = new Set<string>()
  const costOf = costIn(books, texts)
  const { create, companyId, customerId } = books
  const removed = async (set: string, body: object) => {
    const id = await create(set, { ...body })
    return await costOf(() => books.remove(set, id))
  }
  const coded = { code: 'X', displayName: 'X' }
  const sets = ['taxAreas', 'taxGroups', 'unitsOfMeasure', 'currencies', 'paymentTerms']
  for (const set of [...sets, 'paymentMethods', 'shipmentMethods', 'locations']) {
    await removed(set, coded)
  }
  await removed('accounts', { number: '9999', displayName: 'X' })
  await removed('items', { displayName: 'X' })
  await removed('customers', { displayName: 'X' })
  const quote = await create('salesQuotes', { customerId })
  await costOf(() => books.act('salesQuotes', quote, 'send'))
  // A statement takes some of the rows only, so that the process goes on in between.
  for (let at = 0; at < 70; at++) await create('customers', { displayName: `C${at}` })
  const before = texts.size
  const [statements] = await costOf(() => books.remove('companies', companyId))
  assert.ok(statements > texts.size - before + 2, `${statements} statements`)
  assert.deepEqual(await books.sql.all('select id from business_customers'), [])
  assert.ok(texts.size > 40, `${texts.size} statements`)
  using schema = new DatabaseSync(':memory:')
  for (const { sqlite } of businessMigrations) for (const text of sqlite) schema.exec(text)
  for (const text of texts) {
    const steps = schema.prepare(`explain query plan ${text}`).all()
    for (const { detail } of steps) {
      // These two have a row for each company and series, and for each delta link's set.
      const isLookedThrough = /^SCAN business_(?!posting_accounts|customer_payment_journals)/
      assert.doesNotMatch(String(detail), isLookedThrough, text)
    }
  }
})

test('whether an item has lines in a unit is seen by one of them, which an index finds', async (t) => {
  await using books = await openCompany(t, 'sqlite')
  if (books === undefined) return
  const { create, customerId, itemId, sql } = books
  const boxId = await create('unitsOfMeasure', { code: 'BOX' })
  const bagId = await create('unitsOfMeasure', { code: 'BAG' })
  const otherId = await create('items', { displayName: 'I' })
  const unitOf = (id: string, unitOfMeasureId: string) =>
    create('itemUnitsOfMeasure', { itemId: id, unitOfMeasureId })
  const [bag, box] = [await unitOf(itemId, bagId), await unitOf(itemId, boxId)]
  await unitOf(otherId, boxId)
  const lines = [
    { itemId, quantity: 1, unitOfMeasureCode: 'BAG' },
    { itemId: otherId, quantity: 1 },
    { itemId: otherId, quantity: 1, unitOfMeasureCode: 'BOX' },
  ]
  const texts = new Set<string>()
  const costOf = costIn(books, texts)
  const costs: (readonly [number, number])[] = []
  for (let made = 0; made < 3; made++) {
    await create('salesInvoices', { customerId, salesInvoiceLines: lines })
    const refused = (set: string, id: string, body: object) =>
      costOf(() => assert.rejects(books.change(set, id, { ...body }, '*'), /in use by/))
    costs.push(await refused('itemUnitsOfMeasure', bag, { quantityPerUnit: made + 2 }))
    costs.push(await refused('items', otherId, { baseUnitOfMeasureCode: 'BOX' }))
    // No line has it.
    await costOf(() => books.change('itemUnitsOfMeasure', box, { quantityPerUnit: made + 2 }, '*'))
  }
  assert.deepEqual(costs.slice(-2), costs.slice(0, 2))
  const lookups = [...texts].filter((text) =>
    / business_lines where .*unit_of_measure_id = \?/.test(text),
  )
  assert.equal(lookups.length, 1)
  for (const text of lookups) {
    const values = Array.from(text.matchAll(/\?/g), () => '')
    const [step] = await sql.transact((tx) => tx.all(`explain query plan ${text}`, ...values))
    assert.match(String(step?.['detail']), /item_id=\? AND unit_of_measure_id=\?/)
  }
})

for (const dialect of dialects) {
  test(`${dialect}: a posting is as many statements for any number of lines and items`, async (t) => {
    await using books = await openCompany(t, dialect)
    if (books === undefined) return
    const costOf = costIn(books)
    const itemIds = [books.itemId]
    for (let at = 1; at < 40; at++) {
      const body = {
        displayName: `Item ${at}`,
        baseUnitOfMeasureCode: 'PCS',
        taxGroupCode: 'FURNITURE',
      }
      itemIds.push(await books.create('items', body))
    }
    const costs: number[] = []
    for (const [lines, items] of [
      [3, 1],
      [400, 40],
    ] as const) {
      const id = await books.create('salesInvoices', {
        customerId: books.customerId,
        salesInvoiceLines: Array.from({ length: lines }, (_, at) => ({
          itemId: itemIds[at % items],
          quantity: 1,
          unitPrice: 2,
        })),
      })
      const [statements] = await costOf(() => books.act('salesInvoices', id, 'post'))
      costs.push(statements)
    }
    assert.equal(costs[1], costs[0])
    const moved = await books.sql.all('select inventory from business_items order by id')
    assert.equal(
      new Set(moved.map((row) => Number(row['inventory']))).size,
      2,
      'ten of each, three more of one',
    )
  })
}

test('on PostgreSQL a line is read in one way, or two, and written in one', async (t) => {
  await using books = await openCompany(t, 'postgres')
  if (books === undefined) return
  const { itemId, customerId, sql } = books
  const line = { itemId, quantity: 1 }
  const documentId = await books.create('salesInvoices', { customerId, salesInvoiceLines: [line] })
  /** The tables of queries that are waited for by themselves, and those of rows that were fetched and are not needed. */
  const alone: string[] = []
  const unused = new Set<string>()
  const tableOf = (text: string) => / (?:from|update) (business_\w+)/.exec(text)?.[1] ?? text
  const { transact } = sql
  const following = (tx: SqlTx): SqlTx => ({
    all(text, ...values) {
      if (!unused.delete(JSON.stringify([text, values]))) alone.push(tableOf(text))
      return tx.all(text, ...values)
    },
    run(text, ...values) {
      alone.push(tableOf(text))
      return tx.run(text, ...values)
    },
    send: (text, ...values) => tx.send(text, ...values),
    prefetch(text, ...values) {
      unused.add(JSON.stringify([text, values]))
      tx.prefetch(text, ...values)
    },
    follow: (feed, key) => tx.follow(feed, key),
    record: (event) => tx.record(event),
  })
  Object.assign(sql, {
    transact: (work: (tx: SqlTx) => Promise<unknown>, mode?: TransactionMode) =>
      transact.call(sql, (tx) => work(following(tx)), mode),
  })
  const lines = `salesInvoices(${documentId})/salesInvoiceLines`
  for (const as of [undefined, documentId]) {
    const call = caller(books, as)
    if (as !== undefined) {
      await books.create('accessRights', { principalId: as, role: 'sales' })
      alone.length = 0
    }
    const { id } = await call(201, 'v2.0', 'POST', lines, line)
    // The company is asked for as the transaction begins, together with what follows.
    const begun =
      as === undefined ? ['business_companies'] : ['business_companies', 'business_access_rights']
    assert.deepEqual(alone.splice(0), [...begun, 'business_tax_rates'])
    await call(200, 'v2.0', 'PATCH', `${lines}(${id})`, { quantity: 2 })
    assert.deepEqual(alone.splice(0), begun)
    assert.deepEqual([...unused], [])
  }
  Object.assign(sql, { transact })
})
