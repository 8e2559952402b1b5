/**
 * Rating: turns metered runs into usage charges, day by day, to the second. The charge and how far a run is charged
 * are written in one transaction, so no second is charged twice or lost, wherever the process dies. Rounding is of
 * what a resource used in a day, so the sum of its charges does not depend on how often they are made.
 */

import { Decimal } from 'decimal.js'
import type { Ids } from '#kernel/ports.ts'
import {
  nameOf,
  parentOf,
  parseResourceId,
  type ResourceId,
  subscriptionOf,
} from '#kernel/resource-id.ts'
import type { Reader } from '#plane/declare/resource.ts'
import type { SqlTx } from '#stores/store.ts'
import type { Product } from '../../resources/products/resource.ts'
import type { NewEntry } from '../ledger/entry.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { record } from '../ledger/record.ts'
import { recordedByTheService } from '../ledger/show.ts'
import { lockAccount, monthOf, spanOfMonth } from '../ledger/statements.ts'
import { type Charge, chargeOf, discounted } from '../money/money.ts'
import { type Section, sectionFor, sectionsOf } from '../section-of-usage.ts'
import { columnsOf, usage, usageDays } from '../tables.ts'
import {
  exchangeRateOf,
  type ProfileFacts,
  productFacts,
  profileFacts,
} from '../transactions/charge.ts'

export interface RateDependencies {
  readonly ledger: Ledger
  readonly ids: Ids
  readonly reader: Reader
  /** The billing profile that usage is charged to. */
  readonly profile: ResourceId
}

const runsAtOnce = 200
const productsMax = 500
const hourSeconds = 3600
export const dayMilliseconds = 86_400_000

/** Whole seconds between two moments, counted from a third, so that parts add up to the whole. */
function secondsBetween(startedAt: number, from: number, until: number): number {
  return Math.floor((until - startedAt) / 1000) - Math.floor((from - startedAt) / 1000)
}

interface Prices {
  readonly profile: ProfileFacts
  readonly products: readonly { readonly name: string; readonly product: Product }[]
  readonly sections: readonly Section[]
}

/**
 * Charges runs up to a moment; returns the number of charges. Each transaction handles a bounded number of runs.
 */
export async function rateUsage(
  deps: RateDependencies,
  until: number,
  now: number,
): Promise<number> {
  const prices = await pricesOf(deps)
  if (prices === undefined) return 0
  let charged = 0
  let after = ''
  for (;;) {
    const done = await rateSome(deps, prices, { until, now, after })
    charged += done.charges
    if (done.last === undefined) return charged
    after = done.last
  }
}

async function pricesOf({ reader, profile }: RateDependencies): Promise<Prices | undefined> {
  const found = await reader.get(profile)
  if (found === undefined) return undefined
  const account = parentOf(found.id)
  const type = 'Billing/billingAccounts/products'
  const products = await reader.list({ type, under: account, limit: productsMax })
  return {
    profile: await profileFacts(reader, found.id),
    // Their types' `toModel` made these rows.
    products: products.map(({ id, model }) => ({ name: nameOf(id), product: model as Product })),
    sections: await sectionsOf(reader, found.id),
  }
}

interface Usage {
  readonly key: string
  readonly resourceId: string
  readonly startedAt: number
  readonly from: number
  readonly until: number
  readonly isOver: boolean
  readonly held: Readonly<Record<string, number>>
}

async function rateSome(
  deps: RateDependencies,
  prices: Prices,
  { until, now, after }: { readonly until: number; readonly now: number; readonly after: string },
): Promise<{ readonly charges: number; readonly last: string | undefined }> {
  const { ledger, ids } = deps
  const outcome = await ledger.sql.transact(async (tx) => {
    // One at a time: whoever waited here sees what the other charged.
    await lockAccount(tx, prices.profile.place.account)
    const usages = await nextUsages(tx, until, after)
    const lines = linesOf(usages)
    await addCharged(tx, lines)
    const entries = [...lines.values()].flatMap((line) => {
      const priced = prices.products.find(({ product }) => product.meter === line.meter)
      return priced === undefined ? [] : [entryOf(line, priced, prices, ids)]
    })
    for (const usage of usages) {
      await tx.run(
        'update billing_usage set rated_until = ?, unrated = ? where run_key = ?',
        usage.until,
        usage.isOver ? 0 : 1,
        usage.key,
      )
    }
    const options = { place: prices.profile.place, now, mayBePresent: false }
    const recording = await record(tx, ledger.dimensions, entries, options)
    return { recording, usages }
  })
  outcome.recording.committed()
  const isAll = outcome.usages.length < runsAtOnce
  return {
    charges: outcome.recording.recorded,
    last: isAll ? undefined : outcome.usages.at(-1)?.key,
  }
}

