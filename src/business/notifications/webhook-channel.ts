/**
 * Sends notifications to subscribers. The secret of a subscription (`clientState`) is added when a notification is
 * sent, and is not stored with it. A subscription ends when its receiver refuses a notification for good (the
 * published rule), and when its maker may no longer read the company.
 */

import type { Principal } from '#kernel/principal.ts'
import { deleteRows, findRow } from '#query/rows.ts'
import type { Sql } from '#stores/store.ts'
import { type AccessDependencies, callerOf, rightsOf } from '../access.ts'
import { forgetHistory } from '../following/history.ts'
import { type Channel, NotDelivered } from '../outbox/deliver.ts'
import { type OutboxRow, type SubscriptionRow, subscriptions } from '../tables.ts'
import { collectChanges, type NotedChange } from './collect.ts'

/**
 * Sends a POST to an address that a client named. Returns the answer, or the reason why there is none, in words
 * that the client may see.
 */
export type CallOut = (
  url: string,
  body: string,
  /** The id of the principal for whom it is called. */
  owner: string,
) => Promise<{ readonly status: number; readonly text: string } | { readonly reason: string }>

interface WebhookDependencies extends AccessDependencies {
  readonly sql: Sql
  readonly clock: { now(): number }
  readonly newId: () => string
  readonly callOut: CallOut
  /** False if the principal was deleted or disabled, or if all its tokens were revoked. */
  isActive(principal: Principal): Promise<boolean>
}

/** A row that changes several times within this delay gives one notification. */
const delayMilliseconds = 30_000
/** How often the log of followed sets is cut. */
const forgetMilliseconds = 600_000

export function webhookChannel(deps: WebhookDependencies): Channel {
  const { sql, clock, callOut } = deps
  let seenAt: number | undefined
  let forgotAt = 0
  return {
    places: { all: 16, each: 2 },
    // Whoever made the subscription: its receivers are theirs, in whatever company.
    owner: `coalesce((select user_id from business_subscriptions where id = entry.sender), entry.company_id)`,
    async prepare() {
      const now = clock.now()
      if (now - forgotAt >= forgetMilliseconds) {
        forgotAt = now
        await forgetHistory(sql, now)
      }
      const [change] = await sql.all('select number from business_changes limit 1')
      seenAt = change === undefined ? undefined : (seenAt ?? now)
      if (seenAt === undefined || now - seenAt < delayMilliseconds) return
      seenAt = undefined
      while (await collectChanges(sql, now, deps.newId));
    },
    async compose({ payload }) {
      return payload
    },
    async send(entry, message) {
      const subscription = await findRow(sql, subscriptions, { id: entry.sender })
      if (subscription === undefined || subscription.expires_at <= clock.now()) {
        throw new NotDelivered('the subscription has ended', true)
      }
      if (subscription.company_id !== entry.company_id) {
        throw new NotDelivered('the subscription is of another company now', true)
      }
      if (!(await mayRead(deps, subscription))) {
        await end(deps, entry)
        throw new NotDelivered('who subscribed may no longer read the company', true)
      }
      const answer = await callOut(
        subscription.notification_url,
        JSON.stringify({ value: notificationsOf(subscription, message) }),
        subscription.user_id,
      )
      if ('reason' in answer) throw new NotDelivered(answer.reason, false)
      const { status } = answer
      if (status >= 200 && status < 300) return ''
      const isLater = status === 408 || status === 429 || status >= 500
      if (!isLater) await end(deps, entry)
      const rest = isLater ? '' : '; the subscription was removed'
      throw new NotDelivered(`it answered ${status}${rest}`, !isLater)
    },
  }
}

function notificationsOf(
  { id, client_state: clientState, expires_at: expiresAt }: SubscriptionRow,
  message: string,
): readonly object[] {
  // `collectChanges` wrote this text.
  const changes = JSON.parse(message) as readonly NotedChange[]
  const expirationDateTime = new Date(expiresAt).toISOString()
  return changes.map((change) => ({
    subscriptionId: id,
    clientState,
    expirationDateTime,
    ...change,
  }))
}

async function end({ sql }: WebhookDependencies, { sender: id }: OutboxRow): Promise<void> {
  await sql.transact((tx) => deleteRows(tx, subscriptions, { id }))
}

/** Asked as the maker of the subscription, as if they read the company now. */
async function mayRead(
  deps: WebhookDependencies,
  { maker: stored, company_id: companyId }: SubscriptionRow,
): Promise<boolean> {
  // `subscribe` wrote this text.
  const maker = JSON.parse(stored) as Principal
  if (!(await deps.isActive(maker))) return false
  const rights = await rightsOf(deps.sql, await callerOf(deps, maker))
  return rights.isAdministrator || rights.byCompany.has(companyId)
}
