/**
 * The log of changes of followed sets: where it is now, which rows changed since a position, and how much of it is
 * kept. A set is followed from the first request for a delta link on, and until nobody uses its links any more.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { deleteRows, findRow, updateRows } from '#query/rows.ts'
import type { Dialect } from '#query/table.ts'
import type { Sql } from '#stores/store.ts'
import type { Entity } from '../entity.ts'
import { refuse } from '../errors.ts'
import type { Reads } from '../message.ts'
import { type FollowedSetRow, followedSets } from '../tables.ts'
import { afterShown, shownBy, shownPrefix } from './followed.ts'

/** A set of a company. */
export interface CompanySet {
  readonly companyId: string
  readonly entity: Entity
}

interface FollowDependencies {
  readonly sql: Sql
  readonly now: number
  readonly ids: { uuid(): string; secret(bytes: number): string }
}

const day = 86_400_000
/** A change stays in the log at least this long, and at most twice as long. */
const keptMilliseconds = 7 * day
/** A set is no longer followed when no delta link of it was used for this long. */
const unusedMilliseconds = 2 * keptMilliseconds
/** The maximum number of changes in the log of one set. */
const changesKeptMax = 100_000
/** The maximum number of followed sets in an installation. Further ones get no delta links. */
const followedMax = 1_000
const secretBytes = 24
/** `kept_from` of a set that is about to be followed. */
const notKept = 0
/** The waits before each look whether a set can be followed, in milliseconds. */
const looks = [0, 10, 20, 40, 80, 160, 320, 640]
const deletedAtOnce = 2_000

export function findFollowed(
  reads: Reads,
  { companyId, entity }: CompanySet,
): Promise<FollowedSetRow | undefined> {
  return findRow(reads, followedSets, { company_id: companyId, set_name: entity.set })
}

interface LogPosition {
  /** Everything before this position is committed, and visible to reads from now on. */
  readonly settled: number
  /** Everything that is visible now is before this position. */
  readonly until: number
}

export async function positionNow(reads: Reads, dialect: Dialect): Promise<LogPosition> {
  const [row] = await reads.all(
    dialect === 'sqlite'
      ? "select coalesce(max(seq), 0) + 1 as settled, coalesce(max(seq), 0) + 1 as until from sqlite_sequence where name = 'business_row_changes'"
      : 'select txid_snapshot_xmin(now) as settled, txid_snapshot_xmax(now) as until from txid_current_snapshot() as now',
  )
  return { settled: Number(row?.['settled']), until: Number(row?.['until']) }
}

/** Undefined if too many sets are followed already. */
export async function follow(
  deps: FollowDependencies,
  set: CompanySet,
): Promise<FollowedSetRow | undefined> {
  const known = (await findFollowed(deps.sql, set)) ?? (await beginFollowing(deps, set))
  if (known === undefined) return undefined
  if (known.kept_from === notKept) return await beginKeeping(deps, set, known)
  if (deps.now - known.used_at > day) await touch(deps, known)
  return known
}

/**
 * The position from which a client may follow the set. Undefined while transactions run that changed rows when nobody
 * followed them: nobody is made to wait for their end (decision 0406).
 */
export async function firstPosition(
  { sql }: Pick<FollowDependencies, 'sql'>,
  followed: FollowedSetRow,
): Promise<number | undefined> {
  for (const milliseconds of looks) {
    await sleep(milliseconds)
    const { settled } = await positionNow(sql, sql.dialect)
    if (settled >= followed.kept_from) return settled
  }
  return undefined
}

export async function touch(
  { sql, now }: Pick<FollowDependencies, 'sql' | 'now'>,
  { id }: FollowedSetRow,
): Promise<void> {
  await sql.transact((tx) => updateRows(tx, followedSets, { id }, { used_at: now }))
}

async function beginFollowing(
  { sql, now, ids }: FollowDependencies,
  set: CompanySet,
): Promise<FollowedSetRow | undefined> {
  const { companyId, entity } = set
  return await sql.transact(async (tx) => {
    const [count] = await tx.all('select count(*) as n from business_followed_sets')
    if (Number(count?.['n']) >= followedMax) return undefined
    // Another request may have begun at the same time.
    await tx.run(
      `insert into business_followed_sets
         (id, company_id, revision, set_name, secret, kept_from, marked_position, marked_at, used_at)
       values (?, ?, 1, ?, ?, ?, ?, ?, ?) on conflict (company_id, set_name) do nothing`,
      ids.uuid(),
      companyId,
      entity.set,
      ids.secret(secretBytes),
      notKept,
      notKept,
      now,
      now,
    )
    return await findFollowed(tx, set)
  })
}

