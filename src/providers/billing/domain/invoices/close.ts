/**
 * Closing: pending statements become invoices by getting a name. One row each, whatever their size, so it is all or
 * nothing; what is recorded later goes to the statement of the month it is recorded in.
 */

import type { Sql } from '#stores/store.ts'
import { number, text } from '../cells.ts'
import type { ProfilePlace } from '../ledger/statements.ts'
import { keysOf, lockAccount } from '../ledger/statements.ts'

interface ClosedInvoice {
  readonly invoice: string
  readonly month: string
}

/** Closes the pending statements of a profile up to a month, oldest first. */
export function closeStatements(
  sql: Sql,
  place: ProfilePlace,
  throughMonth: string,
  now: number,
): Promise<readonly ClosedInvoice[]> {
  return sql.transact(async (tx) => {
    await lockAccount(tx, place.account)
    const [account, profile] = keysOf(place)
    const pending = await tx.all(
      `select id, month, currency from billing_statements where account_key = ? and profile_key = ?
        and invoice is null and entries > 0 and month <= ? order by month, currency`,
      account,
      profile,
      throughMonth,
    )
    const closed: ClosedInvoice[] = []
    for (const row of pending) {
      const invoice = await nextName(tx, account)
      const month = text(row, 'month')
      await tx.run(
        'update billing_statements set invoice = ?, closed_at = ? where id = ? and invoice is null',
        invoice,
        now,
        number(row, 'id'),
      )
      // Only a past month is closed for good: the rest of the current one gets another invoice.
      if (month < new Date(now).toISOString().slice(0, 7)) {
        await tx.run(
          `insert into billing_closed_months (account_key, profile_key, currency, month)
           values (?, ?, ?, ?) on conflict do nothing`,
          account,
          profile,
          text(row, 'currency'),
          month,
        )
      }
      closed.push({ invoice, month })
    }
    return closed
  })
}

/** `G000000001`, `G000000002`, …: names the contract's pattern allows, after those of imports. */
async function nextName(
  tx: Parameters<Parameters<Sql['transact']>[0]>[0],
  account: string,
): Promise<string> {
  for (;;) {
    await tx.run(
      'update billing_accounts set invoices_numbered = invoices_numbered + 1 where account_key = ?',
      account,
    )
    const [row] = await tx.all(
      'select invoices_numbered from billing_accounts where account_key = ?',
      account,
    )
    if (row === undefined) throw new Error('the account was locked and is not there')
    const name = `G${number(row, 'invoices_numbered').toString(36).toUpperCase().padStart(9, '0')}`
    const taken = await tx.all(
      'select 1 from billing_statements where account_key = ? and invoice = ?',
      account,
      name,
    )
    if (taken.length === 0) return name
  }
}
