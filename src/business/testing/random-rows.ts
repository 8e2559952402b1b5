/**
 * Random rows of every entity, as statements for either store. Their domains are small, so that conditions match.
 */

import { insertRow } from '#query/rows.ts'
import type { Table } from '#query/table.ts'
import type { SqlTx, SqlValue } from '#stores/store.ts'
import { type Entity, type Field, noGuid } from '../entity.ts'
import { businessModel } from '../model.ts'
import { lines } from '../tables.ts'
import { emptyValue } from '../write/values.ts'
import type { Chance } from './random-query.ts'

/** The number of rows of each set; other sets have none. */
const counts: Readonly<Record<string, number>> = {
  unitsOfMeasure: 3,
  items: 6,
  itemVariants: 5,
  itemUnitsOfMeasure: 5,
  accounts: 2,
  currencies: 2,
  taxAreas: 2,
  locations: 2,
  customers: 4,
  salesInvoices: 5,
  salesQuotes: 2,
  salesCreditMemos: 2,
  salesInvoiceLines: 18,
  salesQuoteLines: 4,
  salesCreditMemoLines: 4,
}

const decimals = [100_000, 50_000, 1, 333_333]
const texts = [
  '',
  'a',
  'B',
  'Bolt',
  'bolt',
  ' nut ',
  'É',
  'é',
  '😀x',
  "it's",
  'Zebra',
  '10%',
  'a_b',
]

type Rows = readonly (readonly [table: Table, cells: Readonly<Record<string, SqlValue>>])[]

/** Rows of one company, whose ids differ from those of another `number`. */
export function randomRows(chance: Chance, companyId: string, number: number): Rows {
  const one = (below: number): number => Math.floor(chance() * below)
  const idsOf = new Map<string, readonly string[]>()
  let made = 0
  for (const [set, count] of Object.entries(counts)) {
    const ids = Array.from({ length: count }, () => {
      made++
      return `${String(number).padStart(8, '0')}-0000-4000-8000-${String(made).padStart(12, '0')}`
    })
    idsOf.set(set, ids)
  }

  function cellOf(field: Field): SqlValue {
    const { type } = field
    if (one(5) === 0) return emptyValue(field)
    switch (type.kind) {
      case 'string':
        return (texts[one(texts.length)] ?? '').slice(0, type.lengthMax)
      case 'integer':
        return one(4)
      case 'decimal':
        return (one(9) - 3) * (decimals[one(decimals.length)] ?? 1)
      case 'boolean':
        return one(2)
      case 'date':
        return `20${20 + one(4)}-0${1 + one(3)}-1${one(10)}`
      case 'moment':
        return 1_790_000_000_000 + one(5) * 7_777_777
      case 'enum':
        return type.values[one(type.values.length)] ?? ''
      default:
        return noGuid
    }
  }

  function rowOf(entity: Entity, at: number): Readonly<Record<string, SqlValue>> {
    const cells: Record<string, SqlValue> = {}
    for (const field of entity.fields) {
      const { type } = field
      if (type.kind === 'complex' || type.kind === 'nothing' || field.join !== undefined) continue
      cells[field.column] = cellOf(field)
    }
    for (const { many, on, target } of entity.navigations) {
      if (many) continue
      const known = idsOf.get(target) ?? []
      cells[on.local] = known[one(known.length + 1)] ?? noGuid
    }
    // Their indexes are unique.
    for (const column of ['number', 'code']) {
      if (cells[column] !== undefined) cells[column] = `${entity.set.slice(0, 3)}${at}-${number}`
    }
    const id = idsOf.get(entity.set)?.[at] ?? ''
    if (entity.set === 'itemUnitsOfMeasure') cells['item_id'] = idsOf.get('items')?.[at] ?? noGuid
    if (entity.table === lines) {
      const documents = idsOf.get(entity.navigations[0]?.target ?? '') ?? []
      cells['document_id'] = documents[one(documents.length)] ?? noGuid
      cells['sequence'] = (at + 1) * 10_000
      cells['legacy_id'] = `${cells['document_id']}-${cells['sequence']}`
    }
    const { discriminator: of } = entity
    if (of !== undefined) cells[of.column] = of.value
    return { ...cells, id, company_id: companyId, revision: 1 + one(9) }
  }

  return Object.entries(counts).flatMap(([set, count]) => {
    const entity = businessModel.find(set, 'v2.0')
    if (entity === undefined) throw new Error(`no set ${set}`)
    return Array.from({ length: count }, (_, at) => [entity.table, rowOf(entity, at)] as const)
  })
}

export async function insertRows(tx: SqlTx, rows: Rows): Promise<void> {
  for (const [table, cells] of rows) await insertRow(tx, table, cells)
}
