/**
 * Background work: past days are charged, and past months get their invoices. Every replica does it; the account's
 * lock ensures that each thing happens once.
 */

import type { Clock, Log, Timers } from '#kernel/ports.ts'
import { nameOf, parentOf } from '#kernel/resource-id.ts'
import { startRounds } from '#kernel/rounds.ts'
import type { Sql } from '#stores/store.ts'
import type { BillingProfile } from '../../resources/billing-profiles/resource.ts'
import { number } from '../cells.ts'
import { profileIdOf } from '../ids.ts'
import { closeStatements } from '../invoices/close.ts'
import { monthOf, type ProfilePlace, pendingPlaces, spanOfMonth } from '../ledger/statements.ts'
import { type RateDependencies, rateUsage } from './rate.ts'
import { settleUsage } from './settle.ts'

interface BackgroundDependencies extends RateDependencies {
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
  /** Creates what must exist: the first account with its profile and prices. */
  seed(): Promise<void>
}

const everyMilliseconds = 60_000
const placesAtOnce = 100
const day = 86_400_000
/** The time for the last charges of a month to arrive. */
const graceMilliseconds = 3_600_000

export function startBackground(deps: BackgroundDependencies): AsyncDisposable {
  return startRounds(deps.timers, 0, async (isStopped) => {
    const isSeeded = await isDone(deps, () => deps.seed())
    if (isSeeded) await isDone(deps, () => runOnce(deps, isStopped))
    return everyMilliseconds
  })
}

/** What fails is logged, waits for the next round, and holds up nothing of anybody else. */
async function isDone(
  { log }: BackgroundDependencies,
  work: () => Promise<unknown>,
): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    log.warn({ error: String(error) }, 'billing waits')
    return false
  }
}

/** Charges what is due and closes past months, as of now. */
async function runOnce(deps: BackgroundDependencies, isStopped: () => boolean): Promise<void> {
  const { ledger, reader } = deps
  const now = deps.clock.now()
  const isCharged = await isDone(deps, () => chargeUntil(deps, now))
  // A month is closed when its grace period is over, even after a long downtime.
  const month = monthOf(spanOfMonth(monthOf(now - graceMilliseconds)).start - 1)
  for await (const place of allPending(ledger.sql, month)) {
    const id = profileIdOf(ledger.words, place)
    // Its usage goes on its invoice.
    if (!isCharged && id.toLowerCase() === deps.profile.key) continue
    await isDone(deps, async () => {
      // The type's `toModel` made the rows.
      const model = (await reader.get(id))?.model as BillingProfile | undefined
      if (model === undefined || model.monthlyInvoices === false) return
      for await (const _ of closeStatements(ledger.sql, place, month, now)) if (isStopped()) return
    })
    if (isStopped()) return
  }
}

/** A page at a time: there may be any number. Where the store is away, the next page ends the round. */
async function* allPending(sql: Sql, month: string): AsyncGenerator<ProfilePlace> {
  let after: ProfilePlace | undefined = { account: '', profile: '' }
  while (after !== undefined) {
    const places: readonly ProfilePlace[] = await pendingPlaces(sql, month, {
      after,
      limit: placesAtOnce,
    })
    yield* places
    after = places.length < placesAtOnce ? undefined : places.at(-1)
  }
}

/** Charges what ran until the last midnight. */
async function chargeUntil(deps: BackgroundDependencies, now: number): Promise<void> {
  const midnight = Math.floor(now / day) * day
  await rateUsage(deps, midnight, now)
  await settleUsage(deps.ledger.sql, nameOf(parentOf(deps.profile)), midnight)
  const [waiting] = await deps.ledger.sql.all(
    'select count(*) as n from (select 1 from billing_usage where unrated = 1 and rated_until < ? and ended_at is not null limit 1) waiting',
    midnight,
  )
  if (waiting !== undefined && number(waiting, 'n') > 0) throw new Error('usage is not charged yet')
}
