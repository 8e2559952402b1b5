/**
 * The files people have: lines of JSON and CSV in the contract's shape, and CSV with the columns of the FinOps
 * FOCUS specification. Each record becomes an object in the contract's shape; what is wrong with one is told of it.
 */

import { parse } from 'csv-parse/sync'
import { isJsonObject } from '#kernel/patch.ts'
import { invoicePattern } from '../names.ts'

export const importFormats = ['ndjson', 'csv', 'focus'] as const
export type ImportFormat = (typeof importFormats)[number]

export type ImportedRecord =
  | { readonly line: number; readonly transaction: object }
  | { readonly line: number; readonly column: string; readonly reason: string }

/** The records of a piece of a file that begins and ends between records. `firstLine` counts from 1. */
export function readRecords(
  format: ImportFormat,
  header: string,
  text: string,
  firstLine: number,
): readonly ImportedRecord[] {
  return format === 'ndjson' ? readLines(text, firstLine) : readCsv(format, header, text, firstLine)
}

function readLines(text: string, firstLine: number): readonly ImportedRecord[] {
  const records: ImportedRecord[] = []
  for (const [at, one] of text.split('\n').entries()) {
    const line = firstLine + at
    if (one.trim() === '') continue
    const transaction = parseJson(one)
    records.push(
      isJsonObject(transaction)
        ? { line, transaction }
        : { line, column: '', reason: 'expected an object of JSON' },
    )
  }
  return records
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // JSON has no other way to say no.
    return undefined
  }
}

const csvOptions = { relax_column_count: true, skip_empty_lines: true, info: true } as const

/** What the parser answers with `info`. */
interface Parsed {
  readonly record: readonly string[]
  readonly info: { readonly lines: number }
}

function readCsv(
  format: 'csv' | 'focus',
  header: string,
  text: string,
  firstLine: number,
): readonly ImportedRecord[] {
  const columns = readHeader(header)
  let parsed: readonly Parsed[]
  try {
    // Its type knows no `info`.
    parsed = parse(text, csvOptions) as unknown as readonly Parsed[]
  } catch (error) {
    // A quote out of place: where the records after it begin, nobody can tell.
    const reason = error instanceof Error ? error.message : String(error)
    return [{ line: firstLine, column: '', reason: `not CSV: ${reason}` }]
  }
  return parsed.map(({ record, info }) => {
    const line = firstLine + info.lines - 1
    if (record.length !== columns.length) {
      const reason = `expected ${columns.length} cells, found ${record.length}`
      return { line, column: '', reason }
    }
    const cells = new Map(columns.map((column, at) => [column, record[at] ?? '']))
    return { line, transaction: format === 'csv' ? nested(cells) : ofFocus(cells) }
  })
}

export function readHeader(header: string): readonly string[] {
  try {
    const [first = []] = parse(header.replace(/^\uFEFF/, ''), { relax_column_count: true })
    return first.map((name) => String(name).trim())
  } catch {
    // The same as a header without columns: nothing fits it.
    return []
  }
}

/** `properties/subTotal/value` and the like, with slashes or dots, to an object. */
function nested(cells: ReadonlyMap<string, string>): object {
  const root = new Map<string, unknown>()
  for (const [column, cell] of cells) {
    if (cell === '') continue
    const path = column.split(/[/.]/)
    if (path[0] === 'properties') path.shift()
    let at = root
    for (const name of path.slice(0, -1)) {
      const known = at.get(name)
      const next = known instanceof Map ? known : new Map<string, unknown>()
      at.set(name, next)
      at = next
    }
    at.set(path.at(-1) ?? '', cell)
  }
  return plain(root)
}

function plain(map: ReadonlyMap<string, unknown>): object {
  return Object.fromEntries(
    [...map].map(([name, value]) => [name, value instanceof Map ? plain(value) : value]),
  )
}

