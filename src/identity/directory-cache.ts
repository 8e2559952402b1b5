/**
 * What every request asks of the directory, answered from memory while the feed stands still. Only reads;
 * a fact read while the directory changed is answered but not remembered.
 */

import type { Directory, Principal, PrincipalAttributes } from '#kernel/principal.ts'
import type { Sql, SqlRow } from '#stores/store.ts'
import type { FeedWatch } from './feed-watch.ts'
import { createLruCache } from './lru-cache.ts'
import { type PrincipalRecord, principalColumns, toPrincipalRecord } from './principal-record.ts'
import { parseObjectId } from './principal-rules.ts'

export interface DirectoryCache extends Directory {
  attributesOf(id: string): Promise<PrincipalAttributes>
  /** The principal as it is now, or `undefined` when the directory has none. */
  record(id: string): Promise<PrincipalRecord | undefined>
  /**
   * Whether a principal that was authenticated earlier may still act: it exists, is enabled, and its tokens were not
   * revoked since. As fresh as `record`.
   */
  isActive(principal: Principal): Promise<boolean>
  /** What tokens of that principal may rest on. As fresh as `record`. */
  grounds(id: string): Promise<Grounds>
}

/** Tokens name the credential and the session by which they came to be. */
export interface Grounds {
  /** Ids of the password and the secrets there are. */
  readonly credentials: ReadonlySet<string>
  /** Ids of the sessions that ended while tokens of theirs may still be about. */
  readonly ended: ReadonlySet<string>
}

/** Upwards from one member; `union` drops what was seen already, so a cycle ends. */
const groupsAbove = `with recursive above (id) as (
    select group_id from identity_memberships where member_id = ?
    union
    select m.group_id from identity_memberships m join above on m.member_id = above.id
  ) select id from above order by id`

export function createDirectoryCache(options: {
  readonly sql: Sql
  readonly watch: FeedWatch
  readonly remembered: number
}): DirectoryCache {
  const { sql, watch, remembered } = options
  // `null` remembers that there is none: ids of external issuers are asked for on every request too.
  const records = createLruCache<PrincipalRecord | null>(remembered)
  const groups = createLruCache<readonly string[]>(remembered)
  const groundsOf = createLruCache<Grounds>(remembered)

  watch.onChange((keys) => {
    for (const key of keys) {
      records.delete(key)
      groundsOf.delete(key)
    }
    // One membership moves the groups of everyone below it; finding them costs more than asking again.
    groups.clear()
  })

  async function remember<V>(
    cache: { get(key: string): V | undefined; set(key: string, value: V): void },
    id: string,
    read: () => Promise<V>,
  ): Promise<V> {
    const moved = watch.refresh()
    if (moved !== undefined) await moved
    const hit = cache.get(id)
    if (hit !== undefined) return hit
    const version = watch.version
    const value = await read()
    if (watch.version === version) cache.set(id, value)
    return value
  }

  async function readRecord(id: string): Promise<PrincipalRecord | null> {
    const [row] = await sql.all(
      `select ${principalColumns} from identity_principals where id = ?`,
      id,
    )
    return row === undefined ? null : toPrincipalRecord(row)
  }

  async function record(id: string): Promise<PrincipalRecord | undefined> {
    if (parseObjectId(id) !== id) return undefined
    return (await remember(records, id, () => readRecord(id))) ?? undefined
  }

  async function readGrounds(id: string): Promise<Grounds> {
    const credentials = await sql.all(
      'select id from identity_credentials where principal_id = ?',
      id,
    )
    const ended = await sql.all(
      'select id from identity_sessions where principal_id = ? and ended_at is not null',
      id,
    )
    const idsOf = (rows: readonly SqlRow[]): ReadonlySet<string> =>
      new Set(rows.map((row) => String(row['id'])))
    return { credentials: idsOf(credentials), ended: idsOf(ended) }
  }

  return {
    record,
    grounds: (id) => remember(groundsOf, id, () => readGrounds(id)),
    async find(id) {
      const found = await record(id)
      return found === undefined ? undefined : { type: found.type, displayName: found.displayName }
    },
    async isActive({ id, issuer, generation }) {
      const found = await record(id)
      if (issuer !== undefined) return found === undefined
      // Kept by a version that had no generations: as a token without one, it is of the first.
      return found?.enabled === true && found.generation === (generation ?? 0)
    },
    attributesOf: async (id) => (await record(id))?.attributes ?? {},
    async groupsOf(id) {
      if (parseObjectId(id) !== id) return []
      return remember(groups, id, async () => {
        const rows = await sql.all(groupsAbove, id)
        // A group in a cycle finds itself; nobody is a member of oneself.
        return rows.map((row) => String(row['id'])).filter((group) => group !== id)
      })
    },
  }
}
