/**
 * Random queries over random rows: on both stores, filters, orders, pages, counts and expands give what the
 * evaluator in memory gives for the whole tables.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import type { Sql, SqlRow } from '#stores/store.ts'
import { type Entity, fieldNamed, type Version } from '../entity.ts'
import { businessModel } from '../model.ts'
import type { QueryOptions } from '../odata/options.ts'
import { totalOrder } from '../odata/paging.ts'
import { createReader } from '../odata/read.ts'
import { type DataRequest, parseRequest } from '../odata/request.ts'
import { dialects, fixtureNow, openCompany } from '../testing/books.ts'
import { byOrder, holds, rowsOf, type Tables } from '../testing/evaluate.ts'
import { chanceOf, RandomQuery } from '../testing/random-query.ts'
import { insertRows, randomRows } from '../testing/random-rows.ts'
import { leadsToList, rootSource } from './paths.ts'

const companies = ['aaaaaaaa-0000-4000-8000-000000000000', 'bbbbbbbb-0000-4000-8000-000000000000']

/** The part of a row that a query decides: its key, and its expanded rows. */
type Shape = { readonly [name: string]: Shape | readonly Shape[] | string | number | null }

async function load(sql: Sql): Promise<Tables> {
  const tables = new Map<string, readonly SqlRow[]>()
  for (const { table, view } of businessModel.entities) {
    const { name } = table
    if (tables.has(name) && view === undefined) continue
    const rows = view === undefined ? name : `(${view.select(sql.dialect, fixtureNow)}) as rows`
    tables.set(name, await sql.all(`select * from ${rows}`))
  }
  return (table) => tables.get(table) ?? []
}

/** The expected result. */
function expected(
  tables: Tables,
  entity: Entity,
  version: Version,
  options: QueryOptions,
  belongs: (row: SqlRow) => boolean,
): { readonly rows: readonly Shape[]; readonly count: number } {
  const order = totalOrder(options.orderBy, rootSource(entity, version))
  const all = rowsOf(entity, tables).filter(
    (row) => belongs(row) && (options.filter === undefined || holds(options.filter, row, tables)),
  )
  const shown = all
    .toSorted(byOrder(order, tables))
    .slice(options.skip, options.top === undefined ? undefined : options.skip + options.top)
  return {
    rows: shown.map((row) => shapeOf(tables, entity, version, options, row)),
    count: all.length,
  }
}

function shapeOf(
  tables: Tables,
  entity: Entity,
  version: Version,
  options: QueryOptions,
  row: SqlRow,
): Shape {
  const shape: Record<string, Shape | readonly Shape[] | string | number | null> = {}
  shape['id'] = String(row[fieldNamed(entity, version, entity.key)?.column ?? 'id'])
  for (const { navigation, entity: target, options: inner } of options.expand) {
    const { local, foreign } = navigation.on
    const found = expected(tables, target, version, inner, (other) => {
      return other[foreign] === row[local] && other['company_id'] === row['company_id']
    })
    const isList = leadsToList(navigation, version)
    shape[navigation.name] = isList ? found.rows : (found.rows[0] ?? null)
    if (isList && inner.count) shape[`${navigation.name}@odata.count`] = found.count
  }
  return shape
}

/** The same part of an answer. */
function seen(body: Readonly<Record<string, unknown>>, options: QueryOptions): Shape {
  const shape: Record<string, Shape | readonly Shape[] | string | number | null> = {}
  // Our own JSON, as the reader wrote it.
  const json = body as Readonly<Record<string, Shape>>
  shape['id'] = String(json['id'] ?? json['customerId'])
  for (const { navigation, options: inner } of options.expand) {
    const value = json[navigation.name]
    shape[navigation.name] = Array.isArray(value)
      ? value.map((one) => seen(one, inner))
      : value === null || value === undefined
        ? null
        : seen(value, inner)
    const count = `${navigation.name}@odata.count`
    if (json[count] !== undefined) shape[count] = json[count]
  }
  return shape
}

const sets = ['items', 'customers', 'salesInvoices', 'itemVariants', 'salesInvoiceLines'] as const
const queries = process.env['ARMATURE_TEST_LONG'] === '1' ? 20_000 : 500

