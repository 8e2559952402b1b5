/**
 * The content of a printed document in reading order. The web page (`printed-page.ts`) and the PDF
 * (`printed-pdf.ts`) are made of it. Numbers and dates follow the language of the reader, else that of the
 * customer. It does not check rights.
 */

import { findRow } from '#query/rows.ts'
import type { CellsOf } from '#query/table.ts'
import { decimalUnit, noDate } from '../entity.ts'
import { refuse } from '../errors.ts'
import type { Reads } from '../message.ts'
import type { Budget } from '../odata/budget.ts'
import { odataLimits } from '../odata/limits.ts'
import * as tables from '../tables.ts'
import { languageOf, type PrintedWords, wordsOf } from './printed-words.ts'

export interface Printing {
  readonly reads: Reads
  readonly companyId: string
  readonly id: string
  readonly acceptLanguage: string | undefined
  /** Long documents pause between pieces, so that the server does other work. */
  readonly budget: Budget
}

/** All texts are plain, not escaped for any format. */
export interface Printed {
  readonly language: string
  readonly title: string
  readonly number: string
  readonly company: string
  /** Lines of text. */
  readonly seller: string
  readonly billTo: string
  readonly facts: readonly (readonly [name: string, value: string])[]
  readonly head: readonly string[]
  readonly rows: readonly PrintedRow[]
  /** The number of rows left out because an answer cannot hold them, and the words after that number. */
  readonly left: number
  readonly more: string
  readonly sums: readonly PrintedSum[]
  readonly look: PrintedLook
  /** When the document last changed, in milliseconds since 1970. */
  readonly changedAt: number
}

/** What a company changes of the template. */
export interface PrintedLook {
  /** A PNG in base64, or nothing. */
  readonly logo: string
  /** Of the title and of the lines around totals. */
  readonly color: string
  /** Lines of text below everything. */
  readonly footer: string
  /** How an open invoice is to be paid; empty without a bank account. */
  readonly slip: readonly (readonly [name: string, value: string])[]
  readonly slipTitle: string
}

/** A document that an earlier version wrote has no look. */
export const plainLook: PrintedLook = {
  logo: '',
  color: '#1a1a1a',
  footer: '',
  slip: [],
  slipTitle: '',
}

export interface PrintedRow {
  readonly description: string
  /** The cells of `head` after the description. A row that is only a text has none. */
  readonly cells: readonly string[]
}

export interface PrintedSum {
  readonly name: string
  readonly value: string
  readonly isTotal: boolean
}

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

