/**
 * Stores the state of the OAuth library (sessions, codes, grants, refresh tokens) as rows. A row is found by a
 * keyed hash of its id and its content is sealed, so reading the store gives nobody a session. This file does not
 * know what the state means.
 */

import type { Adapter } from 'oidc-provider'
import type { Clock } from '#kernel/ports.ts'
import type { IdentitySeal } from '#sealing/keyring.ts'
import type { Sql, SqlRow, SqlTx } from '#stores/store.ts'
import type { LibraryTime } from './library-time.ts'
import type { IdentityLimits } from './limits.ts'

const sweepEvery = 50
const sweepRows = 500
/** People whose writes are counted; when there are more, counting begins anew. */
const writersMax = 10_000
/** Rows stay this long after they expire, so that the library can say "expired" rather than "unknown". */
const graceSeconds = 60

export interface AdapterOptions {
  readonly sql: Sql
  readonly clock: Clock
  readonly time: LibraryTime
  readonly seal: IdentitySeal
  readonly limits: Pick<IdentityLimits, 'statesPerPrincipalMax'>
  /** Makes the error that `consume` throws when another request consumed the row at the same moment. */
  readonly alreadyConsumed: () => Error
  /** Finds the metadata of a client. Clients are the one kind of state that is not stored here. */
  readonly findClient: (clientId: string) => Promise<Record<string, unknown> | undefined>
}

/** Makes one adapter per kind of state, as the library expects. */
export function createAdapterFactory(options: AdapterOptions): (kind: string) => Adapter {
  const { sql, clock, time, seal, limits, alreadyConsumed, findClient } = options
  let writes = 0
  const isTurnOf = turnsOfWriters()

  return (kind) => {
    const index = (secret: string): string => seal.index(JSON.stringify([kind, secret]))
    // A grant ties several kinds together, so the grant index is the same for all kinds.
    const grantIndex = (grantId: string): string => seal.index(JSON.stringify(['Grant', grantId]))

    function read(row: SqlRow | undefined): Readonly<Record<string, unknown>> | undefined {
      if (row === undefined || Number(row['expires_at']) + graceSeconds * 1000 <= clock.now()) {
        return undefined
      }
      const opened = seal.open(String(row['payload']), `${kind} ${String(row['id'])}`)
      if (opened === undefined) return undefined
      // Sealed by `upsert` below, and authenticated by the seal.
      const payload = JSON.parse(opened) as Record<string, unknown>
      const consumedAt = row['consumed_at'] ?? null
      return time.toLibrary(
        consumedAt === null
          ? payload
          : { ...payload, consumed: Math.floor(Number(consumedAt) / 1000) },
      )
    }

    async function findBy(
      column: 'id' | 'uid' | 'user_code',
      value: string,
    ): Promise<Readonly<Record<string, unknown>> | undefined> {
      const [row] = await sql.all(
        `select id, payload, consumed_at, expires_at from identity_oauth_states
          where kind = ? and ${column} = ?`,
        kind,
        index(value),
      )
      return read(row)
    }

    async function sweep(tx: SqlTx, accountId: string | null): Promise<void> {
      if (accountId !== null && isTurnOf(accountId))
        await sweepSurplus(tx, accountId, limits.statesPerPrincipalMax)
      writes += 1
      if (writes % sweepEvery !== 0) return
      await tx.run(
        `delete from identity_oauth_states where (kind, id) in (select kind, id
          from identity_oauth_states where expires_at <= ? order by expires_at limit ${sweepRows})`,
        clock.now() - graceSeconds * 1000,
      )
    }

    return {
      async upsert(id, payload, expiresIn) {
        const key = index(id)
        const text = (name: string): string | null => {
          const value = payload[name]
          return typeof value === 'string' ? value : null
        }
        const uid = text('uid')
        const userCode = text('userCode')
        const grantId = kind === 'Grant' ? id : text('grantId')
        // Everything the library stores must expire. A row without an expiry would stay forever.
        const expiresAt = clock.now() + (expiresIn ?? 3600) * 1000
        const sealed = seal.seal(JSON.stringify(time.toInstallation(payload)), `${kind} ${key}`)
        await sql.transact(async (tx) => {
          await tx.run(
            `insert into identity_oauth_states
              (kind, id, payload, uid, user_code, grant_id, account_id, client_id, consumed_at, expires_at)
              values (?, ?, ?, ?, ?, ?, ?, ?, null, ?)
              on conflict (kind, id) do update set payload = excluded.payload, uid = excluded.uid,
              user_code = excluded.user_code, grant_id = excluded.grant_id,
              account_id = excluded.account_id, client_id = excluded.client_id,
              expires_at = excluded.expires_at`,
            kind,
            key,
            sealed,
            uid === null ? null : index(uid),
            userCode === null ? null : index(userCode),
            grantId === null ? null : grantIndex(grantId),
            text('accountId'),
            text('clientId'),
            expiresAt,
          )
          await sweep(tx, text('accountId'))
        })
      },
      find: (id) => (kind === 'Client' ? findClient(id) : findBy('id', id)),
      findByUid: (uid) => findBy('uid', uid),
      findByUserCode: (userCode) => findBy('user_code', userCode),
      async consume(id) {
        const consumed = await sql.transact((tx) =>
          tx.run(
            `update identity_oauth_states set consumed_at = ?
              where kind = ? and id = ? and consumed_at is null`,
            clock.now(),
            kind,
            index(id),
          ),
        )
        if (consumed === 0) throw alreadyConsumed()
      },
      async destroy(id) {
        await sql.transact((tx) =>
          tx.run('delete from identity_oauth_states where kind = ? and id = ?', kind, index(id)),
        )
      },
      async revokeByGrantId(grantId) {
        await sql.transact((tx) =>
          tx.run(
            'delete from identity_oauth_states where kind = ? and grant_id = ?',
            kind,
            grantIndex(grantId),
          ),
        )
      },
    }
  }
}

/** Each person has turns of their own: whoever chose what is written between could take the common one from themselves. */
function turnsOfWriters(): (accountId: string) => boolean {
  const writesOf = new Map<string, number>()
  return (accountId) => {
    if (writesOf.size >= writersMax) writesOf.clear()
    const own = (writesOf.get(accountId) ?? 0) + 1
    writesOf.set(accountId, own)
    return own % sweepEvery === 0
  }
}

/** What may go: all else of a person has a short life. */
const surplus = "(kind in ('Grant', 'RefreshToken', 'Session') or consumed_at is not null)"

/**
 * Whoever is signed in makes any number of codes, refresh tokens and grants. Of those that were not used up the oldest of the kind
 * with most of them go first.
 */
async function sweepSurplus(tx: SqlTx, accountId: string, most: number): Promise<void> {
  const [row] = await tx.all(
    `select count(*) as count from identity_oauth_states where account_id = ? and ${surplus}`,
    accountId,
  )
  if (Number(row?.['count']) <= most) return
  await tx.run(
    `delete from identity_oauth_states where (kind, id) in (select kind, id
      from identity_oauth_states where account_id = ? and ${surplus}
      order by case when consumed_at is null then 0 else 1 end,
        row_number() over (partition by kind order by expires_at desc)
      limit ${sweepRows} offset ${most})`,
    accountId,
  )
}
