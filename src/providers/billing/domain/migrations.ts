/**
 * The ledger's tables. An entry's statement and dimension never change, so closing an invoice is one row, whatever
 * its size; every order a list may ask for is an index, so a page costs the page.
 */

import type { Migration } from '#stores/store.ts'

/** The columns by which lists of entries can be ordered, and whether their index holds only rows with a value. */
export const orderedColumns: Readonly<Record<string, 'always' | 'nullable' | 'rare'>> =
  Object.freeze({
    date: 'always',
    name: 'always',
    sub_total: 'always',
    tax: 'always',
    amount: 'always',
    quantity: 'nullable',
    units: 'nullable',
    effective_price: 'nullable',
    market_price: 'nullable',
    exchange_rate: 'nullable',
    period_start: 'nullable',
    period_end: 'nullable',
    credit: 'rare',
    commitment: 'rare',
    refunded: 'rare',
    requested: 'rare',
    refund_operation: 'rare',
  })

/** Names are looked up in whole accounts. */
export function isByParts(column: string): boolean {
  return column !== 'name'
}

export function indexOf(column: string): string {
  return `billing_entries_by_${column}`
}

/**
 * `tail`: the last columns of an index, so that equal values have an order. SQLite's indexes end with the row's id
 * anyway.
 */
function tables(identity: string, real: string, tail: string): readonly string[] {
  return [
    `create table billing_accounts (
      account_key text primary key,
      invoices_numbered bigint not null,
      changes bigint not null
    )`,
    `create table billing_statements (
      id ${identity},
      account_key text not null,
      profile_key text not null,
      account text not null,
      profile text not null,
      invoice text,
      currency text not null,
      month text not null,
      entries bigint not null,
      sub_total bigint not null,
      tax bigint not null,
      amount bigint not null,
      credit bigint not null,
      commitment bigint not null,
      closed_at bigint,
      status text not null
    )`,
    'create unique index billing_statements_by_invoice on billing_statements (account_key, invoice)',
    `create unique index billing_statements_pending
      on billing_statements (account_key, profile_key, currency, month) where invoice is null`,
    'create index billing_statements_by_profile on billing_statements (account_key, profile_key, id)',
    `create table billing_closed_months (
      account_key text not null,
      profile_key text not null,
      currency text not null,
      month text not null,
      primary key (account_key, profile_key, currency, month)
    )`,
    `create table billing_dimensions (
      id ${identity},
      digest text not null unique,
      document text not null
    )`,
    `create table billing_statement_dimensions (
      statement_id bigint not null,
      dimension_id bigint not null,
      entries bigint not null,
      sub_total bigint not null,
      tax bigint not null,
      amount bigint not null,
      credit bigint not null,
      commitment bigint not null,
      primary key (statement_id, dimension_id)
    )`,
    `create table billing_entries (
      id ${identity},
      statement_id bigint not null,
      dimension_id bigint not null,
      name text not null,
      date bigint not null,
      quantity bigint,
      units ${real},
      effective_price ${real},
      market_price ${real},
      exchange_rate ${real},
      sub_total bigint not null,
      tax bigint not null,
      amount bigint not null,
      credit bigint,
      commitment bigint,
      refunded bigint,
      requested bigint,
      refund_operation text,
      period_start bigint,
      period_end bigint,
      created_at bigint not null
    )`,
    `create index billing_entries_by_id on billing_entries (statement_id${tail})`,
    `create index billing_entries_by_dimension on billing_entries (statement_id, dimension_id, date${tail})`,
    ...Object.entries(orderedColumns).map(
      ([column, kind]) =>
        `create index ${indexOf(column)} on billing_entries (statement_id, ${column}${tail})` +
        (kind === 'rare' ? ` where ${column} is not null` : ''),
    ),
    `create table billing_tags (
      entry_id bigint primary key,
      tags text not null,
      changed_at bigint,
      changed_by text
    )`,
    `create table billing_refunds (
      entry_id bigint primary key,
      original_id bigint not null,
      sub_total bigint not null
    )`,
    'create index billing_refunds_by_original on billing_refunds (original_id)',
    `create table billing_usage (
      run_key text primary key,
      resource_id text not null,
      started_at bigint not null,
      ended_at bigint,
      seen_at bigint not null,
      rated_until bigint not null,
      unrated bigint not null,
      held text not null
    )`,
    'create index billing_usage_unrated on billing_usage (rated_until, run_key) where unrated = 1',
    `create table billing_imports (
      account_key text not null,
      profile_key text not null,
      name text not null,
      name_key text not null,
      format text not null,
      header text not null,
      position bigint not null,
      digest text not null,
      lines bigint not null,
      recorded bigint not null,
      present bigint not null,
      refused bigint not null,
      completed bigint not null,
      created_at bigint not null,
      changed_at bigint not null,
      primary key (account_key, profile_key, name_key)
    )`,
    `create table billing_import_refusals (
      account_key text not null,
      profile_key text not null,
      name_key text not null,
      line bigint not null,
      place text not null,
      reason text not null,
      primary key (account_key, profile_key, name_key, line)
    )`,
  ]
}