const categories: Readonly<Record<string, string>> = {
  usage: 'Usage Charge',
  purchase: 'Purchase',
  credit: 'Credit',
  tax: 'Tax',
  adjustment: 'Adjustment',
}

/** Which column of FOCUS a property of the contract comes from. */
export const focusColumns: Readonly<Record<string, string>> = {
  date: 'ChargePeriodStart',
  billingCurrency: 'BillingCurrency',
  pricingCurrency: 'PricingCurrency',
  subTotal: 'BilledCost',
  tax: 'BilledCost',
  transactionAmount: 'BilledCost',
  productDescription: 'ChargeDescription',
  productFamily: 'ServiceCategory',
  productType: 'ServiceName',
  productTypeId: 'SkuPriceId',
  partNumber: 'SkuId',
  effectivePrice: 'ContractedUnitPrice',
  marketPrice: 'ListUnitPrice',
  units: 'PricingQuantity',
  unitOfMeasure: 'PricingUnit',
  unitType: 'ConsumedUnit',
  invoiceSectionDisplayName: 'SubAccountName',
  invoiceSectionId: 'SubAccountId',
  transactionType: 'ChargeCategory',
  reasonCode: 'ChargeClass',
  servicePeriodStartDate: 'BillingPeriodStart',
  servicePeriodEndDate: 'BillingPeriodEnd',
  invoice: 'InvoiceId',
}

function ofFocus(cells: ReadonlyMap<string, string>): object {
  const cell = (name: string): string | undefined => {
    const value = cells.get(name)
    return value === '' || value === 'NULL' || value === 'null' ? undefined : value
  }
  const category = cell('ChargeCategory')?.toLowerCase() ?? ''
  const cost = cell('BilledCost')
  const isTax = category === 'tax'
  const isUsage = category === 'usage'
  const invoice = cell('InvoiceId')
  const publisher = cell('PublisherName')
  return {
    date: cell('ChargePeriodStart'),
    billingCurrency: cell('BillingCurrency'),
    pricingCurrency: cell('PricingCurrency') ?? cell('BillingCurrency'),
    subTotal: isTax ? '0' : cost,
    tax: isTax ? cost : '0',
    productDescription: cell('ChargeDescription') ?? cell('ServiceName'),
    productFamily: cell('ServiceCategory'),
    productType: cell('ServiceName'),
    productTypeId: cell('SkuPriceId') ?? cell('SkuId'),
    partNumber: cell('SkuId'),
    effectivePrice: cell('ContractedUnitPrice'),
    marketPrice: cell('ListUnitPrice'),
    units: cell('PricingQuantity') ?? cell('ConsumedQuantity'),
    unitOfMeasure: cell('PricingUnit'),
    unitType: cell('ConsumedUnit'),
    invoiceSectionDisplayName: cell('SubAccountName'),
    invoiceSectionId: cell('SubAccountId'),
    transactionType: categories[category] ?? cell('ChargeCategory'),
    creditType: category === 'credit' ? 'Other' : undefined,
    reasonCode: cell('ChargeClass'),
    isThirdParty: publisher === undefined ? undefined : publisher !== cell('ProviderName'),
    // Of usage, its month (contract); of anything else, its term.
    servicePeriodStartDate: cell(isUsage ? 'BillingPeriodStart' : 'ChargePeriodStart'),
    servicePeriodEndDate: cell(isUsage ? 'BillingPeriodEnd' : 'ChargePeriodEnd'),
    kind: 'All',
    // An invoice named by another rule cannot be one here: its rows are still to be billed.
    ...(invoice !== undefined && invoicePattern.test(invoice) ? { invoice } : {}),
  }
}

/** What the file calls the property that a path names. */
export function columnOf(format: ImportFormat, path: string): string {
  const property = path.replace(/^properties\./, '')
  if (format !== 'focus') return property
  return focusColumns[property.split('.')[0] ?? ''] ?? property
}
