/**
 * The exchange rate of a currency: the latest rate that is not after the document's date. A document keeps the rate
 * of its posting, so that a later payment subtracts what was added.
 */

import { findRow, firstRow } from '#query/rows.ts'
import { selecting } from '#query/table.ts'
import { ratio, unitOfCurrency } from '../amounts/units.ts'
import { noGuid } from '../entity.ts'
import type { DocumentRow } from '../tables.ts'
import * as tables from '../tables.ts'
import type { WriteContext } from './rows.ts'

/**
 * `exchange_rate_amount` of the currency equals `relational_exchange_rate_amount` of the company's own. Both 0: no
 * rate.
 */
export type Rate = Pick<DocumentRow, 'exchange_rate_amount' | 'relational_exchange_rate_amount'>

export const noRate: Rate = { exchange_rate_amount: 0, relational_exchange_rate_amount: 0 }

const rates = selecting(
  tables.currencyExchangeRates,
  'exchange_rate_amount',
  'relational_exchange_rate_amount',
)
/** A company's own currency: its code, and its smallest amount, to which balances are rounded. */
export interface OwnCurrency {
  readonly code: string
  readonly unit: number
}

export async function ownCurrency({ tx, companyId }: WriteContext): Promise<OwnCurrency> {
  const company = await findRow(tx, tables.companies, { id: companyId })
  const code = company === undefined ? '' : company.local_currency_code
  return { code, unit: unitOfCurrency(code) }
}

export async function rateOn(
  { tx, companyId }: WriteContext,
  currencyId: string,
  day: string,
): Promise<Rate> {
  if (currencyId === noGuid) return noRate
  const where =
    'where company_id = ? and currency_id = ? and starting_date <= ? order by starting_date desc limit 1'
  return (await firstRow(tx, rates, where, companyId, currencyId, day)) ?? noRate
}

/**
 * Rounded to the smallest amount of the company's own currency. Without a rate the amount is in that currency, or from
 * before rates existed.
 */
export function inLocal(amount: number, rate: Rate, { unit }: OwnCurrency): number {
  return rate.exchange_rate_amount === 0 ? amount : toLocal(amount, rate, unit)
}

/** The value of an amount that reduces an invoice's open amount: the parts add up to the whole exactly. */
export function localReduction(
  invoice: Rate & Pick<DocumentRow, 'remaining_amount'>,
  amount: number,
  own: OwnCurrency,
): number {
  const { remaining_amount: open } = invoice
  return inLocal(open, invoice, own) - inLocal(open - amount, invoice, own)
}

/** A price or a whole discount in another currency; unchanged where a rate is missing. */
export function convertAmount(amount: number, from: Rate, to: Rate): number {
  return fromLocal(toLocal(amount, from, 1), to)
}

export function fromLocal(amount: number, rate: Rate): number {
  const { exchange_rate_amount: foreign, relational_exchange_rate_amount: local } = rate
  return foreign === 0 ? amount : ratio(amount, foreign, local, 1)
}

function toLocal(amount: number, rate: Rate, unit: number): number {
  const { exchange_rate_amount: foreign, relational_exchange_rate_amount: local } = rate
  return foreign === 0 ? amount : ratio(amount, local, foreign, unit)
}
