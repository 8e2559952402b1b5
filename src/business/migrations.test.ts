/**
 * Upgrades the business application from before posting made entries: the old balances equal the sums of the
 * opening entries.
 */

import assert from 'node:assert/strict'

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openPostgres } from '#stores/postgres/open.ts'
import { openSqlite } from '#stores/sqlite/open.ts'
import type { Migration, Store } from '#stores/store.ts'
import { findPostgres, howToGetPostgres, startPostgres } from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../tests/require.ts'
import { businessMigrations } from './migrations.ts'

const options = { words: { namespace: 'Vendor', brand: 'Vendor' }, transactionRetriesMax: 8 }
type Open = (migrations: readonly Migration[]) => Promise<Store>

async function upgrade(open: Open): Promise<void> {
  {
    await using store = await open(businessMigrations.slice(0, 6))
    await store.sql.transact(async (tx) => {
      for (const company of ['c', 'd']) {
        await tx.run(
          'insert into business_companies (id, revision, name) values (?, 1, ?)',
          company,
          company,
        )
        for (const [number, name] of [
          ['1000', 'Bank'],
          ['1200', 'Receivables'],
          ['4000', 'Goods'],
          ['4100', 'Services'],
        ] as const) {
          await tx.run(
            'insert into business_accounts (id, company_id, revision, number, display_name, account_type) values (?, ?, 1, ?, ?, ?)',
            `${company}${number}`,
            company,
            number,
            name,
            'Posting',
          )
        }
      }
      for (const [id, due] of [
        ['1', 5_765_000],
        ['2', -700_000],
        ['3', 0],
      ] as const) {
        await tx.run(
          "insert into business_customers (id, company_id, revision, number, balance_due) values (?, 'c', 1, ?, ?)",
          id,
          id,
          due,
        )
      }
      await tx.run(
        "insert into business_counters (company_id, name, last) values ('c', 'customer', 17)",
      )
      await tx.run(
        "insert into business_items (id, company_id, revision, number, inventory) values ('i', 'c', 1, 'I1', -300000)",
      )
    })
  }
  await using store = await open(businessMigrations)
  const all = (statement: string) => store.sql.all(statement)
  const entries = await all(
    `select account_number, entry_number, debit_amount, credit_amount
       from business_general_ledger_entries where company_id = 'c' order by account_number`,
  )
  assert.deepEqual(
    entries.map((row) => Object.values(row).map(String)),
    [
      ['1200', '4', '5065000', '0'],
      ['3900', '5', '0', '5065000'],
    ],
  )
  const owed = await all(
    'select customer_id, amount_local from business_customer_ledger_entries order by entry_number',
  )
  assert.deepEqual(
    owed.map((row) => Object.values(row).map(String)),
    [
      ['1', '5765000'],
      ['2', '-700000'],
    ],
  )
  const [stock] = await all('select quantity, entry_number from business_item_ledger_entries')
  assert.deepEqual(Object.values(stock ?? {}).map(Number), [-300_000, 3])
  const accounts = await all(
    "select number from business_accounts where company_id = 'd' order by number",
  )
  const numbers = accounts.map((row) => row['number'])
  assert.deepEqual(numbers, [
    ...['1000', '1200', '2200', '3900', '4000', '4100', '4950', '7100', '7200'],
  ])
  const [receivables] = await all("select net_change from business_accounts where id = 'c1200'")
  assert.equal(Number(receivables?.['net_change']), 5_065_000)
  const counters = await all(
    "select company_id, last from business_counters where name = 'entry' order by company_id",
  )
  assert.deepEqual(
    counters.map((row) => Object.values(row).map(String)),
    [
      ['c', '5'],
      ['d', '0'],
    ],
  )
  const about = await all(
    'select company_id, display_name, length(id) as size from business_company_information order by 1',
  )
  assert.deepEqual(
    about.map((row) => Object.values(row).map(String)),
    [
      ['c', 'c', '36'],
      ['d', 'd', '36'],
    ],
  )
  const purposes = await all(
    "select code from business_posting_accounts where company_id = 'd' and account_id <> ''",
  )
  assert.equal(purposes.length, 9)
  const series = await all(
    "select prefix, digits, last from business_number_series where code in ('customer', 'item') and company_id = 'c' order by code",
  )
  assert.deepEqual(
    series.map((row) => Object.values(row).map(String)),
    [
      ['C', '5', '17'],
      ['I', '5', '0'],
    ],
    'numbers go on',
  )
}

test('sqlite: books of before have opening entries', async () => {
  const home = mkdtempSync(join(tmpdir(), 'upgrade-'))
  try {
    await upgrade((migrations) => openSqlite({ path: join(home, 'store'), ...options, migrations }))
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
})

test('postgres: books of before have opening entries', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  const url = await server.createDatabase()
  const clock = { now: () => Date.now() }
  await upgrade((migrations) => openPostgres({ url, poolSize: 2, clock, ...options, migrations }))
})
