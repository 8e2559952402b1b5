/**
 * The amounts of one document while its lines are being written: takes lines out of the running sums and puts lines
 * into them, then writes sums and totals once. A line costs the same whatever the length of its document: where there
 * is an invoice discount, the shares of the lines are not written but read (`entities/line-view.ts`).
 *
 * Its document is locked by whoever opens it, so the sums it reads are those it writes.
 */

import { allRows, deleteRows, firstRow } from '#query/rows.ts'
import { type CellsOf, selecting } from '#query/table.ts'
import { allocate } from '../amounts/allocate.ts'
import { fits } from '../amounts/decimals.ts'
import { allocationShown, discountBase, documentAmounts } from '../amounts/document.ts'
import type { Terms } from '../amounts/line.ts'
import { cents, emptyGroup, minus, plus, type Share, shareOf } from '../amounts/tax-group.ts'
import { roundTo } from '../amounts/units.ts'
import { ruleBroken } from '../errors.ts'
import type { DocumentRow, DocumentTaxGroupRow, LineRow } from '../tables.ts'
import * as tables from '../tables.ts'
import {
  discountedSums,
  type GroupSums,
  groupOfRow,
  limited,
  newGroup,
  sizeOf,
  sizesMax,
  writeGroup,
} from './group-sums.ts'
import { type MaybePromise, withFound } from './lookups.ts'
import { changedCells, updateRow, type WriteContext } from './rows.ts'
import { eligibleSql, RunningSums } from './running-sums.ts'

/** Where there is an invoice discount, all groups are written with each line. */
const groupsMax = 100

/** The columns of the document that lines and sums need. */
export const documentHead = selecting(
  tables.documents,
  'id',
  'kind',
  'status',
  'revision',
  'document_date',
  'tax_area_id',
  'tax_liable',
  'prices_include_tax',
  'amount_precision',
  'exchange_rate_amount',
  'relational_exchange_rate_amount',
  'line_count',
  'discount_base',
  'discount_amount',
  'total_amount_excluding_tax',
  'total_amount_including_tax',
)
export type DocumentHead = CellsOf<typeof documentHead>

/** The part of a line that sums depend on. `tax_key` is empty for comments, which belong to no group. */
type SummedLine = Pick<
  LineRow,
  'line_amount' | 'tax_key' | 'tax_percent' | 'allows_invoice_discount' | 'amount_excluding_tax'
>

/** The position of a line. `isLast`: no line of the document follows it. */
interface LinePosition {
  readonly sequence: number
  readonly isLast: boolean
}

/** The cells of a line that depend on its position. */
type SharedCells = Partial<LineRow>

export interface Finished {
  /** The rows of lines are known: no share was computed, and no cent was moved to another. */
  readonly areRowsKnown: boolean
}

export function termsOf(
  document: Pick<DocumentHead, 'amount_precision' | 'prices_include_tax'>,
): Terms {
  return {
    precision: document.amount_precision,
    pricesIncludeTax: document.prices_include_tax !== 0,
  }
}

export class Ledger {
  readonly terms: Terms
  readonly #context: WriteContext
  readonly #document: DocumentHead
  readonly #running: RunningSums
  readonly #hadDiscount: boolean
  readonly #groups = new Map<string, GroupSums>()
  #stored: readonly DocumentTaxGroupRow[] | undefined
  #lineCount: number
  #base: number
  #discount: number
  #net: number
  #including: number
  #isDiscountRequested = false
  #isStale = false
  #isTouched = false
  #isSettled = true
  // Whether a group has lines.
  #areAllLoaded: boolean

  constructor(context: WriteContext, document: DocumentHead) {
    this.#context = context
    this.#document = document
    this.terms = termsOf(document)
    this.#running = new RunningSums(context.tx, document.id)
    this.#hadDiscount = document.discount_amount !== 0
    this.#lineCount = document.line_count
    this.#base = document.discount_base
    this.#discount = document.discount_amount
    this.#net = document.total_amount_excluding_tax
    this.#including = document.total_amount_including_tax
    this.#areAllLoaded = document.line_count === 0
  }

