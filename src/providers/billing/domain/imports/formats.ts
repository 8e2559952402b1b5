/**
 * The files people have: lines of JSON and CSV in the contract's shape, and CSV with the columns of the FinOps
 * FOCUS specification. Each record becomes an object in the contract's shape; what is wrong with one is told of it.
 */

import { jsonExcess } from '#kernel/json-size.ts'
import { fromMembers } from '#kernel/named-members.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { invoicePattern } from '../names.ts'
import { readCsvRecords, recordLengthMax, recordTooLong } from './csv.ts'

export const importFormats = ['ndjson', 'csv', 'focus'] as const
export type ImportFormat = (typeof importFormats)[number]

/** `length`: its characters in the file, roughly the cost of reading it. */
type ImportedRecord = { readonly line: number; readonly length: number } & (
  | { readonly transaction: object }
  | { readonly column: string; readonly reason: string }
)

/**
 * The records of a piece of a file that begins and ends between records, each read on demand. `firstLine` counts
 * from 1.
 */
export function readRecords(
  format: ImportFormat,
  header: string,
  text: string,
  firstLine: number,
): Generator<ImportedRecord, void> {
  return format === 'ndjson' ? readLines(text, firstLine) : readCsv(format, header, text, firstLine)
}

/** The limits of one record: those of a body do not cover its text. */
const recordSize = { depthMax: 8, membersMax: 5_000, propertiesMax: 1_000 }

function* readLines(text: string, firstLine: number): Generator<ImportedRecord, void> {
  for (const [at, one] of text.split('\n').entries()) {
    if (one.trim() === '') continue
    const here = { line: firstLine + at, length: one.length, column: '' }
    if (one.length > recordLengthMax) yield { ...here, reason: recordTooLong }
    else if (jsonExcess(Buffer.from(one), recordSize) !== undefined) {
      yield { ...here, reason: 'it is deeper than a transaction, or has more in it' }
    } else {
      const transaction = parseJson(one)
      if (isJsonObject(transaction)) yield { ...here, transaction }
      else yield { ...here, reason: 'expected an object of JSON' }
    }
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // JSON.parse reports bad text only by throwing.
    return undefined
  }
}

function* readCsv(
  format: 'csv' | 'focus',
  header: string,
  text: string,
  firstLine: number,
): Generator<ImportedRecord, void> {
  const columns = readHeader(header)
  const places = placesOf(columns)
  const positions = new Map(columns.map((column, at) => [column, at]))
  for (const record of readCsvRecords(text, firstLine)) {
    const { line, length } = record
    const here = { line, length, column: '' }
    if ('reason' in record) {
      yield { ...here, reason: `not CSV: ${record.reason}` }
      continue
    }
    const { cells } = record
    if (cells.length !== columns.length) {
      yield { ...here, reason: `expected ${columns.length} cells, found ${cells.length}` }
    } else if (format === 'csv') yield { ...here, transaction: nested(places, cells) }
    else {
      const cell = (name: string): string | undefined => cells[positions.get(name) ?? -1]
      yield { ...here, transaction: ofFocus(cell) }
    }
  }
}

/** No names when it is no CSV, so that no format matches. */
function readHeader(header: string): readonly string[] {
  const { value: first } = readCsvRecords(header.replace(/^\uFEFF/, ''), 1).next()
  return first !== undefined && 'cells' in first ? first.cells.map((name) => name.trim()) : []
}

/** The place of a column's cell in a transaction. */
interface Place {
  readonly at: number
  readonly parent: string | undefined
  readonly name: string
}

/** No property of a transaction is deeper. */
const levelsMax = 2

/**
 * `properties/subTotal/value` and the like, with slashes or dots; of two columns of one name the last counts. A deeper
 * one is in no contract, as others that are unknown.
 */
function placesOf(columns: readonly string[]): readonly Place[] {
  return [...new Map(columns.map((column, at) => [column, at]))].flatMap(([column, at]) => {
    // A tag's name may contain a dot.
    const path = /^tags[/.]./.test(column) ? ['tags', column.slice(5)] : column.split(/[/.]/)
    if (path[0] === 'properties') path.shift()
    const name = path.at(-1)
    // JavaScript treats such a name specially, and the contract has none.
    if (name === undefined || path.length > levelsMax || path.includes('__proto__')) return []
    return [{ at, parent: path.at(-2), name }]
  })
}

function nested(places: readonly Place[], cells: readonly string[]): object {
  const members = new Map<string, string | [name: string, cell: string][]>()
  for (const { at, parent, name } of places) {
    const cell = cells[at]
    if (cell === undefined || cell === '') continue
    const known = parent === undefined ? undefined : members.get(parent)
    if (parent === undefined) members.set(name, cell)
    else if (Array.isArray(known)) known.push([name, cell])
    else members.set(parent, [[name, cell]])
  }
  return fromMembers(
    [...members].map(([name, one]) => [name, typeof one === 'string' ? one : fromMembers(one)]),
  )
}

const categories: Readonly<Record<string, string>> = {
  usage: 'Usage Charge',
  purchase: 'Purchase',
  credit: 'Credit',
  tax: 'Tax',
  adjustment: 'Adjustment',
}

/** The FOCUS column for each property of the contract. */
const focusColumns: Readonly<Record<string, string>> = {
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

function ofFocus(cellOf: (column: string) => string | undefined): object {
  const cell = (name: string): string | undefined => {
    const value = cellOf(name)
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
    // Usage shows its month (contract); anything else shows its term.
    servicePeriodStartDate: cell(isUsage ? 'BillingPeriodStart' : 'ChargePeriodStart'),
    servicePeriodEndDate: cell(isUsage ? 'BillingPeriodEnd' : 'ChargePeriodEnd'),
    kind: 'All',
    // An invoice with a name that this namespace does not allow cannot exist here: its rows are still to be billed.
    ...(invoice !== undefined && invoicePattern.test(invoice) ? { invoice } : {}),
  }
}

/** The file's name for the property at a path. */
export function columnOf(format: ImportFormat, path: string): string {
  const property = path.replace(/^properties\./, '')
  if (format !== 'focus') return property
  return focusColumns[property.split('.')[0] ?? ''] ?? property
}
