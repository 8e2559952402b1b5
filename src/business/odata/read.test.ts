/**
 * Reading on both stores: addresses, options, pages, expands and refusals, on rows inserted directly into tables.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { compileFilter } from '#kernel/filter/evaluate.ts'
import type { FieldMap } from '#kernel/filter/field-map.ts'
import { parseFilter } from '#kernel/filter/parse.ts'
import { strictProfile } from '#kernel/filter/profile.ts'
import { openPostgres } from '#stores/postgres/open.ts'
import { openSqlite } from '#stores/sqlite/open.ts'
import type { Sql, Store } from '#stores/store.ts'
import { findPostgres, howToGetPostgres, startPostgres } from '#stores/testing/postgres-server.ts'
import { fc, runsOf } from '../../../tests/property.ts'
import { requireOrSkip } from '../../../tests/require.ts'
import type { Version } from '../entity.ts'
import type { BusinessRequest } from '../message.ts'
import { businessMigrations } from '../migrations.ts'
import { businessModel } from '../model.ts'
import { createReader } from './read.ts'
import { parseRequest } from './request.ts'

const id = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const company = id(1)
const options = {
  migrations: businessMigrations,
  words: { namespace: 'Vendor', brand: 'Vendor' },
  transactionRetriesMax: 3,
}

async function fill(sql: Sql): Promise<void> {
  await sql.transact(async (tx) => {
    await tx.run(
      "insert into business_companies (id, revision, name) values (?, 1, 'ONE')",
      company,
    )
    await tx.run(
      "insert into business_items (id, company_id, revision, number, display_name) values (?, ?, 1, '1000', 'Bolt')",
      id(50),
      company,
    )
    for (let at = 0; at < 3; at++) {
      await tx.run(
        "insert into business_documents (id, company_id, revision, kind, number, status) values (?, ?, 1, 'invoice', ?, ?)",
        id(10 + at),
        company,
        `I-${at}`,
        at === 0 ? 'In Review' : 'Draft',
      )
      for (let line = 1; line <= 4; line++) {
        const own = id(100 + at * 10 + line)
        await tx.run(
          "insert into business_lines (id, company_id, revision, kind, legacy_id, document_id, sequence, item_id, description, quantity, unit_price) values (?, ?, 1, 'invoice', ?, ?, ?, ?, ?, ?, ?)",
          own,
          company,
          `${id(10 + at)}-${line * 10000}`,
          id(10 + at),
          line * 10000,
          line % 2 === 0 ? id(50) : '00000000-0000-0000-0000-000000000000',
          `Line ${line}`,
          line * 100_000,
          1_050_000,
        )
      }
    }
  })
}

function setUp(store: Store, pageSize?: number) {
  const { sql } = store
  const reader = createReader({
    model: businessModel,
    namespace: 'Vendor',
    publicUrl: 'http://host/api',
    dialect: sql.dialect,
    clock: { now: () => 0 },
    ...(pageSize === undefined ? {} : { pageSize }),
  })
  return async (address: string, headers: Record<string, string> = {}) => {
    const [, version = '', path = '', search = ''] =
      /^(?:http:\/\/host\/api\/)?(v[\d.]+)\/?([^?]*)\??(.*)$/.exec(address) ?? []
    const request: BusinessRequest = {
      method: 'GET',
      // The addresses below belong to these two versions.
      version: version as Version,
      path,
      search,
      headers,
      body: undefined,
      // Reading does not use the principal.
      principal: {} as BusinessRequest['principal'],
      correlationId: 'c',
    }
    const parsed = parseRequest(businessModel, 'Vendor', request, Date.UTC(2026, 10, 21))
    if (!('path' in parsed)) {
      throw new Error('not data')
    }
    const companyId = await reader.companyId(sql, parsed)
    const answer = await reader.read({ reads: sql }, parsed, { companyId, visible: undefined })
    const isJson = answer.headers['Content-Type']?.startsWith('application/json')
    return { ...answer, json: isJson ? JSON.parse(answer.body ?? 'null') : undefined }
  }
}

const base = `v2.0/companies(${company})`

async function reads(store: Store): Promise<void> {
  await fill(store.sql)
  const get = setUp(store)
  const invoices = await get(
    `${base}/salesInvoices?$count=true&$select=number,status&$orderby=number desc`,
  )
  assert.equal(invoices.json['@odata.count'], 3)
  assert.equal(
    invoices.json['@odata.context'],
    `http://host/api/v2.0/$metadata#companies(${company})/salesInvoices(number,status)`,
  )
  assert.deepEqual(
    invoices.json.value.map((one: Record<string, unknown>) => [one['number'], one['status']]),
    [
      ['I-2', 'Draft'],
      ['I-1', 'Draft'],
      ['I-0', 'In_x0020_Review'],
    ],
  )

  // Each set has an order that its store can use.
  for (const { set, scope, listNeeds } of businessModel.entities) {
    if (scope !== 'company' || listNeeds !== undefined) continue
    assert.equal((await get(`${base}/${set}?$top=1`)).status, 200, set)
  }

  const line = await get(`${base}/salesInvoices(${id(10)})/salesInvoiceLines(${id(101)})`)
  assert.equal(line.status, 200)
  assert.equal(line.json.unitPrice, 10.5)
  assert.equal(line.headers['ETag'], line.json['@odata.etag'])
  const direct = await get(`v2.0/salesInvoiceLines(${id(101)})?company=ONE`)
  assert.equal(direct.json.description, 'Line 1')
  const old = await get(
    `v1.0/companies(${company})/salesInvoices(${id(10)})/salesInvoiceLines('${id(10)}-20000')`,
  )
  assert.equal(old.json.id, `${id(10)}-20000`)
  assert.equal(old.json.unitOfMeasure, null)

  const filters: readonly (readonly [string, number])[] = [
    [`quantity gt 2`, 6],
    [`quantity gt 2.000001`, 6],
    [`quantity ge 2 and unitPrice eq 10.5`, 9],
    [`quantity mul unitPrice gt 30`, 6],
    [`contains(description,'e 4')`, 3],
    [`item/number eq '1000'`, 6],
    [`item/number eq null`, 6],
    [`salesInvoice/status eq 'In Review'`, 4],
    [`not (item/displayName gt 'A')`, 6],
    [`sequence in (10000,20000,5.5)`, 6],
    [`quantity mod 2 eq 0`, 6],
    [`tolower(description) eq 'line 1' or endswith(description,'2')`, 6],
    [`substring(description,5,1) eq '3'`, 3],
    [`year(shipmentDate) eq 1`, 12],
    [`shipmentDate lt 2026-01-01`, 12],
    [`round(quantity div 2) eq 1`, 6],
    [`startswith(description,'Line') eq true`, 12],
    [`(quantity gt 2) in (true)`, 6],
    [`((quantity gt 2) in (true,false)) in (false)`, 0],
    [`((quantity gt 2) in (true)) in (false)`, 6],
    [`item/number in ('1000',null)`, 12],
    [`item/number in (null)`, 6],
    [`contains(item/number,'1') in (false,null)`, 6],
    [`contains(item/number,'1') in (true,false)`, 6],
    [`(contains(item/number,'1') in (true,null)) in (true)`, 12],
  ]
  for (const [filter, count] of filters) {
    const list = [id(10), id(11), id(12)].join(',')
    const search = encodeURIComponent(`documentId in (${list}) and (${filter})`)
    const found = await get(`${base}/salesInvoiceLines?$filter=${search}&$top=100`)
    assert.equal(found.json.value.length, count, filter)
  }
  const any = encodeURIComponent(
    `salesInvoiceLines/any(l:l/quantity eq 4 and l/documentId eq ${id(11)})`,
  )
  assert.equal((await get(`${base}/salesInvoices/$count?$filter=${any}`)).body, '1')

  const inner =
    '$expand=salesInvoiceLines($filter=quantity gt 1;$top=2;$count=true;$select=sequence;$expand=item($select=number)),customer'
  const expanded = await get(`${base}/salesInvoices?${inner}`)
  for (const one of expanded.json.value) {
    assert.equal(one.customer, null)
    assert.equal(one['salesInvoiceLines@odata.count'], 3)
    assert.deepEqual(
      one.salesInvoiceLines.map((each: Record<string, unknown>) => each['sequence']),
      [20000, 30000],
    )
    assert.equal(one.salesInvoiceLines[0].item.number, '1000')
    assert.equal(one.salesInvoiceLines[1].item, null)
  }

  // Pages of any size, joined, give the whole list.
  for (const size of [1, 2, 5, 12, 13]) {
    const order = '$orderby=quantity desc,item/number'
    let next: string | undefined =
      `${base}/salesInvoiceLines?${order}&$filter=${encodeURIComponent(`documentId in (${[id(10), id(11), id(12)].join(',')})`)}`
    const seen: string[] = []
    while (next !== undefined) {
      const page: Awaited<ReturnType<typeof get>> = await get(next, {
        prefer: `odata.maxpagesize=${size}`,
      })
      seen.push(...page.json.value.map((one: Record<string, unknown>) => String(one['id'])))
      next = page.json['@odata.nextLink']
    }
    assert.equal(seen.length, 12, String(size))
    assert.equal(new Set(seen).size, 12)
    assert.deepEqual(seen.slice(0, 3), [id(104), id(114), id(124)])
  }
  assert.equal((await get(`${base}/items(${id(50)})/displayName/$value`)).body, 'Bolt')
  assert.equal((await get(`${base}/items(number='1000')`)).json.id, id(50))

  const refused: readonly (readonly [string, string, number])[] = [
    [`${base}/salesInvoiceLines`, 'Internal_DataNotFoundFilter', 400],
    [`${base}/salesInvoices(${id(99)})`, 'BadRequest_ResourceNotFound', 404],
    [`${base}/salesInvoices(${id(99)})/salesInvoiceLines`, 'BadRequest_ResourceNotFound', 404],
    [`v2.0/companies(${id(2)})/items`, 'Internal_CompanyNotFound', 404],
    [`v2.0/items`, 'BadRequest_RequiredParamNotProvided', 400],
    [`${base}/nothing`, 'BadRequest_NotFound', 404],
    [`${base}/items('x')`, 'Application_InvalidGUID', 400],
    [`${base}/items?$filter=nope eq 1`, 'BadRequest', 400],
    [`${base}/items?$filter=unitPrice eq 'a'`, 'Application_FilterErrorException', 400],
    [`${base}/items?$select=nope`, 'BadRequest', 400],
    [`${base}/items?$expand=nope`, 'BadRequest', 400],
    [`${base}/items?$skiptoken=abc`, 'Application_FilterErrorException', 400],
    [`${base}/items?$top=-1`, 'Application_FilterErrorException', 400],
    [`${base}/items?$apply=x`, 'BadRequest', 400],
    [`${base}/items?$filter=%00`, 'BadRequest_InvalidRequestUrl', 400],
  ]
  for (const [address, code, status] of refused) {
    await assert.rejects(get(address), (error: unknown) => {
      assert.ok(error instanceof ApiError, `${address}: ${String(error)}`)
      assert.deepEqual([error.code, error.status], [code, status], address)
      return true
    })
  }
}

const lineFields: FieldMap<Record<string, unknown>> = {
  fields: {
    quantity: { type: 'number', read: (line) => line['quantity'] },
    unitPrice: { type: 'number', read: (line) => line['unitPrice'] },
    sequence: { type: 'number', integer: true, read: (line) => line['sequence'] },
    description: { type: 'string', read: (line) => line['description'] },
    shipmentDate: { type: 'date', read: (line) => line['shipmentDate'] },
    'item/number': {
      type: 'string',
      read: (line) => (line['item'] as Record<string, unknown> | null)?.['number'],
    },
  },
}

const number = fc.constantFrom(
  'quantity',
  'unitPrice',
  'sequence',
  '2',
  '2.5',
  '10.5',
  '10000',
  '-1',
)
const sum = fc
  .tuple(number, fc.constantFrom('add', 'sub', 'mul', 'div', 'mod'), number)
  .map((parts) => `(${parts.join(' ')})`)
const words = fc.constantFrom(
  'description',
  'item/number',
  "'Line 2'",
  "'1000'",
  "''",
  "tolower('A')",
)
const compared = fc.constantFrom('eq', 'ne', 'gt', 'ge', 'lt', 'le')
const leaf = fc.oneof(
  fc.tuple(fc.oneof(number, sum), compared, number).map((parts) => parts.join(' ')),
  fc.tuple(words, compared, fc.oneof(words, fc.constant('null'))).map((parts) => parts.join(' ')),
  fc
    .tuple(fc.constantFrom('contains', 'startswith', 'endswith'), words, words)
    .map(([name, one, other]) => `${name}(${one},${other})`),
  fc.constantFrom(
    'shipmentDate lt 2026-01-01',
    "item/number in ('1000',null)",
    'sequence in (10000,2.5)',
    'length(description) eq 6',
    "indexof(item/number,'0') eq 1",
    'round(quantity div 2) eq 1',
    'true',
  ),
)
const { filter: anyFilter } = fc.letrec<{ filter: string }>((tie) => ({
  filter: fc.oneof(
    { depthSize: 'small' },
    leaf,
    tie('filter').map((one) => `not (${one})`),
    fc
      .tuple(tie('filter'), fc.constantFrom('and', 'or', 'eq'), tie('filter'))
      .map(([one, operator, other]) => `(${one}) ${operator} (${other})`),
  ),
}))

/** For any filter the store gives what the control plane's evaluator gives for the whole list. */
async function agrees(store: Store): Promise<void> {
  const get = setUp(store)
  const address = `${base}/salesInvoices(${id(11)})/salesInvoiceLines`
  const all: readonly Record<string, unknown>[] = (await get(`${address}?$expand=item`)).json.value
  assert.equal(all.length, 4)
  const seen = { all: 0, some: 0, none: 0 }
  await fc.assert(
    fc.asyncProperty(anyFilter, async (text) => {
      const parsed = parseFilter(text, strictProfile)
      assert.ok(parsed.ok)
      const oracle = compileFilter(parsed.node, lineFields)
      assert.ok(oracle.ok, text)
      const want = all.filter((line) => oracle.matches(line)).map((line) => line['sequence'])
      const found = await get(`${address}?$filter=${encodeURIComponent(text)}`)
      const given = found.json.value.map((line: Record<string, unknown>) => line['sequence'])
      assert.deepEqual(given, want, text)
      seen[want.length === 0 ? 'none' : want.length === all.length ? 'all' : 'some']++
    }),
    { numRuns: runsOf(300) },
  )
  assert.ok(seen.some > 20 && seen.none > 20 && seen.all > 20, JSON.stringify(seen))
  // Whatever the address, the result is an answer or a 4xx refusal.
  const piece = fc.constantFrom(...hostile)
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
      const outcome = await get(`${base}/${pieces.join('')}`).catch((error: unknown) => error)
      if (outcome instanceof Error) {
        assert.ok(outcome instanceof ApiError || outcome.message === 'not data', String(outcome))
      }
      if (outcome instanceof ApiError) assert.ok(outcome.status < 500)
    }),
    { numRuns: runsOf(1000) },
  )
}

