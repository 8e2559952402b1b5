/**
 * Counts and sums of everything that matches. They come from the statements' own sums when dimensions decide;
 * otherwise from the entries, a bounded range at a time, with turns for other requests.
 */

import { acceptedOf, nextTurn } from '#plane/next-turn.ts'
import type { SqlValue } from '#stores/store.ts'
import { refuseBilling } from '../../errors.ts'
import { number } from '../cells.ts'
import { counted, sumsAsText, totalsOf } from '../tables.ts'
import { entriesOf } from './entries.ts'
import type { Entry, Statement, Totals } from './entry.ts'
import type { LedgerDependencies } from './page.ts'
import type { LedgerQuery } from './query.ts'
import { entryColumns, idList, rowOf } from './scan.ts'
import { knownDimensions, type Selection, selectDimensions } from './selection.ts'

interface Counted {
  readonly entries: number
  readonly totals: Totals
}

const nothing: Totals = { subTotal: 0n, tax: 0n, amount: 0n, credit: 0n, commitment: 0n }
const rowsAtOnce = 5000

export async function countMatching(
  deps: LedgerDependencies,
  query: LedgerQuery,
  words: readonly string[],
  given: readonly Statement[],
): Promise<Counted> {
  const statements = given.filter(({ entries }) => entries > 0)
  const asks = query.asksDimensions || words.length > 0
  const byEntry = query.needsEntries || query.conditions.length > 0
  if (!asks && !byEntry) {
    return sum(statements.map(({ entries, totals }) => ({ entries, totals })))
  }
  const selection = await selectDimensions(deps, statements, query, words)
  if (selection.isEmpty) return { entries: 0, totals: nothing }
  const named = (await acceptedOf(selection.named, (entry) => query.holds(entry))).map(countedOf)
  if (!byEntry && !selection.isPartial) {
    const known = asks ? selection : undefined
    const all = known === undefined ? await knownDimensions(deps, statements) : undefined
    const shared = statements.flatMap(({ id }) => known?.known(id) ?? all?.get(id) ?? [])
    return sum([...shared, ...named])
  }
  let read = 0
  const counted: Counted[] = [...named]
  for (const statement of statements) {
    const chosen = selection.of(statement.id)
    if (chosen?.entries === 0) continue
    let after = 0
    for (;;) {
      const next = await nextRange(deps, { query, selection }, statement, after)
      counted.push(next.counted)
      if (next.last === undefined) break
      after = next.last
      read += rowsAtOnce
      if (read > deps.limits.countRowsMax) {
        throw refuseBilling.CountTooExpensive({ limit: deps.limits.countRowsMax })
      }
      await nextTurn()
    }
  }
  return sum(counted)
}

function countedOf({ row }: Entry): Counted {
  return {
    entries: 1,
    totals: {
      subTotal: BigInt(row.subTotal),
      tax: BigInt(row.tax),
      amount: BigInt(row.amount),
      credit: BigInt(row.credit ?? 0),
      commitment: BigInt(row.commitment ?? 0),
    },
  }
}

function sum(parts: readonly Counted[]): Counted {
  return parts.reduce<Counted>(
    (all, { entries, totals }) => ({
      entries: all.entries + entries,
      totals: {
        subTotal: all.totals.subTotal + totals.subTotal,
        tax: all.totals.tax + totals.tax,
        amount: all.totals.amount + totals.amount,
        credit: all.totals.credit + totals.credit,
        commitment: all.totals.commitment + totals.commitment,
      },
    }),
    { entries: 0, totals: nothing },
  )
}

async function nextRange(
  deps: LedgerDependencies,
  { query, selection }: { readonly query: LedgerQuery; readonly selection: Selection },
  statement: Statement,
  after: number,
): Promise<{ readonly counted: Counted; readonly last: number | undefined }> {
  const { sql } = deps
  const index = sql.dialect === 'sqlite' ? 'indexed by billing_entries_by_id' : ''
  const range = (columns: string) =>
    `select ${columns} from billing_entries ${index} where statement_id = ? and id > ? order by id limit ${rowsAtOnce}`
  const [end] = await sql.all(
    `select id from (${range('id')}) index_range limit 1 offset ${rowsAtOnce - 1}`,
    statement.id,
    after,
  )
  const last = end === undefined ? undefined : number(end, 'id')
  const tests = query.conditions.map(({ text }) => text)
  const values: SqlValue[] = query.conditions.flatMap((condition) => condition.values)
  const chosen = selection.of(statement.id)
  if (chosen !== undefined) {
    tests.push(`dimension_id in (${idList(sql.dialect)})`)
    values.push(JSON.stringify(chosen.ids))
  }
  const where = tests.length === 0 ? '' : `where ${tests.join(' and ')}`
  if (query.needsEntries || selection.isPartial) {
    const rows = await sql.all(
      `select * from (${range(entryColumns)}) index_range ${where}`,
      statement.id,
      after,
      ...values,
    )
    const entries = await entriesOf(deps, rows.map(rowOf), new Map([[statement.id, statement]]))
    const matching = await acceptedOf(
      entries,
      (entry) => selection.allows(entry) && query.holds(entry),
    )
    return {
      counted: sum(matching.map(countedOf)),
      last,
    }
  }
  const [row] = await sql.all(
    `select count(*) as entries, ${sumsAsText((column) => `coalesce(sum(${column}), 0)`)}
     from (${range(entryColumns)}) index_range ${where}`,
    statement.id,
    after,
    ...values,
  )
  if (row === undefined) throw new Error('a sum has no row')
  const sums = counted.row(row)
  return { counted: { entries: sums.entries, totals: totalsOf(sums) }, last }
}
