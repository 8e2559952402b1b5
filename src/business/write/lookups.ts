/**
 * Finds the rows that a write refers to, by id or by code, each once per write. A missing row is refused with the
 * name of the property.
 */

import { allRows, firstRow } from '#query/rows.ts'
import { type Cells, type Column, type Columns, selecting, type Table } from '#query/table.ts'
import { noGuid } from '../entity.ts'
import { refuse } from '../errors.ts'
import * as tables from '../tables.ts'
import { lockFor, type WriteContext } from './rows.ts'

/** A property that names a row, by its id or by its code. */
interface Reference {
  readonly property: string
  readonly column: string
  readonly value: string
}

/**
 * A value that was found before is returned without a promise: of a document's many lines only the first ones must
 * wait.
 */
export type MaybePromise<T> = T | Promise<T>

/** The columns of a table whose rows have an id. */
export type Identified = Columns & { readonly id: Column<string> }

export interface Lookups {
  /** The row that a reference names; refused when the company has none. */
  need<C extends Identified>(
    table: Table<C>,
    type: string,
    reference: Reference,
  ): MaybePromise<Cells<C>>
  /** The row that several references name, which must be the same; undefined when none is given. */
  agree<C extends Identified>(
    table: Table<C>,
    type: string,
    references: readonly (Reference | undefined)[],
  ): MaybePromise<Cells<C> | undefined>
  /**
   * In the stored form: the rate for a tax area and the group of a code; 0 when none is set up (business facts
   * 5.6).
   */
  taxPercent(areaId: string, code: string): MaybePromise<number>
  /** Refuses a code without a tax group, once the company has any: the sale would have no tax. */
  requireTaxGroup(code: string): Promise<void>
  /** In the stored form: base units in another unit of the item; undefined when the item has no such unit. */
  unitFactor(itemId: string, unitId: string): Promise<number | undefined>
}

/** Continues with the found value, without a promise if possible. */
export function withFound<T, U>(
  found: MaybePromise<T>,
  next: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return found instanceof Promise ? found.then(next) : next(found)
}

/** No value: the zero GUID, or the empty code. */
export function reference(property: string, column: string, value: unknown): Reference | undefined {
  if (typeof value !== 'string' || value === '' || value === noGuid) return undefined
  return { property, column, value }
}

const percents = selecting(tables.taxRates, 'tax_percent')
const factors = selecting(tables.itemUnits, 'quantity_per_unit')

export function createLookups(context: WriteContext): Lookups {
  const { tx, companyId } = context
  /** By table and value: of a document's many lines each looks here, and a key that is composed is read through each time. */
  const found = new Map<object, Map<string, unknown>>()
  const rates = new Map<string, number>()
  const units = new Map<string, number>()

  function rowOf<C extends Identified>(
    table: Table<C>,
    { column, value }: Reference,
  ): MaybePromise<Cells<C> | undefined> {
    let known = found.get(table)
    if (known === undefined) {
      known = new Map()
      found.set(table, known)
    }
    // Most rows are named by their ids. The entry of a table was read from that table.
    const by = column === 'id' ? value : `${column} ${value}`
    if (known.has(by)) return known.get(by) as Cells<C> | undefined
    // What is referred to stays until the reference is committed.
    const rest = `where company_id = ? and ${column} = ?${lockFor(context, 'reference')}`
    return firstRow(tx, table, rest, companyId, value).then((row) => {
      known.set(by, row)
      return row
    })
  }

  function need<C extends Identified>(
    table: Table<C>,
    type: string,
    one: Reference,
  ): MaybePromise<Cells<C>> {
    return withFound(rowOf(table, one), (row) => {
      if (row !== undefined) return row
      throw refuse.Internal_RecordNotFound(
        { property: one.property, type, key: `the ${one.column} '${one.value}'` },
        { target: one.property },
      )
    })
  }

  async function agree<C extends Identified>(
    table: Table<C>,
    type: string,
    references: readonly Reference[],
  ): Promise<Cells<C> | undefined> {
    let first: { readonly row: Cells<C>; readonly by: Reference } | undefined
    for (const one of references) {
      const row = await need(table, type, one)
      if (first !== undefined && first.row.id !== row.id) {
        throw refuse.Internal_InvalidTableRelation(
          {
            property: one.property,
            reason: `names another ${type} than '${first.by.property}'.`,
          },
          { target: one.property },
        )
      }
      first ??= { row, by: one }
    }
    return first?.row
  }

  return {
    need,
    agree(table, type, references) {
      const given = references.filter((one) => one !== undefined)
      const [first] = given
      if (first === undefined) return undefined
      return given.length === 1 ? need(table, type, first) : agree(table, type, given)
    },
    taxPercent(areaId, code) {
      if (areaId === noGuid || code === '') return 0
      const by = `${areaId} ${code}`
      const known = rates.get(by)
      if (known !== undefined) return known
      const where = 'where company_id = ? and tax_area_id = ? and tax_group_code = ?'
      return firstRow(tx, percents, where, companyId, areaId, code).then((row) => {
        const percent = row?.tax_percent ?? 0
        rates.set(by, percent)
        return percent
      })
    },
    async requireTaxGroup(code) {
      const by = { property: 'taxCode', column: 'code', value: code }
      if ((await rowOf(tables.taxGroups, by)) !== undefined) return
      const where = 'where company_id = ? order by code limit 20'
      const known = await allRows(tx, tables.taxGroups, where, companyId)
      if (known.length === 0) return
      const codes = known.map((one) => `'${one.code}'`).join(', ')
      throw refuse.Internal_InvalidTableRelation(
        { property: 'taxCode', reason: `'${code}' is no tax group; there are ${codes}.` },
        { target: 'taxCode' },
      )
    },
    async unitFactor(itemId, unitId) {
      const by = `${itemId} ${unitId}`
      const known = units.get(by)
      if (known !== undefined) return known
      const where = `where item_id = ? and unit_of_measure_id = ?${lockFor(context, 'reference')}`
      const row = await firstRow(tx, factors, where, itemId, unitId)
      if (row !== undefined) units.set(by, row.quantity_per_unit)
      return row?.quantity_per_unit
    },
  }
}
