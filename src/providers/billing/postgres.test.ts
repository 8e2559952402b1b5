/** The whole way on PostgreSQL: import, meter, charge, buy, refund, close, read. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { contractWords } from '#kernel/vendor.ts'
import { openPostgres } from '#stores/postgres/open.ts'
import { findPostgres, howToGetPostgres, startPostgres } from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../../tests/require.ts'
import { until } from '../../../tests/until.ts'
import { settleUsage } from './domain/metering/settle.ts'
import { billingMigrations } from './domain/migrations.ts'
import { account, profile, startBilling, tenant } from './testing/start.ts'

test('from usage to an invoice to a refund', async (t: TestContext) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  const clock = { now: () => Date.UTC(2026, 9, 15, 12) }
  await using store = await openPostgres({
    url: await server.createDatabase(),
    poolSize: 4,
    clock,
    migrations: billingMigrations,
    words: contractWords,
    transactionRetriesMax: 5,
  })
  // Pages continue after the last row, so the database must order texts as this program compares them.
  const collations = await store.sql.all(
    `select distinct collname from pg_attribute join pg_collation on pg_collation.oid = attcollation
     where attrelid = 'billing_entries'::regclass`,
  )
  assert.deepEqual(collations, [{ collname: 'C' }])
  await using started = await startBilling({ store })
  const startedAt = started.clock.now() - 7_200_000
  const run = {
    series: 'a',
    resourceId: '/subscriptions/11111111-2222-4333-8444-555555555555/resourceGroups/rg',
    startedAt,
    seenAt: startedAt,
    held: { 'containerGroups/cpu': 2 },
  }
  await started.meter.note([run])
  await started.meter.note([
    { ...run, seenAt: startedAt + 3_600_000, endedAt: startedAt + 3_600_000 },
  ])
  const charges = await Promise.all([1, 2, 3].map(() => started.post(`${profile}/chargeUsage`)))
  assert.equal(
    charges.reduce((sum, one) => sum + one.charges, 0),
    1,
  )
  // What was charged leaves, and is known when it is reported again, also while that goes on.
  const ended = { ...run, seenAt: startedAt + 3_600_000, endedAt: startedAt + 3_600_000 }
  const [settled] = await Promise.all([
    settleUsage(store.sql, tenant, started.clock.now()),
    ...Array.from({ length: 5 }, () => started.meter.note([ended])),
  ])
  assert.equal(settled, 1)
  assert.deepEqual(await store.sql.all('select run_key from billing_usage'), [])
  assert.deepEqual(await started.post(`${profile}/chargeUsage`), { charges: 0 })
  const price = { currency: 'USD', value: 10 }
  await started.call('PUT', `${account}/products/seat`, { properties: { price } })
  const bought = await started.post(`${profile}/recordPurchase`, { product: 'seat', quantity: 2 })
  // However many ask at once, only this much can be refunded.
  const refunds = await Promise.allSettled(
    [1, 2, 3, 4].map(() => started.post(`${bought.id}/refund`, { amount: 9 })),
  )
  assert.equal(refunds.filter(({ status }) => status === 'fulfilled').length, 2)
  const imported = await started.post(`${profile}/importTransactions`, {
    name: 'f',
    format: 'csv',
    header: 'date,transactionAmount,productDescription',
    position: 0,
    digest: '',
    nextPosition: 9,
    nextDigest: 'x',
    firstLine: 2,
    text: '2026-10-01,5,Größe\n2026-10-02,x,b\n',
  })
  assert.deepEqual([imported.properties.recorded, imported.properties.refused], [1, 1])
  assert.equal((await started.get(`${profile}/imports/f/refusals`)).value.length, 1)
  await started.call('PATCH', bought.id, { tags: { a: 'b' } })
  const closed = await started.post(`${profile}/closeInvoices`, {})
  assert.equal(closed.value.length, 1)
  const at = `${account}/invoices/${closed.value[0].invoice}`
  const list = await started.get(`${at}/transactions?count=true`)
  assert.deepEqual([list.count, list.value.length], [5, 5])
  const { properties } = await started.get(at)
  // An hour of two cores at 0.0405, two seats at 10, two refunds of 9, and 5.
  assert.equal(properties.totalAmount.value, 7.08)
  const some = await started.get(`${at}/transactions?search=grö&orderBy=productDescription`)
  assert.equal(some.value.length, 1)
  const summary = await started.get(`${at}/transactionSummary?filter=subTotal/value lt 0`)
  assert.equal(summary.total, -18)
})

/** Another server takes the place of the one that was known: a standby, or a restored copy. */
test('what is recorded after the database lost its last rows is shown as it was', async (t: TestContext) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  const url = await server.createDatabase()
  const clock = { now: () => Date.UTC(2026, 9, 15, 12) }
  await using store = await openPostgres({
    url,
    poolSize: 4,
    clock,
    migrations: billingMigrations,
    words: contractWords,
    transactionRetriesMax: 5,
  })
  await using started = await startBilling({ store })
  const eachTable = async (of: string, ...statements: readonly string[]): Promise<void> => {
    const database = new pg.Client(url)
    await database.connect()
    const { rows } = await database.query(
      'select relname from pg_class where relkind = $1 and relnamespace = $2::regnamespace',
      [of, 'public'],
    )
    for (const { relname } of rows) {
      for (const one of statements) await database.query(one.replaceAll('#', relname))
    }
    await database.end()
  }
  let imports = 0
  const bring = (product: string) =>
    started.post(`${profile}/importTransactions`, {
      name: `f${++imports}`,
      format: 'csv',
      header: 'date,transactionAmount,productDescription',
      position: 0,
      digest: '',
      nextPosition: 9,
      nextDigest: 'x',
      firstLine: 2,
      text: `2026-10-0${imports},5,${product}\n`,
    })
  const brought = async (): Promise<readonly string[]> => {
    const { value } = await started.get(
      `${profile}/transactions?type=Unbilled&periodStartDate=10-01-2026&periodEndDate=10-31-2026`,
    )
    return value
      .map(
        (one: { properties: { productDescription: string } }) => one.properties.productDescription,
      )
      .sort()
  }
  await bring('one')
  await eachTable('S', 'create table "kept-#" as select last_value from #')
  await eachTable('r', 'create table "kept_#" as table "#"')
  await bring('two')
  await eachTable(
    'r',
    'do $$ begin if to_regclass(\'"kept_#"\') is not null then delete from "#"; insert into "#" overriding system value table "kept_#"; end if; end $$',
  )
  await eachTable('S', 'select setval(\'#\', (select last_value from "kept-#"))')
  await server.restart()
  await until(() => store.sql.all('select 1').catch(() => false))
  await bring('three')
  await bring('two')
  assert.deepEqual(await brought(), ['one', 'three', 'two'])
})
