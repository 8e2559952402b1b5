import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '#kernel/ports.ts'
import { contractWords } from '#kernel/vendor.ts'
import { openSqlite } from '#stores/sqlite/open.ts'
import { denialMigration, openDenials } from './denials.ts'
import { installationMigrations } from './record.ts'

const denial = (correlationId: string) => ({
  correlationId,
  principalId: 'p',
  action: 'a',
  scope: '/s',
})

test('a refusal is found by its correlation id, the latest one, on every replica, within a bound', async () => {
  assert.ok(installationMigrations.includes(denialMigration))
  await using store = await openSqlite({
    path: ':memory:',
    migrations: installationMigrations,
    words: contractWords,
    transactionRetriesMax: 3,
  })
  let now = 5
  const one = openDenials(store.sql, { now: () => now }, silentLog)
  const two = openDenials(store.sql, { now: () => now }, silentLog)
  one.note({ ...denial('x'), request: { 'a/b:c': ['d'] } })
  assert.equal((await one.find('x'))?.at, 5, 'also while it is written')
  assert.deepEqual(await two.find('x'), {
    at: 5,
    ...denial('x'),
    request: { 'a/b:c': ['d'] },
  })
  assert.equal(await two.find('y'), undefined)
  now = 6
  two.note(denial('x'))
  await two[Symbol.asyncDispose]()
  assert.deepEqual(await one.find('x'), { at: 6, ...denial('x') })
  for (let at = 0; at < 200; at++) one.note(denial(`flood ${at}`))
  await one[Symbol.asyncDispose]()
  const [row] = await store.sql.all('select count(*) as kept from installation_denials')
  assert.ok(Number(row?.['kept']) <= 5, 'a flood is not written')
})
