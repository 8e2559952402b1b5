/**
 * The tables of the business application. Every table has a row per thing, decimals as integers of five places, and
 * no column that may be null; the sums of a document's tax groups stand beside it, so that none is ever summed anew.
 */

import {
  type CellsOf,
  type Columns,
  defineTable,
  each,
  type Table,
  text,
  whole,
} from '#query/table.ts'
import { noDate, noGuid } from './entity.ts'

const key = text({ bytewise: true })
const words = text({ bytewise: true, default: '' })
const guid = text({ bytewise: true, default: noGuid })
const date = text({ bytewise: true, default: noDate })
const number = whole({ default: 0 })
const own = { id: key, company_id: key, revision: whole() }
const changed = { last_modified_date_time: number }

/** In both dialects. */
export function asNumber(text: string): string {
  return `cast(${text} as double precision)`
}

function business<C extends Columns>(
  name: string,
  columns: C,
  primaryKey: readonly (keyof C & string)[] = ['id'],
): Table<C> {
  return defineTable(`business_${name}`, columns, primaryKey)
}

/** What coded things have in common. */
const coded = { ...own, ...each(words, 'code', 'display_name') }

export const companies = business('companies', {
  id: key,
  revision: whole(),
  ...each(words, 'system_version', 'timestamp', 'name', 'display_name', 'business_profile_id'),
  local_currency_code: words,
  system_created_at: number,
  system_created_by: guid,
  system_modified_at: number,
  system_modified_by: guid,
})

/** What a company tells of itself on its documents: one row each. */
export const companyInformation = business('company_information', {
  ...own,
  ...each(words, 'display_name', 'address_line_1', 'address_line_2', 'city', 'state', 'country'),
  ...each(words, 'postal_code', 'phone_number', 'fax_number', 'email', 'website'),
  ...each(words, 'tax_registration_number', 'industry'),
  ...changed,
})

export const customers = business('customers', {
  ...own,
  ...each(words, 'number', 'display_name', 'additional_name', 'type', 'address_line_1'),
  ...each(words, 'address_line_2', 'city', 'state', 'country', 'postal_code', 'phone_number'),
  ...each(words, 'email', 'website', 'salesperson_code'),
  ...each(number, 'balance_due', 'credit_limit', 'tax_liable'),
  tax_area_id: guid,
  tax_registration_number: words,
  currency_id: guid,
  currency_code: words,
  ...each(guid, 'payment_terms_id', 'shipment_method_id', 'payment_method_id'),
  blocked: words,
  prices_include_tax: number,
  ...changed,
})

export const items = business('items', {
  ...own,
  ...each(words, 'number', 'display_name', 'display_name_2', 'type'),
  ...each(number, 'blocked', 'sales_blocked'),
  gtin: words,
  ...each(number, 'inventory', 'unit_price', 'price_includes_tax', 'unit_cost'),
  tax_group_id: guid,
  tax_group_code: words,
  base_unit_of_measure_id: guid,
  base_unit_of_measure_code: words,
  allow_invoice_discount: number,
  ...changed,
})

export const itemVariants = business('item_variants', {
  ...own,
  item_id: guid,
  ...each(words, 'item_number', 'code', 'description'),
  ...changed,
})

export const itemUnits = business('item_units_of_measure', {
  ...own,
  ...each(guid, 'item_id', 'unit_of_measure_id'),
  unit_of_measure_code: words,
  quantity_per_unit: number,
  ...changed,
})

const accountSums = ['total_debit', 'total_credit', 'balance_debit', 'balance_credit'] as const
const accountColumns = {
  ...own,
  ...each(words, 'number', 'display_name', 'category', 'sub_category'),
  blocked: number,
  account_type: words,
  ...each(number, 'direct_posting', 'net_change'),
  tax_group_code: words,
  ...changed,
  // Kept by posting, never summed: what was booked on either side, and the side on which more stands.
  ...each(whole({ default: 0, since: 7 }), ...accountSums),
}
const accountLarge: ReadonlySet<string> = new Set(['net_change', ...accountSums])

/** Its sums grow past what a number holds exactly, to 64 bits: they are read as the nearest number. */
export const accounts = {
  ...business('accounts', accountColumns),
  selected: Object.keys(accountColumns)
    .map((name) => (accountLarge.has(name) ? `${asNumber(name)} as ${name}` : name))
    .join(', '),
}

/** Is it a sum that statements read as the nearest number? */
export function isLargeSum({ name }: Pick<Table, 'name'>, column: string): boolean {
  return name === accounts.name && accountLarge.has(column)
}

/** The account that what is posted goes to, where no line names one: one for each purpose. */
export const postingAccounts = business('posting_accounts', {
  ...own,
  code: words,
  account_id: guid,
  account_number: words,
  ...changed,
})

export const unitsOfMeasure = business('units_of_measure', {
  ...coded,
  ...each(words, 'international_standard_code', 'symbol'),
  ...changed,
})

