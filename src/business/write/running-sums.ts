/**
 * The sums before each line of a tax group, in blocks of lines: a line has the sum of its block up to it, a block the
 * sum of the blocks before it. A line that comes, goes or changes moves its block and the blocks behind, so it costs
 * far less than its document. Kept only while the document has an invoice discount; knows nothing of discounts.
 */

import type { SqlRow, SqlTx } from '#stores/store.ts'
import { numberOf, textOf } from './rows.ts'

/** Lines of a full block: a change writes a block and, of each further block, one short row. */
const blockLines = 128
/** Blocks into whose middle lines are put grow; past this many lines all are cut anew. */
const blockLinesMax = 4 * blockLines

/** What a line adds to the sums, as columns hold it. */
interface Summand {
  readonly lineAmount: number
  readonly eligible: number
}

interface RunningSums {
  /**
   * Makes room for a line at a place nothing stands at; the cells of its row. `isLast`: nothing stands behind it.
   */
  put(key: string, sequence: number, own: Summand, isLast: boolean): Promise<RunningCells>
  /** Closes the place of a line, by its row. */
  take(row: SqlRow): Promise<void>
  /** A block has grown out of its size: `rebuild` is due. */
  readonly isOvergrown: boolean
  /** All of the document's lines, from nothing. */
  rebuild(): Promise<void>
  /** Forgets the blocks; the cells of lines mean nothing from here on. */
  drop(): Promise<void>
}

interface RunningCells {
  readonly run_block: number
  readonly run_line_amount: number
  readonly run_eligible: number
}

/** A line's part of the base that an invoice discount is taken of. */
export const eligibleSql = 'case when allows_invoice_discount = 1 then line_amount else 0 end'

function summandOf(row: SqlRow): Summand {
  const lineAmount = numberOf(row, 'line_amount')
  return { lineAmount, eligible: row['allows_invoice_discount'] === 1 ? lineAmount : 0 }
}

export function openRunningSums(tx: SqlTx, documentId: string): RunningSums {
  let isOvergrown = false
  const ofGroup = 'document_id = ? and tax_key = ?'

  async function blockAt(key: string, sequence: number): Promise<SqlRow | undefined> {
    const [row] = await tx.all(
      `select * from business_line_blocks where ${ofGroup} and block <= ? order by block desc limit 1`,
      documentId,
      key,
      sequence,
    )
    return row
  }

  function addBlock(key: string, block: number, before: Summand): Promise<number> {
    return tx.run(
      `insert into business_line_blocks (document_id, tax_key, block, line_count, line_amount, eligible)
         values (?, ?, ?, 1, ?, ?)`,
      documentId,
      key,
      block,
      before.lineAmount,
      before.eligible,
    )
  }

  async function countIn(key: string, block: number, by: 1 | -1): Promise<void> {
    await tx.run(
      `update business_line_blocks set line_count = line_count + ? where ${ofGroup} and block = ?`,
      by,
      documentId,
      key,
      block,
    )
  }

  /** The sum of the block up to the place. */
  async function upto(key: string, block: number, sequence: number): Promise<Summand> {
    const [row] = await tx.all(
      `select run_line_amount, run_eligible from business_lines
         where ${ofGroup} and sequence < ? and sequence >= ? order by sequence desc limit 1`,
      documentId,
      key,
      sequence,
      block,
    )
    if (row === undefined) return { lineAmount: 0, eligible: 0 }
    return {
      lineAmount: numberOf(row, 'run_line_amount'),
      eligible: numberOf(row, 'run_eligible'),
    }
  }

  /** Everything behind the place: the rest of its block, and the blocks after it. */
  async function shift(
    key: string,
    block: number,
    sequence: number,
    by: Summand,
    sign: 1 | -1,
  ): Promise<void> {
    const amounts = [sign * by.lineAmount, sign * by.eligible]
    if (amounts.every((one) => one === 0)) return
    const [next] = await tx.all(
      `select block from business_line_blocks where ${ofGroup} and block > ? order by block limit 1`,
      documentId,
      key,
      block,
    )
    const end = next === undefined ? [] : [numberOf(next, 'block')]
    await tx.run(
      `update business_lines set run_line_amount = run_line_amount + ?, run_eligible = run_eligible + ?
         where ${ofGroup} and sequence > ?${next === undefined ? '' : ' and sequence < ?'}`,
      ...amounts,
      documentId,
      key,
      sequence,
      ...end,
    )
    if (next === undefined) return
    await tx.run(
      `update business_line_blocks set line_amount = line_amount + ?, eligible = eligible + ?
         where ${ofGroup} and block > ?`,
      ...amounts,
      documentId,
      key,
      block,
    )
  }

  return {
    get isOvergrown() {
      return isOvergrown
    },
    async put(key, sequence, own, isLast) {
      const found = await blockAt(key, sequence)
      const count = found === undefined ? 0 : numberOf(found, 'line_count')
      const begin = found === undefined ? 0 : numberOf(found, 'block')
      const before = await upto(key, begin, sequence)
      if (found === undefined || (isLast && count >= blockLines)) {
        const block = found === undefined ? 0 : sequence
        const sums = {
          lineAmount:
            (found === undefined ? 0 : numberOf(found, 'line_amount')) + before.lineAmount,
          eligible: (found === undefined ? 0 : numberOf(found, 'eligible')) + before.eligible,
        }
        await addBlock(key, block, sums)
        return { run_block: block, run_line_amount: own.lineAmount, run_eligible: own.eligible }
      }
      await countIn(key, begin, 1)
      if (!isLast) await shift(key, begin, sequence, own, 1)
      isOvergrown ||= count >= blockLinesMax
      return {
        run_block: begin,
        run_line_amount: before.lineAmount + own.lineAmount,
        run_eligible: before.eligible + own.eligible,
      }
    },
    async take(row) {
      const key = textOf(row, 'tax_key')
      const block = numberOf(row, 'run_block')
      await countIn(key, block, -1)
      await shift(key, block, numberOf(row, 'sequence'), summandOf(row), -1)
    },
    async rebuild() {
      await this.drop()
      await tx.run(
        `update business_lines set run_block = cut.run_block, run_line_amount = cut.run_line_amount,
             run_eligible = cut.run_eligible
           from (select id, case when chunk = 0 then 0 else min(sequence) over (partition by tax_key, chunk) end as run_block,
               sum(line_amount) over upto as run_line_amount, sum(eligible) over upto as run_eligible
             from (select id, tax_key, sequence, line_amount, ${eligibleSql} as eligible,
                 (row_number() over (partition by tax_key order by sequence) - 1) / ${blockLines} as chunk
               from business_lines where document_id = ? and tax_key <> '') as numbered
             window upto as (partition by tax_key, chunk order by sequence)) as cut
           where business_lines.id = cut.id`,
        documentId,
      )
      await tx.run(
        `insert into business_line_blocks (document_id, tax_key, block, line_count, line_amount, eligible)
           select document_id, tax_key, run_block, line_count,
             coalesce(sum(line_amount) over earlier, 0), coalesce(sum(eligible) over earlier, 0)
           from (select document_id, tax_key, run_block, count(*) as line_count, sum(line_amount) as line_amount,
               sum(${eligibleSql}) as eligible
             from business_lines where document_id = ? and tax_key <> ''
             group by document_id, tax_key, run_block) as blocks
           window earlier as (partition by tax_key order by run_block rows between unbounded preceding and 1 preceding)`,
        documentId,
      )
      isOvergrown = false
    },
    async drop() {
      await tx.run('delete from business_line_blocks where document_id = ?', documentId)
    },
  }
}
