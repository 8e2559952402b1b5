/** The joined pages of any query equal filtering and sorting all entries in memory. On both stores. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { compileFilter } from '#kernel/filter/evaluate.ts'
import { parseFilter } from '#kernel/filter/parse.ts'
import { lenientProfile } from '#kernel/filter/profile.ts'
import { contractWords } from '#kernel/vendor.ts'
import { openPostgres } from '#stores/postgres/open.ts'
import { openSqlite } from '#stores/sqlite/open.ts'
import type { Store } from '#stores/store.ts'
import { findPostgres, howToGetPostgres, startPostgres } from '#stores/testing/postgres-server.ts'
import { fc } from '../../../../../tests/property.ts'
import { requireOrSkip } from '../../../../../tests/require.ts'
import { defaultBillingLimits } from '../limits.ts'
import { billingMigrations } from '../migrations.ts'
import { Dimensions } from './dimensions.ts'
import { entriesOf } from './entries.ts'
import type { Entry, NewEntry } from './entry.ts'
import { ledgerFields } from './fields.ts'
import { KnownStatements } from './known-statements.ts'
import type { LedgerDependencies } from './page.ts'
import { readPage } from './pages.ts'
import { parseLedgerQuery } from './query.ts'
import { record } from './record.ts'
import { entryColumns, rowOf } from './scan.ts'
import { searchedText } from './search.ts'
import { listStatements } from './statements.ts'
import { countMatching } from './totals.ts'

const fields = ledgerFields(contractWords)
const place = { account: '1234', profile: 'main' }
const day = 86_400_000
/** Three parts of one month, and four of the other. */
const partRows = 100
const start = Date.UTC(2026, 9, 20)

function entries(count: number): readonly NewEntry[] {
  let state = 7
  const below = (max: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * max)
  }
  return Array.from({ length: count }, (_, at) => {
    const amount = (below(40) - 10) * 12_300
    const product = below(7)
    return {
      dimension: {
        billingCurrency: 'USD',
        pricingCurrency: product === 0 ? 'EUR' : 'USD',
        productDescription: `Product ${product} Größe`,
        ...(below(3) === 0 ? { customerDisplayName: `Customer ${below(4)}` } : {}),
        transactionType: below(4) === 0 ? 'Refund' : 'Purchase',
        ...(below(2) === 0 ? { creditType: 'Refund' } : {}),
        ...(below(2) === 0 ? { reasonCode: 'Instead of 00000042-0000' } : {}),
        isThirdParty: below(2) === 0,
        discount: below(3) * 5,
        recordedBy: 'User|x',
      },
      measures: {
        name: `${String(at).padStart(8, '0')}-0000-4000-8000-${String(below(1e6)).padStart(12, '0')}`,
        date: start + below(25) * day,
        quantity: below(4) === 0 ? null : below(5),
        units: below(4) === 0 ? null : below(7) / 4,
        effectivePrice: below(5) / 8,
        marketPrice: below(2) === 0 ? null : 1.5,
        exchangeRate: null,
        subTotal: amount,
        tax: 0,
        amount,
        credit: below(10) === 0 ? below(3) * 10_000 : null,
        commitment: null,
        refunded: below(12) === 0 ? 5000 : null,
        requested: null,
        refundOperation: below(12) === 0 ? `Operation-${below(5)}` : null,
        periodStart: below(3) === 0 ? null : start,
        periodEnd: null,
      },
    }
  })
}

const filters = [
  '',
  'transactionAmount/value gt 12.3',
  'properties/subTotal/value le -1.23',
  'subTotal/value eq 2.46 or quantity eq 3',
  "productDescription eq 'Product 3 Größe'",
  "contains(properties/productDescription,'3') and quantity ge 2",
  "customerDisplayName eq null and transactionType eq 'refund'",
  "customerDisplayName ne 'Customer 1'",
  'quantity eq null',
  'quantity ne 2 and not (units gt 1)',
  "date ge '2026-10-30' and date lt 2026-11-05",
  "vendorCreditApplied/value gt 0 or creditType eq 'Refund'",
  'vendorCreditApplied/value eq 1',
  'isThirdParty and discount in (5,10)',
  'quantity in (1,2) and effectivePrice/value eq 0.125',
  "invoice eq 'pending'",
  'units mul 2 eq 3',
  'quantity gt 1.5 and quantity lt 3.5',
  "effectivePrice/currency eq 'EUR'",
  "refundTransactionDetails/refundOperationId eq 'Operation-1'",
  'productDescription eq customerDisplayName',
] as const
const orders = [
  '',
  'date',
  'transactionAmount/value desc',
  'quantity',
  'quantity desc',
  'units desc',
  'vendorCreditApplied/value',
  'vendorCreditApplied/value desc',
  'refundTransactionDetails/refundOperationId',
  'productDescription',
  'customerDisplayName desc, productDescription',
  'isThirdParty, properties/date',
  'marketPrice/value',
  'name desc',
  'discount desc,date desc',
  'transactionAmount/value desc, quantity, date',
  'date desc, transactionAmount/value desc',
  'quantity, name desc',
  'units desc, productDescription, marketPrice/value',
  'vendorCreditApplied/value desc, date desc, name',
  'refundTransactionDetails/refundOperationId, customerDisplayName desc, units',
  'productDescription, transactionAmount/value desc',
  'productDescription desc, date desc, quantity',
  'isThirdParty, quantity desc, productDescription, date',
  'invoice, transactionType, vendorCreditApplied/value',
  'billingCurrency, effectivePrice/currency, date',
  'quantity, id',
] as const
const searches = [
  '',
  'größe 3',
  'customer',
  'nowhere',
  'us',
  'main',
  'pending größe',
  '00000123',
  '00000123 3',
  '00000007-0000-4000',
  'operation-1',
  'operation-1 customer',
  // The name of one entry, and part of other entries' texts.
  '00000042 purchase',
] as const

