/**
 * The tables of the business application. Decimals are integers of five places, and no column may be null. The sums
 * of a document's tax groups are stored beside it, so that they are never recomputed.
 */

import {
  type CellsOf,
  type Columns,
  type Dialect,
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

/** Works in both dialects. */
export function asNumber(text: string): string {
  return `cast(${text} as double precision)`
}

/**
 * The condition that ends a statement which has looked at rows for too long, which PostgreSQL does by itself (decision 0362).
 * Compared, a column is a number, which is passed quickly.
 */
export function withinTime(dialect: Dialect, column: string): readonly string[] {
  return dialect === 'postgres' ? [] : [`within_time(${column} > '')`]
}

function business<C extends Columns>(
  name: string,
  columns: C,
  primaryKey: readonly (keyof C & string)[] = ['id'],
): Table<C> {
  return defineTable(`business_${name}`, columns, primaryKey)
}

/** The columns that coded entities share. */
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

/** How its documents look, and where they are to be paid. */
const look = [
  'logo',
  'document_color',
  'document_footer',
  'bank_name',
  'iban',
  'swift_code',
] as const

/** What a company's documents print about it: one row each. */
export const companyInformation = business('company_information', {
  ...own,
  ...each(words, 'display_name', 'address_line_1', 'address_line_2', 'city', 'state', 'country'),
  ...each(words, 'postal_code', 'phone_number', 'fax_number', 'email', 'website'),
  ...each(words, 'tax_registration_number', 'industry'),
  ...changed,
  ...each(text({ bytewise: true, default: '', since: 15 }), ...look),
  document_tax_total_only: whole({ default: 0, since: 15 }),
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
  // Maintained by posting, never summed: the amounts on both sides, and the balance of the side that has more.
  ...each(whole({ default: 0, since: 7 }), ...accountSums),
}
const accountLarge: ReadonlySet<string> = new Set(['net_change', ...accountSums])

/** Its sums can exceed what a number holds exactly, up to 64 bits; they are read as the nearest number. */
export const accounts = {
  ...business('accounts', accountColumns),
  selected: Object.keys(accountColumns)
    .map((name) => (accountLarge.has(name) ? `${asNumber(name)} as ${name}` : name))
    .join(', '),
}

/** Whether statements read this sum as the nearest number. */
export function isLargeSum({ name }: Pick<Table, 'name'>, column: string): boolean {
  return name === accounts.name && accountLarge.has(column)
}

/** The account for each purpose of posting, where no line names one. */
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

/**
 * From a day on, `exchange_rate_amount` of a currency equals `relational_exchange_rate_amount` of the company's
 * own.
 */
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

/** The due date and the early-payment discount. Date formulas are stored as written. */
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
  // The discount for paying until a day, as the terms had it when the document was posted.
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

/** The sums of a document's lines with the same tax. */
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
 * For a document with an invoice discount: the sums of its lines before each line, in blocks, so that a line in the
 * middle changes its block and not the whole document. Without a discount there are none.
 */
export const lineBlocks = business(
  'line_blocks',
  {
    ...each(key, 'document_id', 'tax_key'),
    ...each(whole(), 'block', 'line_count', 'line_amount', 'eligible'),
  },
  ['document_id', 'tax_key', 'block'],
)

/**
 * How documents and master data without a number are numbered: the prefix, and the last number with its count of
 * digits.
 */
export const numberSeries = business('number_series', {
  ...coded,
  prefix: words,
  ...each(number, 'digits', 'last'),
  ...changed,
})

/** The last entry numbers of a company's ledgers. */
export const counters = business(
  'counters',
  { ...each(key, 'company_id', 'name'), last: whole() },
  ['company_id', 'name'],
)

/** Payments of customers. */
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
  // The journal in which the payment waits to be posted; a posted payment is in none.
  journal_id: text({ bytewise: true, default: noGuid, since: 9 }),
  line_number: whole({ default: 0, since: 9 }),
  // The discount it closed of its invoice besides its amount, for early payment.
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

/** The columns of every ledger entry. Entries are only ever added. */
const entry = {
  ...own,
  entry_number: number,
  posting_date: date,
  ...each(words, 'document_type', 'document_number'),
  document_id: guid,
}

/** One entry for each account that a posting changes. The debits and credits of a posting are equal. */
export const generalLedgerEntries = business('general_ledger_entries', {
  ...entry,
  account_id: guid,
  ...each(words, 'account_number', 'description'),
  ...each(number, 'debit_amount', 'credit_amount'),
  ...changed,
})

/** A change of what a customer owes: in the currency of the document, and in the company's own. */
export const customerLedgerEntries = business('customer_ledger_entries', {
  ...entry,
  customer_id: guid,
  ...each(words, 'customer_number', 'description', 'currency_code'),
  ...each(number, 'amount', 'amount_local', 'applied_amount'),
  applies_to_invoice_id: guid,
  ...changed,
})

/** The tax of a document, one entry for each combination of tax codes. */
export const taxEntries = business('tax_entries', {
  ...entry,
  customer_id: guid,
  ...each(number, 'tax_percent', 'base', 'amount'),
  ...changed,
})

/** Changes of stock, in base units of the item. */
export const itemLedgerEntries = business('item_ledger_entries', {
  ...entry,
  item_id: guid,
  ...each(words, 'item_number', 'entry_type', 'source_number', 'description'),
  quantity: number,
  ...changed,
})

/** Who is notified of changes of a set of a company, until when. */
export const subscriptions = business('subscriptions', {
  ...own,
  ...each(words, 'set_name', 'resource', 'notification_url', 'client_state'),
  user_id: guid,
  // No longer read: what the maker may do is asked when a notification is sent.
  is_administrators: number,
  ...each(number, 'expires_at', 'created_at'),
  ...changed,
  /** The principal, as its last token described it. */
  maker: text({ bytewise: true, default: '', since: 13 }),
})
export type SubscriptionRow = CellsOf<typeof subscriptions>

/**
 * The sets whose changes are logged, because a client follows them by delta links. The log holds all changes from
 * `kept_from` on.
 */
export const followedSets = business('followed_sets', {
  ...own,
  // Signs the delta links of the set.
  ...each(words, 'set_name', 'secret'),
  ...each(number, 'kept_from', 'marked_position', 'marked_at', 'used_at'),
})
export type FollowedSetRow = CellsOf<typeof followedSets>

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
