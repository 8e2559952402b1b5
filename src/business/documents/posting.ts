/**
 * Writes one posting: entries of the general ledger, of customers, of taxes and of items, and the balances they
 * change. Nothing else changes a balance, so every balance is the sum of its entries.
 */

import { findRow, insertText } from '#query/rows.ts'
import type { CellsOf, Columns, Table } from '#query/table.ts'
import type { SqlRow, SqlValue } from '#stores/store.ts'
import { fits } from '../amounts/decimals.ts'
import { decimalMax, decimalUnit, noGuid } from '../entity.ts'
import { ruleBroken } from '../errors.ts'
import * as tables from '../tables.ts'
import { lockRow, newId, type WriteContext } from '../write/rows.ts'
import type { Purpose } from './posting-accounts.ts'

/** The largest value a column may reach by additions, see `fits`. */
const amountMax = decimalMax * decimalUnit
/** The largest balance of an account: what 64 bits hold, ninety million million. A few payments cannot reach it. */
const totalMax = 9_000_000_000_000_000_000
/** The number of rows in one statement. */
const rowsMax = 500

/** The posted document or payment. */
interface Source {
  readonly type: 'Invoice' | 'Credit Memo' | 'Payment' | ' '
  readonly number: string
  readonly id: string
  readonly date: string
  readonly description: string
  readonly customer: { readonly id: string; readonly number: string } | undefined
}

/** The lines of a document about its inventory items, grouped by item. A base unit is one, whatever its row says. */
const ofStock = `from business_lines lines join business_items sold on sold.id = lines.item_id
    left join business_item_units_of_measure units on units.item_id = lines.item_id
      and units.unit_of_measure_id = lines.unit_of_measure_id and units.unit_of_measure_id <> sold.base_unit_of_measure_id
  where lines.document_id = ? and lines.item_id <> '${noGuid}' and sold.type = 'Inventory'
  group by lines.item_id`
/** The condition as its index has it. */
const booked = `from business_item_ledger_entries where document_id = ? and document_id <> '${noGuid}'`
/** One dialect's store provides `share_of`; in the other a migration makes it. */
const inBaseUnits = `share_of(lines.quantity, coalesce(units.quantity_per_unit, ${decimalUnit}), ${decimalUnit}, 1)`

function stockTooLarge(): Error {
  return ruleBroken('The stock of an item would have more than ten digits.')
}

/** A line or an account moves more than a column holds. */
export function tooLarge(): Error {
  return ruleBroken(
    'The posting would move more than ten digits of the company’s currency on its accounts.',
  )
}

type Entry<T extends { readonly columns: Columns }> = Partial<CellsOf<T>>

/**
 * Writers of one company's ledger wait for each other here, until the end of the transaction. The lock comes before
 * any balance changes, because whoever changes one also numbers entries.
 */
export async function lockLedger(context: WriteContext): Promise<void> {
  await countEntries(context, 0)
}

/** The first of so many consecutive numbers. */
async function countEntries({ tx, companyId }: WriteContext, count: number): Promise<number> {
  const [row] = await tx.all(
    `insert into business_counters (company_id, name, last) values (?, 'entry', ?)
       on conflict (company_id, name) do update set last = business_counters.last + ? returning last`,
    companyId,
    count,
    count,
  )
  return Number(row?.['last'] ?? 0) - count + 1
}

export class Posting {
  readonly #context: WriteContext
  readonly #source: Source
  /** By account: debits are positive, credits negative. */
  readonly #amounts = new Map<string, number>()
  readonly #customerEntries: Entry<typeof tables.customerLedgerEntries>[] = []
  readonly #taxEntries: Entry<typeof tables.taxEntries>[] = []
  readonly #itemEntries: Entry<typeof tables.itemLedgerEntries>[] = []

  constructor(context: WriteContext, source: Source) {
    this.#context = context
    this.#source = source
  }

  /** A positive amount is a debit. */
  book(accountId: string, amount: number): void {
    this.#amounts.set(accountId, (this.#amounts.get(accountId) ?? 0) + amount)
  }

  async bookAs(purpose: Purpose, amount: number): Promise<void> {
    if (amount !== 0) this.book(await this.accountOf(purpose), amount)
  }