export async function readPrinted(printing: Printing): Promise<Printed> {
  const { reads, companyId, id, acceptLanguage } = printing
  const row = await findRow(reads, tables.documents, { id, company_id: companyId })
  const company = await findRow(reads, tables.companyInformation, { company_id: companyId })
  if (row === undefined || company === undefined) {
    throw refuse.BadRequest_ResourceNotFound({ type: 'document', key: `the id '${id}'` })
  }
  const language = languageOf(acceptLanguage, row.bill_to_country || row.sell_to_country)
  const writer = writerOf(language, row.amount_precision)
  const { words } = writer
  const names = [words.description, words.quantity, words.price, words.discount, words.tax]
  return {
    language,
    title: titleOf(row, words),
    number: row.number,
    company: company.display_name,
    seller: sellerOf(company, words),
    billTo: addressOf(row.bill_to_name, {
      address_line_1: row.bill_to_address_line_1,
      address_line_2: row.bill_to_address_line_2,
      postal_code: row.bill_to_post_code,
      city: row.bill_to_city,
      state: row.bill_to_state,
      country: row.bill_to_country,
    }),
    facts: factsOf(row, writer),
    head: [...names, words.amount],
    ...(await rowsOf(printing, writer)),
    more: words.more,
    sums: await sumsOf(printing, row, writer, company.document_tax_total_only !== 0),
    look: {
      logo: company.logo,
      color: company.document_color || plainLook.color,
      footer: company.document_footer,
      slip: slipOf(company, row, writer),
      slipTitle: words.paymentSlip,
    },
    changedAt: row.last_modified_date_time,
  }
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

/** Name and address in reading order, without empty parts. */
function addressOf(name: string, address: Address): string {
  const { address_line_1, address_line_2, postal_code, city, state, country } = address
  const place = `${postal_code} ${city}`.trim()
  const land = [state, country].filter((one) => one !== '').join(', ')
  return joinedLines(name, address_line_1, address_line_2, place, land)
}

function joinedLines(...lines: readonly string[]): string {
  return lines.filter((one) => one !== '').join('\n')
}

function sellerOf(company: Company, words: PrintedWords): string {
  const { tax_registration_number: taxNumber } = company
  return joinedLines(
    addressOf(company.display_name, company),
    company.phone_number,
    company.email,
    company.website,
    taxNumber === '' ? '' : `${words.taxNumber} ${taxNumber}`,
  )
}

function factsOf(row: tables.DocumentRow, { words, day }: Writer): Printed['facts'] {
  const facts = [
    [words.number, row.number],
    [words.date, day(row.document_date)],
    row.kind === 'quote'
      ? [words.validUntil, day(row.valid_until_date)]
      : [words.due, row.kind === 'invoice' ? day(row.due_date) : ''],
    [words.customer, row.customer_number],
    [words.yourReference, row.customer_purchase_order_reference],
  ] as const
  return facts.flatMap(([name = '', value = '']) => (value === '' ? [] : [[name, value] as const]))
}

function slipOf(
  company: Company,
  row: tables.DocumentRow,
  { words, money, day }: Writer,
): PrintedLook['slip'] {
  const isOpen = row.kind === 'invoice' && row.status === 'Open' && row.remaining_amount > 0
  if (!isOpen || company.iban === '') return []
  const shown = [
    [words.payee, company.display_name],
    [words.bank, company.bank_name],
    ['IBAN', company.iban],
    ['BIC', company.swift_code],
    [words.number, row.number],
    [words.due, day(row.due_date)],
    [words.remaining, `${money(row.remaining_amount)} ${row.currency_code}`.trim()],
  ] as const
  return shown.filter(([, value]) => value !== '')
}

const linesAtOnce = 250
/** The approximate characters of a row besides its description. */
const rowCharacters = 120

/** The row that says how many rows are left out. */
export function restRow(left: number, more: string): readonly PrintedRow[] {
  return left === 0 ? [] : [{ description: `… ${left} ${more}`, cells: [] }]
}

/** At most as many rows as an answer holds. */
async function rowsOf(
  { reads, id, budget }: Printing,
  writer: Writer,
): Promise<Pick<Printed, 'rows' | 'left'>> {
  const rows: PrintedRow[] = []
  let characters = 0
  for (let last = -1; ; ) {
    const some = await reads.all(
      `select sequence, line_type, description, quantity, unit_of_measure_code, unit_price, discount_percent, tax_percent, line_amount
         from business_lines where document_id = ? and sequence > ? order by sequence limit ${linesAtOnce}`,
      id,
      last,
    )
    for (const line of some) {
      const row = rowOf(line, writer)
      characters += row.description.length + rowCharacters
      rows.push(row)
    }
    last = Number(some.at(-1)?.['sequence'] ?? last)
    if (some.length < linesAtOnce) return { rows, left: 0 }
    if (characters > odataLimits.answerCharactersMax) {
      const [rest] = await reads.all(
        'select count(*) as n from business_lines where document_id = ? and sequence > ?',
        id,
        last,
      )
      return { rows, left: Number(rest?.['n'] ?? 0) }
    }
    await budget.pause()
  }
}

function rowOf(line: Readonly<Record<string, unknown>>, { money, plain }: Writer): PrintedRow {
  const description = String(line['description'])
  if (line['line_type'] === 'Comment') return { description, cells: [] }
  const stored = (name: string): number => Number(line[name])
  const percent = (name: string): string => (stored(name) === 0 ? '' : `${plain(stored(name))} %`)
  const cells = [
    `${plain(stored('quantity'))} ${String(line['unit_of_measure_code'])}`.trim(),
    money(stored('unit_price')),
    percent('discount_percent'),
    percent('tax_percent'),
    money(stored('line_amount')),
  ]
  return { description, cells }
}

/** The totals of the document, and the base of each tax rate. */
async function sumsOf(
  { reads, id }: Printing,
  row: tables.DocumentRow,
  { words, money, plain }: Writer,
  isTaxSummed: boolean,
): Promise<readonly PrintedSum[]> {
  const rates = await reads.all(
    `select tax_percent, sum(net) as net, sum(including) as including from business_document_tax_groups
       where document_id = ? and tax_percent <> 0 group by tax_percent order by tax_percent`,
    id,
  )
  const sum = (name: string, stored: number, isTotal = false): PrintedSum => ({
    name,
    value: money(stored),
    isTotal,
  })
  const taxes = rates.map((one) => {
    const net = Number(one['net'])
    const name = `${words.tax} ${plain(Number(one['tax_percent']))} % (${money(net)})`
    return sum(name, Number(one['including']) - net)
  })
  const inCurrency = (name: string) => `${name} ${row.currency_code}`.trim()
  const isOpen = row.kind === 'invoice' && row.status !== 'Draft'
  return [
    ...(row.discount_amount === 0 ? [] : [sum(words.discount, -row.discount_amount)]),
    sum(words.excluding, row.total_amount_excluding_tax),
    ...(isTaxSummed && taxes.length > 0 ? [sum(words.tax, row.total_tax_amount)] : taxes),
    sum(inCurrency(words.including), row.total_amount_including_tax, true),
    ...(isOpen ? [sum(inCurrency(words.remaining), row.remaining_amount)] : []),
  ]
}
