/** The business application on the launcher's server: an invoice from nothing, and a kill in the middle of it. */

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { SMTPServer } from 'smtp-server'
import {
  findPostgres,
  howToGetPostgres,
  startPostgres,
} from '../../src/stores/testing/postgres-server.ts'
import { isLong } from '../long.ts'
import { requireOrSkip } from '../require.ts'
import { until } from '../until.ts'
import { freshHome, type Installation, startInstallation } from './installation.ts'

const root = '/api/v2.0'

async function made(
  server: Installation,
  set: string,
  body: object,
): Promise<Readonly<Record<string, unknown>>> {
  const answer = await server.request('POST', `${root}/${set}`, { body })
  assert.equal(answer.status, 201, answer.text)
  return answer.body as Readonly<Record<string, unknown>>
}

/** A company with a customer, an item and a tax of 5 %. */
async function furnish(server: Installation) {
  const company = await made(server, 'companies', { name: 'Paper & Sons' })
  const at = `companies(${company['id']})`
  const area = await made(server, `${at}/taxAreas`, { code: 'HOME', displayName: 'Home' })
  await made(server, `${at}/taxGroups`, { code: 'FURNITURE', displayName: 'Furniture' })
  await made(server, `${at}/taxRates`, {
    taxAreaCode: 'HOME',
    taxGroupCode: 'FURNITURE',
    taxPercent: 5,
  })
  await made(server, `${at}/unitsOfMeasure`, { code: 'PCS', displayName: 'Piece' })
  const item = await made(server, `${at}/items`, {
    displayName: 'Chair',
    unitPrice: 54.9,
    baseUnitOfMeasureCode: 'PCS',
    taxGroupCode: 'FURNITURE',
  })
  const customer = await made(server, `${at}/customers`, {
    displayName: 'Adatum',
    taxLiable: true,
    taxAreaId: area['id'],
  })
  return { at, itemId: String(item['id']), customerId: String(customer['id']) }
}

test('an invoice from nothing, over HTTP', { timeout: 360_000 }, async () => {
  await using post = await openMailServer()
  await using server = await startInstallation({
    environment: { ARMATURE_MAIL_SERVER: `smtp://127.0.0.1:${post.port}` },
  })
  const { at, itemId, customerId } = await furnish(server)
  const invoice = await made(server, `${at}/salesInvoices`, { customerId })
  const line = await made(server, `${at}/salesInvoices(${invoice['id']})/salesInvoiceLines`, {
    itemId,
    quantity: 3,
  })
  assert.equal(line['netAmountIncludingTax'], 172.94)
  const own = `${root}/${at}/salesInvoices(${invoice['id']})`
  const patched = await server.request('PATCH', own, {
    body: { discountAmount: 10 },
    headers: { 'if-match': '*' },
  })
  assert.equal(patched.status, 200, patched.text)
  assert.equal(patched.at('totalAmountIncludingTax'), 162.44)
  // Addresses as clients of hosted installations write them. Links keep the form of the request.
  for (const front of ['/v2.0/Production', '/v2.0/example.com/Sandbox-1']) {
    const found = await server.request(
      'GET',
      `${front}${root}/${at}/salesInvoices?$top=1&$count=true`,
    )
    assert.equal(found.status, 200, found.text)
    assert.equal(found.at('value.0.id'), invoice['id'])
    const context = String(JSON.parse(found.text)['@odata.context'])
    assert.ok(new URL(context).pathname.startsWith(`${front}/api/v2.0/$metadata`), context)
    const requests = ['companies', `${front}${root}/companies`, `${root}/companies`].map(
      (url, number) => ({ method: 'GET', id: String(number), url }),
    )
    const batch = await server.request('POST', `${front}${root}/$batch`, { body: { requests } })
    for (const number of [0, 1, 2])
      assert.equal(batch.at(`responses.${number}.status`), 200, batch.text)
    const later = await server.request('GET', `${front}/api/v9.0/companies`)
    assert.equal(`${later.status} ${later.at('error.code')}`, '404 BadRequest_NotFound')
    assert.match(later.text, /v9\.0/)
  }
  for (const front of [`/v2.0/${crypto.randomUUID()}/Production`, '/v2.0/example.com/a%20b']) {
    const other = await server.request('GET', `${front}${root}/companies`)
    assert.equal(`${other.status} ${other.at('error.code')}`, '404 BadRequest_NotFound')
  }
  const old = await server.request(
    'GET',
    `/api/v1.0/${at}/salesInvoices(${invoice['id']})/salesInvoiceLines(${invoice['id']}-10000)`,
  )
  assert.equal(old.at('lineDetails.displayName'), 'Chair', old.text)
  const etag = old.headers.get('etag') ?? ''
  const v1 = `/api/v1.0/${at}/salesInvoices(${invoice['id']})/salesInvoiceLines(${invoice['id']}-10000)`
  const changed = await server.request('PATCH', v1, {
    body: { quantity: 4 },
    headers: { 'if-match': etag },
  })
  assert.equal(changed.status, 200, changed.text)
  assert.equal(
    (await server.request('PATCH', v1, { body: { quantity: 5 }, headers: { 'if-match': etag } }))
      .status,
    412,
  )
  assert.equal((await server.request('POST', `${own}/Vendor.NAV.post`)).status, 204)
  assert.equal((await server.request('GET', own)).at('status'), 'Open')
  const corrected = await server.request('POST', `${own}/Vendor.NAV.makeCorrectiveCreditMemo`)
  assert.equal(corrected.status, 204, corrected.text)
  const memo = new URL(corrected.headers.get('location') ?? '').pathname
  assert.equal((await server.request('POST', `${memo}/Vendor.NAV.post`)).status, 204)
  assert.equal((await server.request('GET', own)).at('status'), 'Paid')
  await sendAndRead(server, post, { at, customerId, memo })
  await writeManyLines(server, { at, customerId, itemId })
  assert.equal((await server.request('HEAD', own)).status, 200)
  const unknown = await server.request('GET', `${root}/companies`, { token: null })
  assert.deepEqual(
    [unknown.status, unknown.at('error.code')],
    [401, 'Authentication_InvalidCredentials'],
  )
  assert.equal((await server.request('PUT', own, { body: {} })).status, 405)
  assert.equal((await server.request('GET', '/api/v3.0/companies')).status, 404)
})