/** Runs with something to charge: up to their end, or up to when they were last seen running. */
async function nextUsages(tx: SqlTx, until: number, after: string): Promise<readonly Usage[]> {
  const rows = await tx.all(
    `select ${columnsOf(usage)} from billing_usage
     where unrated = 1 and rated_until < ? and run_key > ? order by run_key limit ?`,
    until,
    after,
    runsAtOnce,
  )
  return rows.map(usage.row).map(({ endedAt, seenAt, ratedUntil: from, ...row }) => {
    const known = endedAt ?? seenAt
    const to = Math.max(from, Math.min(until, known))
    return {
      key: row.runKey,
      resourceId: row.resourceId,
      startedAt: row.startedAt,
      from,
      until: to,
      isOver: endedAt !== null && to >= endedAt,
      held: row.held,
    }
  })
}

/** What a resource used of a meter in a day. Where the meter has a price, it is one charge. */
interface Line {
  readonly resourceId: string
  readonly day: number
  readonly meter: string
  heldSeconds: Decimal
  /** What was charged before. */
  chargedSeconds: Decimal
}

function linesOf(usages: readonly Usage[]): Map<string, Line> {
  const lines = new Map<string, Line>()
  for (const { resourceId, ...usage } of usages) {
    for (const { day, meter, heldSeconds } of heldByDay(usage)) {
      const key = keyOf(resourceId, day, meter)
      const line = lines.get(key) ?? {
        ...{ resourceId, day, meter },
        heldSeconds: new Decimal(0),
        chargedSeconds: new Decimal(0),
      }
      lines.set(key, line)
      line.heldSeconds = line.heldSeconds.plus(heldSeconds)
    }
  }
  return lines
}

/** Adds to the lines what their resources were charged for before, and keeps the sums for the next charge of these days. */
async function addCharged(tx: SqlTx, lines: ReadonlyMap<string, Line>): Promise<void> {
  const days = Map.groupBy(lines.values(), ({ resourceId, day }) => keyOf(resourceId, day, ''))
  for (const [{ resourceId, day }] of days.values() as Iterable<readonly [Line]>) {
    for (const { meter, heldSeconds } of await chargedOf(tx, resourceId, day)) {
      const line = lines.get(keyOf(resourceId, day, meter))
      if (line !== undefined) line.chargedSeconds = line.chargedSeconds.plus(heldSeconds)
    }
  }
  for (const line of lines.values()) {
    await keepSum(tx, line, line.chargedSeconds.plus(line.heldSeconds))
  }
}

/** Before runs go: what they were charged for is kept as the sums of their days. */
export async function keepSums(tx: SqlTx, resourceId: string, day: number): Promise<void> {
  const sums = new Map<string, Decimal>()
  for (const { meter, heldSeconds } of await chargedOf(tx, resourceId, day)) {
    sums.set(meter, (sums.get(meter) ?? new Decimal(0)).plus(heldSeconds))
  }
  for (const [meter, sum] of sums) await keepSum(tx, { resourceId, day, meter }, sum)
}

async function keepSum(
  tx: SqlTx,
  { resourceId, day, meter }: Pick<Line, 'resourceId' | 'day' | 'meter'>,
  sum: Decimal,
): Promise<void> {
  await tx.run(
    `insert into billing_usage_days (resource_key, day, meter, held_seconds) values (?, ?, ?, ?)
     on conflict (resource_key, day, meter) do update set held_seconds = excluded.held_seconds`,
    resourceId.toLowerCase(),
    day,
    meter,
    sum.toFixed(),
  )
}

