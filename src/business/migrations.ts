/** Creates the tables of the business application from their declarations, and their indexes. */

import { addColumns, createTable, type Dialect, type Table } from '#query/table.ts'
import type { Migration } from '#stores/store.ts'
import { firstDigits, series } from './documents/numbers.ts'
import { firstAccounts, purposesAdded } from './documents/posting-accounts.ts'
import { noGuid } from './entity.ts'
import { followStatements, shownStatements } from './following/followed.ts'
import { watchStatements } from './notifications/watched.ts'
import * as tables from './tables.ts'

const first = [
  tables.companies,
  tables.customers,
  tables.items,
  tables.itemVariants,
  tables.itemUnits,
  tables.accounts,
  tables.unitsOfMeasure,
  tables.taxAreas,
  tables.taxGroups,
  tables.taxRates,
  tables.currencies,
  tables.locations,
  tables.documents,
  tables.lines,
  tables.accessRights,
  tables.documentTaxGroups,
  tables.counters,
]

const indexes: readonly string[] = [
  'create unique index business_companies_by_name on business_companies (name)',
  ...['customers', 'items', 'accounts'].map(
    (name) =>
      `create unique index business_${name}_by_number on business_${name} (company_id, number)`,
  ),
  ...['units_of_measure', 'tax_areas', 'tax_groups', 'currencies', 'locations'].map(
    (name) => `create unique index business_${name}_by_code on business_${name} (company_id, code)`,
  ),
  `create unique index business_item_variants_by_item
    on business_item_variants (item_id, code)`,
  `create unique index business_item_units_by_item
    on business_item_units_of_measure (item_id, unit_of_measure_id)`,
  `create unique index business_tax_rates_by_groups
    on business_tax_rates (company_id, tax_area_id, tax_group_id)`,
  `create unique index business_access_rights_by_principal
    on business_access_rights (company_id, principal_id)`,
  `create unique index business_documents_by_number
    on business_documents (company_id, kind, number)`,
  `create index business_documents_by_customer on business_documents (customer_id)`,
  `create unique index business_lines_by_document on business_lines (document_id, sequence)`,
  `create index business_lines_by_group on business_lines (document_id, tax_key, sequence)`,
  `create unique index business_lines_by_legacy_id on business_lines (legacy_id)`,
  `create index business_lines_by_item on business_lines (item_id)`,
]

/** The function that the store provides in the other dialect (`stores/sqlite/functions.ts`). */
const shareOf = `create function share_of(amount bigint, part bigint, whole bigint, unit bigint)
  returns bigint language plpgsql immutable strict parallel safe as '
    declare
      above constant numeric := amount::numeric * part;
      below constant numeric := whole::numeric * unit;
    begin
      if below = 0 then return 0; end if;
      return sign(above) * sign(below) * div(2 * abs(above) + abs(below), 2 * abs(below)) * unit;
    end'`

const paymentIndexes: readonly string[] = [
  `create unique index business_customer_payments_by_number
    on business_customer_payments (company_id, document_number)`,
  `create index business_customer_payments_by_customer on business_customer_payments (customer_id)`,
  `create index business_customer_payments_by_invoice
    on business_customer_payments (applies_to_invoice_id)`,
  `create index business_documents_by_payer on business_documents (bill_to_customer_id)`,
]

const entryTables = [
  tables.generalLedgerEntries,
  tables.customerLedgerEntries,
  tables.taxEntries,
  tables.itemLedgerEntries,
]

/** Accounts that were added with posting, for existing companies. */
const laterAccounts = firstAccounts.filter(([number]) =>
  ['2200', '3900', '7100', '7200'].includes(number),
)

/** An id that the store makes. */
function newUuid(dialect: Dialect): string {
  return dialect === 'sqlite'
    ? `lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2)
        || '-a' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))`
    : 'cast(gen_random_uuid() as text)'
}

