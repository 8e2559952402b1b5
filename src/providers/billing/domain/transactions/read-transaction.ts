/**
 * A transaction in the contract's shape, as files and callers bring it, to an entry of the ledger; or everything
 * that is wrong with it, each with its path. Derives what is left out and follows from the rest, and nothing else.
 */

import { hash } from 'node:crypto'
import { Decimal } from 'decimal.js'
import { parseAnyMoment } from '#kernel/filter/moments.ts'
import { isJsonObject, type JsonObject } from '#kernel/patch.ts'
import { isUuid } from '#kernel/uuid.ts'
import { brandField, type VendorWords } from '#kernel/vendor.ts'
import type { Dimension, NewEntry } from '../ledger/entry.ts'
import { creditTypes, kinds, taxationTypes } from '../ledger/fields.ts'
import { isCurrency } from '../money/currencies.ts'
import { amountMax, type Minor, minorScale, plainMinor, toMinor } from '../money/money.ts'
import { invoicePattern } from '../names.ts'
import { transactionTagProblems } from './tags.ts'

interface Fault {
  readonly path: string
  readonly reason: string
}

type ReadTransaction =
  | { readonly ok: true; readonly entry: NewEntry }
  | { readonly ok: false; readonly faults: readonly Fault[] }

interface ReadOptions {
  readonly words: VendorWords
  /** The billing profile's currency, for a transaction without one. */
  readonly currency: string
  readonly profileName: string | undefined
  readonly recordedBy: string
  /** The source of names for transactions without one. */
  readonly file: string
  /** Returns the kept one of equal dimensions; `spelling` is the same for the same content. */
  sharedDimension(spelling: string, make: () => Dimension): Dimension
}

const textMax = 512
const int32Max = 2_147_483_647
const earliest = Date.UTC(1970, 0, 1)
const latest = Date.UTC(9999, 11, 31)

/** A transaction without a name gets one from its line and file, so that the same line always has the same name. */
type TransactionReader = (given: unknown, line: number) => ReadTransaction

export function transactionReader(options: ReadOptions): TransactionReader {
  const { words } = options
  const names: Names = {
    plan: brandField(words, 'Plan'),
    creditApplied: brandField(words, 'CreditApplied'),
    creditTypes: creditTypes(words),
  }
  const nameOf = lineNames(options.file)
  return (given, line) => {
    if (!isJsonObject(given)) {
      return { ok: false, faults: [{ path: '', reason: 'expected an object' }] }
    }
    const reader = new Reader(given, options, names, () => nameOf(line))
    const entry = reader.read()
    if (entry === undefined || reader.faults.length > 0) return { ok: false, faults: reader.faults }
    return { ok: true, entry }
  }
}

/** The names that depend on the vendor words. */
interface Names {
  readonly plan: string
  readonly creditApplied: string
  readonly creditTypes: readonly string[]
}

const lineDigits = 10

/** GUIDs in the order of a file's lines, so that entries recorded together are adjacent in the index of names. */
function lineNames(file: string): (line: number) => string {
  const first = hash('sha256', file).slice(0, 8)
  return (line) => {
    const at = line.toString(16).padStart(lineDigits, '0')
    const rest = hash('sha256', `${file}#${line}`)
    return `${first}-${at.slice(0, 4)}-8${at.slice(4, 7)}-8${at.slice(7, 10)}-${rest.slice(0, 12)}`
  }
}

class Reader {
  readonly faults: Fault[] = []
  readonly #given: JsonObject
  readonly #properties: JsonObject
  readonly #options: ReadOptions
  readonly #names: Names
  readonly #makeName: () => string
  #currency: string

  constructor(given: JsonObject, options: ReadOptions, names: Names, makeName: () => string) {
    const properties = given['properties']
    this.#given = given
    this.#properties = isJsonObject(properties) ? properties : given
    this.#options = options
    this.#names = names
    this.#makeName = makeName
    this.#currency = options.currency
  }