const search: Pick<Migration, 'sqlite' | 'postgres'> = {
  sqlite: ["create virtual table billing_dimension_texts using fts5 (text, tokenize = 'trigram')"],
  postgres: [
    'create table billing_dimension_texts (rowid bigint primary key, text text not null)',
    // Without the extension, a search reads the texts one by one.
    `do $$ begin
       create extension if not exists pg_trgm;
       create index billing_dimension_texts_by_trigram
         on billing_dimension_texts using gin (text gin_trgm_ops);
     exception when others then
       raise notice 'pg_trgm is not available: searches of transactions read every text';
     end $$`,
  ],
}

/** In the other dialect's order of texts, whatever the database's language. */
const byteByByte: readonly string[] = ['name', 'refund_operation'].map(
  (column) => `alter table billing_entries alter column ${column} type text collate "C"`,
)

/** What a search finds of refunds, without regard to case. */
const operations = (tail: string): string =>
  `create index billing_entries_by_operation
     on billing_entries (statement_id, lower(refund_operation)${tail})
     where refund_operation is not null`

/**
 * Indexes by parts: so many entries of a statement have a stretch of every index to themselves, so that what is
 * recorded together touches few pages however long the statement has become. A million rows in one stretch were
 * recorded at less than half the rate.
 */
const byParts = (tail: string): readonly string[] => [
  'alter table billing_entries add column part bigint not null default 0',
  ...Object.entries(orderedColumns)
    .filter(([column]) => isByParts(column))
    .flatMap(([column, kind]) => [
      `drop index ${indexOf(column)}`,
      `create index ${indexOf(column)} on billing_entries (statement_id, part, ${column}${tail})` +
        (kind === 'rare' ? ` where ${column} is not null` : ''),
    ]),
]

/**
 * The index of dimensions by parts too. What is recorded is of thousands of dimensions, and each had a place of its own
 * in an index of the whole statement: the last hundred thousand of a million rows wrote four times what the first did.
 */
const dimensionsByParts = (tail: string): readonly string[] => [
  'drop index billing_entries_by_dimension',
  `create index billing_entries_by_dimension
     on billing_entries (statement_id, part, dimension_id, date${tail})`,
]

/** What a resource was charged for in a day, before its next charge is rounded. */
const usageByResource =
  'create index billing_usage_by_resource on billing_usage (resource_id, rated_until)'

/** The same as a sum: reading all runs of the day for each next charge took the square of their number. */
const usageDays = `create table billing_usage_days (
  resource_key text not null,
  day bigint not null,
  meter text not null,
  held_seconds text not null,
  primary key (resource_key, day, meter)
)`

/** Runs that are charged whole go; what is kept of them does not grow with their number. */
const usageSeries: readonly string[] = [
  `create table billing_usage_series (
    series text primary key,
    settled_through bigint not null
  )`,
  'create index billing_usage_settled on billing_usage (ended_at, run_key) where unrated = 0',
]

/** A name is looked for in all statements of an account at once, however many these are. */
const entriesByNameAlone = 'create index billing_entries_by_name_alone on billing_entries (name)'

/** Not the column alone: SQLite takes it that no two statements of an account are without an invoice, as none has the invoice of another. */
export const isBilled = 'case when invoice is null then 0 else 1 end'

/** Statements up to a month, of those that have an invoice or of the others: the rest is not walked through. */
const statementsByMonth = `create index billing_statements_by_month
  on billing_statements (account_key, profile_key, (${isBilled}), month)`

/** The newest invoices of an account or a profile: neither all of them are sorted, nor is what is pending walked through. */
const invoicesById = ['account_key', 'account_key, profile_key'].map(
  (keys, at) => `create index billing_invoices_of_${at === 0 ? 'account' : 'profile'}
  on billing_statements (${keys}, id) where invoice is not null`,
)

export const billingMigrations: readonly Migration[] = [
  {
    area: 'billing',
    number: 1,
    sqlite: [...tables('integer primary key', 'real', ''), ...search.sqlite],
    postgres: [
      ...tables('bigint generated by default as identity primary key', 'double precision', ', id'),
      ...search.postgres,
    ],
  },
  {
    area: 'billing',
    number: 2,
    sqlite: [operations(''), ...byParts('')],
    postgres: [...byteByByte, operations(', id'), ...byParts(', id')],
  },
  {
    area: 'billing',
    number: 3,
    sqlite: dimensionsByParts(''),
    postgres: dimensionsByParts(', id'),
  },
  {
    area: 'billing',
    number: 4,
    sqlite: [usageByResource],
    postgres: [usageByResource],
  },
  {
    area: 'billing',
    number: 5,
    sqlite: [usageDays],
    postgres: [usageDays],
  },
  {
    area: 'billing',
    number: 6,
    sqlite: usageSeries,
    postgres: usageSeries,
  },
  {
    area: 'billing',
    number: 7,
    sqlite: [entriesByNameAlone],
    postgres: [entriesByNameAlone],
  },
  {
    area: 'billing',
    number: 8,
    sqlite: [statementsByMonth],
    postgres: [statementsByMonth],
  },
  {
    area: 'billing',
    number: 9,
    sqlite: invoicesById,
    postgres: invoicesById,
  },
]