/**
 * Existing companies get the accounts and one opening entry for each balance and each stock, so that every balance
 * is the sum of its entries from the first day.
 */
function openings(dialect: Dialect): readonly string[] {
  const isSqlite = dialect === 'sqlite'
  const uuid = newUuid(dialect)
  const day = isSqlite ? "date('now')" : "to_char(now() at time zone 'utc', 'YYYY-MM-DD')"
  const entry =
    'id, company_id, revision, entry_number, posting_date, document_type, document_number'
  const cells = (number: string, of: string) =>
    `${uuid}, ${of}.company_id, 1, ${number}, ${day}, ' ', 'OPENING'`
  const counted = (names: readonly string[]) =>
    names
      .map(
        (name) => `(select count(*) from business_${name}_ledger_entries entries
          where entries.company_id = balances.company_id)`,
      )
      .join(' + ')
  const owed = `(select company_id, cast(sum(balance_due) as bigint) as due from business_customers
      group by company_id having sum(balance_due) <> 0) as balances`
  const booked = (number: string, sign: string, at: number) =>
    `insert into business_general_ledger_entries
       (${entry}, account_id, account_number, description, debit_amount, credit_amount)
     select ${cells(`${at} + ${counted(['customer', 'item'])}`, 'balances')}, accounts.id,
       accounts.number, 'Opening balance', case when ${sign}due > 0 then ${sign}due else 0 end,
       case when ${sign}due < 0 then -(${sign}due) else 0 end
     from ${owed} join business_accounts accounts
       on accounts.company_id = balances.company_id and accounts.number = '${number}'`
  return [
    ...laterAccounts.map(
      ([number, name, category]) => `insert into business_accounts
       (id, company_id, revision, number, display_name, category, account_type)
     select ${uuid}, id, 1, '${number}', '${name}', '${category}', 'Posting' from business_companies`,
    ),
    ...firstAccounts.flatMap(([number, , , , purpose]) =>
      purpose === '' || purposesAdded.includes(purpose)
        ? []
        : [
            `insert into business_posting_accounts (id, company_id, revision, code, account_id, account_number)
     select ${uuid}, company_id, 1, '${purpose}', id, number from business_accounts where number = '${number}'`,
          ],
    ),
    `insert into business_customer_ledger_entries
       (${entry}, customer_id, customer_number, description, amount, amount_local)
     select ${cells('row_number() over (partition by company_id order by number)', 'customers')},
       customers.id, customers.number, 'Opening balance', balance_due, balance_due
     from business_customers customers where balance_due <> 0`,
    `insert into business_item_ledger_entries
       (${entry}, item_id, item_number, description, entry_type, quantity)
     select ${cells('row_number() over (partition by balances.company_id order by number) + coalesce(owing.entries, 0)', 'balances')},
       balances.id, balances.number, 'Opening balance',
       case when inventory > 0 then 'Positive Adjmt.' else 'Negative Adjmt.' end, inventory
     from business_items balances
       left join (select company_id, count(*) as entries from business_customer_ledger_entries group by company_id) owing
         on owing.company_id = balances.company_id
     where inventory <> 0`,
    booked('1200', '', 1),
    booked('3900', '-', 2),
    `update business_accounts set
       total_debit = entries.debit_amount, total_credit = entries.credit_amount,
       net_change = entries.debit_amount - entries.credit_amount,
       balance_debit = entries.debit_amount, balance_credit = entries.credit_amount
     from business_general_ledger_entries entries where entries.account_id = business_accounts.id`,
    `insert into business_counters (company_id, name, last)
     select id, 'entry', ${counted(['customer', 'item', 'general']).replaceAll('balances.company_id', 'companies.id')}
     from business_companies companies`,
  ]
}

