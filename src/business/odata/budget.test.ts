/** The limit of work for one request: a batch shares one budget, pages shrink to it, and nothing is lost. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { isLong } from '../../../tests/long.ts'
import { turnsOf } from '../../../tests/turns.ts'
import type { BusinessAnswer, BusinessRequest } from '../message.ts'
import { type Business, createBusiness } from '../service.ts'
import { type BusinessFixture, dialects, openCompany } from '../testing/books.ts'
import { odataLimits } from './limits.ts'

const rowsOfSet = 6_000
const partsOfBatch = 100
const root = 'http://host/api/v2.0/'

interface Page {
  readonly value: readonly { readonly number: string }[]
  readonly '@odata.nextLink'?: string
}

function businessOf(books: BusinessFixture): Business {
  return createBusiness({
    sql: books.sql,
    clock: { now: () => Date.UTC(2026, 10, 22) },
    ids: { uuid: () => randomUUID(), secret: () => 'x' },
    namespace: 'Vendor',
    publicUrl: () => 'http://host',
    conflictStatus: 412,
    groupsOf: async () => [],
    administers: async () => true,
  })
}

function request(
  method: string,
  address: string,
  body?: string,
  headers: Readonly<Record<string, string>> = {},
): BusinessRequest {
  const [path = '', search = ''] = address.split('?')
  return {
    method,
    version: 'v2.0',
    path,
    search,
    headers: { 'content-type': 'application/json', ...headers },
    body: body === undefined ? undefined : new TextEncoder().encode(body),
    principal: {
      id: '11111111-1111-1111-1111-111111111111',
      type: 'User',
      tenantId: 't',
      displayName: 'one',
      clientId: 'one',
      groups: [],
    },
    correlationId: 'c-1',
  }
}

async function addCustomers({ sql, companyId }: BusinessFixture): Promise<void> {
  const digits = `select '0' as d${[...'123456789'].map((one) => ` union all select '${one}'`).join('')}`
  const numbers = `select a.d || b.d || c.d || e.d as n
    from (${digits}) as a cross join (${digits}) as b cross join (${digits}) as c cross join (${digits}) as e`
  await sql.transact(async (tx) => {
    await tx.run(
      `insert into business_customers (id, company_id, revision, number, display_name)
       select '00000000-0000-4000-8000-00000000' || n, cast(? as text), 1, 'N' || n,
         'A name that is as long as names of customers are'
       from (${numbers}) as numbers where n < '${rowsOfSet}'`,
      companyId,
    )
  })
}

function jsonBatch(address: string): [body: string, headers: Record<string, string>] {
  const requests = Array.from({ length: partsOfBatch }, (_, at) => ({
    id: String(at),
    method: 'GET',
    url: address,
  }))
  return [JSON.stringify({ requests }), {}]
}

function multipartBatch(address: string): [body: string, headers: Record<string, string>] {
  const part = `--b\r\nContent-Type: application/http\r\n\r\nGET ${address} HTTP/1.1\r\n\r\n\r\n`
  return [
    `${part.repeat(partsOfBatch)}--b--\r\n`,
    { 'content-type': 'multipart/mixed; boundary=b' },
  ]
}

function jsonPages({ body = '' }: BusinessAnswer): readonly Page[] {
  return JSON.parse(body).responses.map(({ status, body }: { status: number; body: Page }) => {
    assert.equal(status, 200, JSON.stringify(body).slice(0, 300))
    return body
  })
}

function multipartPages({ body = '' }: BusinessAnswer): readonly Page[] {
  const parts = body.split(/--batchresponse_[\w-]+(?:--)?\r\n/).filter((part) => part !== '')
  return parts.map((part) => {
    assert.match(part, /HTTP\/1\.1 200 OK/)
    return JSON.parse(part.slice(part.indexOf('\r\n{')))
  })
}

async function follow(business: Business, first: Page): Promise<readonly string[]> {
  const numbers: string[] = []
  for (let page = first; ; ) {
    numbers.push(...page.value.map(({ number }) => number))
    const next = page['@odata.nextLink']
    if (next === undefined) return numbers
    assert.ok(next.startsWith(root))
    const { status, body } = await business.handle(request('GET', next.slice(root.length)))
    assert.equal(status, 200, body)
    page = JSON.parse(body ?? '')
  }
}

for (const dialect of dialects) {
  test(`${dialect}: what a batch and a page may hold`, async (t) => {
    await using books = await openCompany(t, dialect)
    if (books === undefined) return
    await addCustomers(books)
    const business = businessOf(books)
    const address = `companies(${books.companyId})/customers`
    // One more was created with the company.
    const all = rowsOfSet + 1

    const forms = [
      ['JSON', jsonBatch(address), jsonPages],
      ['multipart', multipartBatch(address), multipartPages],
    ] as const
    // The budget is the request's, whatever store the rows come from: PostgreSQL takes four seconds for each form.
    const onThisStore = dialect === 'sqlite' || isLong ? forms : []
    for (const [form, [body, headers], pagesOf] of onThisStore) {
      await t.test(`${form}: a hundred lists share one budget of rows and characters`, async () => {
        const { turns, result } = await turnsOf(() =>
          business.handle(request('POST', '$batch', body, headers)),
        )
        assert.equal(result.status, 200, result.body)
        const pages = pagesOf(result)
        assert.equal(pages.length, partsOfBatch)
        const rows = pages.reduce((sum, { value }) => sum + value.length, 0)
        assert.ok(rows <= odataLimits.answerRowsMax, `${rows} rows`)
        const length = result.body?.length ?? 0
        assert.ok(length < odataLimits.answerCharactersMax * 1.25, `${length} characters`)
        for (const page of pages) {
          assert.ok(page.value.length > 0)
          if (page.value.length < all) assert.ok(page['@odata.nextLink'] !== undefined)
        }
        const last = pages.at(-1)
        assert.ok(last !== undefined && last.value.length < all, 'the last one was cut')
        assert.deepEqual(new Set(await follow(business, last)).size, all)
        assert.ok(turns >= partsOfBatch, `the loop came round ${turns} times`)
      })
    }

    await t.test('a part that asks for one row is answered whatever came before it', async () => {
      const one = `companies(${books.companyId})/customers(${books.customerId})`
      const requests = Array.from({ length: partsOfBatch }, (_, at) => ({
        id: String(at),
        method: 'GET',
        url: at < 20 ? address : one,
      }))
      const { body } = await business.handle(
        request('POST', '$batch', JSON.stringify({ requests })),
      )
      const answers: { status: number; body: { id?: string } }[] = JSON.parse(body ?? '').responses
      assert.equal(answers.length, partsOfBatch)
      for (const answer of answers.slice(20)) assert.equal(answer.body.id, books.customerId)
    })

    await t.test(
      'a filter within a change set looks through the rows of its lists, too',
      async () => {
        const own = `companies(${books.companyId})`
        const filtered = async (query: string): Promise<number> => {
          const requests = [
            {
              method: 'PATCH',
              url: `${own}/customers(${books.customerId})`,
              headers: { 'If-Match': '*' },
              body: { city: 'Here' },
            },
            { method: 'GET', url: `${own}/${query}` },
          ].map((one, at) => ({ ...one, id: String(at), atomicityGroup: 'g' }))
          const answer = await business.handle(
            request('POST', '$batch', JSON.stringify({ requests })),
          )
          const responses: { status: number }[] = JSON.parse(answer.body ?? '').responses
          return responses.at(-1)?.status ?? 0
        }
        assert.equal(await filtered("customers?$filter=city eq 'x'"), 200)
        const lists = "salesInvoices?$filter=salesInvoiceLines/any(l: l/description eq 'x')"
        assert.equal(await filtered(lists), 200)
        const many = Array.from({ length: 30 }, (_, at) => `contains(city,'${at}')`).join(' or ')
        assert.equal(await filtered(`customers?$filter=${many}`), 400)
      },
    )

    await t.test('lists that answers expand are bounded over a change set', async () => {
      const { customerId, itemId, companyId } = books
      const size = odataLimits.listedRowsMax / partsOfBatch
      const id = await books.create('salesInvoices', {
        customerId,
        salesInvoiceLines: Array.from({ length: size }, () => ({ itemId, quantity: 1 })),
      })
      const statuses = async (expand: string): Promise<readonly number[]> => {
        const url = `companies(${companyId})/salesInvoices(${id})?$expand=${expand}`
        const requests = Array.from({ length: partsOfBatch }, (_, at) => ({
          id: String(at),
          atomicityGroup: 'g',
          method: 'PATCH',
          url,
          headers: { 'If-Match': '*' },
          body: { externalDocumentNumber: String(at) },
        }))
        const { body = '' } = await business.handle(
          request('POST', '$batch', JSON.stringify({ requests })),
        )
        return JSON.parse(body).responses.map((one: { status: number }) => one.status)
      }
      const lines = 'salesInvoiceLines($top=1;$select=id)'
      const all = Array.from({ length: odataLimits.listedRowsMax / size }, () => 200)
      assert.deepEqual(await statuses(lines), all)
      const twice = 'salesInvoiceLines($top=1;$select=id;$expand=salesInvoice($expand='
      const refused = await statuses(`${twice}${lines}))`)
      assert.deepEqual([refused.length, refused.at(-1)], [all.length / 2 + 1, 400])
    })

    await t.test('descriptions count, and are refused when the budget is used up', async () => {
      const one = `companies(${books.companyId})/customers(${books.customerId})`
      const requests = Array.from({ length: partsOfBatch }, (_, at) => ({
        id: String(at),
        method: 'GET',
        url: at < 99 ? ['$metadata', 'entityDefinitions'][at % 2] : one,
      }))
      const { body = '' } = await business.handle(
        request('POST', '$batch', JSON.stringify({ requests }), {
          prefer: 'odata.continue-on-error',
        }),
      )
      assert.ok(body.length < 6_000_000, `${body.length} characters`)
      const answers: { status: number; body: { id?: string } }[] = JSON.parse(body).responses
      const statuses = answers.map(({ status }) => status)
      assert.deepEqual([...new Set(statuses)], [200, 400])
      assert.equal(answers.at(-1)?.body.id, books.customerId)
    })

    await t.test('parts of one transaction have a smaller budget', async () => {
      const [body] = jsonBatch(address)
      const answer = await business.handle(
        request('POST', '$batch', body, { isolation: 'snapshot' }),
      )
      const pages = jsonPages(answer)
      const rows = pages.reduce((sum, { value }) => sum + value.length, 0)
      assert.ok(rows <= odataLimits.transactionRowsMax + partsOfBatch, `${rows} rows`)
      assert.ok(pages.every((page) => page['@odata.nextLink'] !== undefined))
    })

    await t.test('lines that come with documents are bounded over a change set', async () => {
      const invoice = (lines: number): object => ({
        method: 'POST',
        url: `companies(${books.companyId})/salesInvoices`,
        atomicityGroup: 'g',
        body: {
          customerId: books.customerId,
          salesInvoiceLines: Array.from({ length: lines }, () => ({
            itemId: books.itemId,
            // Together more than is looked through at once.
            description: 'x'.repeat(100),
          })),
        },
      })
      const send = async (first: number, second: number): Promise<readonly number[]> => {
        const requests = [first, second].map((lines, id) => ({ id: `${id}`, ...invoice(lines) }))
        const { body } = await business.handle(
          request('POST', '$batch', JSON.stringify({ requests })),
        )
        return JSON.parse(body ?? '').responses.map(({ status }: { status: number }) => status)
      }
      const half = odataLimits.nestedLinesMax / 2
      assert.deepEqual(await send(half, half), [201, 201])
      assert.deepEqual(await send(1, 2 * half), [424, 400])
      assert.deepEqual(await send(2 * half + 1, 0), [400])
    })

    await t.test(
      'documents that are changed as a whole are bounded over a change set',
      async () => {
        const long = async (): Promise<string> => {
          const id = await books.create('salesInvoices', { customerId: books.customerId })
          const count = odataLimits.wholeLinesMax
          const text = 'update business_documents set line_count = ? where id = ?'
          await books.sql.transact((tx) => tx.run(text, count, id))
          return `companies(${books.companyId})/salesInvoices(${id})`
        }
        const send = async (...requests: readonly object[]): Promise<readonly number[]> => {
          const all = requests.map((one, id) => ({ id: `${id}`, atomicityGroup: 'g', ...one }))
          const sent = request('POST', '$batch', JSON.stringify({ requests: all }))
          const { body } = await business.handle(sent)
          return JSON.parse(body ?? '').responses.map(({ status }: { status: number }) => status)
        }
        const [first, second] = [await long(), await long()]
        const removal = (url: string) => ({ method: 'DELETE', url })
        const post = { method: 'POST', url: `${first}/Vendor.NAV.sendToReview` }
        const headers = { 'if-match': '*' }
        const small = {
          method: 'PATCH',
          url: second,
          headers,
          body: { externalDocumentNumber: 'x' },
        }
        assert.deepEqual(await send(removal(first), removal(second)), [424, 400])
        assert.deepEqual(await send(removal(second), post), [424, 400])
        assert.deepEqual(await send(small, removal(first), small), [200, 204, 200])
      },
    )

    await t.test('a long page is made in pieces, in order, and whole', async () => {
      const { turns, result } = await turnsOf(() =>
        business.handle(request('GET', `${address}?$orderby=displayName desc,number desc`)),
      )
      const page: Page = JSON.parse(result.body ?? '')
      const numbers = await follow(business, page)
      assert.equal(numbers.length, all)
      // First 'C…' after 'A…', then by number, as the query asks.
      assert.deepEqual(numbers.slice(1), numbers.slice(1).toSorted().reverse())
      assert.ok(turns >= page.value.length / odataLimits.rowsAtOnce, `${turns} turns`)
    })

    await t.test(
      'a long list below a row is read in pieces, in order, and goes on where it is cut',
      async () => {
        const lines = odataLimits.transactionRowsMax + odataLimits.rowsAtOnce
        const below = `companies(${books.companyId})/salesInvoices`
        const made = await business.handle(
          request(
            'POST',
            `${below}?$expand=salesInvoiceLines($count=true;$select=sequence)`,
            JSON.stringify({
              customerId: books.customerId,
              salesInvoiceLines: Array.from({ length: lines }, () => ({ itemId: books.itemId })),
            }),
          ),
        )
        assert.equal(made.status, 201, made.body)
        const name = 'salesInvoiceLines'
        const written = JSON.parse(made.body ?? '')
        const expected = Array.from({ length: lines }, (_, at) => (at + 1) * 10_000)
        const sequences = (list: readonly { sequence: number }[]): readonly number[] =>
          list.map(({ sequence }) => sequence)
        const cut = sequences(written[name])
        assert.ok(cut.length >= odataLimits.rowsAtOnce && cut.length < lines, `${cut.length} lines`)
        assert.equal(written[`${name}@odata.count`], lines)
        const next: string = written[`${name}@odata.nextLink`]
        const rest = await business.handle(request('GET', next.slice(root.length)))
        assert.deepEqual([...cut, ...sequences(JSON.parse(rest.body ?? '').value)], expected)
        const whole = await business.handle(
          request('GET', `${below}(${written.id})?$expand=${name}($select=sequence;$expand=item)`),
        )
        const read = JSON.parse(whole.body ?? '')
        assert.deepEqual(sequences(read[name]), expected)
        assert.equal(read[name].at(-1).item.id, books.itemId)
        assert.equal(read[`${name}@odata.nextLink`], undefined)
      },
    )
  })
}
