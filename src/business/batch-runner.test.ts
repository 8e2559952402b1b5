/** What a batch has done stays where a later part of it fails. */

import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { test } from 'node:test'
import { until } from '../../tests/until.ts'
import { openCompany } from './testing/books.ts'
import { caller } from './testing/caller.ts'

test('a group that looks for too long takes back nothing that a batch did before', async (t) => {
  await using company = await openCompany(t, 'postgres')
  if (company === undefined) return
  const { sql, companyId } = company
  const call = caller(company)
  const outside = AsyncLocalStorage.snapshot()
  const headers = { 'Content-Type': 'application/json' }
  const read = { method: 'GET', url: `companies(${companyId})/customers?$filter=city eq 'Ulm'` }
  const body = { displayName: 'Once' }
  const make = { method: 'POST', url: `companies(${companyId})/items`, headers, body }
  const requests = [
    { id: '1', atomicityGroup: 'w', ...make },
    { id: '2', atomicityGroup: 'r', ...read },
    { id: '3', atomicityGroup: 'r', ...read },
  ]
  // As the server does by itself after so many seconds.
  const end =
    "select pg_cancel_backend(pid) as ended from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
  const [answer] = await sql.transact(async (tx) => {
    await tx.all('lock table business_customers in access exclusive mode')
    const answering = outside(() => call(200, 'v2.0', 'POST', '$batch', { requests }))
    answering.catch(() => undefined)
    await until(async () => (await outside(() => sql.all(end))).length > 0)
    return [answering]
  })
  const { responses } = (await answer) as { responses: { status: number }[] }
  assert.deepEqual(
    responses.map(({ status }) => status),
    [201, 400],
  )
  const list = await call(200, 'v2.0', 'GET', "items?$filter=displayName eq 'Once'")
  assert.equal((list['value'] as readonly unknown[]).length, 1)
})
