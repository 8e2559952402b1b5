/**
 * The rows a write refers to, found by id or by code, each once per write. What is not there is refused by the name
 * of the property that asked for it.
 */

import type { SqlRow } from '#stores/store.ts'
import { noGuid } from '../entity.ts'
import { refuse } from '../errors.ts'
import { numberOf, type WriteContext } from './rows.ts'

/** A property that names a row, by its id or by its code. */
interface Reference {
  readonly property: string
  readonly column: string
  readonly value: string
}

/** What was found before is there at once: of the many lines of one document only the first ones have to wait. */
export type Found<T> = T | Promise<T>

export interface Lookups {
  /** The row a reference names; refused when the company has none. */
  need(table: string, type: string, reference: Reference): Found<SqlRow>
  /** The row that several references name, which must be the same one; undefined when none says anything. */
  agree(
    table: string,
    type: string,
    references: readonly (Reference | undefined)[],
  ): Found<SqlRow | undefined>
  /** As stored: the rate where a tax area and the group of a code meet; 0 where none is set up (business facts 5.6). */
  taxPercent(areaId: string, code: string): Found<number>
  /** As stored: how many base units are in one of the item's other units; undefined when the item has no such unit. */
  unitFactor(itemId: string, unitId: string): Promise<number | undefined>
}

/** Goes on with what was found, now where that can be. */
export function withFound<T, U>(found: Found<T>, next: (value: T) => Found<U>): Found<U> {
  return found instanceof Promise ? found.then(next) : next(found)
}

/** No value: the zero GUID, or the empty code. */
export function reference(property: string, column: string, value: unknown): Reference | undefined {
  if (typeof value !== 'string' || value === '' || value === noGuid) return undefined
  return { property, column, value }
}

export function createLookups(context: WriteContext): Lookups {
  const { tx, companyId } = context
  const rows = new Map<string, Map<string, SqlRow | undefined>>()
  const rates = new Map<string, number>()

  function rowOf(table: string, { column, value }: Reference): Found<SqlRow | undefined> {
    const by = `${table} where company_id = ? and ${column} = ?`
    const known = rows.get(by) ?? new Map<string, SqlRow | undefined>()
    rows.set(by, known)
    if (known.has(value)) return known.get(value)
    return tx.all(`select * from ${by}`, companyId, value).then(([row]) => {
      known.set(value, row)
      return row
    })
  }

  function need(table: string, type: string, one: Reference): Found<SqlRow> {
    return withFound(rowOf(table, one), (row) => {
      if (row !== undefined) return row
      throw refuse.Internal_RecordNotFound(
        { property: one.property, type, key: `the ${one.column} '${one.value}'` },
        { target: one.property },
      )
    })
  }

  async function agree(table: string, type: string, references: readonly Reference[]) {
    let first: { readonly row: SqlRow; readonly by: Reference } | undefined
    for (const one of references) {
      const row = await need(table, type, one)
      if (first !== undefined && first.row['id'] !== row['id']) {
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
      return tx
        .all(
          `select tax_percent from business_tax_rates
             where company_id = ? and tax_area_id = ? and tax_group_code = ?`,
          companyId,
          areaId,
          code,
        )
        .then(([row]) => {
          const percent = row === undefined ? 0 : numberOf(row, 'tax_percent')
          rates.set(by, percent)
          return percent
        })
    },
    async unitFactor(itemId, unitId) {
      const [row] = await tx.all(
        `select quantity_per_unit from business_item_units_of_measure
           where item_id = ? and unit_of_measure_id = ?`,
        itemId,
        unitId,
      )
      return row === undefined ? undefined : numberOf(row, 'quantity_per_unit')
    },
  }
}
