/**
 * The tables of the business application. Every table has a row per thing, decimals as integers of five places, and
 * no column that may be null; the sums of a document's tax groups stand beside it, so that none is ever summed anew.
 */

import type { Migration } from '#stores/store.ts'
import { noDate, noGuid } from './entity.ts'

/** `text` is the dialect's word for text that is compared byte by byte. */
function tables(text: string): readonly string[] {
  const words = `${text} not null default ''`
  const guid = `${text} not null default '${noGuid}'`
  const date = `${text} not null default '${noDate}'`
  const number = 'bigint not null default 0'
  return [
    `create table business_companies (
      id ${text} not null primary key,
      revision bigint not null,
      system_version ${words},
      timestamp ${words},
      name ${words},
      display_name ${words},
      business_profile_id ${words},
      local_currency_code ${words},
      system_created_at ${number},
      system_created_by ${guid},
      system_modified_at ${number},
      system_modified_by ${guid}
    )`,
    `create table business_customers (
      id ${text} not null primary key,
      company_id ${text} not null,
      revision bigint not null,
      number ${words},
      display_name ${words},
      additional_name ${words},
      type ${words},
      address_line_1 ${words},
      address_line_2 ${words},
      city ${words},
      state ${words},
      country ${words},
      postal_code ${words},
      phone_number ${words},
      email ${words},
      website ${words},
      salesperson_code ${words},
      balance_due ${number},
      credit_limit ${number},
      tax_liable ${number},
      tax_area_id ${guid},
      tax_registration_number ${words},
      currency_id ${guid},
      currency_code ${words},
      payment_terms_id ${guid},
      shipment_method_id ${guid},
      payment_method_id ${guid},
      blocked ${words},
      prices_include_tax ${number},
      last_modified_date_time ${number}
    )`,
    `create table business_items (
      id ${text} not null primary key,
      company_id ${text} not null,
      revision bigint not null,
      number ${words},
      display_name ${words},
      display_name_2 ${words},
      type ${words},
      blocked ${number},
      sales_blocked ${number},
      gtin ${words},
      inventory ${number},
      unit_price ${number},
      price_includes_tax ${number},
      unit_cost ${number},
      tax_group_id ${guid},
      tax_group_code ${words},
      base_unit_of_measure_id ${guid},
      base_unit_of_measure_code ${words},
      allow_invoice_discount ${number},
      last_modified_date_time ${number}
    )`,
    `create table business_item_variants (
      id ${text} not null primary key,
      company_id ${text} not null,
      revision bigint not null,
      item_id ${guid},
      item_number ${words},
      code ${words},
      description ${words},
      last_modified_date_time ${number}
    )`,
    `create table business_item_units_of_measure (
      id ${text} not null primary key,
      company_id ${text} not null,
      revision bigint not null,
      item_id ${guid},
      unit_of_measure_id ${guid},
      unit_of_measure_code ${words},
      quantity_per_unit ${number},
      last_modified_date_time ${number}
    )`,
    `create table business_accounts (
      id ${text} not null primary key,
      company_id ${text} not null,
      revision bigint not null,
      number ${words},
      display_name ${words},
      category ${words},
      sub_category ${words},
      blocked ${number},
      account_type ${words},
      direct_posting ${number},
      net_change ${number},
      tax_group_code ${words},
      last_modified_date_time ${number}
    )`,
    `create table business_units_of_measure (
      id ${text} not null primary key,
      company_id ${text} not null,
      revision bigint not null,
      code ${words},
      display_name ${words},
      international_standard_code ${words},
      symbol ${words},
      last_modified_date_time ${number}
    )`,
    `create table business_tax_areas (
      id ${text} not null primary key,
      company_id ${text} not null,
      revision bigint not null,
      code ${words},
      display_name ${words},
      tax_type ${words},
      last_modified_date_time ${number}
    )`,
    `create table business_tax_groups (
      id ${text} not null primary key,
      company_id ${text} not null,
      revision bigint not null,
      code ${words},
      display_name ${words},
      tax_type ${words},
      last_modified_date_time ${number}
    )`,
    `create table business_tax_rates (
      id ${text} not null primary key,
      company_id ${text} not null,
      revision bigint not null,
      tax_area_id ${guid},
      tax_area_code ${words},
      tax_group_id ${guid},
      tax_group_code ${words},
      tax_percent ${number},
      last_modified_date_time ${number}
    )`,
    `create table business_currencies (
      id ${text} not null primary key,
      company_id ${text} not null,
      revision bigint not null,
      code ${words},
      display_name ${words},
      symbol ${words},
      amount_decimal_places ${words},
      amount_rounding_precision ${number},
      last_modified_date_time ${number}
    )`,
    `create table business_locations (
      id ${text} not null primary key,
      company_id ${text} not null,
      revision bigint not null,
      code ${words},
      display_name ${words},
      contact ${words},
      address_line_1 ${words},
      address_line_2 ${words},
      city ${words},
      state ${words},
      country ${words},
      postal_code ${words},
      phone_number ${words},
      email ${words},
      website ${words},
      use_as_in_transit ${number},
      last_modified_date_time ${number}
    )`,
    `create table business_documents (
      id ${text} not null primary key,
      company_id ${text} not null,
      revision bigint not null,
      number ${words},
      external_document_number ${words},
      document_date ${date},
      posting_date ${date},
      due_date ${date},
      customer_purchase_order_reference ${words},
      customer_id ${guid},
      customer_number ${words},
      customer_name ${words},
      bill_to_name ${words},
      bill_to_customer_id ${guid},
      bill_to_customer_number ${words},
      ship_to_name ${words},
      ship_to_contact ${words},
      sell_to_address_line_1 ${words},
      sell_to_address_line_2 ${words},
      sell_to_city ${words},
      sell_to_country ${words},
      sell_to_state ${words},
      sell_to_post_code ${words},
      ship_to_address_line_1 ${words},
      ship_to_address_line_2 ${words},
      ship_to_city ${words},
      ship_to_country ${words},
      ship_to_state ${words},
      ship_to_post_code ${words},
      bill_to_address_line_1 ${words},
      bill_to_address_line_2 ${words},
      bill_to_city ${words},
      bill_to_country ${words},
      bill_to_state ${words},
      bill_to_post_code ${words},
      currency_id ${guid},
      currency_code ${words},
      shipment_method_id ${guid},
      payment_terms_id ${guid},
      salesperson ${words},
      order_id ${guid},
      order_number ${words},
      prices_include_tax ${number},
      remaining_amount ${number},
      discount_amount ${number},
      discount_applied_before_tax ${number},
      total_amount_excluding_tax ${number},
      total_tax_amount ${number},
      total_amount_including_tax ${number},
      status ${words},
      last_modified_date_time ${number},
      phone_number ${words},
      email ${words},
      kind ${words},
      amount_precision ${number},
      tax_liable ${number},
      tax_area_id ${guid},
      line_count ${number},
      discount_base ${number},
      valid_until_date ${date},
      sent_date ${number},
      accepted_date ${date},
      invoice_id ${guid},
      invoice_number ${words}
    )`,
    `create table business_lines (
      id ${text} not null primary key,
      company_id ${text} not null,
      revision bigint not null,
      legacy_id ${words},
      document_id ${guid},
      sequence ${number},
      item_id ${guid},
      account_id ${guid},
      line_type ${words},
      line_object_number ${words},
      description ${words},
      description_2 ${words},
      unit_of_measure_id ${guid},
      unit_of_measure_code ${words},
      unit_price ${number},
      quantity ${number},
      discount_amount ${number},
      discount_percent ${number},
      discount_applied_before_tax ${number},
      amount_excluding_tax ${number},
      tax_code ${words},
      tax_percent ${number},
      total_tax_amount ${number},
      amount_including_tax ${number},
      invoice_discount_allocation ${number},
      net_amount ${number},
      net_tax_amount ${number},
      net_amount_including_tax ${number},
      shipment_date ${date},
      item_variant_id ${guid},
      location_id ${guid},
      kind ${words},
      object_name ${words},
      line_amount ${number},
      invoice_discount ${number},
      tax_key ${words},
      allows_invoice_discount ${number}
    )`,
    `create table business_access_rights (
      id ${text} not null primary key,
      company_id ${text} not null,
      revision bigint not null,
      principal_id ${guid},
      role ${words},
      description ${words},
      last_modified_date_time ${number}
    )`,
    `create table business_document_tax_groups (
      document_id ${text} not null,
      tax_key ${text} not null,
      tax_percent bigint not null,
      line_count bigint not null,
      line_amount bigint not null,
      invoice_discount bigint not null,
      net bigint not null,
      including bigint not null,
      primary key (document_id, tax_key)
    )`,
    `create table business_counters (
      company_id ${text} not null,
      name ${text} not null,
      last bigint not null,
      primary key (company_id, name)
    )`,
    ...indexes,
  ]
}

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