  async accountOf(purpose: Purpose): Promise<string> {
    const { tx, companyId } = this.#context
    const cells = { company_id: companyId, code: purpose }
    const row = await findRow(tx, tables.postingAccounts, cells)
    if (row === undefined || row.account_id === noGuid) {
      throw ruleBroken(`No account is set for '${purpose}'; name one in 'postingAccounts'.`)
    }
    return row.account_id
  }

  /** Changes what the customer owes; a debit or credit of the receivables. */
  async owe(
    amount: number,
    local: number,
    other: Entry<typeof tables.customerLedgerEntries> = {},
  ): Promise<void> {
    await this.bookAs('Receivables', local)
    this.#customerEntries.push({ amount, amount_local: local, applied_amount: 0, ...other })
  }

  tax(percent: number, base: number, amount: number): void {
    this.#taxEntries.push({ tax_percent: percent, base, amount })
  }

  /**
   * Changes the stock of a document's inventory items. The number of statements does not depend on the number of
   * lines.
   */
  async moveStock(documentId: string, sign: 1 | -1): Promise<void> {
    const { tx } = this.#context
    const extent = `abs(${tables.asNumber('lines.quantity')}) * coalesce(units.quantity_per_unit, ${decimalUnit}) / ${decimalUnit}`
    const large = `select lines.item_id ${ofStock} having sum(${extent}) > ${amountMax} limit 1`
    if ((await tx.all(large, documentId)).length > 0) throw stockTooLarge()
    const moved = `select lines.item_id, cast(sum(${inBaseUnits}) as bigint) as quantity ${ofStock}
      having sum(${inBaseUnits}) <> 0`
    await this.#move(documentId, sign, moved)
  }

  /** What the document has moved, as it was written then. What has no entries was posted before there were any. */
  async takeBackStock(documentId: string, sign: 1 | -1): Promise<void> {
    const entries = await this.#context.tx.all(`select id ${booked} limit 1`, documentId)
    if (entries.length === 0) return await this.moveStock(documentId, sign)
    const moved = `select item_id, cast(sum(quantity) as bigint) as quantity ${booked}
      group by item_id having sum(quantity) <> 0`
    await this.#move(documentId, -1, moved)
  }

