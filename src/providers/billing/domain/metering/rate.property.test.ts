/** Whatever is reported when, and rated when: every second of every run is charged once, and the sums add up. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Decimal } from 'decimal.js'
import type { UsageRun } from '#kernel/usage.ts'
import { fc } from '../../../../../tests/property.ts'
import { until } from '../../../../../tests/until.ts'
import {
  account,
  billingStore,
  profile,
  startBilling,
  tenant,
  type Wire,
} from '../../testing/start.ts'
import { settleUsage } from './settle.ts'

const start = Date.UTC(2026, 9, 14, 22)
const hour = 3_600_000
const group =
  '/subscriptions/11111111-2222-4333-8444-555555555555/resourceGroups/rg/providers/Vendor.ContainerInstance/containerGroups/web'

const run = fc.record({
  at: fc.integer({ min: 0, max: 10 * hour }),
  length: fc.integer({ min: 0, max: 30 * hour }),
  cpu: fc.constantFrom(0.1, 0.5, 1, 2),
})
const moments = fc
  .array(fc.integer({ min: 0, max: 60 * hour }), { minLength: 1, maxLength: 6 })
  .map((list) => list.toSorted((a, b) => a - b))

test('every second is charged once, however often it is looked at and rated', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(run, { minLength: 1, maxLength: 5 }),
      moments,
      fc.boolean(),
      fc.boolean(),
      async (runs, looks, forgets, settles) => {
        await using started = await startBilling()
        const tell = (now: number): readonly UsageRun[] =>
          runs.flatMap(({ at, length, cpu }, index): readonly UsageRun[] => {
            const startedAt = start + at
            if (now < startedAt) return []
            const ended = now >= startedAt + length
            const told: UsageRun = {
              series: `run-${index}`,
              resourceId: group,
              startedAt,
              seenAt: ended ? startedAt + length : now,
              ...(ended ? { endedAt: startedAt + length } : {}),
              held: { 'containerGroups/cpu': cpu },
            }
            return [told]
          })
        let hasSettled = false
        for (const look of [...looks, 60 * hour]) {
          const now = start + look
          started.clock.set(now)
          await started.meter.note(tell(now))
          await started.meter.note(tell(now))
          // As in a store that was charged before it kept sums: they are made from the runs, while these are there.
          if (forgets && !hasSettled) {
            await started.store.sql.transact((tx) => tx.run('delete from billing_usage_days'))
          }
          await started.post(`${profile}/chargeUsage`)
          if (settles && (await settleUsage(started.store.sql, tenant, now)) > 0) hasSettled = true
          await started.post(`${profile}/chargeUsage`)
        }
        const expected = runs.reduce(
          (sum, { length, cpu }) => sum.plus(new Decimal(Math.floor(length / 1000)).times(cpu)),
          new Decimal(0),
        )
        const period = 'periodStartDate=10-01-2026&periodEndDate=12-31-2026&type=Unbilled'
        const { value, count } = await started.get(`${profile}/transactions?${period}&count=true`)
        assert.equal(value.length, count)
        let units = new Decimal(0)
        const days = Map.groupBy(value as Wire[], ({ properties }) => properties.date)
        for (const [date, charges] of days) {
          assert.equal(Date.parse(date) % (24 * hour), 0)
          let rest = new Decimal(0)
          for (const { properties: p } of charges) {
            assert.equal(p.transactionType, 'Usage Charge')
            units = units.plus(p.units)
            rest = rest
              .plus(new Decimal(p.units).times(p.effectivePrice.value))
              .minus(p.subTotal.value)
          }
          // A day is rounded once, however often it was charged.
          assert.ok(rest.abs().lessThanOrEqualTo(0.005 + 1e-9), `${date}: ${rest}`)
        }
        assert.ok(units.times(3600).minus(expected).abs().lessThan(1e-6), `${units} ${expected}`)
        if (count === 0) return
        const closed = await started.post(`${profile}/closeInvoices`, {})
        let total = new Decimal(0)
        for (const { invoice } of closed.value) {
          const { properties } = await started.get(`${account}/invoices/${invoice}`)
          total = total.plus(properties.totalAmount.value)
        }
        const sum = (value as Wire[]).reduce(
          (all: Decimal, one) => all.plus(one.properties.transactionAmount.value),
          new Decimal(0),
        )
        assert.ok(total.equals(sum))
      },
    ),
    { numRuns: process.env['ARMATURE_TEST_LONG'] === '1' ? 300 : 25 },
  )
})

test('usage is charged by those alone who may charge the profile that pays for it', async () => {
  await using started = await startBilling()
  const other = `${account}/billingProfiles/other`
  await started.call('PUT', other, { properties: { displayName: 'Other', currency: 'USD' } })
  await started.meter.note([
    {
      series: 'run',
      resourceId: group,
      startedAt: started.clock.now() - hour,
      seenAt: started.clock.now(),
      held: { 'containerGroups/cpu': 1 },
    },
  ])
  await assert.rejects(started.post(`${other}/chargeUsage`), { code: 'UsageChargedElsewhere' })
  assert.deepEqual(await started.post(`${profile}/chargeUsage`), { charges: 1 })
})

test('what a day was charged before is read as one sum, however many runs it had', async () => {
  await using started = await startBilling()
  const { sql } = started.store
  let read = 0
  const { transact } = sql
  sql.transact = (work, mode) =>
    transact((tx) => {
      const all = tx.all.bind(tx)
      tx.all = async (text, ...values) => {
        const rows = await all(text, ...values)
        if (text.includes('billing_usage')) read += rows.length
        return rows
      }
      return work(tx)
    }, mode)
  const runs = 1_000
  const startedAt = started.clock.now() - hour
  await started.meter.note(
    Array.from({ length: runs }, (_, index) => ({
      series: 'container',
      resourceId: group,
      startedAt: startedAt + index * 1000,
      endedAt: startedAt + (index + 1) * 1000,
      seenAt: startedAt + (index + 1) * 1000,
      held: { 'containerGroups/cpu': 1 },
    })),
  )
  assert.deepEqual(await started.post(`${profile}/chargeUsage`), { charges: 5 })
  assert.ok(read < 2 * runs, `${read} rows`)
})

/** A container that ran for a second, so many times. */
function restarts(startedAt: number, count: number): UsageRun[] {
  return Array.from({ length: count }, (_, index) => ({
    series: 'group|container',
    resourceId: group,
    startedAt: startedAt + index * 2_000,
    endedAt: startedAt + index * 2_000 + 1_000,
    seenAt: startedAt + index * 2_000 + 1_000,
    held: { 'containerGroups/cpu': 0.5 },
  }))
}

