/**
 * A sales document as a page that a browser shows and prints: `Accept: text/html` of a document's address. Numbers and
 * days are written as in the language of the reader, or else of the customer. It decides nothing about rights.
 */

import { findRow } from '#query/rows.ts'
import type { CellsOf } from '#query/table.ts'
import { decimalUnit, noDate } from '../entity.ts'
import { refuse } from '../errors.ts'
import type { BusinessAnswer, Reads } from '../message.ts'
import type { Budget } from '../odata/budget.ts'
import { odataLimits } from '../odata/limits.ts'
import * as tables from '../tables.ts'
import { languageOf, type PrintedWords, wordsOf } from './printed-words.ts'

/** A browser asks for a page before anything else; a client of the interface does not. */
export function wantsPage(accept: string | undefined): boolean {
  return accept !== undefined && /^\s*text\/html\b/i.test(accept)
}

interface Printing {
  readonly reads: Reads
  readonly companyId: string
  readonly id: string
  readonly acceptLanguage: string | undefined
  /** Between pieces of many lines the server does other work. */
  readonly budget: Budget
}

/** Nothing on the page is loaded or run, wherever its words come from. */
const headers = Object.freeze({
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'X-Content-Type-Options': 'nosniff',
  'OData-Version': '4.0',
  Vary: 'Accept, Accept-Language',
})

const style = `body{font:14px/1.45 system-ui,sans-serif;color:#1a1a1a;max-width:52rem;margin:2.5rem auto;padding:0 1.5rem}
header{display:flex;justify-content:space-between;gap:2rem;margin-bottom:2rem}h1{font-size:1.7rem;margin:0 0 .75rem}
address{font-style:normal;white-space:pre-line}.seller{color:#595959;margin-bottom:1.5rem}dl{display:grid;grid-template-columns:auto auto;gap:.15rem 1.25rem;margin:0}
dt{color:#595959}dd{margin:0;text-align:right}table{border-collapse:collapse;width:100%;margin-top:1.5rem}
th,td{padding:.4rem .5rem;text-align:right;vertical-align:top;border-bottom:1px solid #d8d8d8}
th{color:#595959;font-weight:600;border-color:#1a1a1a}th:first-child,td:first-child{text-align:left;padding-left:0;overflow-wrap:anywhere}
td:not(:first-child){white-space:nowrap}td.text{color:#595959}tr.total td{font-weight:600;border-top:1px solid #1a1a1a}tfoot td{border:0;padding-top:.2rem}
tr{break-inside:avoid}thead{display:table-header-group}tfoot{display:table-row-group}@page{margin:18mm}@media print{body{margin:0;padding:0;max-width:none}}`

type Company = CellsOf<typeof tables.companyInformation>
type Address = Pick<
  Company,
  'address_line_1' | 'address_line_2' | 'postal_code' | 'city' | 'state' | 'country'
>

interface Writer {
  readonly words: PrintedWords
  money(stored: number): string
  plain(stored: number): string
  day(text: string): string
}

export async function printedPage(printing: Printing): Promise<BusinessAnswer> {
  const { reads, companyId, id, acceptLanguage } = printing
  const row = await findRow(reads, tables.documents, { id, company_id: companyId })
  const company = await findRow(reads, tables.companyInformation, { company_id: companyId })
  if (row === undefined || company === undefined) {
    throw refuse.BadRequest_ResourceNotFound({ type: 'document', key: `the id '${id}'` })
  }
  const language = languageOf(acceptLanguage, row.bill_to_country || row.sell_to_country)
  const writer = writerOf(language, row.amount_precision)
  const title = `${titleOf(row, writer.words)} ${row.number}`
  const body = `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${safe(`${title} · ${company.display_name}`)}</title><style>${style}</style></head><body>${headOf(row, company, writer)}${await linesOf(printing, writer)}${await sumsOf(printing, row, writer)}</body></html>\n`
  return { status: 200, headers: { ...headers, 'Content-Language': language }, body }
}

function titleOf(row: tables.DocumentRow, words: PrintedWords): string {
  const kind =
    row.kind === 'quote' ? words.quote : row.kind === 'invoice' ? words.invoice : words.creditMemo
  return row.kind !== 'quote' && row.status === 'Draft' ? `${kind} (${words.draft})` : kind
}

function writerOf(language: string, precision: number): Writer {
  const places = Math.max(0, Math.ceil(5 - Math.log10(Math.max(1, precision))))
  const money = new Intl.NumberFormat(language, {
    minimumFractionDigits: places,
    maximumFractionDigits: 5,
  })
  const plain = new Intl.NumberFormat(language, { maximumFractionDigits: 5 })
  const day = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' })
  return {
    words: wordsOf(language),
    money: (stored) => money.format(stored / decimalUnit),
    plain: (stored) => plain.format(stored / decimalUnit),
    day: (text) => (text === noDate ? '' : day.format(Date.parse(text))),
  }
}

/** Name and address, in the order they are read in, without what is empty. */
function addressOf(name: string, address: Address): string {
  const { address_line_1, address_line_2, postal_code, city, state, country } = address
  const place = `${postal_code} ${city}`.trim()
  const land = [state, country].filter((one) => one !== '').join(', ')
  return linesOfText(name, address_line_1, address_line_2, place, land)
}

