/** Inserts rows of new lines. Columns that lines seldom use are left to the table's defaults. */

import { insertText } from '#query/rows.ts'
import { emptyCells } from '#query/table.ts'
import type { SqlValue } from '#stores/store.ts'
import { type LineRow, lines } from '../tables.ts'
import type { Writing } from './rows.ts'

type Column = keyof LineRow

/** A row with the table's default in every column. */
export const emptyLine: LineRow = Object.freeze(emptyCells(lines))

/** Columns that are usually empty. */
const seldom: ReadonlySet<string> = new Set<Column>([
  'account_id',
  'description_2',
  'discount_amount',
  'discount_percent',
  'discount_applied_before_tax',
  'invoice_discount_allocation',
  'item_variant_id',
  'location_id',
  'invoice_discount',
  'run_block',
  'run_line_amount',
  'run_eligible',
])
// The names of a row's own cells.
const wholeColumns = Object.keys(emptyLine) as Column[]
const commonColumns = wholeColumns.filter((column) => !seldom.has(column))
const seldomColumns = wholeColumns.filter((column) => seldom.has(column))

/** The number of rows in one statement, far below either store's limit. */
const rowsAtOnce = 16

/** By the number of rows. */
const commonTexts: string[] = []
const wholeTexts: string[] = []

/** Collects rows. They are certain to be there only after `flush`. */
export interface LineRows {
  /** Returns a promise when it writes rows now. */
  add(cells: LineRow): Promise<void> | undefined
  flush(): Promise<void>
}

export function openLineRows({ tx }: Writing): LineRows {
  let waiting: LineRow[] = []

  async function flush(): Promise<void> {
    if (waiting.length === 0) return
    const rows = waiting
    waiting = []
    const isCommon = rows.every(areCommon)
    const columns = isCommon ? commonColumns : wholeColumns
    const values: SqlValue[] = []
    for (const cells of rows) for (const column of columns) values.push(cells[column])
    await tx.send(textOf(isCommon, rows.length), ...values)
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
  const texts = isCommon ? commonTexts : wholeTexts
  texts[rows] ??= insertText(lines, isCommon ? commonColumns : wholeColumns, rows)
  return texts[rows]
}

function areCommon(cells: LineRow): boolean {
  return seldomColumns.every((column) => cells[column] === emptyLine[column])
}
