/**
 * Answers from memory what every request asks of the directory, as long as the feed does not move. It only reads. A
 * fact that was read during a change is answered but not remembered.
 */

import type { Directory, Principal, PrincipalAttributes } from '#kernel/principal.ts'
import type { Sql } from '#stores/store.ts'
import { credentialGroundsOf, type FederatedOf, resourceOf } from './federated-credentials.ts'
import type { FeedWatch } from './feed-watch.ts'
import { createLruCache } from './lru-cache.ts'
import { type PrincipalRecord, principalColumns, toPrincipalRecord } from './principal-record.ts'
import { parseObjectId } from './principal-rules.ts'

export interface DirectoryCache extends Directory {
  attributesOf(id: string): Promise<PrincipalAttributes>
  /** The principal as it is now, or `undefined` when the directory has none with this id. */
  record(id: string): Promise<PrincipalRecord | undefined>
  /** Those of some ids that the directory has, in the order of the ids. Few statements, however many ids. */
  records(ids: readonly string[]): Promise<readonly PrincipalRecord[]>
  /**
   * Whether a principal that was authenticated earlier may still act: it exists, is enabled, and its tokens were
   * not revoked since. As fresh as `record`.
   */
  isActive(principal: Principal): Promise<boolean>
  /** The credentials and sessions that tokens of this principal may rest on. As fresh as `record`. */
  grounds(id: string): Promise<RevocationState>
  /** Whether there is an enabled principal with this client id, or with this id. As fresh as `record`. */
  isClient(clientId: string): Promise<boolean>
}

/** A token names the credential and the session it was issued for. */
interface RevocationState {
  /** The ids of the password, the secrets and the federated credentials that exist. */
  readonly credentials: ReadonlySet<string>
  /** The ids of sessions that ended while their tokens may still be in use. */
  readonly ended: ReadonlySet<string>
}

/** Walks upwards from one member. `union` drops rows seen before, so a cycle ends. */
const groupsAbove = `with recursive above (id) as (
    select group_id from identity_memberships where member_id = ?
    union
    select m.group_id from identity_memberships m join above on m.member_id = above.id
  ) select id from above order by id`

/** Ids of one statement, always: each number of ids would be a statement of its own. */
const idsAtOnce = 100
const severalRecords = `select ${principalColumns} from identity_principals
  where id in (${Array.from({ length: idsAtOnce }, () => '?').join(', ')})`

function idsOf(rows: readonly { readonly id?: unknown }[]): ReadonlySet<string> {
  return new Set(rows.map(({ id }) => String(id)))
}

async function readRecord(sql: Sql, id: string): Promise<PrincipalRecord | null> {
  const [row] = await sql.all(
    `select ${principalColumns} from identity_principals where id = ?`,
    id,
  )
  return row === undefined ? null : toPrincipalRecord(row)
}

async function readRecords(sql: Sql, ids: readonly string[]): Promise<readonly PrincipalRecord[]> {
  const found: PrincipalRecord[] = []
  for (let at = 0; at < ids.length; at += idsAtOnce) {
    const some = ids.slice(at, at + idsAtOnce)
    const padding = Array.from({ length: idsAtOnce - some.length }, () => some[0] ?? '')
    const rows = await sql.all(severalRecords, ...some, ...padding)
    found.push(...rows.map(toPrincipalRecord))
  }
  return found
}

export function createDirectoryCache(options: {
  readonly sql: Sql
  readonly watch: FeedWatch
  readonly remembered: number
  readonly federatedOf: FederatedOf
}): DirectoryCache {
  const { sql, watch, remembered, federatedOf } = options
  // `null` remembers that there is no such principal. Ids of external issuers are looked up on every request too.
  const records = createLruCache<PrincipalRecord | null>(remembered)
  const groups = createLruCache<readonly string[]>(remembered)
  const groundsOf = createLruCache<RevocationState>(remembered)
  const clients = createLruCache<boolean>(remembered)

  watch.onChange((keys) => {
    if (keys === 'all') records.clear()
    else for (const key of keys) records.delete(key)
    // The key of a federated credential that is a resource does not say whose it is.
    if (keys === 'all' || keys.some((key) => key.startsWith('/'))) groundsOf.clear()
    else for (const key of keys) groundsOf.delete(key)
    // One membership changes the groups of everyone below it. Finding them costs more than reading them again.
    groups.clear()
    // A change names the principal, not its client id.
    clients.clear()
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

  async function record(id: string): Promise<PrincipalRecord | undefined> {
    if (parseObjectId(id) !== id) return undefined
    return (await remember(records, id, () => readRecord(sql, id))) ?? undefined
  }

  async function recordsOf(ids: readonly string[]): Promise<readonly PrincipalRecord[]> {
    const moved = watch.refresh()
    if (moved !== undefined) await moved
    const { version } = watch
    const found = new Map<string, PrincipalRecord | null>()
    const unknown: string[] = []
    for (const id of new Set(ids.filter((one) => parseObjectId(one) === one))) {
      const hit = records.get(id)
      if (hit === undefined) unknown.push(id)
      else found.set(id, hit)
    }
    for (const one of await readRecords(sql, unknown)) found.set(one.id, one)
    if (watch.version === version) {
      for (const id of unknown) records.set(id, found.get(id) ?? null)
    }
    return ids.flatMap((id) => found.get(id) ?? [])
  }

  async function readGrounds(id: string): Promise<RevocationState> {
    const credentials = await credentialGroundsOf(sql, id)
    const ended = await sql.all(
      'select id from identity_sessions where principal_id = ? and ended_at is not null',
      id,
    )
    const resource = await resourceOf(sql, id)
    const federated = resource === undefined ? [] : await federatedOf(resource)
    return { credentials: new Set([...credentials, ...idsOf(federated)]), ended: idsOf(ended) }
  }

  return {
    record,
    records: recordsOf,
    grounds: (id) => remember(groundsOf, id, () => readGrounds(id)),
    isClient: (clientId) =>
      remember(clients, clientId, async () => {
        const [row] = await sql.all(
          'select id from identity_principals where enabled = 1 and (client_id = ? or id = ?)',
          clientId,
          clientId,
        )
        return row !== undefined
      }),
    async find(id) {
      const found = await record(id)
      if (found === undefined) return undefined
      const { type, displayName, clientId } = found
      return { type, displayName, ...(clientId === undefined ? {} : { clientId }) }
    },
    isActive(principal) {
      const { id } = principal
      // Each resource of a deployment asks for the same one: nothing is awaited where the answer is known.
      const moved = watch.refresh()
      // `record` asks once more, and tells of what fails.
      moved?.catch(() => {})
      const known = moved === undefined ? records.get(id) : undefined
      return known === undefined
        ? record(id).then((found) => isActiveAs(found, principal))
        : Promise.resolve(isActiveAs(known ?? undefined, principal))
    },
    attributesOf: async (id) => (await record(id))?.attributes ?? {},
    async groupsOf(id) {
      if (parseObjectId(id) !== id) return []
      return remember(groups, id, async () => {
        const rows = await sql.all(groupsAbove, id)
        // A group in a cycle would find itself, but nothing is a member of itself.
        return rows.map((row) => String(row['id'])).filter((group) => group !== id)
      })
    },
  }
}

function isActiveAs(
  found: PrincipalRecord | undefined,
  { issuer, generation }: Principal,
): boolean {
  if (issuer !== undefined) return found === undefined
  // A session stored before generations existed counts as the first generation, like a token without one.
  return found?.enabled === true && found.generation === (generation ?? 0)
}