const hostile = [
  ...[
    'items',
    'salesInvoices',
    `(${id(10)})`,
    '/',
    '(',
    ')',
    "'",
    '?',
    '&',
    '%',
    '%27',
    '%00',
    '+',
  ],
  ...[
    '$filter=',
    '$orderby=',
    '$expand=',
    '$select=',
    '$top=',
    '$skip=',
    '$skiptoken=',
    '$count=true',
  ],
  ...[
    'salesInvoiceLines',
    'number',
    ' eq ',
    '1e400',
    '-INF',
    'NaN',
    '99999999999999999999',
    'null',
  ],
  ...[
    'unitPrice mul 1e15',
    ' div 0',
    ';',
    ',',
    '*',
    '/$count',
    '/$value',
    '😀',
    'W10',
    'year(0000-01-01)',
  ],
  ...[
    'substring(number,99999999999)',
    ' gt ',
    'lastModifiedDateTime',
    '0001-01-01T00:00:00Z',
    'status',
  ],
]

test('SQLite: addresses, options, pages and expands', async () => {
  await using store = await openSqlite({ path: ':memory:', ...options })
  await reads(store)
  await agrees(store)
})

test('PostgreSQL: addresses, options, pages and expands', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  await using store = await openPostgres({
    url: await server.createDatabase(),
    poolSize: 2,
    clock: Date,
    ...options,
  })
  await reads(store)
  await agrees(store)
})