test('what was charged whole leaves no row for each run, and a report that comes again charges nothing', async () => {
  await using started = await startBilling()
  const { store, meter, clock } = started
  const day = 24 * hour
  const count = async (table: string): Promise<number> =>
    Number((await store.sql.all(`select count(*) as n from ${table}`))[0]?.['n'])
  const unitsOf = async (): Promise<number> => {
    const { value } = await started.get(
      `${profile}/transactions?periodStartDate=10-01-2026&periodEndDate=12-31-2026&type=Unbilled`,
    )
    return (value as Wire[]).reduce((sum, one) => sum + one.properties.units, 0)
  }
  const startedAt = Math.floor(clock.now() / day) * day + day - 3_000
  const runs = restarts(startedAt, 500)
  clock.set(startedAt + day)
  await meter.note(runs)
  await started.post(`${profile}/chargeUsage`)
  const units = await unitsOf()
  assert.ok(Math.abs(units * 3600 - 250) < 1e-6, `${units}`)
  // As in a store that was charged before it kept sums.
  await store.sql.transact((tx) => tx.run('delete from billing_usage_days'))
  // The container runs on, and this run was charged in part.
  const last = { ...restarts(startedAt + 1_000_000, 1)[0], seenAt: startedAt + 2_000_000 }
  const { endedAt: _, ...open } = last as UsageRun
  await meter.note([open])
  await started.post(`${profile}/chargeUsage`)
  assert.equal(await settleUsage(store.sql, tenant, startedAt), 0, 'not before they have ended')
  assert.equal(await settleUsage(store.sql, tenant, clock.now()), 500)
  assert.equal(await count('billing_usage'), 1)
  assert.equal(await count('billing_usage_series'), 1)
  const before = await unitsOf()
  await meter.note([...runs, open])
  await meter.note(runs.slice(100, 200))
  await started.post(`${profile}/chargeUsage`)
  assert.equal(await count('billing_usage'), 1)
  assert.equal(await unitsOf(), before)
  // The open run ends, and the next one is a new one.
  await meter.note([{ ...open, endedAt: open.seenAt }, ...restarts(open.seenAt + 1_000, 1)])
  await started.post(`${profile}/chargeUsage`)
  assert.ok(Math.abs((await unitsOf()) - before - 0.5 / 3600) < 1e-9)
  assert.equal(await settleUsage(store.sql, tenant, clock.now()), 2)
  assert.equal(await count('billing_usage'), 0)
})

test('the background settles what it has charged when the day is over', async () => {
  await using store = await billingStore()
  await using metered = await startBilling({ store })
  const startedAt = metered.clock.now() - hour
  await metered.meter.note(restarts(startedAt, 10))
  const rows = () => store.sql.all('select run_key from billing_usage')
  {
    await using same = await startBilling({ store, background: true })
    await same.get(profile)
  }
  assert.equal((await rows()).length, 10)
  {
    await using later = await startBilling({
      store,
      background: true,
      startAt: startedAt + 48 * hour,
    })
    await until(async () => (await rows()).length === 0)
    await later.get(profile)
  }
})
