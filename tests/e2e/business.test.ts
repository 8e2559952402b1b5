/** The business application on the launcher's server: an invoice from nothing. */

import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { SMTPServer } from 'smtp-server'
import { until } from '../until.ts'
import { made, makeCompany, root } from './company.ts'
import { type Installation, startInstallation } from './installation.ts'

test('an invoice from nothing, over HTTP', { timeout: 360_000 }, async () => {
  await using post = await openMailServer()
  await using server = await startInstallation({
    environment: { ARMATURE_MAIL_SERVER: `smtp://127.0.0.1:${post.port}` },
  })
  const { at, itemId, customerId } = await makeCompany(server)
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
