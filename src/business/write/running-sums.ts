/**
 * The sums before each line of a tax group, in blocks of lines: a line has the sum of its block up to it, a block the
 * sum of the blocks before it. A line that comes, goes or changes moves its block and the blocks behind, so it costs
 * far less than its document. Kept only while the document has an invoice discount; knows nothing of discounts.
 */

import { deleteRows, firstRow, insertRow } from '#query/rows.ts'
import { selecting } from '#query/table.ts'
import type { SqlTx } from '#stores/store.ts'
import { type LineRow, lineBlocks, lines } from '../tables.ts'

/** The lines of a full block. A change writes its block and one short row for each block after it. */
const blockLines = 128
/** Blocks into which lines are inserted grow; above this size all blocks are rebuilt. */
const blockLinesMax = 4 * blockLines

/** What a line adds to the sums, in the stored form. */
interface Summand {
  readonly lineAmount: number
  readonly eligible: number
}

type RunningCells = Pick<LineRow, 'run_block' | 'run_line_amount' | 'run_eligible'>

/** The line's part of the invoice discount's base. */
export const eligibleSql = 'case when allows_invoice_discount = 1 then line_amount else 0 end'

const ofGroup = 'document_id = ? and tax_key = ?'
const runningLines = selecting(lines, 'run_line_amount', 'run_eligible')
const blockPlaces = selecting(lineBlocks, 'block')

export class RunningSums {
  readonly #tx: SqlTx
  readonly #documentId: string
  #isOvergrown = false

  constructor(tx: SqlTx, documentId: string) {
    this.#tx = tx
    this.#documentId = documentId
  }

  /** A block has become too large: `rebuild` is due. */
  get isOvergrown(): boolean {
    return this.#isOvergrown
  }

  /** Makes room for a line at a free position; returns the cells of its row. `isLast`: nothing follows it. */
  async put(key: string, sequence: number, own: Summand, isLast: boolean): Promise<RunningCells> {
    const found = await firstRow(
      this.#tx,
      lineBlocks,
      `where ${ofGroup} and block <= ? order by block desc limit 1`,
      this.#documentId,
      key,
      sequence,
    )
    const { line_count: count, block: begin, ...sums } = found ?? noBlock
    const before = await this.#upTo(key, begin, sequence)
    if (found === undefined || (isLast && count >= blockLines)) {
      const block = found === undefined ? 0 : sequence
      await insertRow(this.#tx, lineBlocks, {
        document_id: this.#documentId,
        tax_key: key,
        block,
        line_count: 1,
        line_amount: sums.line_amount + before.lineAmount,
        eligible: sums.eligible + before.eligible,
      })
      return { run_block: block, run_line_amount: own.lineAmount, run_eligible: own.eligible }
    }
    await this.#countIn(key, begin, 1)
    if (!isLast) await this.#shift({ key, block: begin, sequence }, own, 1)
    this.#isOvergrown ||= count >= blockLinesMax
    return {
      run_block: begin,
      run_line_amount: before.lineAmount + own.lineAmount,
      run_eligible: before.eligible + own.eligible,
    }
  }

  /** Removes a line, by its row. */
  async take(row: LineRow): Promise<void> {
    const { tax_key: key, run_block: block, sequence, line_amount: lineAmount } = row
    await this.#countIn(key, block, -1)
    const eligible = row.allows_invoice_discount === 1 ? lineAmount : 0
    await this.#shift({ key, block, sequence }, { lineAmount, eligible }, -1)
  }

  /** Removes the blocks; the related cells of lines have no meaning from here on. */
  drop(): Promise<void> {
    return deleteRows(this.#tx, lineBlocks, { document_id: this.#documentId })
  }

  /** Builds the blocks from all lines of the document. */
  async rebuild(): Promise<void> {
    await this.drop()
    await this.#tx.run(
      `update business_lines set run_block = cut.run_block, run_line_amount = cut.run_line_amount,
           run_eligible = cut.run_eligible
         from (select id, case when chunk = 0 then 0 else min(sequence) over (partition by tax_key, chunk) end as run_block,
             sum(line_amount) over upto as run_line_amount, sum(eligible) over upto as run_eligible
           from (select id, tax_key, sequence, line_amount, ${eligibleSql} as eligible,
               (row_number() over (partition by tax_key order by sequence) - 1) / ${blockLines} as chunk
             from business_lines where document_id = ? and tax_key <> '') as numbered
           window upto as (partition by tax_key, chunk order by sequence)) as cut
         where business_lines.id = cut.id`,
      this.#documentId,
    )
    await this.#tx.run(
      `insert into business_line_blocks (document_id, tax_key, block, line_count, line_amount, eligible)
         select document_id, tax_key, run_block, line_count,
           coalesce(sum(line_amount) over earlier, 0), coalesce(sum(eligible) over earlier, 0)
         from (select document_id, tax_key, run_block, count(*) as line_count, sum(line_amount) as line_amount,
             sum(${eligibleSql}) as eligible
           from business_lines where document_id = ? and tax_key <> ''
           group by document_id, tax_key, run_block) as blocks
         window earlier as (partition by tax_key order by run_block rows between unbounded preceding and 1 preceding)`,
      this.#documentId,
    )
    this.#isOvergrown = false
  }

  async #countIn(key: string, block: number, by: 1 | -1): Promise<void> {
    await this.#tx.run(
      `update business_line_blocks set line_count = line_count + ? where ${ofGroup} and block = ?`,
      by,
      this.#documentId,
      key,
      block,
    )
  }

  /** The sum of the block up to the position. */
  async #upTo(key: string, block: number, sequence: number): Promise<Summand> {
    const row = await firstRow(
      this.#tx,
      runningLines,
      `where ${ofGroup} and sequence < ? and sequence >= ? order by sequence desc limit 1`,
      this.#documentId,
      key,
      sequence,
      block,
    )
    return { lineAmount: row?.run_line_amount ?? 0, eligible: row?.run_eligible ?? 0 }
  }

  /** Everything after the position: the rest of its block, and the blocks after it. */
  async #shift({ key, block, sequence }: Place, by: Summand, sign: 1 | -1): Promise<void> {
    const group = [this.#documentId, key]
    const amounts = [sign * by.lineAmount, sign * by.eligible]
    if (amounts.every((one) => one === 0)) return
    const next = await firstRow(
      this.#tx,
      blockPlaces,
      `where ${ofGroup} and block > ? order by block limit 1`,
      ...group,
      block,
    )
    const end = next === undefined ? [] : [next.block]
    await this.#tx.run(
      `update business_lines set run_line_amount = run_line_amount + ?, run_eligible = run_eligible + ?
         where ${ofGroup} and sequence > ?${next === undefined ? '' : ' and sequence < ?'}`,
      ...amounts,
      ...group,
      sequence,
      ...end,
    )
    if (next === undefined) return
    await this.#tx.run(
      `update business_line_blocks set line_amount = line_amount + ?, eligible = eligible + ?
         where ${ofGroup} and block > ?`,
      ...amounts,
      ...group,
      block,
    )
  }
}

const noBlock = { line_count: 0, block: 0, line_amount: 0, eligible: 0 }

/** A position in a block of a group. */
interface Place {
  readonly key: string
  readonly block: number
  readonly sequence: number
}