for (const dialect of dialects) {
  test(`${dialect}: what a query gives is what it means`, async (t) => {
    await using books = await openCompany(t, dialect)
    if (books === undefined) return
    const { sql } = books
    const chance = chanceOf(2026)
    await sql.transact(async (tx) => {
      for (const [at, id] of companies.entries()) {
        await tx.run('insert into business_companies (id, revision, name) values (?, 1, ?)', id, id)
        await insertRows(tx, randomRows(chance, id, at + 1))
      }
    })
    const tables = await load(sql)
    const reader = createReader({
      model: businessModel,
      namespace: 'Vendor',
      publicUrl: 'http://host/api',
      dialect,
      clock: { now: () => fixtureNow },
    })
    const told = { some: 0, none: 0, all: 0, refused: 0 }

    function parsed(version: Version, path: string, search: string, size: number): DataRequest {
      const found = parseRequest(
        businessModel,
        'Vendor',
        {
          method: 'GET',
          version,
          path,
          search,
          headers: size > 0 ? { prefer: `odata.maxpagesize=${size}` } : {},
          body: undefined,
          principal: {
            id: '',
            type: 'User',
            tenantId: '',
            displayName: '',
            clientId: '',
            groups: [],
          },
          correlationId: 'c',
        },
        0,
      )
      if (!('path' in found)) {
        throw new Error('not data')
      }
      return found
    }

    /** Reads all pages in order. */
    async function pages(first: DataRequest, size: number): Promise<Record<string, unknown>[]> {
      const rows: Record<string, unknown>[] = []
      for (let request: DataRequest | undefined = first; request !== undefined; ) {
        const answer = await reader.read({ reads: sql }, request, {
          companyId: companies[0],
          visible: undefined,
        })
        const json = JSON.parse(answer.body ?? '')
        rows.push(...json.value)
        const next: string | undefined = json['@odata.nextLink']
        const [, path = '', search = ''] = /^.*?\/v[\d.]+\/([^?]*)\?(.*)$/.exec(next ?? '') ?? []
        request = next === undefined ? undefined : parsed(request.version, path, search, size)
      }
      return rows
    }

    for (let number = 0; number < queries; number++) {
      const own = chanceOf(number * 7_919)
      const version: Version = own() < 0.7 ? 'v2.0' : 'v1.0'
      const set = sets[Math.floor(own() * sets.length)] ?? 'items'
      const entity = businessModel.find(set, version)
      if (entity === undefined) continue
      const isOfDocument = set === 'salesInvoiceLines'
      const documents = tables('business_documents').filter(
        (row) => row['kind'] === 'invoice' && row['company_id'] === companies[0],
      )
      const documentId = documents[Math.floor(own() * documents.length)]?.['id']
      const options = new RandomQuery(own, businessModel, version, tables).options(entity, 2)
      const search = Object.entries(options)
        .map(([name, text]) => `${name}=${encodeURIComponent(text)}`)
        .join('&')
      const path = `companies(${companies[0]})/${isOfDocument ? `salesInvoices(${documentId})/` : ''}${set}`
      const size = own() < 0.3 ? 1 + Math.floor(own() * 4) : 0
      const about = `${number}: ${version}/${path}?${decodeURIComponent(search)} by ${size}`
      let request: DataRequest
      try {
        request = parsed(version, path, search, size)
      } catch (error) {
        assert.ok(error instanceof ApiError && error.status === 400, `${about}: ${error}`)
        told.refused++
        continue
      }
      const belongs = (row: SqlRow): boolean =>
        row['company_id'] === companies[0] && (!isOfDocument || row['document_id'] === documentId)
      const wanted = expected(tables, entity, version, request.options, belongs)
      const found = await pages(request, size)
      assert.deepEqual(
        found.map((row) => seen(row, request.options)),
        wanted.rows,
        about,
      )
      if (request.options.count) {
        const answer = await reader.read({ reads: sql }, request, {
          companyId: companies[0],
          visible: undefined,
        })
        assert.equal(JSON.parse(answer.body ?? '')['@odata.count'], wanted.count, about)
      }
      const whole = rowsOf(entity, tables).filter(belongs).length
      told[wanted.count === 0 ? 'none' : wanted.count === whole ? 'all' : 'some']++
    }
    assert.ok(told.some > queries / 10 && told.none > queries / 20, JSON.stringify(told))
    assert.ok(told.all > queries / 20 && told.refused < queries / 2, JSON.stringify(told))
  })
}
