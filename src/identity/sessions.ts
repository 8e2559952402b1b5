/**
 * The sessions of people: one row for each browser, and one for each application that stays signed in when the
 * browser signs out (command lines, devices). Every token of a person names its session, so ending the session ends
 * the token. This file knows no cookies and no grants; the OAuth library stores those.
 */

import type { Clock, Ids } from '#kernel/ports.ts'
import type { RequestOrigin } from '#kernel/request-origin.ts'
import type { IdentitySeal } from '#sealing/keyring.ts'
import type { Sql, SqlRow, SqlTx } from '#stores/store.ts'
import type { DirectorySql } from './directory-sql.ts'
import { refuseIdentity } from './errors.ts'
import { directoryFeed } from './feed-watch.ts'
import type { IdentityLimits } from './limits.ts'
import { parseObjectId } from './principal-rules.ts'

export interface Session {
  readonly id: string
  readonly principalId: string
  /** The application that is signed in; `undefined` for a browser. */
  readonly clientId: string | undefined
  /** The password the session began with. The session ends when it is removed. */
  readonly credentialId: string
  readonly origin: RequestOrigin
  readonly createdAt: number
  readonly usedAt: number
}

/** What identifies a session to the OAuth library. */
export interface SessionKey {
  /** The id of the browser's session. */
  readonly uid: string
  /** Set for an application that stays signed in by itself. */
  readonly clientId: string | undefined
}

export interface Sessions {
  /**
   * Begins the session of a person who has just signed in with this browser, unless the account or the password has ended
   * since.
   */
  begin(uid: string, who: Pick<Session, 'principalId' | 'credentialId' | 'origin'>): Promise<void>
  /** Returns the session unless it has ended or timed out, and records its use. */
  use(key: SessionKey, principalId: string): Promise<Session | undefined>
  /** Begins an application's own session from the browser's, after a person has allowed it. */
  beginOwn(
    key: SessionKey & { readonly clientId: string },
    who: { readonly principalId: string; readonly origin: RequestOrigin; readonly grantId: string },
  ): Promise<Session | undefined>
  /** Ends the session of this key and its tokens. Does nothing when there is none. */
  endByKey(key: SessionKey): Promise<void>
  /** Ends the sessions that applications have of their own by this grant, and their tokens. */
  endByGrant(grantId: string): Promise<void>
}

/** The use of a session is written at most this often. */
const useSeconds = 60
const sweepRows = 100

const columns =
  'id, principal_id, client_id, credential_id, address, user_agent, created_at, used_at'

/** Ends all sessions of a principal, however it signed in, in every table. */
export async function endSessionsOf(tx: SqlTx, principalId: string, now: number): Promise<void> {
  await tx.run(
    'update identity_sessions set ended_at = ? where principal_id = ? and ended_at is null',
    now,
    principalId,
  )
  await tx.run('delete from identity_oauth_states where account_id = ?', principalId)
  await tx.follow(directoryFeed, principalId)
}

/**
 * Ends what applications with this client id stay signed in by or could redeem, whoever is: another one may have the id
 * later.
 */
export async function endSessionsWith(
  tx: SqlTx,
  clientId: string | undefined,
  now: number,
): Promise<void> {
  if (clientId === undefined) return
  const current = 'client_id = ? and ended_at is null'
  await tx.run('delete from identity_oauth_states where client_id = ?', clientId)
  // Rows of earlier versions do not name the client. PostgreSQL uses no index for both conditions in one.
  await tx.run(
    `delete from identity_oauth_states
      where grant_id in (select grant_id from identity_sessions where ${current})`,
    clientId,
  )
  await tx.run(`update identity_sessions set ended_at = ? where ${current}`, now, clientId)
}

/** The current sessions of a person, newest first. */
export async function listSessions(
  from: Pick<Sql, 'all'>,
  principalId: string,
  options: { readonly now: number; readonly limits: IdentityLimits },
): Promise<readonly Session[]> {
  const rows = await from.all(
    `select ${columns} from identity_sessions where principal_id = ? and ended_at is null
      and created_at > ? and used_at > ? order by created_at desc, id limit ?`,
    principalId,
    ...startOf(options),
    options.limits.pageSizeMax,
  )
  return rows.map(toSession)
}

