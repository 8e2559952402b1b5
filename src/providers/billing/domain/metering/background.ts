/**
 * Background work: past days are charged, and past months get their invoices. Every replica does it; the account's
 * lock ensures that each thing happens once.
 */

import type { Clock, Log, Timers } from '#kernel/ports.ts'
import { nameOf, parentOf, rootId } from '#kernel/resource-id.ts'
import { startRounds } from '#kernel/rounds.ts'
import type { BillingProfile } from '../../resources/billing-profiles/resource.ts'
import { number } from '../cells.ts'
import { closeStatements } from '../invoices/close.ts'
import { monthOf, spanOfMonth } from '../ledger/statements.ts'
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
const day = 86_400_000
/** The time for the last charges of a month to arrive. */
const graceMilliseconds = 3_600_000
const profilesMax = 500

export function startBackground(deps: BackgroundDependencies): AsyncDisposable {
  return startRounds(deps.timers, 0, async () => {
    try {
      await deps.seed()
      await runOnce(deps)
    } catch (error) {
      deps.log.warn({ error: String(error) }, 'billing waits')
    }
    return everyMilliseconds
  })
}

/** Charges what is due and closes past months, as of now. */
async function runOnce(deps: BackgroundDependencies): Promise<void> {
  const now = deps.clock.now()
  const midnight = Math.floor(now / day) * day
  await rateUsage(deps, midnight, now)
  await settleUsage(deps.ledger.sql, nameOf(parentOf(deps.profile)), midnight)
  const [waiting] = await deps.ledger.sql.all(
    'select count(*) as n from (select 1 from billing_usage where unrated = 1 and rated_until < ? and ended_at is not null limit 1) waiting',
    midnight,
  )
  if (waiting !== undefined && number(waiting, 'n') > 0) return
  // A month is closed when its grace period is over, even after a long downtime.
  const month = monthOf(spanOfMonth(monthOf(now - graceMilliseconds)).start - 1)
  const profiles = await deps.reader.list({
    type: 'Billing/billingAccounts/billingProfiles',
    under: rootId,
    limit: profilesMax,
  })
  for (const { id, model } of profiles) {
    // The type's `toModel` made the rows.
    if ((model as BillingProfile).monthlyInvoices === false) continue
    const place = { account: nameOf(parentOf(id)), profile: nameOf(id) }
    await closeStatements(deps.ledger.sql, place, month, now)
  }
}
