/** Numbers for documents and for master data without one: counted per company, without gaps caused by us. */

import { insertRow } from '#query/rows.ts'
import type { Cells } from '#query/table.ts'
import { badValue, ruleBroken } from '../errors.ts'
import * as tables from '../tables.ts'
import type { WriteContext } from '../write/rows.ts'

/** The number series of a new company. */
export const series = {
  invoice: { prefix: 'S-INV1', name: 'Drafts of invoices' },
  postedInvoice: { prefix: 'PS-INV1', name: 'Invoices' },
  quote: { prefix: 'S-QUO1', name: 'Quotes' },
  creditMemo: { prefix: 'S-CR1', name: 'Drafts of credit memos' },
  postedCreditMemo: { prefix: 'PS-CR1', name: 'Credit memos' },
  customer: { prefix: 'C', name: 'Customers' },
  item: { prefix: 'I', name: 'Items' },
  payment: { prefix: 'PAY', name: 'Payments' },
} as const

type Series = keyof typeof series

export const firstDigits = 5
/** The length of number columns. */
const lengthMax = 20
const digitsMax = 15
/** The largest last number, with room for more. */
const lastMax = 2_000_000_000

/** The tables that use the numbers of a series. */
const usedIn: Readonly<
  Record<Series, readonly [table: string, column: string, condition: string]>
> = {
  invoice: ['business_documents', 'number', " and kind = 'invoice'"],
  postedInvoice: ['business_documents', 'number', " and kind = 'invoice'"],
  quote: ['business_documents', 'number', " and kind = 'quote'"],
  creditMemo: ['business_documents', 'number', " and kind = 'creditMemo'"],
  postedCreditMemo: ['business_documents', 'number', " and kind = 'creditMemo'"],
  customer: ['business_customers', 'number', ''],
  item: ['business_items', 'number', ''],
  payment: ['business_customer_payments', 'document_number', ''],
}

function written(prefix: string, number: number, digits: number): string {
  return `${prefix}${String(number).padStart(digits, '0')}`
}

/**
 * The next number of a series. Writers of one company wait for each other here, until the end of the transaction.
 */
export async function nextNumber(context: WriteContext, name: Series): Promise<string> {
  return (await takeNumber(context, name)).number
}

async function takeNumber({ tx, companyId }: WriteContext, name: Series) {
  const [row] = await tx.all(
    `update business_number_series set last = last + 1, revision = revision + 1
       where company_id = ? and code = ? returning prefix, digits, last`,
    companyId,
    name,
  )
  if (row === undefined) throw new Error(`the number series ${name} gave no number`)
  const prefix = String(row['prefix'])
  const number = written(prefix, Number(row['last']), Number(row['digits']))
  if (number.length <= lengthMax) return { number, prefix }
  throw atItsEnd(name, `${number} has more than ${lengthMax} characters`)
}

function atItsEnd(name: Series, reason: string): Error {
  return ruleBroken(`The number series '${name}' is at its end: ${reason}. Give it another prefix.`)
}

/** The next number of a series whose rows may also be given numbers by their makers. */
export async function nextFreeNumber(
  context: WriteContext,
  name: 'customer' | 'item',
): Promise<string> {
  const { tx, companyId } = context
  const [table] = usedIn[name]
  for (;;) {
    const { number, prefix } = await takeNumber(context, name)
    const cells = 'where company_id = ? and number = ?'
    const [taken] = await tx.all(`select id from ${table} ${cells}`, companyId, number)
    if (taken === undefined) return number
    // Nothing is behind it: each further one would be looked for by itself.
    if (Number(number.slice(prefix.length)) > lastMax) throw atItsEnd(name, `${number} is taken`)
    // Continues behind the last number of this length, since all before it may be taken.
    const [row] = await tx.all(
      `select max(number) as last from ${table} where company_id = ? and length(number) = ?
         and substr(number, 1, ${prefix.length}) = ?
         and rtrim(substr(number, ${prefix.length + 1}), '0123456789') = ''`,
      companyId,
      number.length,
      prefix,
    )
    const last = Math.min(lastMax, Number(String(row?.['last']).slice(prefix.length)))
    const behind = 'set last = ? where company_id = ? and code = ? and last < ?'
    await tx.run(`update business_number_series ${behind}`, last, companyId, name, last)
  }
}

export async function createSeries(context: WriteContext, companyId: string): Promise<void> {
  for (const [code, { prefix, name }] of Object.entries(series)) {
    await insertRow(context.tx, tables.numberSeries, {
      id: context.ids.uuid(),
      company_id: companyId,
      revision: 1,
      code,
      display_name: name,
      prefix,
      digits: firstDigits,
      last: 0,
      last_modified_date_time: context.now,
    })
  }
}

/** Refuses a changed series that would reach an existing number. */
export async function checkSeries({ tx, companyId }: WriteContext, cells: Cells): Promise<void> {
  const [prefix, digits, last] = [
    String(cells['prefix']),
    Number(cells['digits']),
    Number(cells['last']),
  ]
  if (digits < 1 || digits > digitsMax) throw badValue('digits', `1 to ${digitsMax} were expected.`)
  if (last < 0 || last > lastMax) throw badValue('lastNumber', `0 to ${lastMax} was expected.`)
  // Characters that separate a prefix from its number in the same way in every store.
  if (!/^[\x20-\x7e]*$/.test(prefix))
    throw badValue('prefix', 'letters, digits and signs of ASCII were expected.')
  const next = written(prefix, last + 1, digits)
  if (next.length > lengthMax)
    throw badValue(
      'prefix',
      `the next number would be ${next}; at most ${lengthMax} characters are allowed.`,
    )
  const [table, column, condition] = usedIn[cells['code'] as Series]
  const [used] = await tx.all(
    `select max(${column}) as used from ${table} where company_id = ?${condition}
       and substr(${column}, 1, ${prefix.length}) = ? and length(${column}) > ${prefix.length}
       and rtrim(substr(${column}, ${prefix.length + 1}), '0123456789') = ''
       and (length(${column}) > ? or (length(${column}) = ? and ${column} >= ?))`,
    companyId,
    prefix,
    next.length,
    next.length,
    next,
  )
  if (used?.['used'] == null) return
  throw ruleBroken(
    `The next number would be ${next}, and ${String(used['used'])} is there already: numbers go on behind it.`,
    'lastNumber',
  )
}