/** By meter. Of a day that was charged in part before there were sums, all runs are added up, once. */
async function chargedOf(
  tx: SqlTx,
  resourceId: string,
  day: number,
): Promise<readonly Pick<Line, 'meter' | 'heldSeconds'>[]> {
  const sums = await tx.all(
    `select ${columnsOf(usageDays)} from billing_usage_days where resource_key = ? and day = ?`,
    resourceId.toLowerCase(),
    day,
  )
  if (sums.length > 0) {
    return sums
      .map(usageDays.row)
      .map((row) => ({ meter: row.meter, heldSeconds: new Decimal(row.heldSeconds) }))
  }
  const runs = await tx.all(
    `select ${columnsOf(usage)} from billing_usage
     where resource_id = ? and rated_until > ? and rated_until > started_at and started_at < ?`,
    resourceId,
    day,
    day + dayMilliseconds,
  )
  return runs.map(usage.row).flatMap(({ startedAt, ratedUntil, held }) => {
    const from = Math.max(startedAt, day)
    const until = Math.min(ratedUntil, day + dayMilliseconds)
    return [...heldByDay({ startedAt, from, until, held })]
  })
}

function* heldByDay({
  startedAt,
  from,
  until,
  held,
}: Pick<Usage, 'startedAt' | 'from' | 'until' | 'held'>): Generator<
  Pick<Line, 'day' | 'meter' | 'heldSeconds'>
> {
  for (let at = from; at < until; ) {
    const day = dayOf(at)
    const end = Math.min(until, day + dayMilliseconds)
    const seconds = secondsBetween(startedAt, at, end)
    for (const [meter, amount] of Object.entries(held)) {
      if (amount <= 0 || seconds <= 0) continue
      yield { day, meter, heldSeconds: new Decimal(amount).times(seconds) }
    }
    at = end
  }
}

export function dayOf(at: number): number {
  return Math.floor(at / dayMilliseconds) * dayMilliseconds
}

function keyOf(resourceId: string, day: number, meter: string): string {
  return `${resourceId.toLowerCase()} ${day} ${meter}`
}

function entryOf(
  line: Line,
  { name, product }: Prices['products'][number],
  { profile, sections }: Prices,
  ids: Ids,
): NewEntry {
  const units = line.heldSeconds.dividedBy(hourSeconds)
  const rate = exchangeRateOf(profile, product.price.currency)
  const market = new Decimal(product.price.value)
  const effectivePrice = discounted(market, new Decimal(product.discount ?? 0))
  const costOf = (heldSeconds: Decimal): Charge => {
    const charge = chargeOf({
      units: heldSeconds.dividedBy(hourSeconds),
      effectivePrice,
      exchangeRate: rate,
      taxPercent: profile.taxPercent,
      currency: profile.currency,
    })
    if (charge !== undefined) return charge
    throw new Error(`the usage of ${line.resourceId} costs too much to write`)
  }
  const before = costOf(line.chargedSeconds)
  const after = costOf(line.chargedSeconds.plus(line.heldSeconds))
  const id = parseResourceId(line.resourceId)
  const subscription = id === undefined ? undefined : subscriptionOf(id)?.toLowerCase()
  const section = sectionFor(sections, subscription)
  const month = spanOfMonth(monthOf(line.day))
  return {
    dimension: {
      billingCurrency: profile.currency,
      billingProfileDisplayName: profile.displayName,
      transactionType: 'Usage Charge',
      kind: 'All',
      isThirdParty: false,
      ...productFacts(name, product),
      ...(section === undefined
        ? {}
        : {
            invoiceSectionId: section.id,
            invoiceSectionDisplayName: section.model.displayName ?? 'default',
          }),
      recordedBy: recordedByTheService,
    },
    measures: {
      name: ids.uuid(),
      date: line.day,
      // Whole units; `units` has the exact number, which is charged.
      quantity: units.toDecimalPlaces(0, Decimal.ROUND_UP).toNumber(),
      units: units.toNumber(),
      effectivePrice: effectivePrice.toNumber(),
      marketPrice: market.toNumber(),
      exchangeRate: rate.toNumber(),
      subTotal: after.subTotal - before.subTotal,
      tax: after.tax - before.tax,
      amount: after.total - before.total,
      credit: null,
      commitment: null,
      refunded: null,
      requested: null,
      refundOperation: null,
      periodStart: month.start,
      periodEnd: month.end - 1,
    },
    tags: { resourceId: line.resourceId.slice(0, 256) },
  }
}