export const taxAreas = business('tax_areas', { ...coded, tax_type: words, ...changed })

export const taxGroups = business('tax_groups', { ...coded, tax_type: words, ...changed })

export const taxRates = business('tax_rates', {
  ...own,
  tax_area_id: guid,
  tax_area_code: words,
  tax_group_id: guid,
  tax_group_code: words,
  tax_percent: number,
  ...changed,
})

export const currencies = business('currencies', {
  ...coded,
  ...each(words, 'symbol', 'amount_decimal_places'),
  amount_rounding_precision: number,
  ...changed,
})

/** From a day on, `exchange_rate_amount` of a currency are `relational_exchange_rate_amount` of the company's own. */
export const currencyExchangeRates = business('currency_exchange_rates', {
  ...own,
  currency_id: guid,
  currency_code: words,
  starting_date: date,
  ...each(number, 'exchange_rate_amount', 'relational_exchange_rate_amount'),
  ...changed,
})

export const locations = business('locations', {
  ...coded,
  ...each(words, 'contact', 'address_line_1', 'address_line_2', 'city', 'state', 'country'),
  ...each(words, 'postal_code', 'phone_number', 'email', 'website'),
  use_as_in_transit: number,
  ...changed,
})

/** When what is bought is due, and what is taken off for paying early. Formulas of dates are kept as they were written. */
export const paymentTerms = business('payment_terms', {
  ...coded,
  ...each(words, 'due_date_calculation', 'discount_date_calculation'),
  ...each(number, 'discount_percent', 'calculate_discount_on_credit_memos'),
  ...changed,
})

export const paymentMethods = business('payment_methods', { ...coded, ...changed })

export const shipmentMethods = business('shipment_methods', { ...coded, ...changed })

/** Invoices, quotes and credit memos. */
export const documents = business('documents', {
  ...own,
  ...each(words, 'number', 'external_document_number'),
  ...each(date, 'document_date', 'posting_date', 'due_date'),
  customer_purchase_order_reference: words,
  customer_id: guid,
  ...each(words, 'customer_number', 'customer_name', 'bill_to_name'),
  bill_to_customer_id: guid,
  ...each(words, 'bill_to_customer_number', 'ship_to_name', 'ship_to_contact'),
  ...each(words, 'sell_to_address_line_1', 'sell_to_address_line_2', 'sell_to_city'),
  ...each(words, 'sell_to_country', 'sell_to_state', 'sell_to_post_code'),
  ...each(words, 'ship_to_address_line_1', 'ship_to_address_line_2', 'ship_to_city'),
  ...each(words, 'ship_to_country', 'ship_to_state', 'ship_to_post_code'),
  ...each(words, 'bill_to_address_line_1', 'bill_to_address_line_2', 'bill_to_city'),
  ...each(words, 'bill_to_country', 'bill_to_state', 'bill_to_post_code'),
  currency_id: guid,
  currency_code: words,
  ...each(guid, 'shipment_method_id', 'payment_terms_id'),
  salesperson: words,
  order_id: guid,
  order_number: words,
  ...each(number, 'prices_include_tax', 'remaining_amount', 'discount_amount'),
  ...each(number, 'discount_applied_before_tax', 'total_amount_excluding_tax'),
  ...each(number, 'total_tax_amount', 'total_amount_including_tax'),
  status: words,
  ...changed,
  ...each(words, 'phone_number', 'email', 'kind'),
  ...each(number, 'amount_precision', 'tax_liable'),
  tax_area_id: guid,
  ...each(number, 'line_count', 'discount_base'),
  valid_until_date: date,
  sent_date: number,
  accepted_date: date,
  invoice_id: guid,
  invoice_number: words,
  ...each(
    whole({ default: 0, since: 6 }),
    'exchange_rate_amount',
    'relational_exchange_rate_amount',
  ),
  // What is taken off by paying until a day, kept as the terms had it when the document was posted.
  payment_discount_date: text({ bytewise: true, default: noDate, since: 10 }),
  payment_discount_percent: whole({ default: 0, since: 10 }),
})
export type DocumentRow = CellsOf<typeof documents>

export const lines = business('lines', {
  ...own,
  legacy_id: words,
  document_id: guid,
  sequence: number,
  ...each(guid, 'item_id', 'account_id'),
  ...each(words, 'line_type', 'line_object_number', 'description', 'description_2'),
  unit_of_measure_id: guid,
  unit_of_measure_code: words,
  ...each(number, 'unit_price', 'quantity', 'discount_amount', 'discount_percent'),
  ...each(number, 'discount_applied_before_tax', 'amount_excluding_tax'),
  tax_code: words,
  ...each(number, 'tax_percent', 'total_tax_amount', 'amount_including_tax'),
  ...each(number, 'invoice_discount_allocation', 'net_amount', 'net_tax_amount'),
  net_amount_including_tax: number,
  shipment_date: date,
  ...each(guid, 'item_variant_id', 'location_id'),
  ...each(words, 'kind', 'object_name'),
  ...each(number, 'line_amount', 'invoice_discount'),
  tax_key: words,
  allows_invoice_discount: number,
  ...each(whole({ default: 0, since: 2 }), 'run_block', 'run_line_amount', 'run_eligible'),
})
export type LineRow = CellsOf<typeof lines>