async function check(store: Store, runs: number): Promise<void> {
  const dimensions = new Dimensions(store.sql)
  const given = entries(700)
  const recording = await store.sql.transact((tx) =>
    record(tx, dimensions, given, { place, now: start, mayBePresent: true, partRows }),
  )
  recording.committed()
  assert.equal(recording.recorded, given.length)
  const again = await store.sql.transact((tx) =>
    record(tx, dimensions, given.slice(0, 50), { place, now: start, mayBePresent: true }),
  )
  assert.deepEqual([again.recorded, again.present], [0, 50])
  const statements = await listStatements(store.sql, { account: place.account, limit: 10 })
  assert.equal(statements.length, 2, 'two months')
  const ids = new Map(statements.map((one) => [one.id, one]))
  const full: LedgerDependencies = {
    sql: store.sql,
    words: contractWords,
    dimensions,
    known: new KnownStatements(),
    limits: defaultBillingLimits,
  }
  const rows = await store.sql.all(`select ${entryColumns} from billing_entries order by id`)
  const all = await entriesOf(full, rows.map(rowOf), ids)
  const seen = { questions: 0, some: 0, short: 0, refused: 0, tied: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...filters),
      fc.constantFrom(...orders),
      fc.constantFrom(...searches),
      fc.record({
        limit: fc.integer({ min: 5, max: 50 }),
        skip: fc.constantFrom(0, 0, 3, 150, 450),
        skippedRowsMax: fc.constantFrom(120, 1_000_000),
        sortRowsMax: fc.constantFrom(0, 40, 2000),
        scanRowsMax: fc.constantFrom(60, 4000),
        tieRowsMax: fc.constantFrom(40, 3000, 50_000),
        dimensionsMax: fc.constantFrom(0, 5000),
        rarePart: fc.constantFrom(1 / 40, 2),
        pickedRowsMax: fc.constantFrom(30, 20_000),
        one: fc.boolean(),
      }),
      async (filter, order, search, settings) => {
        seen.questions++
        const { limit, skip, one, ...limits } = settings
        const chosen = one ? statements.slice(0, 1) : statements
        const query = parseLedgerQuery(fields, filter, order)
        const words = search.split(' ').filter((word) => word !== '')
        const expected = oracle(all, filter, words, query.compare, query.order[0]?.descending)
          .filter(({ statement }) => chosen.includes(statement))
          .map(({ row }) => row.id)
        const deps: LedgerDependencies = {
          ...full,
          limits: {
            ...defaultBillingLimits,
            ...limits,
            readRowsMax: limits.scanRowsMax,
            partRows,
          },
        }
        const counted = await countMatching(deps, query, words, chosen)
        assert.equal(counted.entries, expected.length)
        const found: Entry[] = []
        let cursor: string | undefined
        for (let pages = 0; ; pages++) {
          assert.ok(pages < 1500, 'pages without an end')
          const asked = { query, words, statements: chosen, limit, skip, cursor }
          const page = await readPage(deps, asked).catch((error) => {
            assert.equal(error.code, 'OrderTooExpensive')
            return undefined
          })
          if (page === undefined) {
            seen.refused++
            const isTied = query.order.length > 1 && limits.tieRowsMax === 40
            if (isTied) seen.tied++
            assert.ok(isTied || limits.dimensionsMax === 0 || limits.sortRowsMax < 700)
            return
          }
          assert.ok(page.entries.length <= limit)
          found.push(...page.entries)
          cursor = page.next
          if (cursor === undefined) break
          if (page.entries.length < limit) seen.short++
        }
        const ids = found.map(({ row }) => row.id)
        if (expected.length > 0) seen.some++
        assert.equal(new Set(ids).size, ids.length, 'an entry came twice')
        assert.deepEqual(sameOrder(found, query.compare), true, 'out of order')
        assert.deepEqual(ids.toSorted(), skipped(expected, ids, skip, query, all).toSorted())
      },
    ),
    { numRuns: runs },
  )
  // A slow machine runs fewer than requested (`tests/property.ts`).
  assert.ok(seen.some > seen.questions / 8, JSON.stringify(seen))
  // One query in forty is of the rare kinds, so a short run may contain none.
  if (runs >= 150) assert.ok(seen.short > 0 && seen.tied > 0, JSON.stringify(seen))
}

