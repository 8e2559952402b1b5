/**
 * Records entries in the ledger with the sums of their statements, all or nothing in the caller's transaction. Only
 * this file inserts entries; nothing changes or removes one.
 */

import type { SqlTx, SqlValue } from '#stores/store.ts'
import { placeholders, text } from '../cells.ts'
import { defaultBillingLimits } from '../limits.ts'
import type { Dimensions } from './dimensions.ts'
import type { NewEntry, Row, Statement } from './entry.ts'
import {
  accountOfEntry,
  ensureStatement,
  isMonthClosed,
  lockAccount,
  monthOf,
  type ProfilePlace,
} from './statements.ts'

interface Refusal {
  /** The index of the entry. */
  readonly index: number
  /** The path of the wrong property. */
  readonly path: string
  readonly reason: string
}

export interface Recording {
  readonly recorded: number
  /** The number of entries whose name existed: the same ones, sent twice. */
  readonly present: number
  readonly refused: readonly Refusal[]
  /** Call it after the commit. */
  committed(): void
}

export interface RecordOptions {
  readonly place: ProfilePlace
  readonly now: number
  /** False when the names were generated for these entries and cannot be in the ledger. */
  readonly mayBePresent: boolean
  /** Overrides the limit of that name. */
  readonly partRows?: number
}

const columns = [
  'statement_id',
  'part',
  'dimension_id',
  'name',
  'date',
  'quantity',
  'units',
  'effective_price',
  'market_price',
  'exchange_rate',
  'sub_total',
  'tax',
  'amount',
  'credit',
  'commitment',
  'refunded',
  'requested',
  'refund_operation',
  'period_start',
  'period_end',
  'created_at',
] as const

const rowsAtOnce = 64
const namesAtOnce = 500
const insertRows = rowsText(
  `insert into billing_entries (${columns.join(', ')}) values `,
  `(${placeholders(columns.length)})`,
)

export async function record(
  tx: SqlTx,
  dimensions: Dimensions,
  entries: readonly NewEntry[],
  options: RecordOptions,
): Promise<Recording> {
  const { place, now } = options
  await lockAccount(tx, place.account)
  const refused: Refusal[] = []
  const known = options.mayBePresent ? await presentNames(tx, place, entries) : new Set<string>()
  const targets = new Targets(tx, place, now)
  const fresh: { readonly entry: NewEntry; readonly statement: Statement }[] = []
  let present = 0
  for (const [index, entry] of entries.entries()) {
    if (known.has(entry.measures.name)) {
      present++
      continue
    }
    const statement = await targets.of(entry)
    const fault = misfit(entry, statement, place)
    if (fault !== undefined) {
      refused.push({ index, ...fault })
      continue
    }
    // Sent twice among these entries.
    if (options.mayBePresent) known.add(entry.measures.name)
    fresh.push({ entry, statement })
  }
  const identified = await dimensions.identify(
    tx,
    fresh.map(({ entry }) => entry.dimension),
  )
  const { partRows = defaultBillingLimits.partRows } = options
  const sums = new Sums()
  const rows: NewRow[] = []
  const entriesOf = new Map<number, number>()
  for (const [at, { entry, statement }] of fresh.entries()) {
    const dimensionId = identified.ids[at]
    if (dimensionId === undefined) throw new Error('an entry has no dimension')
    const before = entriesOf.get(statement.id) ?? statement.entries
    entriesOf.set(statement.id, before + 1)
    const part = Math.floor(before / partRows)
    const row = { ...entry.measures, statementId: statement.id, part, dimensionId, createdAt: now }
    rows.push(row)
    sums.add(row)
  }
  // Statements first, in order: concurrent recorders wait only here.
  await sums.write(tx)
  for (let at = 0; at < rows.length; at += rowsAtOnce) {
    const some = rows.slice(at, at + rowsAtOnce)
    const values = some.flatMap(valuesOf)
    await tx.run(insertRows(some.length), ...values)
  }
  await recordTags(tx, fresh)
  return {
    recorded: rows.length,
    present,
    refused,
    committed: () => dimensions.remember(identified),
  }
}