export const accessRights = business('access_rights', {
  ...own,
  principal_id: guid,
  ...each(words, 'role', 'description'),
  ...changed,
})

/** The sums of a document's lines that are taxed alike. */
export const documentTaxGroups = business(
  'document_tax_groups',
  {
    ...each(key, 'document_id', 'tax_key'),
    ...each(whole(), 'tax_percent', 'line_count', 'line_amount', 'invoice_discount', 'net'),
    including: whole(),
    ...each(whole({ default: 0, since: 2 }), 'eligible', 'extent', 'spread', 'amount_precision'),
    prices_include_tax: whole({ default: 0, since: 2 }),
  },
  ['document_id', 'tax_key'],
)
export type DocumentTaxGroupRow = CellsOf<typeof documentTaxGroups>

/**
 * Of a document with an invoice discount: the sums of its lines before each line, in blocks, so that a line in the
 * middle moves its block and not the document. Where there is no discount they are not kept.
 */
export const lineBlocks = business(
  'line_blocks',
  {
    ...each(key, 'document_id', 'tax_key'),
    ...each(whole(), 'block', 'line_count', 'line_amount', 'eligible'),
  },
  ['document_id', 'tax_key', 'block'],
)

/** How documents and master data that bring no number are numbered: the prefix, and the last number in so many digits. */
export const numberSeries = business('number_series', {
  ...coded,
  prefix: words,
  ...each(number, 'digits', 'last'),
  ...changed,
})

/** The last entry of a company's ledgers. */
export const counters = business(
  'counters',
  { ...each(key, 'company_id', 'name'), last: whole() },
  ['company_id', 'name'],
)

/** What customers paid. */
export const customerPayments = business('customer_payments', {
  ...own,
  document_number: words,
  customer_id: guid,
  customer_number: words,
  posting_date: date,
  external_document_number: words,
  amount: number,
  applies_to_invoice_id: guid,
  ...each(words, 'applies_to_invoice_number', 'description', 'comment'),
  ...changed,
  // The journal in which it waits to be posted; one that is posted is in none.
  journal_id: text({ bytewise: true, default: noGuid, since: 9 }),
  line_number: whole({ default: 0, since: 9 }),
  // What it closed of its invoice besides its amount, for being early.
  payment_discount: whole({ default: 0, since: 10 }),
})
export type PaymentRow = CellsOf<typeof customerPayments>

/** Payments that are written first and posted together, against one account. */
export const customerPaymentJournals = business('customer_payment_journals', {
  ...coded,
  balancing_account_id: guid,
  balancing_account_number: words,
  ...changed,
})

/** What every entry of a ledger tells. Entries are only ever added. */
const entry = {
  ...own,
  entry_number: number,
  posting_date: date,
  ...each(words, 'document_type', 'document_number'),
  document_id: guid,
}

/** One entry for each account that a posting moves; debits and credits of a posting are equal. */
export const generalLedgerEntries = business('general_ledger_entries', {
  ...entry,
  account_id: guid,
  ...each(words, 'account_number', 'description'),
  ...each(number, 'debit_amount', 'credit_amount'),
  ...changed,
})

/** What a customer owes more or less: in the currency of the document, and in the company's own. */
export const customerLedgerEntries = business('customer_ledger_entries', {
  ...entry,
  customer_id: guid,
  ...each(words, 'customer_number', 'description', 'currency_code'),
  ...each(number, 'amount', 'amount_local', 'applied_amount'),
  applies_to_invoice_id: guid,
  ...changed,
})

/** The tax of a document, one entry for each way its lines are taxed. */
export const taxEntries = business('tax_entries', {
  ...entry,
  customer_id: guid,
  ...each(number, 'tax_percent', 'base', 'amount'),
  ...changed,
})

/** What came into stock and left it, in base units of the item. */
export const itemLedgerEntries = business('item_ledger_entries', {
  ...entry,
  item_id: guid,
  ...each(words, 'item_number', 'entry_type', 'source_number', 'description'),
  quantity: number,
  ...changed,
})

/**
 * What has to leave the installation, written by the transaction it tells of, and kept after it was sent. The long
 * columns stand last: lists pass over them.
 */
export const outboxEntries = business('outbox_entries', {
  ...own,
  ...each(words, 'kind', 'status', 'sender', 'recipient', 'subject', 'language'),
  document_id: guid,
  ...each(words, 'document_type', 'document_number'),
  ...each(number, 'attempts', 'created_at', 'due_at', 'leased_until', 'sent_at'),
  last_error: words,
  ...changed,
  // What it is composed of, until it is; then the message, as it is sent.
  ...each(words, 'payload', 'message'),
})
export type OutboxRow = CellsOf<typeof outboxEntries>