function oracle(
  all: readonly Entry[],
  filter: string,
  words: readonly string[],
  compare: (a: Entry, b: Entry) => number,
  descending: boolean | undefined,
): readonly Entry[] {
  let holds = (_entry: Entry): boolean => true
  if (filter !== '') {
    const parsed = parseFilter(filter, lenientProfile)
    assert.ok(parsed.ok, parsed.ok ? '' : parsed.message)
    const compiled = compileFilter(parsed.node, fields.map)
    assert.ok(compiled.ok, compiled.ok ? '' : compiled.message)
    holds = compiled.matches
  }
  const sign = descending === true ? -1 : 1
  return all
    .filter((entry) => holds(entry) && words.every((word) => isIn(entry, word)))
    .toSorted((a, b) => compare(a, b) || sign * (a.row.id - b.row.id))
}

function isIn({ row, dimension, statement }: Entry, word: string): boolean {
  const { account, profile, invoice = 'pending' } = statement
  if (searchedText(dimension).includes(word)) return true
  const names = [account, profile, invoice].map((name) => name.toLowerCase())
  if (word.length >= 4 && names.some((name) => name.startsWith(word))) return true
  return (
    word.length >= 8 &&
    (row.name.startsWith(word) || row.refundOperation?.toLowerCase().startsWith(word) === true)
  )
}

function sameOrder(found: readonly Entry[], compare: (a: Entry, b: Entry) => number): boolean {
  return found.every((entry, at) => {
    const before = found[at - 1]
    return before === undefined || compare(before, entry) <= 0
  })
}

/** What remains after the first `skip`: among entries that tie at the border, any may remain. */
function skipped(
  expected: readonly number[],
  found: readonly number[],
  skip: number,
  query: ReturnType<typeof parseLedgerQuery>,
  all: readonly Entry[],
): readonly number[] {
  if (skip === 0) return expected
  assert.equal(found.length, Math.max(0, expected.length - skip))
  const entry = new Map(all.map((one) => [one.row.id, one]))
  const border = entry.get(expected[skip] ?? -1)
  if (border === undefined) return []
  for (const id of expected.slice(skip)) {
    const one = entry.get(id)
    assert.ok(one !== undefined)
    if (query.compare(one, border) > 0) assert.ok(found.includes(id), 'one was left out')
  }
  return found
}

const options = { migrations: billingMigrations, words: contractWords, transactionRetriesMax: 5 }
const long = process.env['ARMATURE_TEST_LONG'] === '1'

test('on SQLite', async () => {
  await using store = await openSqlite({ path: ':memory:', ...options })
  await check(store, long ? 3000 : 150)
})

test('of more than is looked at at once nothing is left out', async () => {
  await using store = await openSqlite({ path: ':memory:', ...options })
  const dimensions = new Dimensions(store.sql)
  const given = entries(3000)
  const recording = await store.sql.transact((tx) =>
    record(tx, dimensions, given, { place, now: start, mayBePresent: true }),
  )
  recording.committed()
  const statements = await listStatements(store.sql, { account: place.account, limit: 10 })
  const filter =
    "productDescription in ('Product 2 Größe', 'Product 5 Größe') and units eq 0.25 and effectivePrice/value eq 0.125"
  const limits = { ...defaultBillingLimits, sortRowsMax: 0, rarePart: 2 }
  const known = new KnownStatements()
  const deps: LedgerDependencies = {
    sql: store.sql,
    words: contractWords,
    dimensions,
    known,
    limits,
  }
  const query = parseLedgerQuery(fields, filter, null)
  const names: string[] = []
  for (let cursor: string | undefined, pages = 0; pages === 0 || cursor !== undefined; pages++) {
    const page = await readPage(deps, {
      ...{ query, words: [], statements, limit: 5, skip: 0, cursor },
    })
    names.push(...page.entries.map(({ row }) => row.name))
    cursor = page.next
  }
  const expected = given.filter(
    ({ dimension, measures }) =>
      /[25]/.test(dimension.productDescription ?? '') &&
      measures.units === 0.25 &&
      measures.effectivePrice === 0.125,
  )
  assert.ok(expected.length > 10)
  assert.deepEqual(names.toSorted(), expected.map(({ measures }) => measures.name).toSorted())
})

test('on PostgreSQL', async (t: TestContext) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  const url = await server.createDatabase()
  const clock = { now: () => Date.now() }
  await using store = await openPostgres({ url, poolSize: 4, clock, ...options })
  await check(store, long ? 1000 : 20)
})
