/**
 * The amounts of one document while its lines are being written: takes lines out of the running sums and puts lines
 * into them, then writes sums and totals once. A line costs the same whatever the length of its document: where there
 * is an invoice discount, the shares of the lines are not written but read (`entities/line-view.ts`).
 *
 * Its document is locked by whoever opens it, so the sums it reads are those it writes.
 */

import type { SqlRow } from '#stores/store.ts'
import { allocate } from '../amounts/allocate.ts'
import { fits } from '../amounts/decimals.ts'
import { allocationShown, discountBase, documentAmounts } from '../amounts/document.ts'
import type { Terms } from '../amounts/line.ts'
import { cents, emptyGroup, minus, plus, type Share, shareOf } from '../amounts/tax-group.ts'
import { roundTo } from '../amounts/units.ts'
import { ruleBroken } from '../errors.ts'
import { type Found, withFound } from './lookups.ts'
import { flagOf, numberOf, textOf, updateRow, type WriteContext } from './rows.ts'
import { eligibleSql, openRunningSums } from './running-sums.ts'
import {
  type Group,
  groupOfRow,
  limited,
  newGroup,
  sizeOf,
  sizesMax,
  spreadOver,
  writeGroup,
} from './spread.ts'

/** A line as far as sums depend on it. `taxKey` is empty for comments, which are in no group. */
export interface LedgerLine {
  readonly lineAmount: number
  readonly taxKey: string
  readonly taxPercent: number
  readonly allowsInvoiceDiscount: boolean
}

/** Where a line stands. `isLast`: no line of the document stands behind it. */
interface LinePosition {
  readonly sequence: number
  readonly isLast: boolean
}

export interface Ledger {
  readonly terms: Terms
  /** Puts a line in; the cells of its row that come of it. `excluding`: the line's amount without tax, as stored. */
  put(
    line: LedgerLine,
    excluding: number,
    at: LinePosition,
  ): Found<Readonly<Record<string, number>>>
  /** Takes a line out, by its row as the view of lines has it. */
  take(row: SqlRow): Promise<void>
  /** A stored line is changed: what it carried of the invoice discount is given up (business facts 5.5). */
  giveUp(row: SqlRow): void
  /** Sets the invoice discount. Refused when no line could carry it; checked in `finish`. */
  setDiscount(amount: number): void
  /** Every line is reckoned anew: prices or taxes of the whole document changed. */
  recomputeAll(): void
  /** Writes the sums and totals. After all rows of lines stand. `own`: further columns of the document. */
  finish(own?: Readonly<Record<string, string | number>>): Promise<Finished>
}

export interface Finished {
  /** The rows of lines stand as they were written before: no share was worked out, no cent moved on to another. */
  readonly areRowsKnown: boolean
}

export function termsOf(document: SqlRow): Terms {
  return {
    precision: numberOf(document, 'amount_precision'),
    pricesIncludeTax: flagOf(document, 'prices_include_tax'),
  }
}

