/**
 * The amounts of one document while its lines are being written: takes lines out of the running sums and puts lines
 * into them, then writes sums and totals once. A line costs the same whatever the length of its document, but for
 * documents with an invoice discount, whose shares depend on every line.
 *
 * Its document is locked by whoever opens it, so the sums it reads are those it writes.
 */

import type { SqlRow } from '#stores/store.ts'
import { type Decimal, fits, fromStored, toStored, zero } from '../amounts/decimals.ts'
import { allocationShown, discountBase, documentAmounts } from '../amounts/document.ts'
import type { Terms } from '../amounts/line.ts'
import {
  cents,
  emptyGroup,
  minus,
  plus,
  type Share,
  shareOf,
  type TaxGroup,
} from '../amounts/tax-group.ts'
import { badValue, ruleBroken } from '../errors.ts'
import { flagOf, numberOf, textOf, updateRow, type WriteContext } from './rows.ts'

/** A line as far as sums depend on it. `taxKey` is empty for comments, which are in no group. */
export interface LedgerLine {
  readonly lineAmount: Decimal
  readonly taxKey: string
  readonly taxPercent: Decimal
  readonly allowsInvoiceDiscount: boolean
}

export interface Ledger {
  readonly terms: Terms
  /** Puts a line in; its net amounts, as they are while the document has no invoice discount. */
  put(line: LedgerLine): Promise<Share>
  /** Takes a stored line out, by its row. */
  take(row: SqlRow): Promise<void>
  /** A stored line is changed: what it carried of the invoice discount is given up (facts 5.5). */
  giveUp(row: SqlRow): void
  /** Sets the invoice discount. Refused when no line could carry it; checked in `finish`. */
  setDiscount(amount: Decimal): void
  /** Every line is reckoned anew: prices or taxes of the whole document changed. */
  recomputeAll(): void
  /** Writes the sums and totals. After all rows of lines stand. */
  finish(own?: Readonly<Record<string, string | number>>): Promise<void>
}

interface Group {
  readonly percent: Decimal
  readonly isStored: boolean
  count: number
  sums: TaxGroup
}

export function termsOf(document: SqlRow): Terms {
  return {
    precision: fromStored(numberOf(document, 'amount_precision')),
    pricesIncludeTax: flagOf(document, 'prices_include_tax'),
  }
}