/** The memo is sent to the mail server, and the installation keeps the same mail. */
async function sendAndRead(
  server: Installation,
  post: MailServer,
  { at, customerId, memo }: Readonly<Record<'at' | 'customerId' | 'memo', string>>,
): Promise<void> {
  const send = () => server.request('POST', `${memo}/Vendor.NAV.send`)
  assert.match((await send()).text, /has no address to be sent to/)
  const patch = async (path: string, body: object): Promise<void> => {
    const answer = await server.request('PATCH', path, { body, headers: { 'if-match': '*' } })
    assert.equal(answer.status, 200, answer.text)
  }
  // A posted document no longer changes, but its customer may.
  await patch(`${root}/${at}/customers(${customerId})`, { email: 'books@adatum.example' })
  assert.match((await send()).text, /no address that mail comes from/)
  const own = await server.request('GET', `${root}/${at}/companyInformation`)
  await patch(`${root}/${at}/companyInformation(${own.at('value.0.id')})`, {
    email: 'us@paper.example',
  })
  assert.equal((await send()).status, 204)
  const message = await post.next
  const entries = `${root}/${at}/outboxEntries`
  const listed = async () => (await server.request('GET', entries)).items()
  const isWaiting = async () => (await listed()).some(({ status }) => status === 'Waiting')
  await until(async () => !(await isWaiting()))
  const [entry, ...others] = await listed()
  assert.deepEqual(
    [entry?.['status'], entry?.['sender'], entry?.['recipient'], entry?.['attempts'], others],
    ['Sent', 'us@paper.example', 'books@adatum.example', 1, []],
  )
  const kept = await server.request('GET', `${entries}(${entry?.['id']})/content`)
  assert.equal(kept.headers.get('content-type'), 'message/rfc822')
  assert.ok(kept.text === message, 'the message is kept as it was sent')
  assert.match(message, /filename=Credit_memo_\S+\.pdf/)
  const batched = await server.request('POST', `${root}/$batch`, {
    body: {
      requests: [{ method: 'GET', id: '1', url: `${at}/outboxEntries(${entry?.['id']})/content` }],
    },
  })
  assert.equal(batched.at('responses.0.status'), 400, batched.text)
  assert.equal((await server.request('DELETE', `${entries}(${entry?.['id']})`)).status, 405)
}

interface MailServer extends AsyncDisposable {
  readonly port: number
  /** The first message. */
  readonly next: Promise<string>
}

async function openMailServer(): Promise<MailServer> {
  const { promise: next, resolve: got } = Promise.withResolvers<string>()
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    onData(stream, _, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        got(Buffer.concat(chunks).toString('latin1'))
        done()
      })
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A server that listens on a port has an address of this shape.
  const { port } = server.server.address() as AddressInfo
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()))
  return { port, next, [Symbol.asyncDispose]: close }
}

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
    if (round === 0) company = (await furnish(server)).at
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

/** Ten thousand lines in one body: larger than other bodies may be, with its length and in chunks. */
async function writeManyLines(
  server: Installation,
  { at, customerId, itemId }: Readonly<Record<'at' | 'customerId' | 'itemId', string>>,
): Promise<void> {
  const text = 'x'.repeat(100)
  const salesQuoteLines = Array.from({ length: 10_000 }, (_, index) => ({
    sequence: index + 1,
    itemId,
    description: text,
    quantity: 1,
    // What nobody may write is passed over.
    '@odata.etag': text.repeat(3),
  }))
  const body = JSON.stringify({ customerId, salesQuoteLines })
  assert.ok(body.length > 4 * 1024 * 1024, `${body.length} bytes`)
  for (const sent of [body, new Blob([body]).stream()]) {
    const answer = await fetch(`${server.url}${root}/${at}/salesQuotes`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${server.ownerToken}`,
        'content-type': 'application/json',
      },
      body: sent,
      duplex: 'half',
    })
    const made = (await answer.json()) as Readonly<Record<string, unknown>>
    assert.equal(answer.status, 201, JSON.stringify(made))
    assert.equal(made['totalAmountExcludingTax'], 549_000)
  }
}

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
      const { at: company, customerId } = await furnish(server)
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
