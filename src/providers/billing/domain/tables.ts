/**
 * The columns that are read from the ledger's tables. `migrations.ts` creates them as they were released. Sums of
 * many entries may exceed exact numbers, so they are selected as text (`sumsAsText`).
 */

import {
  defineTable,
  each,
  flag,
  json,
  nullable,
  type RowOf,
  real,
  text,
  whole,
  wide,
} from '#query/table.ts'
import type { Dimension, Totals } from './ledger/entry.ts'

/** Money in ten-thousandths, moments in milliseconds. */
export const entries = defineTable(
  'billing_entries',
  {
    ...each(whole(), 'id', 'statement_id', 'dimension_id'),
    name: text(),
    date: whole(),
    quantity: nullable(whole()),
    ...each(nullable(real()), 'units', 'effective_price', 'market_price', 'exchange_rate'),
    ...each(whole(), 'sub_total', 'tax', 'amount'),
    ...each(nullable(whole()), 'credit', 'commitment', 'refunded', 'requested'),
    refund_operation: nullable(text()),
    ...each(nullable(whole()), 'period_start', 'period_end'),
    created_at: whole(),
  },
  ['id'],
)

const sumNames = ['sub_total', 'tax', 'amount', 'credit', 'commitment'] as const
const sums = each(wide(), ...sumNames)

/** `wrap`: applied to a column before its conversion to text. */
export function sumsAsText(wrap = (column: string): string => column): string {
  return sumNames.map((name) => `cast(${wrap(name)} as text) as ${name}`).join(', ')
}

export function totalsOf({ subTotal, tax, amount, credit, commitment }: Totals): Totals {
  return { subTotal, tax, amount, credit, commitment }
}

export const statements = defineTable(
  'billing_statements',
  {
    id: whole(),
    ...each(text(), 'account', 'profile'),
    invoice: nullable(text()),
    ...each(text(), 'currency', 'month'),
    entries: whole(),
    ...sums,
    closed_at: nullable(whole()),
    status: text(),
  },
  ['id'],
)

/** Counts and sums of some entries. */
export const counted = defineTable('billing_entries', { entries: whole(), ...sums }, [])

export const statementDimensions = defineTable(
  'billing_statement_dimensions',
  { dimension_id: whole(), entries: whole(), ...sums },
  ['dimension_id'],
)

export const dimensions = defineTable(
  'billing_dimensions',
  { id: whole(), document: json<Dimension>() },
  ['id'],
)

export const tags = defineTable(
  'billing_tags',
  {
    entry_id: whole(),
    tags: json<Readonly<Record<string, string>>>(),
    changed_at: nullable(whole()),
    changed_by: nullable(text()),
  },
  ['entry_id'],
)

export const usage = defineTable(
  'billing_usage',
  {
    ...each(text(), 'run_key', 'resource_id'),
    started_at: whole(),
    ended_at: nullable(whole()),
    ...each(whole(), 'seen_at', 'rated_until'),
    held: json<Readonly<Record<string, number>>>(),
  },
  ['run_key'],
)

/** What a resource was charged for in a day. */
export const usageDays = defineTable(
  'billing_usage_days',
  { resource_key: text(), day: whole(), meter: text(), held_seconds: text() },
  ['resource_key', 'day', 'meter'],
)

/** The progress of a file of transactions. */
export const imports = defineTable(
  'billing_imports',
  {
    ...each(text(), 'name', 'format'),
    position: whole(),
    digest: text(),
    ...each(whole(), 'lines', 'recorded', 'present', 'refused'),
    completed: flag(),
    ...each(whole(), 'created_at', 'changed_at'),
  },
  [],
)
export type ImportState = RowOf<typeof imports>

export const importRefusals = defineTable(
  'billing_import_refusals',
  { line: whole(), ...each(text(), 'place', 'reason') },
  [],
)

/** `id, name, …`: all columns that are read of a row. */
export function columnsOf({ columns }: { readonly columns: object }): string {
  return Object.keys(columns).join(', ')
}
