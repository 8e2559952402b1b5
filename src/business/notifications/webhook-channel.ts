/**
 * Sends notifications to who subscribed. What a subscription shares with its receiver (`clientState`) is added when it is
 * sent and is not kept. Who answers that there is nobody loses the subscription (the published rule); whoever may no longer
 * read the company does too.
 */

import { deleteRows, findRow } from '#query/rows.ts'
import type { Sql } from '#stores/store.ts'
import { type AccessDependencies, rightsOf } from '../access.ts'
import { type Channel, NotDelivered } from '../outbox/deliver.ts'
import { type OutboxRow, type SubscriptionRow, subscriptions } from '../tables.ts'
import { collectChanges, type NotedChange } from './collect.ts'

/** Calls an address that a client named, by POST: what it answers, or why there is no answer, fit for that client. */
export type CallOut = (
  url: string,
  body: string,
) => Promise<{ readonly status: number; readonly text: string } | { readonly reason: string }>

interface WebhookDependencies extends Pick<AccessDependencies, 'groupsOf'> {
  readonly sql: Sql
  readonly clock: { now(): number }
  readonly newId: () => string
  readonly callOut: CallOut
  /** Whether somebody of the directory was disabled. */
  isDisabled(userId: string): Promise<boolean>
}

/** A row that changes several times meanwhile is told once. */
const delayMilliseconds = 30_000

export function webhookChannel(deps: WebhookDependencies): Channel {
  const { sql, clock, callOut } = deps
  let seenAt: number | undefined
  return {
    async prepare() {
      const now = clock.now()
      const [change] = await sql.all('select number from business_changes limit 1')
      seenAt = change === undefined ? undefined : (seenAt ?? now)
      if (seenAt === undefined || now - seenAt < delayMilliseconds) return
      seenAt = undefined
      await collectChanges(sql, now, deps.newId)
    },
    async compose({ payload }) {
      return payload
    },
    async send(entry, message) {
      const subscription = await findRow(sql, subscriptions, { id: entry.sender })
      if (subscription === undefined || subscription.expires_at <= clock.now()) {
        throw new NotDelivered('the subscription has ended', true)
      }
      if (!(await mayRead(deps, subscription))) {
        await end(deps, entry)
        throw new NotDelivered('who subscribed may no longer read the company', true)
      }
      const answer = await callOut(
        subscription.notification_url,
        JSON.stringify({ value: notificationsOf(subscription, message) }),
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
  // Written by `collectChanges`.
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

async function mayRead(
  { sql, groupsOf, isDisabled }: WebhookDependencies,
  { user_id: userId, company_id: companyId, is_administrators: isAdministrators }: SubscriptionRow,
): Promise<boolean> {
  if (await isDisabled(userId)) return false
  // Looked at anew when it is renewed, three days later at the most.
  if (isAdministrators === 1) return true
  const names = [userId, ...(await groupsOf(userId))]
  const rights = await rightsOf(sql, { isAdministrator: false, names })
  return rights.byCompany.has(companyId)
}