/** The statement for a number of rows; the text of a full batch is built once. */
function rowsText(head: string, row: string, between = ', ', tail = ''): (count: number) => string {
  const textOf = (count: number): string => head + Array(count).fill(row).join(between) + tail
  const full = textOf(rowsAtOnce)
  return (count) => (count === rowsAtOnce ? full : textOf(count))
}

interface NewRow extends Omit<Row, 'id'> {
  readonly part: number
}

function valuesOf(row: NewRow): readonly SqlValue[] {
  return [
    row.statementId,
    row.part,
    row.dimensionId,
    row.name,
    row.date,
    row.quantity,
    row.units,
    row.effectivePrice,
    row.marketPrice,
    row.exchangeRate,
    row.subTotal,
    row.tax,
    row.amount,
    row.credit,
    row.commitment,
    row.refunded,
    row.requested,
    row.refundOperation,
    row.periodStart,
    row.periodEnd,
    row.createdAt,
  ]
}

/** The statements of the given entries, each looked up once. */
class Targets {
  readonly #tx: SqlTx
  readonly #place: ProfilePlace
  readonly #now: number
  readonly #known = new Map<string, Statement>()

  constructor(tx: SqlTx, place: ProfilePlace, now: number) {
    this.#tx = tx
    this.#place = place
    this.#now = now
  }