export function openLedger(context: WriteContext, document: SqlRow): Ledger {
  const { tx } = context
  const id = textOf(document, 'id')
  const terms = termsOf(document)
  const groups = new Map<string, Group>()
  let lineCount = numberOf(document, 'line_count')
  let base = fromStored(numberOf(document, 'discount_base'))
  let discount = fromStored(numberOf(document, 'discount_amount'))
  let isDiscountAsked = false
  let isStale = false
  let net = fromStored(numberOf(document, 'total_amount_excluding_tax'))
  let including = fromStored(numberOf(document, 'total_amount_including_tax'))

  async function groupOf(key: string, percent: Decimal): Promise<Group> {
    const known = groups.get(key)
    if (known !== undefined) return known
    const [row] = await tx.all(
      'select * from business_document_tax_groups where document_id = ? and tax_key = ?',
      id,
      key,
    )
    const group: Group =
      row === undefined
        ? { percent, isStored: false, count: 0, sums: emptyGroup }
        : { percent, isStored: true, count: numberOf(row, 'line_count'), sums: sumsOf(row) }
    groups.set(key, group)
    return group
  }

  function add(share: Share, sign: 1 | -1): void {
    net = net.plus(share.net.times(sign))
    including = including.plus(share.including.times(sign))
  }

  /** What is over or missing in a group that lost a line goes to the last of those left (facts 5.4). */
  async function settle(key: string, group: Group): Promise<void> {
    const over = cents(group.sums, group.percent, terms)
    if (over.net.isZero() && over.including.isZero()) return
    const [row] = await tx.all(
      `select * from business_lines where document_id = ? and tax_key = ?
         and line_amount <> invoice_discount order by sequence desc limit 1`,
      id,
      key,
    )
    if (row === undefined) return
    const share = shareOfRow(row)
    const settled = {
      ...share,
      net: share.net.plus(over.net),
      including: share.including.plus(over.including),
    }
    await updateRow(tx, 'business_lines', textOf(row, 'id'), netCells(row, settled, terms))
    const change = { ...emptyGroup, net: over.net, including: over.including }
    group.sums = plus(group.sums, change)
    add(change, 1)
  }

  async function writeGroup(key: string, group: Group): Promise<void> {
    if (group.count === 0) {
      await tx.run(
        'delete from business_document_tax_groups where document_id = ? and tax_key = ?',
        id,
        key,
      )
      return
    }
    const { lineAmount, invoiceDiscount } = group.sums
    const cells = [
      group.count,
      toStored(lineAmount),
      toStored(invoiceDiscount),
      toStored(group.sums.net),
      toStored(group.sums.including),
    ]
    if (group.isStored) {
      await tx.run(
        `update business_document_tax_groups set line_count = ?, line_amount = ?, invoice_discount = ?, net = ?,
           including = ? where document_id = ? and tax_key = ?`,
        ...cells,
        id,
        key,
      )
    } else {
      await tx.run(
        `insert into business_document_tax_groups (line_count, line_amount, invoice_discount, net, including,
           document_id, tax_key, tax_percent) values (?, ?, ?, ?, ?, ?, ?, ?)`,
        ...cells,
        id,
        key,
        toStored(group.percent),
      )
    }
  }

  /** All lines anew, in the order of their sequences: the invoice discount is spread over them. */
  async function recompute(): Promise<void> {
    const rows = await tx.all(
      "select * from business_lines where document_id = ? and tax_key <> '' order by sequence",
      id,
    )
    const lines = rows.map(ledgerLineOf)
    base = discountBase(lines)
    discount = limited(discount, base, isDiscountAsked)
    const amounts = documentAmounts(lines, discount, terms)
    for (const [at, row] of rows.entries()) {
      const cells = netCells(row, amounts.shares[at] ?? emptyGroup, terms)
      if (Object.entries(cells).every(([column, cell]) => row[column] === cell)) continue
      await updateRow(tx, 'business_lines', textOf(row, 'id'), cells)
    }
    await tx.run('delete from business_document_tax_groups where document_id = ?', id)
    groups.clear()
    net = zero
    including = zero
    for (const [key, sums] of amounts.groups) {
      const members = lines.filter(({ taxKey }) => taxKey === key)
      const percent = members[0]?.taxPercent ?? zero
      groups.set(key, { percent, isStored: false, count: members.length, sums })
      add(sums, 1)
    }
  }

  return {
    terms,
    async put(line) {
      lineCount++
      if (line.taxKey === '') return emptyGroup
      const group = await groupOf(line.taxKey, line.taxPercent)
      const share = shareOf(group.sums, line.lineAmount, zero, line.taxPercent, terms)
      group.count++
      group.sums = plus(group.sums, share)
      if (line.allowsInvoiceDiscount) base = base.plus(line.lineAmount)
      add(share, 1)
      return share
    },
    async take(row) {
      lineCount--
      const line = ledgerLineOf(row)
      if (line.taxKey === '') return
      const group = await groupOf(line.taxKey, line.taxPercent)
      const share = shareOfRow(row)
      group.count--
      group.sums = minus(group.sums, share)
      if (line.allowsInvoiceDiscount) base = base.minus(line.lineAmount)
      add(share, -1)
    },
    giveUp(row) {
      discount = discount.minus(fromStored(numberOf(row, 'invoice_discount')))
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
      const had = numberOf(document, 'discount_amount') !== 0
      if (isStale || had || !discount.isZero()) await recompute()
      else for (const [key, group] of groups) if (group.count > 0) await settle(key, group)
      for (const sum of [net, including, base]) {
        if (!fits(sum)) throw ruleBroken('The totals of the document have more than ten digits.')
      }
      for (const [key, group] of groups) await writeGroup(key, group)
      const total = toStored(including)
      await updateRow(tx, 'business_documents', id, {
        ...own,
        line_count: lineCount,
        discount_base: toStored(base),
        discount_amount: toStored(discount),
        total_amount_excluding_tax: toStored(net),
        total_tax_amount: toStored(including.minus(net)),
        total_amount_including_tax: total,
        remaining_amount: textOf(document, 'kind') === 'invoice' ? total : 0,
        last_modified_date_time: context.now,
      })
    },
  }
}

/** A discount that was asked for and cannot be is refused; one whose lines went away shrinks with them. */
function limited(discount: Decimal, base: Decimal, isAsked: boolean): Decimal {
  const [low, high] = base.isNegative() ? [base, zero] : [zero, base]
  if (discount.gte(low) && discount.lte(high)) return discount
  if (isAsked) {
    throw base.isZero()
      ? ruleBroken(
          'The document has no line that an invoice discount may be taken of.',
          'discountAmount',
        )
      : badValue(
          'discountAmount',
          `between ${low} and ${high}, the sum of the lines that allow it.`,
        )
  }
  return discount.lt(low) ? low : high
}

function sumsOf(row: SqlRow): TaxGroup {
  return {
    lineAmount: fromStored(numberOf(row, 'line_amount')),
    invoiceDiscount: fromStored(numberOf(row, 'invoice_discount')),
    net: fromStored(numberOf(row, 'net')),
    including: fromStored(numberOf(row, 'including')),
  }
}

function shareOfRow(row: SqlRow): Share {
  return {
    lineAmount: fromStored(numberOf(row, 'line_amount')),
    invoiceDiscount: fromStored(numberOf(row, 'invoice_discount')),
    net: fromStored(numberOf(row, 'net_amount')),
    including: fromStored(numberOf(row, 'net_amount_including_tax')),
  }
}

function ledgerLineOf(row: SqlRow): LedgerLine {
  return {
    lineAmount: fromStored(numberOf(row, 'line_amount')),
    taxKey: textOf(row, 'tax_key'),
    taxPercent: fromStored(numberOf(row, 'tax_percent')),
    allowsInvoiceDiscount: flagOf(row, 'allows_invoice_discount'),
  }
}

/** The columns of a line that its share fills. */
export function netCells(
  row: Pick<SqlRow, string>,
  share: Share,
  terms: Terms,
): Readonly<Record<string, number>> {
  const excluding = fromStored(numberOf(row, 'amount_excluding_tax'))
  return {
    invoice_discount: toStored(share.invoiceDiscount),
    invoice_discount_allocation: toStored(allocationShown(share, excluding, terms)),
    net_amount: toStored(share.net),
    net_tax_amount: toStored(share.including.minus(share.net)),
    net_amount_including_tax: toStored(share.including),
  }
}
