/**
 * Whatever the filter and the order, the pages contain every matching detail once, in that order: the store's
 * prefilter never hides one. On both stores.
 */

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Sql, Store } from '#stores/store.ts'
import {
  findPostgres,
  howToGetPostgres,
  type PostgresServer,
  startPostgres,
} from '#stores/testing/postgres-server.ts'
import { isLong } from '../../../../../tests/long.ts'
import { fc } from '../../../../../tests/property.ts'
import { requireOrSkip } from '../../../../../tests/require.ts'
import { sharingStore } from '../../testing/start.ts'
import { openStoreAt } from '../../testing/stores.ts'
import { kindNames } from '../kinds.ts'
import { type Detail, toDetail } from '../store/tables.ts'
import { listDetails } from './list-details.ts'
import { predicateOf } from './list-query.ts'
import { detailFields, durationOf, vCoreOf } from './records.ts'

const now = Date.UTC(2026, 0, 2)
const details = 150

const moment = fc.integer({ min: now - 200_000, max: now - 1 })
const row = fc.record({
  name: fc.constantFrom('alpha', 'Beta', 'gam_ma', 'del%ta', 'ALPHA', 'x1'),
  type: fc.constantFrom(...kindNames),
  status: fc.constantFrom('Queued', 'InProgress', 'Succeeded', 'Failed', 'Cancelled'),
  message: fc.option(fc.constantFrom('Größe', "it's", 'SourceMissing: none', '')),
  started: fc.option(moment),
  took: fc.option(fc.integer({ min: 0, max: 200_000 })),
  number: fc.integer({ min: 0, max: 5 }),
  live: fc.integer({ min: 0, max: 2 }),
})

const literalText = fc.constantFrom(
  'alpha',
  'BETA',
  'a',
  '_',
  '%',
  'SUCC',
  'succeeded',
  'Größe',
  'x',
)
const numberText = fc.constantFrom('0', '1', '2.5', '3', '-1', '60000')
const operator = fc.constantFrom('eq', 'ne', 'gt', 'ge', 'lt', 'le')
const numbers = fc.constantFrom('filesRead', 'rowsRead', 'sizeWritten', 'durationMs', 'vCore')
const words = fc.constantFrom('name', 'status', 'message', 'properties/name', 'NAME')
const times = fc.constantFrom('startTime', 'endTime')
const timeText = fc.constantFrom('2026-01-01', '2026-01-01T23:58:00Z', '2026-01-01T23:59:59.9995Z')

const { filter } = fc.letrec<{ filter: string; simple: string }>((tie) => ({
  simple: fc.oneof(
    fc
      .tuple(words, fc.constantFrom('eq', 'ne'), literalText)
      .map(([f, o, v]) => `${f} ${o} '${v}'`),
    fc
      .tuple(fc.constantFrom('contains', 'startswith', 'endswith'), words, literalText)
      .map(([f, p, v]) => `${f}(${p},'${v}')`),
    fc.tuple(numbers, operator, numberText).map((parts) => parts.join(' ')),
    fc.tuple(numberText, operator, numbers).map((parts) => parts.join(' ')),
    fc.tuple(times, operator, timeText).map((parts) => parts.join(' ')),
    fc.tuple(words, literalText, literalText).map(([f, a, b]) => `${f} in ('${a}','${b}')`),
    fc.constant("dataSetType eq 'Blob'"),
    fc
      .tuple(fc.constantFrom('endTime', 'message', 'name'), fc.constantFrom('eq null', 'ne null'))
      .map((one) => one.join(' ')),
  ),
  filter: fc.oneof(
    { maxDepth: 3 },
    tie('simple'),
    fc
      .tuple(tie('filter'), fc.constantFrom('and', 'or'), tie('filter'))
      .map(([a, o, b]) => `(${a}) ${o} (${b})`),
    tie('filter').map((one) => `not (${one})`),
  ),
}))

const orderField = fc.constantFrom(
  ...[
    'dataSetId',
    'dataSetType',
    'name',
    'status',
    'message',
    'startTime',
    'endTime',
    'durationMs',
  ],
  ...['vCore', 'filesRead', 'filesWritten', 'rowsRead', 'rowsCopied', 'sizeRead', 'sizeWritten'],
)
const order = fc
  .array(fc.tuple(orderField, fc.constantFrom('asc', 'desc')), { minLength: 1, maxLength: 3 })
  .map((terms) => terms.map((one) => one.join(' ')).join(','))

