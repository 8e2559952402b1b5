/**
 * Turns noted changes into notifications. Each subscription gets one outbox entry, with one notification for each
 * row, however often the row changed. If too many rows changed, the entry has one notification for the whole
 * collection. If too many entries of a subscription wait, the youngest takes what changed (decision 0154).
 */

import { allRows, deleteRows, findRow, insertRow } from '#query/rows.ts'
import type { Table } from '#query/table.ts'
import type { Sql, SqlTx } from '#stores/store.ts'
import { outboxEntries, type SubscriptionRow, subscriptions } from '../tables.ts'
import { deleteInTurns, type Writing } from '../write/rows.ts'

/** A change as a notification shows it, without what the subscription adds when it is sent. */
export interface NotedChange {
  readonly resource: string
  readonly changeType: string
  readonly lastModifiedDateTime: string
}

/** The maximum number of changes in one transaction. */
const changesMax = 5_000
/** If more rows changed, one notification of the collection replaces theirs. */
const notificationsMax = 1_000
/** The maximum number of entries of one subscription that wait. */
const waitingMax = 4
/** The maximum number of waiting entries that are counted. */
const countedMax = 5_000
const numbersAtOnce = 500
const keptMilliseconds = 7 * 86_400_000

interface Net {
  readonly first: string
  last: string
  at: number
}

/** Resolves with true if there are more. */
export async function collectChanges(sql: Sql, now: number, newId: () => string): Promise<boolean> {
  const { dialect } = sql
  const lock = notHeld(dialect)
  return await sql.transact(async (tx) => {
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
    const waiting = await waitingEntries(tx)
    const byResource = new Map<string, readonly NotedChange[]>()
    for (const one of await allRows(tx, subscriptions, 'where expires_at > ? order by id', now)) {
      const { resource } = one
      const nets = bySet.get(`${one.company_id} ${one.set_name}`)
      if (nets === undefined) continue
      const changes = byResource.get(resource) ?? bounded(resource, notificationsOf(resource, nets))
      byResource.set(resource, changes)
      if (changes.length === 0) continue
      const entries = waiting.get(one.id) ?? []
      const before =
        entries.length < waitingMax ? [] : await takeYoungest({ tx, dialect }, one, entries, now)
      const all = before.length === 0 ? changes : bounded(resource, joined(before, changes))
      await addNotification(tx, one, { id: newId(), now, changes: all })
    }
    await forget(
      tx,
      rows.map(({ number }) => Number(number)),
    )
    await deleteOld({ tx, dialect }, subscriptions, 'expires_at <= ?', now)
    const ended = `kind = 'Notification' and status <> 'Waiting' and created_at < ?`
    await deleteOld({ tx, dialect }, outboxEntries, ended, now - keptMilliseconds)
    return rows.length === changesMax
  })
}

/** The end of a select that passes over rows which another transaction holds: nobody's notifications wait for it. */
function notHeld(dialect: Writing['dialect']): string {
  return dialect === 'postgres' ? ' for update skip locked' : ''
}

async function deleteOld(
  writing: Writing,
  table: Pick<Table, 'name'>,
  condition: string,
  before: number,
): Promise<void> {
  const old = `select id from ${table.name} where ${condition}${notHeld(writing.dialect)}`
  await deleteInTurns(writing, table, `id in (${old})`, [before])
}

interface WaitingEntry {
  readonly id: string
  readonly createdAt: number
}

/** By subscription. */
async function waitingEntries(tx: SqlTx): Promise<ReadonlyMap<string, readonly WaitingEntry[]>> {
  const rows = await tx.all(
    `select id, sender, created_at from business_outbox_entries
      where kind = 'Notification' and status = 'Waiting' limit ${countedMax}`,
  )
  const entries = rows.map((row) => ({
    id: String(row['id']),
    sender: String(row['sender']),
    createdAt: Number(row['created_at']),
  }))
  return Map.groupBy(entries, ({ sender }) => sender)
}

