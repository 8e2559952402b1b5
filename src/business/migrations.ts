/** What makes the tables of the business application, out of their declarations, and their indexes. */

import { addColumns, createTable, type Dialect } from '#query/table.ts'
import type { Migration } from '#stores/store.ts'
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

/** As the store gives it to the other dialect (`stores/sqlite/functions.ts`). */
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

const terms = [tables.paymentTerms, tables.paymentMethods, tables.shipmentMethods]

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
    // What is made of document and sequence is found by their index.
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
  ]
}

const inPostgres = statements('postgres')

export const businessMigrations: readonly Migration[] = statements('sqlite').map((sqlite, at) => ({
  area: 'business',
  number: at + 1,
  sqlite,
  postgres: inPostgres[at] ?? [],
}))