/** Ends a session. Refuses with `SessionNotFound` what is not a current session of that principal. */
export async function endSession(
  tx: SqlTx,
  principalId: string,
  { id, now }: { readonly id: string; readonly now: number },
): Promise<void> {
  const [row] = await tx.all(
    `select session_key, client_id, grant_id from identity_sessions
      where id = ? and principal_id = ? and ended_at is null`,
    parseObjectId(id) ?? '',
    principalId,
  )
  if (row === undefined) throw refuseIdentity.SessionNotFound({ id: id.slice(0, 100) })
  await endRow(tx, row, { principalId, now })
}

async function endRow(
  tx: SqlTx,
  row: SqlRow,
  { principalId, now }: { readonly principalId: string; readonly now: number },
): Promise<void> {
  const key = String(row['session_key'])
  await tx.run(
    'update identity_sessions set ended_at = ? where session_key = ? and ended_at is null',
    now,
    key,
  )
  // The library finds a browser's session by this key, and an application's rows by its grant.
  if (row['client_id'] === null) {
    await tx.run("delete from identity_oauth_states where kind = 'Session' and uid = ?", key)
  } else {
    await tx.run(
      'delete from identity_oauth_states where grant_id = ?',
      String(row['grant_id'] ?? ''),
    )
  }
  await tx.follow(directoryFeed, principalId)
}

/** The earliest start and the earliest last use that a live session can have. */
function startOf({
  now,
  limits,
}: {
  readonly now: number
  readonly limits: IdentityLimits
}): [number, number] {
  return [now - limits.sessionSecondsMax * 1000, now - limits.sessionSeconds * 1000]
}

interface SessionOptions {
  readonly sql: DirectorySql
  readonly clock: Clock
  readonly ids: Ids
  readonly seal: IdentitySeal
  readonly limits: IdentityLimits
}

export function openSessions(options: SessionOptions): Sessions {
  const { sql, clock } = options
  const { keyOf, grantKeyOf, find, insert } = sessionRows(options)

  async function noteUse(session: Session): Promise<Session> {
    const now = clock.now()
    if (now - session.usedAt < useSeconds * 1000) return session
    await sql.transact((tx) =>
      tx.run('update identity_sessions set used_at = ? where id = ?', now, session.id),
    )
    return { ...session, usedAt: now }
  }

  async function use(key: SessionKey, principalId: string): Promise<Session | undefined> {
    const session = await find(sql, keyOf(key), principalId)
    return session === undefined ? undefined : noteUse(session)
  }

  return {
    begin: (uid, who) =>
      sql.transact(async (tx) => {
        // The account was disabled, or its password changed, since the password was checked.
        if (!(await isGood(tx, who))) return
        const key = keyOf({ uid, clientId: undefined })
        const now = clock.now()
        // The same person entered the password again, so the same session starts again.
        const renewed = await tx.run(
          `update identity_sessions set credential_id = ?, address = ?, user_agent = ?, created_at = ?,
            used_at = ? where session_key = ? and principal_id = ? and ended_at is null`,
          who.credentialId,
          who.origin.address,
          who.origin.userAgent,
          now,
          now,
          key,
          who.principalId,
        )
        if (renewed > 0) return
        await insert(tx, key, { ...who, clientId: undefined, grantId: undefined })
      }),
    use,
    async beginOwn(key, { principalId, origin, grantId }) {
      const known = await use(key, principalId)
      if (known !== undefined) return known
      const browser = await use({ uid: key.uid, clientId: undefined }, principalId)
      if (browser === undefined) return undefined
      const { credentialId } = browser
      const { clientId } = key
      return sql.transact(async (tx) => {
        const from = keyOf({ uid: key.uid, clientId: undefined })
        if ((await find(tx, from, principalId)) === undefined) return undefined
        // Without this, the applications of a timed-out session would join the new one.
        await tx.run(
          "delete from identity_oauth_states where kind = 'RefreshToken' and grant_id = ?",
          grantKeyOf(grantId),
        )
        return insert(tx, keyOf(key), { principalId, clientId, credentialId, origin, grantId })
      })
    },
    async endByKey(key) {
      await sql.transact(async (tx) => {
        const [row] = await tx.all(
          `select session_key, client_id, grant_id, principal_id from identity_sessions
            where session_key = ? and ended_at is null`,
          keyOf(key),
        )
        if (row === undefined) return
        await endRow(tx, row, { principalId: String(row['principal_id']), now: clock.now() })
      })
    },
    async endByGrant(grantId) {
      await sql.transact(async (tx) => {
        const rows = await tx.all(
          `select session_key, client_id, grant_id, principal_id from identity_sessions
            where grant_id = ? and ended_at is null`,
          grantKeyOf(grantId),
        )
        for (const row of rows) {
          await endRow(tx, row, { principalId: String(row['principal_id']), now: clock.now() })
        }
      })
    },
  }
}

