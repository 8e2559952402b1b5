/** The business application on the launcher's server, killed while documents are written and posted, and in the middle of batches. */

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import {
  findPostgres,
  howToGetPostgres,
  startPostgres,
} from '../../src/stores/testing/postgres-server.ts'
import { isLong } from '../long.ts'
import { requireOrSkip } from '../require.ts'
import { until } from '../until.ts'
import { made, makeCompany, root } from './company.ts'
import { freshHome, startInstallation } from './installation.ts'

/** The long suite also kills a server that has recovered once. */
const rounds = isLong ? 3 : 1

/** Runs the work on both stores, each time with a home and the settings for its store. */
function onBothStores(
  name: string,
  work: (settings: { readonly home: string; readonly store?: string }) => Promise<void>,
): void {
  for (const kind of ['SQLite', 'PostgreSQL'] as const) {
    test(`${name}, on ${kind}`, { timeout: 360_000 }, async (t) => {
      const home = freshHome()
      try {
        if (kind === 'SQLite') return await work({ home })
        if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
        await using server = await startPostgres({ fsync: false })
        await work({ home, store: await server.createDatabase() })
      } finally {
        rmSync(home, { recursive: true, force: true })
      }
    })
  }
}

onBothStores('killed while writing and posting: totals equal lines', async (settings) => {
  let company = ''
  for (let round = 0; round < rounds; round++) {
    const server = await startInstallation(settings)
    if (round === 0) company = (await makeCompany(server)).at
    const [item] = (await server.request('GET', `${root}/${company}/items`)).items()
    const [customer] = (await server.request('GET', `${root}/${company}/customers`)).items()
    const answered: string[] = []
    let isOver = false
    const writing = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const lines = Array.from({ length: 5 }, (_, n) => ({
          itemId: item?.['id'],
          quantity: 1,
          unitPrice: 0.33 * (n + 1),
        }))
        // Every second one has a discount, whose shares are not stored in any line.
        const discountAmount = answered.length % 2 === 0 ? 1.01 : 0
        const body = { customerId: customer?.['id'], discountAmount, salesInvoiceLines: lines }
        const one = await server.request('POST', `${root}/${company}/salesInvoices`, { body })
        const own = `${root}/${company}/salesInvoices(${one.at('id')})`
        await server.request('POST', `${own}/salesInvoiceLines`, { body: lines[0] })
        const posted = await server.request('POST', `${own}/Vendor.NAV.post`)
        if (posted.status === 204) answered.push(own)
        if (answered.length >= 6) isOver = true
      }
    })
    // The kill hits running requests. They fail, which is what a kill looks like from outside.
    const all = Promise.allSettled(writing)
    await until(() => isOver, 5)
    await server.kill()
    await all
    await using again = await startInstallation(settings)
    for (const own of answered) {
      assert.equal(
        (await again.request('GET', own)).at('status'),
        'Open',
        'what was answered is there',
      )
    }
    const documents = (
      await again.request('GET', `${root}/${company}/salesInvoices?$expand=salesInvoiceLines`)
    ).items()
    let balance = 0
    for (const document of documents) {
      // An expanded collection is a list of objects, by the interface.
      const lines = document['salesInvoiceLines'] as readonly Readonly<Record<string, number>>[]
      const sum = lines.reduce(
        (total, line) => total + Math.round((line['netAmountIncludingTax'] ?? 0) * 100),
        0,
      )
      assert.equal(Math.round(Number(document['totalAmountIncludingTax']) * 100), sum)
      if (document['status'] === 'Open') balance += sum
    }
    const [after] = (await again.request('GET', `${root}/${company}/customers`)).items()
    assert.equal(
      Math.round(Number(after?.['balanceDue']) * 100),
      balance,
      'posting is whole or not at all',
    )
    await requireBalanced(again, `${root}/${company}`, balance)
    await again.stop()
  }
})

