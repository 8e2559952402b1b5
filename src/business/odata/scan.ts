/**
 * Statements that may scan a table: filters and orders that no index serves, lists below other rows, and counts.
 * They run where the store does not block the process. A writing transaction has no such place, so the number of
 * rows that it may scan is limited.
 */

import type { SqlRow } from '#stores/store.ts'
import { between, type Fragment, joined, type SqlContext } from '../compile/fragment.ts'
import { rootSource } from '../compile/paths.ts'
import { SqlWriter } from '../compile/sql.ts'
import type { Entity } from '../entity.ts'
import { refuse } from '../errors.ts'
import { ofCompany } from './addressed-row.ts'
import type { ReadContext, SetQuery } from './level-reader.ts'
import type { Conditions } from './level-statement.ts'
import { odataLimits } from './limits.ts'
import type { QueryOptions } from './options.ts'
import type { Segment } from './request.ts'
import { lookedThrough } from './scan-cost.ts'

/** The rows to scan. `table` is where most of them are. */
interface Scanned {
  readonly context: SqlContext
  readonly entity: Entity
  readonly table: string
  readonly companyId: string | undefined
  readonly options: QueryOptions
}

/** The number of rows that an index may skip without a scan. */
const skippedMax = 1_000

/** As many as a statement has that names one sum. */
const shortCharacters = 8_192
/** They are prepared in the time in which one row is looked through. */
const charactersOfRow = 64

/** True if the matching rows may have to be searched among all rows. */
export function mayScan({ filter, orderBy, skip }: QueryOptions): boolean {
  return filter !== undefined || orderBy.length > 0 || skip > skippedMax
}

/** Whether an index has the rows in their own order, or there is one at the most. */
export function isInOrder({ entity, navigation }: Segment): boolean {
  if (navigation?.many === false) return true
  return entity.inOrderBy.includes(navigation?.on.foreign ?? 'company_id')
}

/** The table whose rows are added for each row, if any. */
export function summedTable({ view }: Entity, { period }: QueryOptions): string | undefined {
  return view?.period === undefined || period !== undefined ? view?.sums : undefined
}

/** Throws the error of a transaction that would scan too many rows. */
export async function scan(
  reading: ReadContext,
  scanned: Scanned,
  { text, values }: Fragment,
): Promise<readonly SqlRow[]> {
  const { reads } = reading
  if (reads.scan !== undefined) return await reads.scan(text, ...values)
  // To prepare a long statement takes as much as to look through rows.
  reading.budget.nested.scanned -= Math.max(0, text.length - shortCharacters) / charactersOfRow
  await requireFew(reading, scanned)
  return await reads.all(text, ...values)
}

async function requireFew(reading: ReadContext, scanned: Scanned): Promise<void> {
  const { scannedRowsMax } = odataLimits
  const { nested } = reading.budget
  const all = lookedThrough(scanned.entity, scanned.table, scanned.options)
  for (const [table, some] of Map.groupBy(all, (one) => one.table)) {
    const { entity } = some[0] ?? scanned
    const weight = some.reduce((sum, one) => sum + one.weight, 0)
    nested.scanned -= weight * (await countFew(reading, { ...scanned, entity, table }))
    if (nested.scanned >= 0) continue
    throw refuse.BadRequest({
      reason: `The filters, orders and sums of one transaction may look through at most ${scannedRowsMax} rows, those of lists among them, and fewer where they are long. Send requests that only read by themselves.`,
    })
  }
}

/** The number of rows there are; one more than may be looked through stands for all beyond. */
async function countFew(
  { reads }: ReadContext,
  { context, entity, table, companyId }: Scanned,
): Promise<number> {
  const writer = new SqlWriter(context)
  const own = ofCompany(entity, companyId)(writer)
  const where = own[0] === undefined ? joined('') : joined(' where ', own[0])
  const { text, values } = joined(
    `select count(*) as n from (select 1 from ${table} as t0`,
    where,
    ` limit ${odataLimits.scannedRowsMax + 1}) as few`,
  )
  const [row] = await reads.all(text, ...values)
  return Number(row?.['n'] ?? 0)
}

/** Throws the error of a transaction whose lists are too long together. */
export async function requireShortLists(
  { reads, budget: { nested } }: ReadContext,
  { context, entity, version }: Pick<SetQuery, 'entity' | 'version'> & Pick<Scanned, 'context'>,
  among: Conditions,
): Promise<void> {
  if (reads.scan !== undefined) return
  const { listedRowsMax } = odataLimits
  const [writer, source] = [new SqlWriter(context), rootSource(entity, version)]
  const all = [...among(writer, source), ...writer.ofSet(source)]
  const { text, values } = joined(
    `select count(*) as n from (select 1 from ${writer.from(source)}`,
    all.length === 0 ? '' : ' where ',
    between(' and ', all),
    ` limit ${listedRowsMax + 1}) as few`,
  )
  const [row] = await reads.all(text, ...values)
  nested.listed -= Number(row?.['n'] ?? 0)
  if (nested.listed >= 0) return
  throw refuse.BadRequest({
    reason: `The lists that one transaction reads, expands or counts may have at most ${listedRowsMax} rows together, shown or not. Read them afterwards.`,
  })
}