/** Every transaction that begins after the set was committed as followed logs its changes. */
async function beginKeeping(
  { sql, now }: FollowDependencies,
  set: CompanySet,
  { id }: FollowedSetRow,
): Promise<FollowedSetRow | undefined> {
  return await sql.transact(async (tx) => {
    const { until } = await positionNow(tx, sql.dialect)
    const cells = { kept_from: until, marked_position: until, marked_at: now }
    await updateRows(tx, followedSets, { id, kept_from: notKept }, cells)
    return await findFollowed(tx, set)
  })
}

interface ChangesWanted {
  readonly position: number
  readonly until: number
  readonly after: string
  /** The maximum number of rows. */
  readonly most: number
}

/**
 * The rows that changed between two positions, each once, in the order of their ids. Throws if there are more changes
 * than the log keeps.
 */
export async function changedSince(
  { scan }: Pick<Sql, 'scan'>,
  { companyId, entity }: CompanySet,
  { position, until, after, most }: ChangesWanted,
): Promise<readonly string[]> {
  const { set, table } = entity
  const range = 'company_id = ? and set_name = ? and position >= ? and position < ?'
  const log = `from business_row_changes where ${range}`
  const values = [companyId, set, position, until]
  const [excess] = await scan(
    `select position ${log} order by position limit 1 offset ${changesKeptMax}`,
    ...values,
  )
  if (excess !== undefined) throw refuse.Request_DeltaLinkExpired({ set })
  const changed = `select row_id ${log} and row_id > ?`
  const reference = shownBy(entity)
  const showing =
    reference === undefined
      ? ''
      : `union select id from ${table.name} where company_id = ? and id > ? and ${reference} in (
           select substr(row_id, ${shownPrefix.length + 1}) ${log} and row_id < '${afterShown}')`
  const rows = await scan(
    `select row_id from (${changed} ${showing}) as changed group by row_id order by row_id limit ${most}`,
    ...values,
    after === '' ? afterShown : after,
    ...(reference === undefined ? [] : [companyId, after, ...values]),
  )
  return rows.map((row) => String(row['row_id']))
}

/** Removes what is too old or too much, and what nobody uses. */
export async function forgetHistory(sql: Sql, now: number): Promise<void> {
  // A process whose sets nobody follows starts no thread.
  const [any] = await sql.all('select 1 as one from business_followed_sets limit 1')
  if (any === undefined) return
  const sets = await sql.scan(
    'select id, company_id, set_name, kept_from, marked_position, marked_at, used_at from business_followed_sets order by id',
  )
  for (const row of sets) {
    // These are columns of the table.
    const one = row as unknown as FollowedSetRow
    const isUnused = now - one.used_at > unusedMilliseconds
    // Read before the set is removed: what is noted for whoever follows it anew comes after it.
    const from = isUnused
      ? (await positionNow(sql, sql.dialect)).settled
      : await keptFrom(sql, one, now)
    const { id, used_at } = one
    // Not where it was used since it was read.
    if (isUnused) await sql.transact((tx) => deleteRows(tx, followedSets, { id, used_at }))
    if (!isUnused || (await findRow(sql, followedSets, { id })) === undefined) {
      await deleteBefore(sql, one, from)
    }
  }
}

/** Readers are refused what is removed before it is. */
async function keptFrom(sql: Sql, one: FollowedSetRow, now: number): Promise<number> {
  const [excess] = await sql.scan(
    `select position from business_row_changes where company_id = ? and set_name = ?
       order by position desc limit 1 offset ${changesKeptMax}`,
    one.company_id,
    one.set_name,
  )
  const isOld = now - one.marked_at >= keptMilliseconds
  const from = Math.max(
    one.kept_from,
    excess === undefined ? 0 : Number(excess['position']) + 1,
    isOld ? one.marked_position : 0,
  )
  const mark = isOld
    ? { marked_position: (await positionNow(sql, sql.dialect)).settled, marked_at: now }
    : undefined
  if (from > one.kept_from || mark !== undefined) {
    const cells = { kept_from: from, ...mark }
    // Where another process was first, what it keeps must not be promised for longer.
    const read = { id: one.id, kept_from: one.kept_from }
    const written = await sql.transact((tx) => updateRows(tx, followedSets, read, cells))
    if (written === 0) return one.kept_from
  }
  return from
}

async function deleteBefore(
  sql: Sql,
  { company_id: companyId, set_name: set }: FollowedSetRow,
  position: number,
): Promise<void> {
  const key = sql.dialect === 'sqlite' ? 'position' : 'number'
  for (let deleted = deletedAtOnce; deleted === deletedAtOnce; ) {
    deleted = await sql.transact((tx) =>
      tx.run(
        `delete from business_row_changes where ${key} in (
           select ${key} from business_row_changes
             where company_id = ? and set_name = ? and position < ? order by position limit ${deletedAtOnce})`,
        companyId,
        set,
        position,
      ),
    )
  }
}