  async of({ measures, dimension, invoice }: NewEntry): Promise<Statement> {
    const currency = dimension.billingCurrency
    const key =
      invoice === undefined ? `${currency} ${monthOf(measures.date)}` : `# ${invoice.toUpperCase()}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const month = monthOf(measures.date)
    const wanted = { ...this.#place, currency, month }
    const isLate = invoice === undefined && (await isMonthClosed(this.#tx, wanted))
    const statement = await ensureStatement(
      this.#tx,
      { ...wanted, month: isLate ? monthOf(this.#now) : month, invoice },
      this.#now,
    )
    this.#known.set(key, statement)
    return statement
  }
}

/** Why an entry cannot be on the statement of its invoice. */
function misfit(
  { dimension, invoice }: NewEntry,
  statement: Statement,
  place: ProfilePlace,
): Omit<Refusal, 'index'> | undefined {
  if (invoice === undefined) return undefined
  if (statement.profile.toLowerCase() !== place.profile.toLowerCase()) {
    return {
      path: 'properties.invoice',
      reason: `the invoice '${invoice}' is of the billing profile '${statement.profile}'`,
    }
  }
  if (statement.currency !== dimension.billingCurrency) {
    return {
      path: 'properties.billingCurrency',
      reason: `the invoice '${invoice}' is in ${statement.currency}`,
    }
  }
  return undefined
}

const namesText = (count: number): string =>
  `select name from billing_entries where name in (${placeholders(count)}) and ${accountOfEntry} = ?`
const namesFull = namesText(namesAtOnce)

async function presentNames(
  tx: SqlTx,
  { account }: ProfilePlace,
  entries: readonly NewEntry[],
): Promise<Set<string>> {
  const found = new Set<string>()
  for (let at = 0; at < entries.length; at += namesAtOnce) {
    const names = entries.slice(at, at + namesAtOnce).map(({ measures }) => measures.name)
    const rows = await tx.all(
      names.length === namesAtOnce ? namesFull : namesText(names.length),
      ...names,
      account.toLowerCase(),
    )
    for (const row of rows) found.add(text(row, 'name'))
  }
  return found
}

async function recordTags(
  tx: SqlTx,
  recorded: readonly { readonly entry: NewEntry; readonly statement: Statement }[],
): Promise<void> {
  const tagged = recorded.filter(
    ({ entry }) => entry.tags !== undefined && Object.keys(entry.tags).length > 0,
  )
  for (let at = 0; at < tagged.length; at += rowsAtOnce) {
    const some = tagged.slice(at, at + rowsAtOnce)
    await tx.run(
      insertTags(some.length),
      ...some.flatMap(({ entry, statement }) => [
        JSON.stringify(entry.tags),
        statement.id,
        entry.measures.name,
      ]),
    )
  }
}

const insertTags = rowsText(
  'insert into billing_tags (entry_id, tags) ',
  'select id, cast(? as text) from billing_entries where statement_id = ? and name = ?',
  ' union all ',
)

interface Sum {
  readonly statementId: number
  readonly dimensionId: number
  entries: number
  subTotal: bigint
  tax: bigint
  amount: bigint
  credit: bigint
  commitment: bigint
}

/** What is known of a statement without reading its entries: the number per dimension, and sums. */
class Sums {
  readonly #sums = new Map<string, Sum>()

  add(row: Omit<Row, 'id'>): void {
    const { statementId, dimensionId } = row
    const key = `${statementId} ${dimensionId}`
    let sum = this.#sums.get(key)
    if (sum === undefined) {
      const none = { entries: 0, subTotal: 0n, tax: 0n, amount: 0n, credit: 0n, commitment: 0n }
      sum = { statementId, dimensionId, ...none }
      this.#sums.set(key, sum)
    }
    sum.entries++
    sum.subTotal += BigInt(row.subTotal)
    sum.tax += BigInt(row.tax)
    sum.amount += BigInt(row.amount)
    sum.credit += BigInt(row.credit ?? 0)
    sum.commitment += BigInt(row.commitment ?? 0)
  }

  async write(tx: SqlTx): Promise<void> {
    const sums = [...this.#sums.values()].sort(
      (a, b) => a.statementId - b.statementId || a.dimensionId - b.dimensionId,
    )
    for (const [statementId, ofStatement] of Map.groupBy(sums, (sum) => sum.statementId)) {
      const total = ofStatement.reduce(added)
      await tx.run(
        `update billing_statements set entries = entries + ?, ${addition} where id = ?`,
        total.entries,
        ...amountsOf(total),
        statementId,
      )
    }
    for (let at = 0; at < sums.length; at += rowsAtOnce) {
      const some = sums.slice(at, at + rowsAtOnce)
      await tx.run(
        upsertSums(some.length),
        ...some.flatMap((sum) => [
          sum.statementId,
          sum.dimensionId,
          sum.entries,
          ...amountsOf(sum),
        ]),
      )
    }
  }
}

const sumColumns = ['sub_total', 'tax', 'amount', 'credit', 'commitment']
const upsertSums = rowsText(
  `insert into billing_statement_dimensions
     (statement_id, dimension_id, entries, ${sumColumns.join(', ')}) values `,
  `(?, ?, ?, ${sumColumns.map(() => 'cast(? as bigint)').join(', ')})`,
  ', ',
  ` on conflict (statement_id, dimension_id) do update set ${['entries', ...sumColumns]
    .map((column) => `${column} = billing_statement_dimensions.${column} + excluded.${column}`)
    .join(', ')}`,
)

const addition = sumColumns.map((column) => `${column} = ${column} + cast(? as bigint)`).join(', ')

function added(a: Sum, b: Sum): Sum {
  return {
    ...a,
    entries: a.entries + b.entries,
    subTotal: a.subTotal + b.subTotal,
    tax: a.tax + b.tax,
    amount: a.amount + b.amount,
    credit: a.credit + b.credit,
    commitment: a.commitment + b.commitment,
  }
}

/** As text: a sum may exceed exact numbers. */
function amountsOf(sum: Sum): readonly string[] {
  return [sum.subTotal, sum.tax, sum.amount, sum.credit, sum.commitment].map(String)
}