/** The general ledger balances, posting by posting, and agrees with what the customers owe. `owed` is in cents. */
async function requireBalanced(
  server: Awaited<ReturnType<typeof startInstallation>>,
  company: string,
  owed: number,
): Promise<void> {
  const entries = (await server.request('GET', `${company}/generalLedgerEntries`)).items()
  const inCents = (value: unknown) => Math.round(Number(value) * 100)
  const sums = new Map<unknown, number>()
  for (const { documentNumber, debitAmount, creditAmount } of entries) {
    const sum = (sums.get(documentNumber) ?? 0) + inCents(debitAmount) - inCents(creditAmount)
    sums.set(documentNumber, sum)
  }
  for (const [number, sum] of sums) assert.equal(sum, 0, `${number} balances`)
  const accounts = (await server.request('GET', `${company}/trialBalances`)).items()
  const receivables = accounts.find(({ number }) => number === '1200')
  assert.equal(inCents(receivables?.['balanceAtDateDebit']), owed, 'the receivables')
}

/** Three lines of one document in one change set: all of them are written, or none. */
function jsonBatch(at: string, itemId: unknown): { readonly body: object } {
  const requests = [1, 2, 3].map((id) => ({
    id: String(id),
    atomicityGroup: 'g',
    method: 'POST',
    url: `${at}/salesInvoiceLines`,
    headers: { 'content-type': 'application/json' },
    body: { itemId, quantity: id, unitPrice: 0.37 },
  }))
  return { body: { requests } }
}

function multipartBatch(at: string, itemId: unknown) {
  const parts = [1, 2, 3].map((id) =>
    [
      '--set',
      'Content-Type: application/http',
      'Content-Transfer-Encoding: binary',
      `Content-ID: ${id}`,
      '',
      `POST ${at}/salesInvoiceLines HTTP/1.1`,
      'Content-Type: application/json',
      '',
      JSON.stringify({ itemId, quantity: id, unitPrice: 0.37 }),
    ].join('\r\n'),
  )
  const set = ['--all', 'Content-Type: multipart/mixed; boundary=set', '', ...parts, '--set--']
  return {
    headers: { 'content-type': 'multipart/mixed; boundary=all' },
    body: [...set, '--all--', ''].join('\r\n'),
  }
}

onBothStores('killed in the middle of batches: change sets are whole', async (settings) => {
  let at = ''
  let answered = 0
  for (let round = 0; round < rounds; round++) {
    const server = await startInstallation(settings)
    if (round === 0) {
      const { at: company, customerId } = await makeCompany(server)
      const invoice = await made(server, `${company}/salesInvoices`, { customerId })
      at = `${company}/salesInvoices(${invoice['id']})`
    }
    const company = at.slice(0, at.indexOf('/'))
    const [item] = (await server.request('GET', `${root}/${company}/items`)).items()
    const before = answered
    const writing = [jsonBatch, multipartBatch].map(async (batchOf) => {
      for (;;) {
        const answer = await server.request('POST', `${root}/$batch`, batchOf(at, item?.['id']))
        assert.equal(answer.status, 200, answer.text)
        assert.match(answer.text, /201/)
        answered++
      }
    })
    const all = Promise.allSettled(writing)
    await until(() => answered >= before + 4, 3)
    await server.kill()
    await all
    await using again = await startInstallation(settings)
    const document = await again.request('GET', `${root}/${at}?$expand=salesInvoiceLines`)
    const lines = document.at('salesInvoiceLines') as readonly Readonly<Record<string, number>>[]
    assert.equal(lines.length % 3, 0, `${lines.length} lines`)
    assert.ok(lines.length >= answered * 3, 'what was answered is there')
    const cents = (value: unknown): number => Math.round(Number(value) * 100)
    assert.equal(
      cents(document.at('totalAmountIncludingTax')),
      lines.reduce((sum, line) => sum + cents(line['netAmountIncludingTax']), 0),
    )
    await again.stop()
  }
})