export function openLedger(context: WriteContext, document: SqlRow): Ledger {
  const { tx } = context
  const id = textOf(document, 'id')
  const terms = termsOf(document)
  const running = openRunningSums(tx, id)
  const hadDiscount = numberOf(document, 'discount_amount') !== 0
  const groups = new Map<string, Group>()
  let lineCount = numberOf(document, 'line_count')
  let base = numberOf(document, 'discount_base')
  let discount = numberOf(document, 'discount_amount')
  let isDiscountAsked = false
  let isStale = false
  let isTouched = false
  // A group has lines.
  let areAllLoaded = lineCount === 0
  let isSettled = true
  let net = numberOf(document, 'total_amount_excluding_tax')
  let including = numberOf(document, 'total_amount_including_tax')

  async function groupOf(line: LedgerLine): Promise<Group> {
    isTouched = true
    if (hadDiscount) await loadAll()
    const { taxKey, taxPercent } = line
    const loaded = groups.get(taxKey)
    if (loaded !== undefined) return loaded
    const [row] = areAllLoaded
      ? []
      : await tx.all(
          'select * from business_document_tax_groups where document_id = ? and tax_key = ?',
          id,
          taxKey,
        )
    const group = row === undefined ? newGroup(taxPercent) : groupOfRow(row)
    groups.set(taxKey, group)
    return group
  }

  /** All groups share one discount, so where there is one they are read together. */
  async function loadAll(): Promise<void> {
    if (areAllLoaded) return
    areAllLoaded = true
    for (const row of await tx.all(
      'select * from business_document_tax_groups where document_id = ?',
      id,
    )) {
      const group = groupOfRow(row)
      groups.set(textOf(row, 'tax_key'), group)
      // Written before sums were kept for it.
      if (!group.isSpread) isStale = true
    }
  }

  /** Shares are read, not written, and stay so unless everything is reckoned anew. */
  const isSpread = (): boolean => hadDiscount && !isStale

  function add(share: Pick<Share, 'net' | 'including'>, sign: 1 | -1): void {
    net += sign * share.net
    including += sign * share.including
  }

  /** What is over or missing in a group that lost a line goes to the last of those left (business facts 5.4). */
  async function settle(key: string, group: Group): Promise<void> {
    const over = cents(group.sums, group.percent, terms)
    if (over.net === 0 && over.including === 0) return
    const [row] = await tx.all(
      `select * from business_lines where document_id = ? and tax_key = ?
         and line_amount <> invoice_discount order by sequence desc limit 1`,
      id,
      key,
    )
    if (row === undefined) return
    isSettled = false
    const share = shareOfRow(row)
    const whole = {
      ...share,
      net: share.net + over.net,
      including: share.including + over.including,
    }
    const excluding = numberOf(row, 'amount_excluding_tax')
    await updateRow(tx, 'business_lines', textOf(row, 'id'), netCells(excluding, whole, terms))
    const change = { ...emptyGroup, net: over.net, including: over.including }
    group.sums = plus(group.sums, change)
    add(change, 1)
  }

  /** The groups as the lines stand, summed by the store. */
  async function sumGroups(): Promise<void> {
    const rows = await tx.all(
      `select tax_key, max(tax_percent) as tax_percent, count(*) as line_count,
           cast(sum(abs(line_amount) / 100000) as bigint) as extent
         from business_lines where document_id = ? and tax_key <> '' group by tax_key`,
      id,
    )
    const sizes = rows.reduce((sum, row) => sum + numberOf(row, 'extent'), 0)
    if (sizes > sizesMax) throw tooLarge()
    groups.clear()
    areAllLoaded = true
    for (const row of rows) {
      const group = newGroup(numberOf(row, 'tax_percent'))
      group.count = numberOf(row, 'line_count')
      group.extent = numberOf(row, 'extent')
      groups.set(textOf(row, 'tax_key'), group)
    }
    base = 0
    for (const row of await tx.all(
      `select tax_key, cast(sum(line_amount) as bigint) as line_amount, cast(sum(${eligibleSql}) as bigint) as eligible
         from business_lines where document_id = ? and tax_key <> '' group by tax_key`,
      id,
    )) {
      const group = groups.get(textOf(row, 'tax_key'))
      if (group === undefined) continue
      group.sums = { ...emptyGroup, lineAmount: numberOf(row, 'line_amount') }
      group.eligible = numberOf(row, 'eligible')
      base += group.eligible
    }
  }

  /** The discount over the groups; over the lines of a group the view spreads it. */
  function spread(): void {
    const byKey = [...groups].sort(([left], [right]) => (left < right ? -1 : 1))
    const filled = byKey.filter(([, group]) => group.count > 0).map(([, group]) => group)
    const bases = filled.map((group) => group.eligible)
    const ofGroups = allocate(discount, bases, terms.precision)
    net = 0
    including = 0
    for (const [at, group] of filled.entries()) {
      group.sums = spreadOver(group, ofGroups[at] ?? 0, terms)
      add(group.sums, 1)
    }
  }

  /** Without a discount the lines hold their amounts themselves: all anew, in the order of their sequences. */
  async function writeShares(): Promise<void> {
    // Their tags told of shares until now, and must not come back.
    if (hadDiscount) {
      await tx.run(
        "update business_lines set revision = revision + ? where document_id = ? and tax_key <> ''",
        numberOf(document, 'revision') + 1,
        id,
      )
    }
    const rows = await tx.all(
      "select * from business_lines where document_id = ? and tax_key <> '' order by sequence",
      id,
    )
    const lines = rows.map(ledgerLineOf)
    const amounts = documentAmounts(lines, 0, terms)
    for (const [at, row] of rows.entries()) {
      const excluding = numberOf(row, 'amount_excluding_tax')
      const cells = netCells(excluding, amounts.shares[at] ?? emptyGroup, terms)
      if (Object.entries(cells).every(([column, cell]) => row[column] === cell)) continue
      await updateRow(tx, 'business_lines', textOf(row, 'id'), cells)
    }
    groups.clear()
    for (const { taxKey, taxPercent } of lines) {
      const group = groups.get(taxKey) ?? newGroup(taxPercent)
      group.count++
      group.sums = amounts.groups.get(taxKey) ?? emptyGroup
      groups.set(taxKey, group)
    }
    net = 0
    including = 0
    for (const group of groups.values()) add(group.sums, 1)
    base = discountBase(lines)
    if (hadDiscount) await running.drop()
  }

  async function reckon(): Promise<void> {
    const isWhole = !isSpread() || running.isOvergrown
    if (isWhole && discount !== 0) await sumGroups()
    discount = limited(roundTo(discount, terms.precision), base, isDiscountAsked)
    if (isWhole || discount === 0) {
      await tx.run('delete from business_document_tax_groups where document_id = ?', id)
      for (const group of groups.values()) group.isStored = false
    }
    if (discount === 0) return await writeShares()
    if (isWhole) await running.rebuild()
    spread()
  }

  function putInto(
    group: Group,
    line: LedgerLine,
    excluding: number,
    at: LinePosition,
  ): Found<Readonly<Record<string, number>>> {
    group.count++
    if (line.allowsInvoiceDiscount) base += line.lineAmount
    if (isSpread()) {
      const own = {
        lineAmount: line.lineAmount,
        eligible: line.allowsInvoiceDiscount ? line.lineAmount : 0,
      }
      group.sums = { ...group.sums, lineAmount: group.sums.lineAmount + line.lineAmount }
      group.eligible += own.eligible
      group.extent += sizeOf(own.lineAmount)
      const sizes = [...groups.values()].reduce((sum, one) => sum + one.extent, 0)
      if (sizes > sizesMax) throw tooLarge()
      return withFound(running.put(line.taxKey, at.sequence, own, at.isLast), (cells) => ({
        ...netCells(excluding, emptyGroup, terms),
        ...cells,
      }))
    }
    const share = shareOf(group.sums, line.lineAmount, 0, line.taxPercent, terms)
    group.sums = plus(group.sums, share)
    add(share, 1)
    // Beyond this a sum would no longer be exact, whatever is taken off it later.
    if (!fits(group.sums.lineAmount) || !fits(net) || !fits(including)) throw tooLarge()
    return netCells(excluding, share, terms)
  }

  return {
    terms,
    put(line, excluding, at) {
      lineCount++
      if (line.taxKey === '') return netCells(excluding, emptyGroup, terms)
      const known = groups.get(line.taxKey) ?? groupOf(line)
      return withFound(known, (group) => putInto(group, line, excluding, at))
    },
    async take(row) {
      lineCount--
      const line = ledgerLineOf(row)
      if (line.taxKey === '') return
      const group = await groupOf(line)
      group.count--
      if (line.allowsInvoiceDiscount) base -= line.lineAmount
      if (isSpread()) {
        group.sums = { ...group.sums, lineAmount: group.sums.lineAmount - line.lineAmount }
        if (line.allowsInvoiceDiscount) group.eligible -= line.lineAmount
        group.extent -= sizeOf(numberOf(row, 'line_amount'))
        return await running.take(row)
      }
      const share = shareOfRow(row)
      group.sums = minus(group.sums, share)
      add(share, -1)
    },
    giveUp(row) {
      discount -= numberOf(row, 'invoice_discount')
    },
    setDiscount(amount) {
      discount = amount
      isDiscountAsked = true
      isStale = true
    },
    recomputeAll() {
      isStale = true
    },
    async finish(own = {}) {
      const isReckoned = isStale || (hadDiscount && isTouched)
      if (isReckoned) await reckon()
      else if (!hadDiscount) {
        for (const [key, group] of groups) if (group.count > 0) await settle(key, group)
      }
      const sums = [...groups.values()].flatMap(({ sums: of }) => [
        of.lineAmount,
        of.net,
        of.including,
      ])
      if (![net, including, base, ...sums].every(fits)) throw tooLarge()
      const revision = numberOf(document, 'revision') + 1
      for (const [key, group] of groups) {
        await writeGroup(tx, { documentId: id, key, terms }, group, discount === 0 ? 0 : revision)
      }
      await updateRow(tx, 'business_documents', id, {
        ...own,
        line_count: lineCount,
        discount_base: base,
        discount_amount: discount,
        total_amount_excluding_tax: net,
        total_tax_amount: including - net,
        total_amount_including_tax: including,
        remaining_amount: textOf(document, 'kind') === 'invoice' ? including : 0,
        last_modified_date_time: context.now,
      })
      return { areRowsKnown: !isReckoned && discount === 0 && isSettled }
    },
  }
}

function tooLarge(): Error {
  return ruleBroken('The sums of the document have more than ten digits.')
}

function shareOfRow(row: SqlRow): Share {
  return {
    lineAmount: numberOf(row, 'line_amount'),
    invoiceDiscount: numberOf(row, 'invoice_discount'),
    net: numberOf(row, 'net_amount'),
    including: numberOf(row, 'net_amount_including_tax'),
  }
}

function ledgerLineOf(row: SqlRow): LedgerLine {
  return {
    lineAmount: numberOf(row, 'line_amount'),
    taxKey: textOf(row, 'tax_key'),
    taxPercent: numberOf(row, 'tax_percent'),
    allowsInvoiceDiscount: flagOf(row, 'allows_invoice_discount'),
  }
}

/** The columns of a line that its share fills; `excluding` is its amount without tax, as stored. */
function netCells(excluding: number, share: Share, terms: Terms): Readonly<Record<string, number>> {
  return {
    invoice_discount: share.invoiceDiscount,
    invoice_discount_allocation: allocationShown(share, excluding, terms),
    net_amount: share.net,
    net_tax_amount: share.including - share.net,
    net_amount_including_tax: share.including,
  }
}
