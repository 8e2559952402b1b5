/**
 * Rows of new lines on their way into the table: what a line seldom has is left to the table's own defaults. Knows
 * columns and no rules.
 */

import type { SqlValue } from '#stores/store.ts'
import { noDate, noGuid } from '../entity.ts'
import { type Cells, insertText, type Writing } from './rows.ts'

const table = 'business_lines'

/** A row that holds what the table puts there by itself: every column there is. */
export const emptyLine = Object.freeze({
  id: '',
  company_id: '',
  revision: 0,
  legacy_id: '',
  document_id: noGuid,
  sequence: 0,
  kind: '',
  line_type: '',
  item_id: noGuid,
  line_object_number: '',
  object_name: '',
  description: '',
  unit_of_measure_id: noGuid,
  unit_of_measure_code: '',
  unit_price: 0,
  quantity: 0,
  amount_excluding_tax: 0,
  tax_code: '',
  tax_percent: 0,
  total_tax_amount: 0,
  amount_including_tax: 0,
  net_amount: 0,
  net_tax_amount: 0,
  net_amount_including_tax: 0,
  shipment_date: noDate,
  line_amount: 0,
  tax_key: '',
  allows_invoice_discount: 0,
  account_id: noGuid,
  description_2: '',
  discount_amount: 0,
  discount_percent: 0,
  discount_applied_before_tax: 0,
  invoice_discount_allocation: 0,
  item_variant_id: noGuid,
  location_id: noGuid,
  invoice_discount: 0,
  run_block: 0,
  run_line_amount: 0,
  run_eligible: 0,
})

const whole = Object.entries(emptyLine)
/** The columns from here on are seldom anything but empty. */
const seldomFrom = whole.findIndex(([column]) => column === 'account_id')
const seldom = whole.slice(seldomFrom)
const wholeColumns = whole.map(([column]) => column)
const commonColumns = wholeColumns.slice(0, seldomFrom)

/** Rows of one statement: far below what either store takes. */
const rowsAtOnce = 16

const commonText = insertText(table, commonColumns, 1)
const wholeText = insertText(table, wholeColumns, 1)
const commonTextOfMany = insertText(table, commonColumns, rowsAtOnce)
const wholeTextOfMany = insertText(table, wholeColumns, rowsAtOnce)

/** Takes rows. Nothing is there for sure before `flush`. */
export interface LineRows {
  /** Of cells for every column. A promise where rows are written now. */
  add(cells: Cells): Promise<void> | undefined
  flush(): Promise<void>
}

export function openLineRows({ tx }: Writing): LineRows {
  let waiting: Cells[] = []

  async function flush(): Promise<void> {
    if (waiting.length === 0) return
    const rows = waiting
    waiting = []
    const isCommon = rows.every(areCommon)
    const columns = isCommon ? commonColumns : wholeColumns
    const values: SqlValue[] = []
    for (const cells of rows) for (const column of columns) values.push(cells[column] ?? null)
    await tx.run(textOf(isCommon, rows.length), ...values)
  }

  return {
    add(cells) {
      waiting.push(cells)
      return waiting.length === rowsAtOnce ? flush() : undefined
    },
    flush,
  }
}

function textOf(isCommon: boolean, rows: number): string {
  if (rows === 1) return isCommon ? commonText : wholeText
  if (rows === rowsAtOnce) return isCommon ? commonTextOfMany : wholeTextOfMany
  return insertText(table, isCommon ? commonColumns : wholeColumns, rows)
}

function areCommon(cells: Cells): boolean {
  for (const [column, empty] of seldom) if (cells[column] !== empty) return false
  return true
}