  /** `moved`: items and quantities of the document. */
  async #move(documentId: string, sign: 1 | -1, moved: string): Promise<void> {
    const { tx, dialect } = this.#context
    // In order of ids, so that two postings lock in the same order.
    const lock = dialect === 'postgres' ? ' for no key update of items' : ''
    const rows = await tx.all(
      `select items.id, items.number, items.display_name, moved.quantity, items.inventory
         from business_items items join (${moved}) as moved on moved.item_id = items.id order by items.id${lock}`,
      documentId,
    )
    if (rows.length === 0) return
    await tx.run(
      `update business_items set inventory = inventory + ${sign} * moved.quantity, revision = revision + 1
         from (${moved}) as moved where moved.item_id = business_items.id`,
      documentId,
    )
    for (const { id, number, display_name: name, quantity, inventory } of rows) {
      const by = sign * Number(quantity)
      if (Math.abs(Number(inventory) + by) > amountMax) throw stockTooLarge()
      const item = { id: String(id), number: String(number), description: String(name) }
      this.stocked(item, by, 'Sale')
    }
  }

  /** The changed stock. */
  stocked(
    item: { readonly id: string; readonly number: string; readonly description: string },
    quantity: number,
    type: 'Sale' | 'Positive Adjmt.' | 'Negative Adjmt.',
  ): void {
    this.#itemEntries.push({
      item_id: item.id,
      item_number: item.number,
      description: item.description,
      entry_type: type,
      quantity,
    })
  }

  /** Writes the entries and changes the balances. */
  async finish(): Promise<void> {
    const { tx } = this.#context
    const amounts = [...this.#amounts].filter(([, amount]) => amount !== 0)
    if (!amounts.every(([, amount]) => fits(amount))) throw tooLarge()
    amounts.sort(([left], [right]) => (left < right ? -1 : 1))
    const over = amounts.reduce((sum, [, amount]) => sum + amount, 0)
    if (over !== 0) throw new Error(`a posting is out of balance by ${over}`)
    const { customer, description } = this.#source
    const owed = this.#customerEntries.reduce((sum, one) => sum + (one.amount_local ?? 0), 0)
    if (customer !== undefined) await this.#moveBalance(customer.id, owed)
    const booked: Entry<typeof tables.generalLedgerEntries>[] = []
    for (const [id, amount] of amounts) {
      booked.push({
        account_id: id,
        account_number: await this.#moveAccount(id, amount),
        description,
        debit_amount: Math.max(amount, 0),
        credit_amount: Math.max(-amount, 0),
      })
    }
    const buyer = { customer_id: customer?.id ?? noGuid }
    const named = { ...buyer, customer_number: customer?.number ?? '', description }
    const owing = this.#customerEntries.map((one) => ({ ...named, ...one }))
    const taxed = this.#taxEntries.map((one) => ({ ...buyer, ...one }))
    const source_number = customer?.number ?? ''
    const moved = this.#itemEntries.map((one) => ({ source_number, ...one }))
    const count = booked.length + owing.length + taxed.length + moved.length
    let next = await countEntries(this.#context, count)
    const write = async <C extends Columns>(table: Table<C>, rows: readonly SqlRow[]) => {
      const whole = rows.map((row) => ({ ...this.#entry(next++), ...row }))
      for (let at = 0; at < whole.length; at += rowsMax) {
        const some = whole.slice(at, at + rowsMax)
        const columns = Object.keys(some[0] ?? {})
        const values = some.flatMap((row: SqlRow) =>
          columns.map((column): SqlValue => row[column] ?? null),
        )
        await tx.run(insertText(table, columns, some.length), ...values)
      }
    }
    await write(tables.generalLedgerEntries, booked)
    await write(tables.customerLedgerEntries, owing)
    await write(tables.taxEntries, taxed)
    await write(tables.itemLedgerEntries, moved)
  }

  #entry(number: number): SqlRow {
    const { type, number: documentNumber, id, date } = this.#source
    return {
      id: newId(this.#context),
      company_id: this.#context.companyId,
      revision: 1,
      entry_number: number,
      posting_date: date,
      document_type: type,
      document_number: documentNumber,
      document_id: id,
      last_modified_date_time: this.#context.now,
    }
  }

  async #moveBalance(customerId: string, by: number): Promise<void> {
    const moved = await this.#context.tx.run(
      `update business_customers set balance_due = balance_due + ?, revision = revision + 1
         where id = ? and abs(balance_due + ?) <= ${amountMax}`,
      by,
      customerId,
      by,
    )
    if (moved === 0) throw ruleBroken('What the customer owes would have more than ten digits.')
  }

  /** Returns the number of the account. */
  async #moveAccount(accountId: string, by: number): Promise<string> {
    const { tx, companyId } = this.#context
    const cells = { id: accountId, company_id: companyId }
    const account = await lockRow(this.#context, tables.accounts, cells)
    if (account === undefined) throw ruleBroken('An account of the document is gone.')
    const { number, blocked, account_type: type } = account
    if (blocked !== 0 || type !== 'Posting')
      throw ruleBroken(`The account ${number} is blocked, or is not one that takes postings.`)
    // SQLite binds numbers as floating point, which would round sums beyond 2^53.
    const term = 'cast(? as bigint)'
    const moved = await tx.run(
      `update business_accounts set net_change = net_change + ${term}, revision = revision + 1,
         total_debit = total_debit + ${term}, total_credit = total_credit + ${term},
         balance_debit = case when net_change + ${term} > 0 then net_change + ${term} else 0 end,
         balance_credit = case when net_change + ${term} < 0 then -(net_change + ${term}) else 0 end
         where id = ? and total_debit + ${term} <= ${totalMax} and total_credit + ${term} <= ${totalMax}`,
      by,
      Math.max(by, 0),
      Math.max(-by, 0),
      by,
      by,
      by,
      by,
      accountId,
      Math.max(by, 0),
      Math.max(-by, 0),
    )
    if (moved === 0)
      throw ruleBroken(
        `The account ${number} holds as much as one can. Name another one for its purpose in 'postingAccounts'.`,
      )
    return number
  }
}
