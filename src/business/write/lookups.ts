/**
 * The rows a write refers to, found by id or by code, each once per write. What is not there is refused by the name
 * of the property that asked for it.
 */

import type { SqlRow } from '#stores/store.ts'
import { noGuid } from '../entity.ts'
import { refuse } from '../errors.ts'
import { numberOf, type WriteContext } from './rows.ts'

/** A property that names a row, by its id or by its code. */
export interface Reference {
  readonly property: string
  readonly column: string
  readonly value: string
}

export interface Lookups {
  /** The row a reference names; refused when the company has none. */
  need(table: string, type: string, reference: Reference): Promise<SqlRow>
  /** The row that several references name, which must be the same one; undefined when none says anything. */
  agree(
    table: string,
    type: string,
    references: readonly (Reference | undefined)[],
  ): Promise<SqlRow | undefined>
  /** As stored: the rate where a tax area and the group of a code meet; 0 where none is set up (facts 5.6). */
  taxPercent(areaId: string, code: string): Promise<number>
  /** As stored: how many base units are in one of the item's other units; undefined when the item has no such unit. */
  unitFactor(itemId: string, unitId: string): Promise<number | undefined>
}

/** No value: the zero GUID, or the empty code. */
export function reference(property: string, column: string, value: unknown): Reference | undefined {
  if (typeof value !== 'string' || value === '' || value === noGuid) return undefined
  return { property, column, value }
}

export function createLookups(context: WriteContext): Lookups {
  const { tx, companyId } = context
  const known = new Map<string, Promise<SqlRow | undefined>>()

  function once(
    key: string,
    text: string,
    ...values: readonly string[]
  ): Promise<SqlRow | undefined> {
    const found = known.get(key)
    if (found !== undefined) return found
    const asked = tx.all(text, ...values).then(([row]) => row)
    known.set(key, asked)
    return asked
  }

  async function need(table: string, type: string, one: Reference): Promise<SqlRow> {
    const row = await once(
      `${table} ${one.column} ${one.value}`,
      `select * from ${table} where company_id = ? and ${one.column} = ?`,
      companyId,
      one.value,
    )
    if (row !== undefined) return row
    throw refuse.Internal_RecordNotFound(
      { property: one.property, type, key: `the ${one.column} '${one.value}'` },
      { target: one.property },
    )
  }

  return {
    need,
    async agree(table, type, references) {
      let first: { readonly row: SqlRow; readonly by: Reference } | undefined
      for (const one of references) {
        if (one === undefined) continue
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
    },
    async taxPercent(areaId, code) {
      if (areaId === noGuid || code === '') return 0
      const row = await once(
        `rate ${areaId} ${code}`,
        `select tax_percent from business_tax_rates
           where company_id = ? and tax_area_id = ? and tax_group_code = ?`,
        companyId,
        areaId,
        code,
      )
      return row === undefined ? 0 : numberOf(row, 'tax_percent')
    },
    async unitFactor(itemId, unitId) {
      const row = await once(
        `unit ${itemId} ${unitId}`,
        `select quantity_per_unit from business_item_units_of_measure
           where item_id = ? and unit_of_measure_id = ?`,
        itemId,
        unitId,
      )
      return row === undefined ? undefined : numberOf(row, 'quantity_per_unit')
    },
  }
}
