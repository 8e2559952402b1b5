/**
 * Closing: pending statements become invoices by getting a name. One row each, whatever their size, so one is closed
 * or not; of many, some at a time are (decision 0451). What is recorded later goes to the statement of the month it is
 * recorded in.
 */

import type { Sql } from '#stores/store.ts'
import { number, text } from '../cells.ts'
import type { ProfilePlace } from '../ledger/statements.ts'
import { keysOf, lockAccount } from '../ledger/statements.ts'
import { isBilled } from '../migrations.ts'

export interface ClosedInvoice {
  readonly invoice: string
  readonly month: string
}

/** Statements closed in one transaction: there is one for each currency and month, and all who write may wait for it. */
const statementsAtOnce = 200

/**
 * Closes the pending statements of a profile up to a month, oldest first: those that are there when it begins. Returns
 * some at a time, each time as soon as they are closed.
 */
export async function* closeStatements(
  sql: Sql,
  place: ProfilePlace,
  throughMonth: string,
  now: number,
): AsyncGenerator<readonly ClosedInvoice[]> {
  const [last] = await sql.all('select id from billing_statements order by id desc limit 1')
  if (last === undefined) return
  const through = { month: throughMonth, id: number(last, 'id') }
  for (let some = statementsAtOnce; some === statementsAtOnce; ) {
    const next = await closeSome(sql, place, through, now)
    some = next.length
    yield next
  }
}

function closeSome(
  sql: Sql,
  place: ProfilePlace,
  through: { readonly month: string; readonly id: number },
  now: number,
): Promise<readonly ClosedInvoice[]> {
  return sql.transact(async (tx) => {
    await lockAccount(tx, place.account)
    const [account, profile] = keysOf(place)
    const pending = await tx.all(
      `select id, month, currency from billing_statements where account_key = ? and profile_key = ?
        and ${isBilled} = 0 and entries > 0 and month <= ? and id <= ? order by month, id limit ?`,
      account,
      profile,
      through.month,
      through.id,
      statementsAtOnce,
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
