/** What a line costs must not depend on how many lines its document has: counted in statements, not in time. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SqlTx } from '#stores/store.ts'
import { openBooks } from '../testing/books.ts'

test('adding, changing and removing a line costs the same in long and short documents', async (t) => {
  await using books = await openBooks(t, 'sqlite')
  if (books === undefined) return
  const { itemId, customerId, sql } = books
  const line = { itemId, quantity: 1, unitPrice: 0.33 }
  /** Statements, and rows they gave, of one piece of work. */
  async function costOf(work: () => Promise<unknown>): Promise<readonly [number, number]> {
    let statements = 0
    let rows = 0
    const { transact } = sql
    const counting = (tx: SqlTx): SqlTx => ({
      async all(text, ...values) {
        statements++
        const given = await tx.all(text, ...values)
        rows += given.length
        return given
      },
      run(text, ...values) {
        statements++
        return tx.run(text, ...values)
      },
      follow: (feed, key) => tx.follow(feed, key),
    })
    Object.assign(sql, {
      transact: (inner: (tx: SqlTx) => Promise<unknown>) =>
        transact.call(sql, (tx) => inner(counting(tx))),
    })
    await work()
    Object.assign(sql, { transact })
    return [statements, rows]
  }
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
