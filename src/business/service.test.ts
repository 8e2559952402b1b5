/** The contract's whole endpoint table, in both versions and on both stores, and what the issue names besides. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Principal } from '#kernel/principal.ts'
import type { Version } from './entity.ts'
import type { BusinessAnswer } from './message.ts'
import { createBusiness } from './service.ts'
import { dialects, openCompany } from './testing/books.ts'

const principal = (id: string): Principal => ({
  id,
  type: 'User',
  tenantId: 't',
  displayName: id,
  clientId: id,
  groups: [],
})
const owner = '11111111-1111-1111-1111-111111111111'

interface Told {
  readonly version?: Version
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly as?: string
}

for (const dialect of dialects) {
  test(`${dialect}: the contract's rows`, async (t) => {
    await using books = await openCompany(t, dialect)
    if (books === undefined) return
    const business = createBusiness({
      sql: books.sql,
      clock: { now: () => Date.UTC(2026, 10, 21) },
      ids: { uuid: () => randomUUID(), secret: () => 'x' },
      namespace: 'Vendor',
      publicUrl: () => 'http://host',
      conflictStatus: 412,
      groupsOf: async () => [],
      administers: async (one) => one.id === owner,
    })
    async function call(
      method: string,
      address: string,
      told: Told = {},
    ): Promise<BusinessAnswer & { json: Record<string, unknown> }> {
      const [path = '', search = ''] = address.split('?')
      const answer = await business.handle({
        method,
        version: told.version ?? 'v2.0',
        path,
        search,
        headers: { 'content-type': 'application/json', ...told.headers },
        body:
          told.body === undefined
            ? undefined
            : new TextEncoder().encode(
                typeof told.body === 'string' ? told.body : JSON.stringify(told.body),
              ),
        principal: principal(told.as ?? owner),
        correlationId: 'c0ffee',
      })
      const isJson = answer.headers['Content-Type']?.startsWith('application/json') === true
      return { ...answer, json: isJson && answer.body !== undefined ? JSON.parse(answer.body) : {} }
    }
    const company = `companies(${books.companyId})`
    const { itemId } = books
    const newDocument = async (set: string): Promise<string> => {
      const made = await call('POST', `${company}/${set}`, {
        body: { customerId: books.customerId },
      })
      assert.equal(made.status, 201, made.body)
      return String(made.json['id'])
    }
    const input = {
      itemId,
      lineType: 'Item',
      lineObjectNumber: '1996-S',
      description: 'ATLANTA Whiteboard, base',
      unitOfMeasureCode: 'PCS',
      unitPrice: 54.9,
      quantity: 3,
      discountAmount: 0,
      discountPercent: 0,
      taxCode: 'FURNITURE',
      shipmentDate: '2026-11-21',
      itemVariantId: '00000000-0000-0000-0000-000000000000',
    }
    const common = [
      'id',
      'documentId',
      'sequence',
      'itemId',
      'accountId',
      'lineType',
      'lineObjectNumber',
      'description',
      'unitOfMeasureId',
      'unitOfMeasureCode',
      'unitPrice',
      'quantity',
      'discountAmount',
      'discountPercent',
      'discountAppliedBeforeTax',
      'amountExcludingTax',
      'taxCode',
      'taxPercent',
      'totalTaxAmount',
      'amountIncludingTax',
      'netAmount',
      'netTaxAmount',
      'netAmountIncludingTax',
      'itemVariantId',
      'locationId',
    ]

    await t.test('a POST needs a body', async () => {
      const lines = `${company}/salesInvoices(${await newDocument('salesInvoices')})/salesInvoiceLines`
      const refused = await call('POST', lines)
      assert.equal(refused.status, 400, refused.body)
      assert.match(refused.body ?? '', /needs a body/)
      assert.deepEqual((await call('GET', lines)).json['value'], [])
    })

    await t.test('create and get, every form', async () => {
      for (const [type, own] of [
        ['salesInvoice', ['invoiceDiscountAllocation', 'shipmentDate']],
        ['salesQuote', []],
        ['salesCreditMemo', ['invoiceDiscountAllocation', 'shipmentDate']],
      ] as const) {
        const body = type === 'salesQuote' ? { ...input, shipmentDate: undefined } : input
        const id = await newDocument(`${type}s`)
        const below = `${company}/${type}s(${id})/${type}Lines`
        const made = await call('POST', below, { body })
        assert.equal(made.status, 201, made.body)
        for (const name of [...common, ...own])
          assert.ok(Object.hasOwn(made.json, name), `${type}: ${name}`)
        const expected = {
          documentId: id,
          sequence: 10_000,
          amountExcludingTax: 164.7,
          totalTaxAmount: 8.24,
          amountIncludingTax: 172.94,
          netAmount: 164.7,
          netTaxAmount: 8.24,
          netAmountIncludingTax: 172.94,
          taxPercent: 5,
          discountAppliedBeforeTax: false,
          accountId: '00000000-0000-0000-0000-000000000000',
          unitPrice: 54.9,
          quantity: 3,
        }
        for (const [name, value] of Object.entries(expected))
          assert.equal(made.json[name], value, name)
        const key = String(made.json['id'])
        const flat =
          type === 'salesInvoice' ? `${company}/${type}Lines` : `${company}/${type}Lines(${key})`
        const second = await call('POST', flat, { body: { ...body, documentId: id } })
        assert.equal(second.status, 201, second.body)
        assert.equal(second.json['sequence'], 20_000)
        if (type !== 'salesInvoice')
          assert.equal((await call('POST', flat, { body })).json['documentId'], id)
        for (const address of [`${below}(${key})`, `${company}/${type}Lines(${key})`]) {
          const got = await call('GET', address)
          assert.equal(got.status, 200, got.body)
          assert.equal(got.json['id'], key)
          assert.equal(got.headers['ETag'], got.json['@odata.etag'])
        }
        const tag = String((await call('GET', `${below}(${key})`)).json['@odata.etag'])
        const patched = await call('PATCH', `${below}(${key})`, {
          body: { quantity: 1 },
          headers: { 'if-match': tag },
        })
        assert.equal(patched.status, 200, patched.body)
        assert.equal(patched.json['amountExcludingTax'], 54.9)
        assert.equal((await call('DELETE', `${company}/${type}Lines(${key})`)).status, 204)
        assert.equal((await call('GET', `${below}(${key})`)).status, 404)
        const list = await call(
          'GET',
          `${company}/${type}Lines?$filter=documentId eq ${id}`.replaceAll(' ', '%20'),
        )
        assert.equal(
          (list.json['value'] as readonly unknown[]).length,
          type === 'salesInvoice' ? 1 : 2,
          list.body,
        )
      }
    })

    await t.test('v1.0: its shape, and PATCH with If-Match', async () => {
      const id = await newDocument('salesInvoices')
      const line = await call('POST', `${company}/salesInvoices(${id})/salesInvoiceLines`, {
        body: input,
      })
      const v1 = { version: 'v1.0' } as const
      for (const key of [`'${id}-10000'`, `${id}-10000`, String(line.json['id'])]) {
        const got = await call(
          'GET',
          `${company}/salesInvoices(${id})/salesInvoiceLines(${key})`,
          v1,
        )
        assert.equal(got.status, 200, got.body)
        assert.equal(got.json['id'], `${id}-10000`)
        assert.deepEqual(got.json['lineDetails'], {
          number: '1996-S',
          displayName: 'ATLANTA Whiteboard, base',
          description: null,
        })
        assert.deepEqual(got.json['unitOfMeasure'], {
          code: 'PCS',
          displayName: 'Piece',
          symbol: null,
          unitConversion: null,
        })
        for (const name of ['lineObjectNumber', 'unitOfMeasureCode', 'itemVariantId'])
          assert.ok(!Object.hasOwn(got.json, name), name)
      }
      const address = `${company}/salesInvoices(${id})/salesInvoiceLines('${id}-10000')`
      const got = await call('GET', address, v1)
      const missing = await call('PATCH', address, { ...v1, body: { quantity: 2 } })
      assert.equal(missing.status, 400)
      assert.equal(
        (missing.json['error'] as Record<string, unknown>)['code'],
        'BadRequest_InvalidToken',
      )
      const tag = String(got.json['@odata.etag'])
      const done = await call('PATCH', address, {
        ...v1,
        body: { quantity: 2, id: 'x', netAmount: 1 },
        headers: { 'if-match': tag },
      })
      assert.equal(done.status, 200, done.body)
      assert.equal(done.json['netAmount'], 109.8)
      const stale = await call('PATCH', address, {
        ...v1,
        body: { quantity: 5 },
        headers: { 'if-match': tag },
      })
      assert.equal(stale.status, 412)
      assert.equal(
        (stale.json['error'] as Record<string, unknown>)['code'],
        'Request_EntityChanged',
      )
      assert.equal((await call('GET', address, v1)).json['quantity'], 2)
      assert.equal(
        (
          await call('PATCH', address, {
            ...v1,
            body: { quantity: 3 },
            headers: { 'if-match': '*' },
          })
        ).status,
        200,
      )
    })

    await t.test('actions, deep insert, expand, batch', async () => {
      const made = await call('POST', `${company}/salesInvoices?$expand=salesInvoiceLines`, {
        body: {
          customerId: books.customerId,
          salesInvoiceLines: [{ ...input }, { description: 'thanks' }],
        },
      })
      assert.equal(made.status, 201, made.body)
      assert.equal((made.json['salesInvoiceLines'] as readonly unknown[]).length, 2)
      const id = String(made.json['id'])
      const posted = await call('POST', `${company}/salesInvoices(${id})/Vendor.NAV.post`)
      assert.equal(posted.status, 204, posted.body)
      assert.match(posted.headers['Location'] ?? '', new RegExp(id))
      const after = await call('GET', `${company}/salesInvoices(${id})`)
      assert.deepEqual([after.json['status'], after.json['remainingAmount']], ['Open', 172.94])
      const fresh = await newDocument('salesInvoices')
      const requests = [{ ...input }, { itemId: 'nonsense' }].map((body, n) => ({
        method: 'POST',
        id: String(n),
        url: `${company}/salesInvoices(${fresh})/salesInvoiceLines`,
        headers: { 'Content-Type': 'application/json' },
        body,
      }))
      const atomic = await call('POST', '$batch', {
        body: { requests: requests.map((one) => ({ ...one, atomicityGroup: 'a' })) },
      })
      assert.equal(atomic.status, 200, atomic.body)
      const linesOf = async () =>
        (
          (await call('GET', `${company}/salesInvoices(${fresh})/salesInvoiceLines`)).json[
            'value'
          ] as readonly unknown[]
        ).length
      assert.equal(await linesOf(), 0, atomic.body)
      await call('POST', '$batch', { body: { requests } })
      assert.equal(await linesOf(), 1)
    })

    await t.test('access by role', async () => {
      const seller = randomUUID()
      const address = `${company}/items(${itemId})`
      assert.equal((await call('GET', address, { as: seller })).status, 403)
      assert.equal(
        (
          await call('POST', `${company}/accessRights`, {
            body: { principalId: seller, role: 'sales' },
          })
        ).status,
        201,
      )
      assert.equal((await call('GET', address, { as: seller })).status, 200)
      assert.equal(
        (
          await call('PATCH', address, {
            as: seller,
            body: { displayName: 'x' },
            headers: { 'if-match': '*' },
          })
        ).status,
        403,
      )
      assert.equal(
        (
          await call('POST', `${company}/salesQuotes`, {
            as: seller,
            body: { customerId: books.customerId },
          })
        ).status,
        201,
      )
      assert.equal(
        (await call('POST', 'companies', { as: seller, body: { name: 'Mine' } })).status,
        403,
      )
      const head = randomUUID()
      const body = { principalId: head, role: 'full' }
      assert.equal((await call('POST', `${company}/accessRights`, { body })).status, 201)
      for (const address of ['companies', `${company}/companies`]) {
        const made = await call('POST', address, { as: head, body: { name: 'Mine' } })
        assert.equal(made.status, 403, address)
      }
      // A name can be guessed.
      const name = String((await call('GET', company)).json['name'])
      for (const [as, status] of [
        [seller, 200],
        [randomUUID(), 404],
      ] as const) {
        const named = `companies(name='${name}')/salesQuotes`
        assert.equal((await call('GET', named, { as })).status, status)
        const isMade = await call('POST', named, { as, body: { customerId: books.customerId } })
        assert.equal(isMade.status, status === 200 ? 201 : status)
      }
      for (const [method, of] of [
        ['PATCH', ''],
        ['DELETE', ''],
        ['POST', '/companies'],
        ['PATCH', `/${company}`],
        ['DELETE', `/companies(name='${name}')`],
      ] as const) {
        const answerOf = async (guessed: string) => {
          const sent = { as: randomUUID(), body: { name: 'x' }, headers: { 'if-match': '*' } }
          const address = `companies(name='${guessed}')${of.replace(name, guessed)}`
          const { status, json } = await call(method, address, sent)
          const { code, message } = json['error'] as { code: string; message: string }
          return [status, code, message.replaceAll(guessed, '').replace(/CorrelationId.*/, '')]
        }
        assert.deepEqual(await answerOf(name), await answerOf('Nobody'), `${method} ${of}`)
      }
      const renamed = { as: seller, body: { name: 'x' }, headers: { 'if-match': '*' } }
      assert.equal((await call('PATCH', `companies(name='${name}')`, renamed)).status, 403)
      const seen = await call('GET', 'companies', { as: randomUUID() })
      assert.deepEqual(seen.json['value'], [])
    })

    await t.test('the answer to a method that is not allowed names those that are', async () => {
      const id = await newDocument('salesQuotes')
      const { json } = await call('POST', `${company}/salesQuotes(${id})/salesQuoteLines`, {
        body: { itemId, quantity: 1 },
      })
      for (const [method, address, allow] of [
        ['DELETE', 'salesQuotes', 'GET, POST'],
        ['PUT', `salesQuotes(${id})`, 'GET, PATCH, DELETE'],
        ['PUT', `salesQuoteLines(${json['id']})`, 'GET, POST, PATCH, DELETE'],
        ['PATCH', 'salesQuotes/$count', 'GET'],
        ['POST', 'generalLedgerEntries', 'GET'],
        ['POST', 'trialBalances', 'GET'],
      ] as const) {
        const answer = await call(method, `${company}/${address}`, { body: {} })
        assert.equal(answer.status, 405, answer.body)
        assert.equal(answer.headers['Allow'], allow, `${method} ${address}`)
      }
    })

    await t.test('service document, metadata, and bodies that are none', async () => {
      assert.equal((await call('GET', '')).status, 200)
      assert.match(
        (await call('GET', '$metadata', { version: 'v1.0' })).body ?? '',
        /salesInvoiceLine/,
      )
      const id = await newDocument('salesInvoices')
      const lines = `${company}/salesInvoices(${id})/salesInvoiceLines`
      assert.equal((await call('POST', lines, { body: '' })).status, 400)
      assert.deepEqual((await call('GET', lines)).json['value'], [])
      for (const body of [
        '',
        '{',
        '[]',
        'null',
        '1',
        '{"quantity":"x"}',
        '{"quantity":1e999}',
        '{"itemId":{}}',
        '{"__proto__":1}',
        '{"description":"\\u0000"}',
        '{"description":"\\ud800"}',
        '{"lineDetails":7}',
      ]) {
        for (const version of ['v2.0', 'v1.0'] as const) {
          const answer = await call('POST', `${company}/salesInvoices(${id})/salesInvoiceLines`, {
            version,
            body,
          })
          assert.ok(answer.status < 500, `${body}: ${answer.body}`)
        }
      }
    })
  })
}