/** Removes the youngest entry that is not being sent, and resolves with its changes. */
async function takeYoungest(
  { tx, dialect }: Writing,
  { company_id }: SubscriptionRow,
  entries: readonly WaitingEntry[],
  now: number,
): Promise<readonly NotedChange[]> {
  for (const { id } of entries.toSorted((a, b) => b.createdAt - a.createdAt)) {
    const row = await findRow(tx, outboxEntries, { id, company_id })
    // One of another company is from before the subscription was moved.
    if (row === undefined) continue
    const isFree = `where id = ? and status = 'Waiting' and leased_until <= ?${notHeld(dialect)}`
    // Whoever claims it at this moment keeps it.
    const [free] = await tx.all(`select id from business_outbox_entries ${isFree}`, id, now)
    if (free === undefined) continue
    await deleteRows(tx, outboxEntries, { id })
    // `addNotification` wrote this text.
    return JSON.parse(row.message || row.payload)
  }
  return []
}

/** One change for each row. */
function joined(
  before: readonly NotedChange[],
  after: readonly NotedChange[],
): readonly NotedChange[] {
  const byRow = new Map(before.map((change) => [change.resource, change]))
  for (const change of after) {
    const isNew = byRow.get(change.resource)?.changeType === 'created'
    const isStillNew = isNew && change.changeType === 'updated'
    byRow.set(change.resource, isStillNew ? { ...change, changeType: 'created' } : change)
  }
  return [...byRow.values()]
}

function notificationsOf(resource: string, nets: ReadonlyMap<string, Net>): readonly NotedChange[] {
  return [...nets].flatMap(([id, { first, last, at }]) => {
    const isNew = first === 'created'
    // The row was created and deleted within the same round, so no client ever saw it.
    if (isNew && last === 'deleted') return []
    const changeType = isNew ? 'created' : last === 'deleted' ? 'deleted' : 'updated'
    return [{ resource: `${resource}(${id})`, changeType, lastModifiedDateTime: momentOf(at) }]
  })
}

/** The changes, or one of the collection if they are too many. */
function bounded(resource: string, changes: readonly NotedChange[]): readonly NotedChange[] {
  const hasCollection = changes.some(({ changeType }) => changeType === collection)
  if (changes.length <= notificationsMax && !hasCollection) return changes
  const firsts = changes.map(firstOf).toSorted((a, b) => a - b)
  const lasts = changes.map((change) => change.lastModifiedDateTime).toSorted()
  const since = `${sinceForm}${momentOf((firsts[0] ?? 0) - 1)}`
  return [
    {
      resource: `${resource}?$filter=${encodeURIComponent(since)}`,
      changeType: collection,
      lastModifiedDateTime: lasts.at(-1) ?? momentOf(0),
    },
  ]
}

const collection = 'collection'
const sinceForm = 'lastModifiedDateTime gt '

/** The moment of the earliest change that a notification stands for. */
function firstOf({ resource, changeType, lastModifiedDateTime }: NotedChange): number {
  if (changeType !== collection) return Date.parse(lastModifiedDateTime)
  const [, since = ''] = decodeURIComponent(resource).split(sinceForm)
  return Date.parse(since) + 1
}

function momentOf(at: number): string {
  return new Date(at).toISOString()
}

async function forget(tx: SqlTx, numbers: readonly number[]): Promise<void> {
  for (let at = 0; at < numbers.length; at += numbersAtOnce) {
    const some = numbers.slice(at, at + numbersAtOnce)
    const places = some.map(() => '?').join(', ')
    await tx.run(`delete from business_changes where number in (${places})`, ...some)
  }
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
    // Whoever may read the company reads it, and the rest of an address often holds a secret.
    recipient: new URL(url).origin.slice(0, 250),
    subject: resource.slice(0, 250),
    created_at: now,
    due_at: now,
    last_modified_date_time: now,
    payload: JSON.stringify(changes),
  })
}