/** Whether a person may still sign in with this password. */
async function isGood(
  tx: SqlTx,
  { principalId, credentialId }: Pick<Session, 'principalId' | 'credentialId'>,
): Promise<boolean> {
  const [row] = await tx.all(
    `select 1 from identity_credentials c join identity_principals p on p.id = c.principal_id
      where c.id = ? and p.id = ? and p.enabled = 1`,
    credentialId,
    principalId,
  )
  return row !== undefined
}

/** Computes the keys of sessions, and finds and adds their rows. */
function sessionRows({ clock, ids, seal, limits }: SessionOptions) {
  /** The key of a browser's session is the adapter's index of the library's session. */
  function keyOf({ uid, clientId }: SessionKey): string {
    return seal.index(JSON.stringify(clientId === undefined ? ['Session', uid] : [uid, clientId]))
  }

  /** The key under which the adapter indexes the grant. */
  function grantKeyOf(grantId: string): string {
    return seal.index(JSON.stringify(['Grant', grantId]))
  }

  async function find(
    from: Pick<Sql, 'all'>,
    key: string,
    principalId: string,
  ): Promise<Session | undefined> {
    const [row] = await from.all(
      `select ${columns} from identity_sessions where session_key = ? and principal_id = ?
        and ended_at is null and created_at > ? and used_at > ? order by created_at desc limit 1`,
      key,
      principalId,
      ...startOf({ now: clock.now(), limits }),
    )
    return row === undefined ? undefined : toSession(row)
  }

  async function insert(
    tx: SqlTx,
    key: string,
    given: Pick<Session, 'principalId' | 'clientId' | 'credentialId' | 'origin'> & {
      readonly grantId: string | undefined
    },
  ): Promise<Session> {
    const now = clock.now()
    const { grantId, ...who } = given
    const session: Session = { ...who, id: ids.uuid(), createdAt: now, usedAt: now }
    await tx.run(
      `insert into identity_sessions (session_key, grant_id, ended_at, ${columns})
        values (?, ?, null, ?, ?, ?, ?, ?, ?, ?, ?)`,
      key,
      grantId === undefined ? null : grantKeyOf(grantId),
      session.id,
      session.principalId,
      session.clientId ?? null,
      session.credentialId,
      session.origin.address,
      session.origin.userAgent,
      now,
      now,
    )
    // The oldest sessions are removed, so that one account cannot fill the table.
    const surplus = await tx.run(
      `update identity_sessions set ended_at = ? where id in (select id from identity_sessions
        where principal_id = ? and ended_at is null order by used_at desc, id
        limit ${sweepRows} offset ${limits.sessionsPerPrincipalMax})`,
      now,
      session.principalId,
    )
    if (surplus > 0) await tx.follow(directoryFeed, session.principalId)
    // Rows that no token can name any more are removed: a few old rows for each new one.
    const tokens = (limits.tokenSeconds + limits.clockSkewSeconds) * 1000
    const [created, used] = startOf({ now, limits })
    await tx.run(
      `delete from identity_sessions where id in (select id from identity_sessions
        where ended_at < ? or created_at < ? or used_at < ? limit ${sweepRows})`,
      now - tokens,
      created - tokens,
      used - tokens,
    )
    return session
  }

  return { keyOf, grantKeyOf, find, insert }
}

function toSession(row: SqlRow): Session {
  return {
    id: String(row['id']),
    principalId: String(row['principal_id']),
    clientId: row['client_id'] === null ? undefined : String(row['client_id']),
    credentialId: String(row['credential_id']),
    origin: { address: String(row['address']), userAgent: String(row['user_agent']) },
    createdAt: Number(row['created_at']),
    usedAt: Number(row['used_at']),
  }
}