  read(): NewEntry | undefined {
    const { recordedBy, profileName, sharedDimension } = this.#options
    const { plan, creditApplied, creditTypes } = this.#names
    const currency = this.#code('billingCurrency') ?? this.#amountCurrency() ?? this.#currency
    this.#currency = currency
    const pricingCurrency = this.#code('pricingCurrency')
    const date = this.#moment('date')
    if (date === undefined && this.#properties['date'] === undefined) {
      this.#fault('date', 'is required')
    }
    const amounts = this.#amounts()
    const refund = this.#member('refundTransactionDetails')
    const inRefund = (name: string): Minor | null =>
      isJsonObject(refund) ? this.#minor(refund[name], `refundTransactionDetails.${name}`) : null
    if (refund !== undefined && !isJsonObject(refund)) {
      this.#fault('refundTransactionDetails', 'expected an object')
    }
    const operation = isJsonObject(refund)
      ? this.#textOf(refund['refundOperationId'], 'refundTransactionDetails.refundOperationId')
      : undefined
    const name = this.#given['name'] ?? this.#makeName()
    if (typeof name !== 'string' || !isUuid(name)) {
      this.#push('name', 'expected a GUID')
    }
    const invoice = this.#invoice()
    const tags = this.#given['tags']
    if (tags !== undefined && tags !== null) {
      for (const { path, message } of transactionTagProblems(tags)) this.#push(path, message)
    }
    const discount = this.#number('discount', 0, 100)
    const dimension = {
      plan: this.#text(plan),
      billingCurrency: currency,
      billingProfileDisplayName: this.#text('billingProfileDisplayName') ?? profileName,
      creditType: this.#choice('creditType', creditTypes),
      customerDisplayName: this.#text('customerDisplayName'),
      customerId: this.#text('customerId'),
      discount: discount ?? undefined,
      invoiceSectionDisplayName: this.#text('invoiceSectionDisplayName'),
      invoiceSectionId: this.#text('invoiceSectionId'),
      isThirdParty: this.#truth('isThirdParty'),
      kind: this.#choice('kind', kinds),
      partNumber: this.#text('partNumber'),
      pricingCurrency: pricingCurrency ?? this.#priceCurrency(),
      productDescription: this.#text('productDescription'),
      productFamily: this.#text('productFamily'),
      productType: this.#text('productType'),
      productTypeId: this.#text('productTypeId'),
      reasonCode: this.#text('reasonCode'),
      specialTaxationType: this.#choice('specialTaxationType', taxationTypes),
      transactionType: this.#text('transactionType'),
      unitOfMeasure: this.#text('unitOfMeasure'),
      unitType: this.#text('unitType'),
      recordedBy,
    }
    const quantity = this.#number('quantity', -int32Max, int32Max)
    if (quantity !== null && !Number.isInteger(quantity)) {
      this.#fault('quantity', 'expected a whole number')
    }
    const measures = {
      name: String(name).toLowerCase(),
      date: date ?? 0,
      quantity,
      units: this.#number('units', -1e15, 1e15),
      effectivePrice: this.#price('effectivePrice'),
      marketPrice: this.#price('marketPrice'),
      exchangeRate: this.#number('exchangeRate', 0, 1e12),
      ...amounts,
      credit: this.#minor(this.#member(creditApplied), creditApplied),
      commitment: this.#minor(
        this.#member('consumptionCommitmentDecremented'),
        'consumptionCommitmentDecremented',
      ),
      refunded: inRefund('amountRefunded'),
      requested: inRefund('amountRequested'),
      refundOperation: operation ?? null,
      periodStart: this.#moment('servicePeriodStartDate') ?? null,
      periodEnd: this.#moment('servicePeriodEndDate') ?? null,
    }
    if (this.faults.length > 0) return undefined
    return {
      measures,
      // Text contains no NUL. Undefined members are left out.
      dimension: sharedDimension(Object.values(dimension).join('\0'), () =>
        JSON.parse(JSON.stringify(dimension)),
      ),
      ...(invoice === undefined ? {} : { invoice }),
      // Checked above.
      ...(isJsonObject(tags) ? { tags: tags as Readonly<Record<string, string>> } : {}),
    }
  }

  #member(name: string): unknown {
    const value = this.#properties[name]
    return value === null || value === '' ? undefined : value
  }

  #fault(name: string, reason: string): void {
    this.#push(`properties.${name}`, reason)
  }

  #push(path: string, reason: string): void {
    this.faults.push({ path, reason })
  }

  #text(name: string): string | undefined {
    return this.#textOf(this.#properties[name], name)
  }

  #textOf(value: unknown, name: string): string | undefined {
    if (value === undefined || value === null || value === '') return undefined
    if (typeof value !== 'string') {
      this.#fault(name, 'expected text')
      return undefined
    }
    if (value.length > textMax || value.includes('\0') || !value.isWellFormed()) {
      this.#fault(name, `expected up to ${textMax} characters`)
      return undefined
    }
    return value
  }

  #choice(name: string, values: readonly string[]): string | undefined {
    const text = this.#text(name)
    if (text === undefined) return undefined
    const found = values.find((value) => value.toLowerCase() === text.toLowerCase())
    if (found === undefined) this.#fault(name, `expected one of ${values.join(', ')}`)
    return found
  }

  #truth(name: string): boolean | undefined {
    const value = this.#member(name)
    if (value === undefined || typeof value === 'boolean') return value
    const text = String(value).toLowerCase()
    if (text === 'true' || text === 'false') return text === 'true'
    this.#fault(name, 'expected true or false')
    return undefined
  }

  #code(name: string): string | undefined {
    const text = this.#text(name)?.toUpperCase()
    if (text === undefined || isCurrency(text)) return text
    this.#fault(name, 'expected a currency of three letters (ISO 4217)')
    return undefined
  }

  #amountCurrency(): string | undefined {
    for (const name of ['transactionAmount', 'subTotal', 'tax']) {
      const code = currencyIn(this.#member(name))
      if (code !== undefined) return code
    }
    return undefined
  }

  #priceCurrency(): string | undefined {
    return currencyIn(this.#member('effectivePrice')) ?? currencyIn(this.#member('marketPrice'))
  }

  #moment(name: string): number | undefined {
    const value = this.#member(name)
    if (value === undefined) return undefined
    const found = typeof value === 'string' ? parseAnyMoment(value.replace(' ', 'T')) : undefined
    if (found === undefined || found < earliest || found > latest) {
      this.#fault(name, 'expected a date (2026-11-20 or 2026-11-20T10:30:00Z)')
      return undefined
    }
    return found
  }

  #number(name: string, min: number, max: number): number | null {
    const value = this.#member(name)
    if (value === undefined) return null
    const found = numberOf(value)
    if (found >= min && found <= max) return found + 0
    this.#fault(name, `expected a number from ${min} to ${max}`)
    return null
  }

  #price(name: string): number | null {
    const value = this.#member(name)
    if (value === undefined) return null
    const found = numberOf(isJsonObject(value) ? value['value'] : value)
    if (Math.abs(found) < 1e15) return found + 0
    this.#fault(name, 'expected an amount')
    return null
  }

  /** In the billing currency, with its precision. */
  #minor(value: unknown, name: string): Minor | null {
    if (value === undefined || value === null || value === '') return null
    const minor = minorOf(isJsonObject(value) ? value['value'] : value, this.#currency)
    if (minor === undefined) {
      this.#fault(name, `expected an amount up to ${amountMax}`)
      return null
    }
    const code = currencyIn(value)
    if (code !== undefined && code !== this.#currency) {
      this.#fault(`${name}.currency`, `expected the billing currency ${this.#currency}`)
    }
    return minor
  }

  /** Sub-total, tax and amount: any two give the third, a missing tax is zero, and all three must add up. */
  #amounts(): { readonly subTotal: Minor; readonly tax: Minor; readonly amount: Minor } {
    const amounts = this.#threeAmounts()
    // Two amounts within bounds may give a third that is not.
    for (const [name, minor] of [
      ['subTotal', amounts.subTotal],
      ['transactionAmount', amounts.amount],
    ] as const) {
      if (Math.abs(minor) > amountMax * minorScale) {
        this.#fault(name, `comes to more than ${amountMax}`)
      }
    }
    return amounts
  }

  #threeAmounts(): { readonly subTotal: Minor; readonly tax: Minor; readonly amount: Minor } {
    const subTotal = this.#minor(this.#member('subTotal'), 'subTotal')
    const tax = this.#minor(this.#member('tax'), 'tax')
    const amount = this.#minor(this.#member('transactionAmount'), 'transactionAmount')
    if (subTotal === null && amount === null) {
      if (
        this.#member('subTotal') === undefined &&
        this.#member('transactionAmount') === undefined
      ) {
        this.#fault('transactionAmount', 'is required, or subTotal')
      }
      return { subTotal: 0, tax: 0, amount: 0 }
    }
    if (subTotal !== null && amount !== null && tax !== null && subTotal + tax !== amount) {
      this.#fault('transactionAmount', 'is not the sum of subTotal and tax')
    }
    if (subTotal === null && amount !== null) {
      return { subTotal: amount - (tax ?? 0), tax: tax ?? 0, amount }
    }
    const before = subTotal ?? 0
    if (amount !== null && tax === null) return { subTotal: before, tax: amount - before, amount }
    return { subTotal: before, tax: tax ?? 0, amount: before + (tax ?? 0) }
  }

  #invoice(): string | undefined {
    const name = this.#text('invoice')
    if (name === undefined || name.toLowerCase() === 'pending') return undefined
    if (!invoicePattern.test(name)) {
      this.#fault('invoice', "expected the name of an invoice, or 'Pending'")
    }
    return name
  }
}

function currencyIn(value: unknown): string | undefined {
  if (!isJsonObject(value)) return undefined
  const code = value['currency']
  return typeof code === 'string' && isCurrency(code.toUpperCase()) ? code.toUpperCase() : undefined
}

const decimalPattern = /^[+-]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][+-]?\d{1,3})?$/

/** Nearly all amounts have no more decimals than their currency, and need no decimal arithmetic. */
function minorOf(value: unknown, currency: string): Minor | undefined {
  const isText = typeof value === 'string' || typeof value === 'number'
  const plain = isText ? plainMinor(String(value), currency) : undefined
  if (plain !== undefined) return plain
  const decimal = decimalOf(value)
  return decimal === undefined ? undefined : toMinor(decimal, currency)
}

/** The nearest number to the text; NaN when there is none. */
function numberOf(value: unknown): number {
  if (typeof value === 'number') return value
  if (typeof value !== 'string') return Number.NaN
  const text = value.trim()
  return decimalPattern.test(text) ? Number(text) : Number.NaN
}

/** The exact decimal of a number, or of a text with one. */
function decimalOf(value: unknown): Decimal | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? new Decimal(value) : undefined
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  return decimalPattern.test(text) ? new Decimal(text) : undefined
}