async function insert(
  sql: Sql,
  run: string,
  rows: readonly (typeof row extends fc.Arbitrary<infer T> ? T : never)[],
) {
  await sql.transact(async (tx) => {
    for (const [at, one] of rows.entries()) {
      const ended = one.started === null || one.took === null ? null : one.started + one.took
      await tx.run(
        `insert into share_details (run_id, place, mapping_key, data_set_key, data_set_id, data_set_type, name, status,
            message, started_at, ended_at, files_read, files_written, rows_read, rows_copied, size_read, size_written,
            live_rows_read, live_rows_copied, live_size_read, live_size_written)
          values (?, ?, 'm', 'd', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ...[run, at + 1, `id-${at % 7}`, one.type, one.name, one.status, one.message, one.started],
        ...[ended, one.number, one.number, one.number, one.number, one.number, one.number],
        ...[one.live, one.live, one.live, one.live],
      )
    }
  })
}

async function walk(sql: Sql, run: string, query: URLSearchParams): Promise<readonly Detail[]> {
  const found: Detail[] = []
  let cursor: string | undefined
  for (let pages = 0; pages < 500; pages++) {
    const page = await listDetails(sql, run, { query, cursor, pageSize: 7, now })
    assert.ok(page.items.length <= 7)
    found.push(...page.items)
    cursor = page.next
    if (cursor === undefined) return found
  }
  throw new Error('the pages never ended')
}

/** As the records show them: a running one counts as the longest. */
const shown: Readonly<Record<string, (detail: Detail) => number | string>> = {
  ...Object.fromEntries(
    ['dataSetId', 'dataSetType', 'name', 'status', 'filesRead', 'filesWritten', 'rowsRead'].map(
      // Names of the record's own members.
      (name) => [name, (detail: Detail) => detail[name as keyof Detail] as string | number],
    ),
  ),
  ...Object.fromEntries(
    ['rowsCopied', 'sizeRead', 'sizeWritten'].map((name) => [
      name,
      (detail: Detail) => detail[name as keyof Detail] as number,
    ]),
  ),
  message: ({ message }) => message ?? '',
  startTime: ({ startedAt }) => startedAt ?? 0,
  endTime: ({ endedAt }) => endedAt ?? 0,
  // One that has not begun comes before one that took no time.
  durationMs: (detail) => longest(detail) ?? durationOf(detail, now) ?? -1,
  vCore: (detail) => longest(detail) ?? vCoreOf(detail, now),
}

function longest({ startedAt, endedAt }: Detail): number | undefined {
  return startedAt !== null && endedAt === null ? Number.MAX_SAFE_INTEGER : undefined
}

function inOrder(found: readonly Detail[], text: string): void {
  const terms = text.split(',').map((one) => one.split(' '))
  for (const [at, right] of found.entries()) {
    const left = found[at - 1]
    if (left === undefined) continue
    for (const [field = '', direction] of terms) {
      const [a, b] = [shown[field]?.(left) ?? 0, shown[field]?.(right) ?? 0]
      if (a === b) continue
      assert.equal(a < b, direction === 'asc', `${String(a)} stands before ${String(b)}`)
      break
    }
  }
}

let server: Promise<PostgresServer> | undefined
after(async () => (await server)?.[Symbol.asyncDispose]())

describe('pages of details', () => {
  for (const kind of ['sqlite', 'postgres'] as const) {
    test(kind, async (t) => {
      let open: () => Promise<Store> = sharingStore
      if (kind === 'postgres') {
        if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
        server ??= startPostgres({ fsync: false })
        const url = await (await server).createDatabase()
        open = () => openStoreAt({ kind, url })
      }
      await using store = await open()
      const { sql } = store
      const rows = fc.sample(row, { numRuns: details, seed: 7 })
      await insert(sql, 'run', rows)
      await insert(sql, 'other', rows.slice(0, 20))
      const all = (
        await sql.all('select * from share_details where run_id = ? order by place', 'run')
      ).map(toDetail)
      const places = (found: readonly Detail[]) => found.map(({ place }) => place)
      await fc.assert(
        fc.asyncProperty(fc.option(filter), fc.option(order), async (filterText, orderText) => {
          const query = new URLSearchParams()
          if (filterText !== null) query.set('$filter', filterText)
          if (orderText !== null) query.set('$orderby', orderText)
          const matches = predicateOf(query, detailFields(now))?.matches ?? (() => true)
          const expected = places(all.filter(matches))
          const found = await walk(sql, 'run', query)
          if (orderText === null) assert.deepEqual(places(found), expected)
          else {
            assert.deepEqual(
              [...places(found)].sort((a, b) => a - b),
              expected,
            )
            inOrder(found, orderText)
          }
        }),
        { numRuns: (kind === 'sqlite' ? 400 : 150) / (isLong ? 1 : 2) },
      )
    })
  }
})

test('a filter that reads many fields looks at fewer rows for a page', async () => {
  await using store = await sharingStore()
  const { sql } = store
  await insert(sql, 'run', fc.sample(row, { numRuns: 900, seed: 7 }))
  const search = (times: number) =>
    new URLSearchParams({ $filter: Array(times).fill("contains(name,'none')").join(' or ') })
  const page = (times: number) =>
    listDetails(sql, 'run', { query: search(times), cursor: undefined, pageSize: 7, now })
  assert.deepEqual(await page(8), { items: [] })
  const short = await page(49)
  assert.deepEqual(short.items, [])
  assert.notEqual(short.next, undefined)
  assert.deepEqual(await walk(sql, 'run', search(49)), [])
})