function linesOfText(...lines: readonly string[]): string {
  return safe(lines.filter((one) => one !== '').join('\n'))
}

function headOf(row: tables.DocumentRow, company: Company, { words, day }: Writer): string {
  const taxNumber = company.tax_registration_number
  const seller = linesOfText(
    company.phone_number,
    company.email,
    company.website,
    taxNumber === '' ? '' : `${words.taxNumber} ${taxNumber}`,
  )
  const billTo = addressOf(row.bill_to_name, {
    address_line_1: row.bill_to_address_line_1,
    address_line_2: row.bill_to_address_line_2,
    postal_code: row.bill_to_post_code,
    city: row.bill_to_city,
    state: row.bill_to_state,
    country: row.bill_to_country,
  })
  const facts = [
    [words.number, row.number],
    [words.date, day(row.document_date)],
    row.kind === 'quote'
      ? [words.validUntil, day(row.valid_until_date)]
      : [words.due, row.kind === 'invoice' ? day(row.due_date) : ''],
    [words.customer, row.customer_number],
    [words.yourReference, row.customer_purchase_order_reference],
  ] as const
  const shown = facts
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `<dt>${safe(name ?? '')}</dt><dd>${safe(value ?? '')}</dd>`)
  const from = addressOf(company.display_name, company)
  return `<header><div><address class="seller">${from}${seller === '' ? '' : `\n${seller}`}</address><address>${billTo}</address></div><div><h1>${safe(titleOf(row, words))}</h1><dl>${shown.join('')}</dl></div></header>`
}

const linesAtOnce = 250

/** As many as an answer holds; how many are left is said. */
async function linesOf({ reads, id, budget }: Printing, writer: Writer): Promise<string> {
  const { words } = writer
  const names = [words.description, words.quantity, words.price, words.discount, words.tax]
  const head = [...names, words.amount].map((one) => `<th scope="col">${safe(one)}</th>`).join('')
  const rows: string[] = []
  let characters = 0
  for (let last = -1; ; ) {
    const some = await reads.all(
      `select sequence, line_type, description, quantity, unit_of_measure_code, unit_price, discount_percent, tax_percent, line_amount
         from business_lines where document_id = ? and sequence > ? order by sequence limit ${linesAtOnce}`,
      id,
      last,
    )
    for (const line of some) {
      const text = lineOf(line, writer)
      characters += text.length
      rows.push(text)
    }
    last = Number(some.at(-1)?.['sequence'] ?? last)
    if (some.length < linesAtOnce) break
    if (characters > odataLimits.answerCharactersMax) {
      const [left] = await reads.all(
        'select count(*) as n from business_lines where document_id = ? and sequence > ?',
        id,
        last,
      )
      rows.push(`<tr><td colspan="6">… ${Number(left?.['n'] ?? 0)} ${safe(words.more)}</td></tr>`)
      break
    }
    await budget.pause()
  }
  return `<table><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table>`
}

function lineOf(line: Readonly<Record<string, unknown>>, { money, plain }: Writer): string {
  const description = safe(String(line['description']))
  if (line['line_type'] === 'Comment')
    return `<tr><td class="text" colspan="6">${description}</td></tr>`
  const stored = (name: string): number => Number(line[name])
  const percent = (name: string): string => (stored(name) === 0 ? '' : `${plain(stored(name))} %`)
  const cells = [
    `${plain(stored('quantity'))} ${safe(String(line['unit_of_measure_code']))}`.trim(),
    money(stored('unit_price')),
    percent('discount_percent'),
    percent('tax_percent'),
    money(stored('line_amount')),
  ]
  return `<tr><td>${description}</td>${cells.map((one) => `<td>${one}</td>`).join('')}</tr>`
}

/** The totals of the document, and of each rate what it is of. */
async function sumsOf(
  { reads, id }: Printing,
  row: tables.DocumentRow,
  { words, money, plain }: Writer,
): Promise<string> {
  const rates = await reads.all(
    `select tax_percent, sum(net) as net, sum(including) as including from business_document_tax_groups
       where document_id = ? and tax_percent <> 0 group by tax_percent order by tax_percent`,
    id,
  )
  const taxes = rates.map((one) => {
    const net = Number(one['net'])
    const name = `${words.tax} ${plain(Number(one['tax_percent']))} % (${money(net)})`
    return [name, Number(one['including']) - net] as const
  })
  const total = `${words.including} ${row.currency_code}`.trim()
  const sums = [
    ...(row.discount_amount === 0 ? [] : [[words.discount, -row.discount_amount] as const]),
    [words.excluding, row.total_amount_excluding_tax] as const,
    ...taxes,
  ].map(([name, value]) => sum(name, money(value), ''))
  const remaining =
    row.kind === 'invoice' && row.status !== 'Draft'
      ? sum(`${words.remaining} ${row.currency_code}`.trim(), money(row.remaining_amount), '')
      : ''
  const last = sum(total, money(row.total_amount_including_tax), ' class="total"')
  return `<table><tbody>${sums.join('')}${last}${remaining}</tbody></table>`
}

function sum(name: string, value: string, kind: string): string {
  return `<tr${kind}><td>${safe(name)}</td><td>${value}</td></tr>`
}

const signs: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function safe(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => signs[sign] ?? sign)
}