/**
 * Of a document with an invoice discount: the sums of its lines before each line, in blocks, so that a line in the
 * middle moves its block and not the document. Where there is no discount they are not kept.
 */
function runningSums(text: string): readonly string[] {
  const number = 'bigint not null default 0'
  return [
    ...['run_block', 'run_line_amount', 'run_eligible'].map(
      (name) => `alter table business_lines add column ${name} ${number}`,
    ),
    ...['eligible', 'extent', 'spread', 'amount_precision', 'prices_include_tax'].map(
      (name) => `alter table business_document_tax_groups add column ${name} ${number}`,
    ),
    `create table business_line_blocks (
      document_id ${text} not null,
      tax_key ${text} not null,
      block bigint not null,
      line_count bigint not null,
      line_amount bigint not null,
      eligible bigint not null,
      primary key (document_id, tax_key, block)
    )`,
  ]
}

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

/** What customers paid. */
function payments(text: string): readonly string[] {
  const words = `${text} not null default ''`
  const guid = `${text} not null default '${noGuid}'`
  const number = 'bigint not null default 0'
  return [
    `create table business_customer_payments (
      id ${text} not null primary key,
      company_id ${text} not null,
      revision bigint not null,
      document_number ${words},
      customer_id ${guid},
      customer_number ${words},
      posting_date ${text} not null default '${noDate}',
      external_document_number ${words},
      amount ${number},
      applies_to_invoice_id ${guid},
      applies_to_invoice_number ${words},
      description ${words},
      comment ${words},
      last_modified_date_time ${number}
    )`,
    `create unique index business_customer_payments_by_number
      on business_customer_payments (company_id, document_number)`,
    `create index business_customer_payments_by_customer on business_customer_payments (customer_id)`,
    `create index business_customer_payments_by_invoice
      on business_customer_payments (applies_to_invoice_id)`,
    `create index business_documents_by_payer on business_documents (bill_to_customer_id)`,
  ]
}

/** What is made of document and sequence is found by their index. */
const withoutLegacyIndex: readonly string[] = ['drop index business_lines_by_legacy_id']

export const businessMigrations: readonly Migration[] = [
  { area: 'business', number: 1, sqlite: tables('text'), postgres: tables('text collate "C"') },
  {
    area: 'business',
    number: 2,
    sqlite: runningSums('text'),
    postgres: [...runningSums('text collate "C"'), shareOf],
  },
  {
    area: 'business',
    number: 3,
    sqlite: payments('text'),
    postgres: payments('text collate "C"'),
  },
  { area: 'business', number: 4, sqlite: withoutLegacyIndex, postgres: withoutLegacyIndex },
]
