/** What one account has made or broken holds up no invoice of another. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../../../tests/until.ts'
import { put, row } from '../../testing/rows.ts'
import { account, profile, type Started, startBilling } from '../../testing/start.ts'

const other = '/providers/Vendor.Billing/billingAccounts/1'

const begin = (started: Started) => started.plane.registry.providers[1]?.start?.()

const invoicesOf = async (started: Started, path: string): Promise<number> =>
  (await started.get(`${path}/invoices`)).value.length

/** A round, until that profile has an invoice. */
async function round(started: Started, path: string): Promise<void> {
  await using _rounds = begin(started)
  await until(async () => (await invoicesOf(started, path)) === 1)
}

const pending = row({ invoice: undefined, date: '2026-09-01' })

async function importInto(started: Started, path: string): Promise<void> {
  await started.post(`${path}/importTransactions`, {
    ...{ name: 'file', format: 'ndjson', position: 0, digest: '', nextPosition: 1 },
    ...{ nextDigest: 'x', firstLine: 1, text: JSON.stringify(pending) },
  })
}

test('a month is closed, however many profiles another account has', async () => {
  await using started = await startBilling()
  await started.call('PUT', other, { properties: {} })
  for (let at = 0; at < 500; at++) {
    await started.call('PUT', `${other}/billingProfiles/p${at}`, { properties: {} })
  }
  assert.deepEqual(await put(started, [pending]), [])
  await round(started, profile)
})

test('each of many profiles gets its invoice, until the round is stopped', async () => {
  await using started = await startBilling()
  await started.call('PUT', other, { properties: {} })
  const paths = Array.from({ length: 120 }, (_, at) => `${other}/billingProfiles/p${at}`)
  for (const path of paths) {
    await started.call('PUT', path, { properties: {} })
    await importInto(started, path)
  }
  await begin(started)?.[Symbol.asyncDispose]()
  assert.equal(await invoicesOf(started, `${other}/billingProfiles/p99`), 0)
  await round(started, `${other}/billingProfiles/p99`)
  for (const path of paths) assert.equal(await invoicesOf(started, path), 1)
})

test('usage that cannot be charged holds up the invoice that it belongs on, and no other', async () => {
  await using started = await startBilling()
  await started.call('PUT', `${account}/products/container-cpu`, {
    properties: { price: { currency: 'EUR', value: 1 }, meter: 'containerGroups/cpu' },
  })
  const startedAt = started.clock.now() - 86_400_000
  await started.meter.note([
    {
      series: 'a',
      resourceId: '/subscriptions/11111111-2222-4333-8444-555555555555/resourceGroups/rg',
      startedAt,
      seenAt: startedAt + 3_600_000,
      held: { 'containerGroups/cpu': 2 },
    },
  ])
  await started.call('PUT', other, { properties: {} })
  await started.call('PUT', `${other}/billingProfiles/p`, { properties: {} })
  await importInto(started, `${other}/billingProfiles/p`)
  await importInto(started, profile)
  await round(started, `${other}/billingProfiles/p`)
  assert.equal(await invoicesOf(started, profile), 0)
})