  /** Adds a line; returns the cells of its row that result. */
  put(line: SummedLine, at: LinePosition): MaybePromise<SharedCells> {
    this.#lineCount++
    if (line.tax_key === '') return netCells(line, emptyGroup, this.terms)
    const known = this.#groups.get(line.tax_key) ?? this.#groupOf(line)
    return withFound(known, (group) => this.#putInto(group, line, at))
  }

  /** Removes a line, by its row in the view of lines. */
  async take(row: LineRow): Promise<void> {
    this.#lineCount--
    if (row.tax_key === '') return
    const group = await this.#groupOf(row)
    group.count--
    const eligible = eligibleOf(row)
    this.#base -= eligible
    if (this.#isComputed) {
      group.sums = { ...group.sums, lineAmount: group.sums.lineAmount - row.line_amount }
      group.eligible -= eligible
      group.extent -= sizeOf(row.line_amount)
      return await this.#running.take(row)
    }
    const share = shareOfRow(row)
    group.sums = minus(group.sums, share)
    this.#add(share, -1)
  }

  /** A stored line changes, so it loses its share of the invoice discount (business facts 5.5). */
  giveUp(row: LineRow): void {
    this.#discount -= row.invoice_discount
  }

  /** Sets the invoice discount. `finish` refuses it when no line can carry it. */
  setDiscount(amount: number): void {
    this.#discount = amount
    this.#isDiscountRequested = true
    this.#isStale = true
  }

  /**
   * Converts the invoice discount to another currency. It shrinks with the lines, since nobody requested this
   * amount.
   */
  exchangeDiscount(amount: number): void {
    this.#discount = amount
    this.#isStale = true
  }

  /** Recomputes every line: prices or taxes of the whole document changed. */
  recomputeAll(): void {
    this.#isStale = true
  }

  /** Writes the sums and totals, after all rows of lines are written. `own`: further columns of the document. */
  async finish(own: Partial<DocumentRow> = {}): Promise<Finished> {
    const { tx, now } = this.#context
    const { id, kind } = this.#document
    const isReckoned = this.#isStale || (this.#hadDiscount && this.#isTouched)
    if (isReckoned) await this.#reckon()
    else if (!this.#hadDiscount) {
      for (const [key, group] of this.#groups) if (group.count > 0) await this.#settle(key, group)
    }
    this.#requireExact()
    const spread = this.#discount === 0 ? 0 : this.#document.revision + 1
    for (const [key, group] of this.#groups) {
      await writeGroup(tx, { documentId: id, key, terms: this.terms }, group, spread)
    }
    await updateRow(tx, tables.documents, id, {
      ...own,
      line_count: this.#lineCount,
      discount_base: this.#base,
      discount_amount: this.#discount,
      total_amount_excluding_tax: this.#net,
      total_tax_amount: this.#including - this.#net,
      total_amount_including_tax: this.#including,
      remaining_amount: kind === 'invoice' ? this.#including : 0,
      last_modified_date_time: now,
    })
    return { areRowsKnown: !isReckoned && this.#discount === 0 && this.#isSettled }
  }

  #requireExact(): void {
    let areExact = fits(this.#net) && fits(this.#including) && fits(this.#base)
    for (const { sums: of } of this.#groups.values()) {
      areExact &&= fits(of.lineAmount) && fits(of.net) && fits(of.including)
    }
    if (!areExact) throw tooLarge()
  }

  async #groupOf({ tax_key: key, tax_percent: percent }: SummedLine): Promise<GroupSums> {
    this.#isTouched = true
    if (this.#hadDiscount) await this.#loadAll()
    const loaded = this.#groups.get(key)
    if (loaded !== undefined) return loaded
    const stored = this.#areAllLoaded ? [] : await this.#storedGroups()
    const row = stored.find((one) => one.tax_key === key)
    if (row === undefined) {
      const kinds = new Set([...this.#groups.keys(), ...stored.map((one) => one.tax_key)])
      // The line that leaves one empty takes it along.
      for (const [kind, { count }] of this.#groups) if (count === 0) kinds.delete(kind)
      if (kinds.size >= groupsMax)
        throw ruleBroken(`A document has at most ${groupsMax} kinds of tax.`)
    }
    const group = row === undefined ? newGroup(percent) : groupOfRow(row)
    this.#groups.set(key, group)
    return group
  }

  /** A document has few. Each is read with all others, so that they can be prefetched before it is known which is needed. */
  async #storedGroups(): Promise<readonly DocumentTaxGroupRow[]> {
    const { tx } = this.#context
    const { id } = this.#document
    this.#stored ??= await allRows(tx, tables.documentTaxGroups, 'where document_id = ?', id)
    return this.#stored
  }

  /** All groups share one discount, so if there is one they are read together. */
  async #loadAll(): Promise<void> {
    if (this.#areAllLoaded) return
    this.#areAllLoaded = true
    for (const row of await this.#storedGroups()) {
      const group = groupOfRow(row)
      this.#groups.set(row.tax_key, group)
      // Written before sums were kept for it.
      if (!group.isComputed) this.#isStale = true
    }
  }

  /** Shares are read, not written, unless everything is recomputed. */
  get #isComputed(): boolean {
    return this.#hadDiscount && !this.#isStale
  }

  #add(share: Pick<Share, 'net' | 'including'>, sign: 1 | -1): void {
    this.#net += sign * share.net
    this.#including += sign * share.including
  }

  #putInto(group: GroupSums, line: SummedLine, at: LinePosition): MaybePromise<SharedCells> {
    group.count++
    const own = { lineAmount: line.line_amount, eligible: eligibleOf(line) }
    this.#base += own.eligible
    if (this.#isComputed) {
      group.sums = { ...group.sums, lineAmount: group.sums.lineAmount + own.lineAmount }
      group.eligible += own.eligible
      group.extent += sizeOf(own.lineAmount)
      const sizes = [...this.#groups.values()].reduce((sum, one) => sum + one.extent, 0)
      if (sizes > sizesMax) throw tooLarge()
      const cells = netCells(line, emptyGroup, this.terms)
      const { sequence, isLast } = at
      return withFound(this.#running.put(line.tax_key, sequence, own, isLast), (running) => ({
        ...cells,
        ...running,
      }))
    }
    const share = shareOf(
      group.sums,
      { lineAmount: line.line_amount, invoiceDiscount: 0, taxPercent: line.tax_percent },
      this.terms,
    )
    group.sums = plus(group.sums, share)
    this.#add(share, 1)
    // Above this a sum would no longer be exact, whatever is subtracted later.
    const { lineAmount } = group.sums
    if (!fits(lineAmount) || !fits(this.#net) || !fits(this.#including)) throw tooLarge()
    return netCells(line, share, this.terms)
  }

  /**
   * The surplus or missing cent of a group that lost a line goes to the last remaining one (business facts 5.4).
   */
  async #settle(key: string, group: GroupSums): Promise<void> {
    const { tx } = this.#context
    const over = cents(group.sums, group.percent, this.terms)
    if (over.net === 0 && over.including === 0) return
    const row = await firstRow(
      tx,
      tables.lines,
      `where document_id = ? and tax_key = ?
         and line_amount <> invoice_discount order by sequence desc limit 1`,
      this.#document.id,
      key,
    )
    if (row === undefined) return
    this.#isSettled = false
    const share = shareOfRow(row)
    const whole = {
      ...share,
      net: share.net + over.net,
      including: share.including + over.including,
    }
    await updateRow(tx, tables.lines, row.id, netCells(row, whole, this.terms))
    const change = { ...emptyGroup, net: over.net, including: over.including }
    group.sums = plus(group.sums, change)
    this.#add(change, 1)
  }

  async #reckon(): Promise<void> {
    const { tx } = this.#context
    const isWhole = !this.#isComputed || this.#running.isOvergrown
    if (isWhole && this.#discount !== 0) await this.#sumGroups()
    const rounded = roundTo(this.#discount, this.terms.precision)
    this.#discount = limited(rounded, this.#base, this.#isDiscountRequested)
    if (isWhole || this.#discount === 0) {
      await deleteRows(tx, tables.documentTaxGroups, { document_id: this.#document.id })
      for (const group of this.#groups.values()) group.isStored = false
    }
    if (this.#discount === 0) return await this.#writeShares()
    if (isWhole) await this.#running.rebuild()
    this.#spread()
  }

  /** The groups of the current lines, summed by the store. */
  async #sumGroups(): Promise<void> {
    const { tx } = this.#context
    const { id } = this.#document
    const sizes = await allRows(tx, groupSizes, grouped, id)
    if (sizes.reduce((sum, { extent }) => sum + extent, 0) > sizesMax) throw tooLarge()
    this.#groups.clear()
    this.#areAllLoaded = true
    for (const { tax_key, tax_percent, line_count, extent } of sizes) {
      this.#groups.set(tax_key, { ...newGroup(tax_percent), count: line_count, extent })
    }
    this.#base = 0
    for (const { tax_key, line_amount, eligible } of await allRows(tx, groupSums, grouped, id)) {
      const group = this.#groups.get(tax_key)
      if (group === undefined) continue
      group.sums = { ...emptyGroup, lineAmount: line_amount }
      group.eligible = eligible
      this.#base += eligible
    }
  }

  /** Splits the discount over the groups; the view splits it over the lines of a group. */
  #spread(): void {
    const byKey = [...this.#groups].sort(([left], [right]) => (left < right ? -1 : 1))
    const filled = byKey.filter(([, group]) => group.count > 0).map(([, group]) => group)
    const bases = filled.map((group) => group.eligible)
    const ofGroups = allocate(this.#discount, bases, this.terms.precision)
    this.#net = 0
    this.#including = 0
    for (const [at, group] of filled.entries()) {
      group.sums = discountedSums(group, ofGroups[at] ?? 0, this.terms)
      this.#add(group.sums, 1)
    }
  }

  /** Without a discount the lines hold their amounts: all are written again, in order of sequence. */
  async #writeShares(): Promise<void> {
    const { tx } = this.#context
    const { id, revision } = this.#document
    // Their tags included shares until now, and must not repeat.
    if (this.#hadDiscount) {
      await tx.run(
        "update business_lines set revision = revision + ? where document_id = ? and tax_key <> ''",
        revision + 1,
        id,
      )
    }
    const where = "where document_id = ? and tax_key <> '' order by sequence"
    const rows = await allRows(tx, tables.lines, where, id)
    const lines = rows.map(amountsOf)
    const amounts = documentAmounts(lines, 0, this.terms)
    for (const [at, row] of rows.entries()) {
      const cells = netCells(row, amounts.shares[at] ?? emptyGroup, this.terms)
      const isNew = Object.keys(changedCells(row, cells)).length > 0
      if (isNew) await updateRow(tx, tables.lines, row.id, cells)
    }
    this.#groups.clear()
    this.#net = 0
    this.#including = 0
    for (const { taxKey, taxPercent } of lines) {
      const group = this.#groups.get(taxKey) ?? newGroup(taxPercent)
      group.count++
      group.sums = amounts.groups.get(taxKey) ?? emptyGroup
      this.#groups.set(taxKey, group)
    }
    for (const group of this.#groups.values()) this.#add(group.sums, 1)
    this.#base = discountBase(lines)
    if (this.#hadDiscount) await this.#running.drop()
  }
}

const grouped = "where document_id = ? and tax_key <> '' group by tax_key"

/** The lines of a document, summed into the columns of their tax groups. */
const groupSizes = {
  ...selecting(tables.documentTaxGroups, 'tax_key', 'tax_percent', 'line_count', 'extent'),
  name: tables.lines.name,
  selected: `tax_key, max(tax_percent) as tax_percent, count(*) as line_count,
    cast(sum(abs(line_amount) / 100000) as bigint) as extent`,
}
const groupSums = {
  ...selecting(tables.documentTaxGroups, 'tax_key', 'line_amount', 'eligible'),
  name: tables.lines.name,
  selected: `tax_key, cast(sum(line_amount) as bigint) as line_amount,
    cast(sum(${eligibleSql}) as bigint) as eligible`,
}

function tooLarge(): Error {
  return ruleBroken('The sums of the document have more than ten digits.')
}

/** The line's part of the invoice discount's base. */
function eligibleOf(line: SummedLine): number {
  return line.allows_invoice_discount === 0 ? 0 : line.line_amount
}

function shareOfRow(row: LineRow): Share {
  return {
    lineAmount: row.line_amount,
    invoiceDiscount: row.invoice_discount,
    net: row.net_amount,
    including: row.net_amount_including_tax,
  }
}

function amountsOf(row: LineRow) {
  return {
    lineAmount: row.line_amount,
    taxKey: row.tax_key,
    taxPercent: row.tax_percent,
    allowsInvoiceDiscount: row.allows_invoice_discount !== 0,
  }
}

function netCells(line: SummedLine, share: Share, terms: Terms): SharedCells {
  return {
    invoice_discount: share.invoiceDiscount,
    invoice_discount_allocation: allocationShown(share, line.amount_excluding_tax, terms),
    net_amount: share.net,
    net_tax_amount: share.including - share.net,
    net_amount_including_tax: share.including,
  }
}