/** The account of early-payment discounts, for existing companies whose accounts leave its number free. */
function discountAccount(dialect: Dialect): readonly string[] {
  const [number, name, category, , purpose] =
    firstAccounts.find((one) => one[4] === 'Payment Discounts') ?? []
  const free = `not exists (select 1 from business_accounts accounts
    where accounts.company_id = companies.id and accounts.number = '${number}')`
  return [
    `insert into business_accounts (id, company_id, revision, number, display_name, category, account_type)
      select ${newUuid(dialect)}, id, 1, '${number}', '${name}', '${category}', 'Posting'
      from business_companies companies where ${free}`,
    `insert into business_posting_accounts (id, company_id, revision, code, account_id, account_number)
      select ${newUuid(dialect)}, company_id, 1, '${purpose}', id, number from business_accounts where number = '${number}'`,
  ]
}

const terms = [tables.paymentTerms, tables.paymentMethods, tables.shipmentMethods]

/** What removals of master data look for. Most rows have no reference, and are in no index. */
const referenceIndexes = indexesOf([
  [tables.customers, 'tax_area_id'],
  [tables.customers, 'currency_id'],
  [tables.customers, 'payment_terms_id'],
  [tables.customers, 'shipment_method_id'],
  [tables.customers, 'payment_method_id'],
  [tables.documents, 'currency_id'],
  [tables.documents, 'payment_terms_id'],
  [tables.documents, 'shipment_method_id'],
  [tables.items, 'tax_group_id'],
  [tables.items, 'base_unit_of_measure_id'],
  [tables.itemUnits, 'unit_of_measure_id'],
  [tables.lines, 'account_id'],
  [tables.taxRates, 'tax_area_id'],
  [tables.taxRates, 'tax_group_id'],
])
const laterReferenceIndexes = indexesOf([
  [tables.documents, 'tax_area_id'],
  [tables.lines, 'item_variant_id'],
  [tables.lines, 'location_id'],
  [tables.lines, 'unit_of_measure_id'],
  [tables.itemLedgerEntries, 'document_id'],
])

function indexesOf(
  references: readonly (readonly [Pick<Table, 'name'>, string])[],
): readonly string[] {
  return references.map(
    ([{ name }, column]) => `create index ${name}_by_${column}
    on ${name} (${column}) where ${column} <> '${noGuid}'`,
  )
}

