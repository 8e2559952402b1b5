/**
 * Turns noted changes into notifications. Each subscription gets one outbox entry, with one notification for each
 * row, however often the row changed. If too many rows changed, the entry has one notification for the whole
 * collection.
 */

import { allRows, insertRow } from '#query/rows.ts'
import type { Sql, SqlTx } from '#stores/store.ts'
import { outboxEntries, type SubscriptionRow, subscriptions } from '../tables.ts'

/** A change as a notification shows it, without what the subscription adds when it is sent. */
export interface NotedChange {
  readonly resource: string
  readonly changeType: string
  readonly lastModifiedDateTime: string
}

/** The maximum number of changes handled together. The next round handles the rest. */
const changesMax = 20_000
/** If more rows changed, one notification of the collection replaces theirs. */
const notificationsMax = 1_000
const numbersAtOnce = 500
const keptMilliseconds = 7 * 86_400_000

interface Net {
  readonly first: string
  last: string
  at: number
}

export async function collectChanges(sql: Sql, now: number, newId: () => string): Promise<void> {
  const lock = sql.dialect === 'postgres' ? ' for update skip locked' : ''
  await sql.transact(async (tx) => {
    const rows = await tx.all(
      `select number, company_id, set_name, row_id, change, at from business_changes order by number limit ${changesMax}${lock}`,
    )
    const bySet = new Map<string, Map<string, Net>>()
    for (const row of rows) {
      const set = `${row['company_id']} ${row['set_name']}`
      const nets = bySet.get(set) ?? new Map<string, Net>()
      bySet.set(set, nets)
      const [id, change] = [String(row['row_id']), String(row['change'])]
      const at = change === 'deleted' ? now : Number(row['at'])
      const net = nets.get(id)
      if (net === undefined) nets.set(id, { first: change, last: change, at })
      else Object.assign(net, { last: change, at })
    }
    for (const one of await allRows(tx, subscriptions, 'where expires_at > ? order by id', now)) {
      const nets = bySet.get(`${one.company_id} ${one.set_name}`)
      const changes = nets === undefined ? [] : notificationsOf(one, nets)
      if (changes.length > 0) await addNotification(tx, one, { id: newId(), now, changes })
    }
    await forget(
      tx,
      rows.map(({ number }) => Number(number)),
    )
    await tx.run('delete from business_subscriptions where expires_at <= ?', now)
    await tx.run(
      `delete from business_outbox_entries where kind = 'Notification' and status <> 'Waiting' and created_at < ?`,
      now - keptMilliseconds,
    )
  })
}

async function forget(tx: SqlTx, numbers: readonly number[]): Promise<void> {
  for (let at = 0; at < numbers.length; at += numbersAtOnce) {
    const some = numbers.slice(at, at + numbersAtOnce)
    const places = some.map(() => '?').join(', ')
    await tx.run(`delete from business_changes where number in (${places})`, ...some)
  }
}

function notificationsOf(
  { resource }: SubscriptionRow,
  nets: ReadonlyMap<string, Net>,
): readonly NotedChange[] {
  const changes = [...nets].flatMap(([id, { first, last, at }]) => {
    const isNew = first === 'created'
    // The row was created and deleted within the same round, so no client ever saw it.
    if (isNew && last === 'deleted') return []
    const changeType = isNew ? 'created' : last === 'deleted' ? 'deleted' : 'updated'
    return [{ resource: `${resource}(${id})`, changeType, at }]
  })
  const times = changes.map(({ at }) => at)
  if (changes.length <= notificationsMax) {
    return changes.map(({ at, ...change }) => ({ ...change, lastModifiedDateTime: momentOf(at) }))
  }
  const [first, last] = [Math.min(...times), Math.max(...times)]
  const since = `lastModifiedDateTime gt ${momentOf(first - 1)}`
  return [
    {
      resource: `${resource}?$filter=${encodeURIComponent(since)}`,
      changeType: 'collection',
      lastModifiedDateTime: momentOf(last),
    },
  ]
}

function momentOf(at: number): string {
  return new Date(at).toISOString()
}

interface NewNotification {
  readonly id: string
  readonly now: number
  readonly changes: readonly NotedChange[]
}

async function addNotification(
  tx: SqlTx,
  { id: subscription, company_id, resource, notification_url: url }: SubscriptionRow,
  { id, now, changes }: NewNotification,
): Promise<void> {
  await insertRow(tx, outboxEntries, {
    id,
    company_id,
    revision: 1,
    kind: 'Notification',
    status: 'Waiting',
    sender: subscription,
    // The query of an address often holds a secret.
    recipient: url.replace(/[?#].*$/s, '').slice(0, 250),
    subject: resource.slice(0, 250),
    created_at: now,
    due_at: now,
    last_modified_date_time: now,
    payload: JSON.stringify(changes),
  })
}