function statements(dialect: Dialect): readonly (readonly string[])[] {
  return [
    [...first.map((table) => createTable(table, dialect, 1)), ...indexes],
    [
      ...addColumns(tables.lines, dialect, 2),
      ...addColumns(tables.documentTaxGroups, dialect, 2),
      createTable(tables.lineBlocks, dialect, 2),
      ...(dialect === 'postgres' ? [shareOf] : []),
    ],
    [createTable(tables.customerPayments, dialect, 3), ...paymentIndexes],
    // A legacy id made of document and sequence is found by their index.
    ['drop index business_lines_by_legacy_id'],
    [
      ...terms.map((table) => createTable(table, dialect, 5)),
      ...terms.map(
        ({ name }) => `create unique index ${name}_by_code on ${name} (company_id, code)`,
      ),
      'create index business_documents_by_invoice on business_documents (invoice_id)',
    ],
    [
      createTable(tables.currencyExchangeRates, dialect, 6),
      `create unique index business_currency_exchange_rates_by_day
        on business_currency_exchange_rates (company_id, currency_id, starting_date)`,
      ...addColumns(tables.documents, dialect, 6),
    ],
    [
      ...addColumns(tables.accounts, dialect, 7),
      ...[tables.postingAccounts, ...entryTables].map((table) => createTable(table, dialect, 7)),
      `create unique index business_posting_accounts_by_code
        on business_posting_accounts (company_id, code)`,
      ...entryTables.map(
        ({ name }) => `create unique index ${name}_by_number on ${name} (company_id, entry_number)`,
      ),
      `create index business_general_ledger_entries_by_account
        on business_general_ledger_entries (account_id)`,
      `create index business_customer_ledger_entries_by_customer
        on business_customer_ledger_entries (customer_id)`,
      'create index business_item_ledger_entries_by_item on business_item_ledger_entries (item_id)',
      ...openings(dialect),
    ],
    [
      createTable(tables.companyInformation, dialect, 8),
      `create unique index business_company_information_by_company
        on business_company_information (company_id)`,
      `insert into business_company_information (id, company_id, revision, display_name)
        select ${newUuid(dialect)}, id, 1, substr(case when display_name = '' then name else display_name end, 1, 100)
        from business_companies`,
    ],
    [
      createTable(tables.customerPaymentJournals, dialect, 9),
      `create unique index business_customer_payment_journals_by_code
        on business_customer_payment_journals (company_id, code)`,
      ...addColumns(tables.customerPayments, dialect, 9),
      `create index business_customer_payments_by_journal
        on business_customer_payments (journal_id, line_number)`,
    ],
    [
      createTable(tables.numberSeries, dialect, 10),
      `create unique index business_number_series_by_code
        on business_number_series (company_id, code)`,
      ...Object.entries(series).map(
        ([code, { prefix, name }]) => `insert into business_number_series
        (id, company_id, revision, code, display_name, prefix, digits, last)
        select ${newUuid(dialect)}, companies.id, 1, '${code}', '${name}', '${prefix}', ${firstDigits}, coalesce(counters.last, 0)
        from business_companies companies left join business_counters counters
          on counters.company_id = companies.id and counters.name = '${code}'`,
      ),
      "delete from business_counters where name <> 'entry'",
      ...addColumns(tables.documents, dialect, 10),
      ...addColumns(tables.customerPayments, dialect, 10),
      ...discountAccount(dialect),
    ],
    [
      createTable(tables.outboxEntries, dialect, 11),
      `create index business_outbox_entries_waiting
        on business_outbox_entries (kind, due_at) where status = 'Waiting'`,
      `create index business_outbox_entries_by_company
        on business_outbox_entries (company_id, created_at, id)`,
      `create index business_outbox_entries_by_document
        on business_outbox_entries (document_id)`,
    ],
    [
      createTable(tables.subscriptions, dialect, 12),
      `create index business_subscriptions_by_set
        on business_subscriptions (company_id, set_name)`,
      ...watchStatements(dialect),
    ],
    [
      ...addColumns(tables.subscriptions, dialect, 13),
      `update business_subscriptions
        set maker = '{"id":"' || user_id || '","type":"User","groups":[]}'`,
    ],
    [
      createTable(tables.followedSets, dialect, 14),
      `create unique index business_followed_sets_by_set
        on business_followed_sets (company_id, set_name)`,
      ...followStatements(dialect),
    ],
    addColumns(tables.companyInformation, dialect, 15),
    [
      ...shownStatements(dialect),
      `create index business_outbox_entries_waiting_of
        on business_outbox_entries (company_id, kind) where status = 'Waiting'`,
      `create index business_outbox_entries_ended
        on business_outbox_entries (created_at) where kind = 'Notification' and status <> 'Waiting'`,
      ...referenceIndexes,
    ],
    laterReferenceIndexes,
    // Whether lines have an item in a unit.
    [
      'drop index business_lines_by_item',
      'create index business_lines_by_item on business_lines (item_id, unit_of_measure_id)',
    ],
    // A list below a customer costs what its kind has, and one of a company what the company has.
    [
      'drop index business_documents_by_customer',
      'create index business_documents_by_customer on business_documents (customer_id, kind, number)',
      `create index business_item_variants_by_company
        on business_item_variants (company_id, item_id, code)`,
      `create index business_item_units_by_company
        on business_item_units_of_measure (company_id, item_id, unit_of_measure_code)`,
    ],
  ]
}

const inPostgres = statements('postgres')

export const businessMigrations: readonly Migration[] = statements('sqlite').map((sqlite, at) => ({
  area: 'business',
  number: at + 1,
  sqlite,
  postgres: inPostgres[at] ?? [],
}))
