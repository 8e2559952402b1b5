/** Invitations and their state, as both sides see them: rows that no single resource owns. */

import type { Clock } from '#kernel/ports.ts'
import type { Sql, SqlRow, SqlTx } from '#stores/store.ts'
import { active } from './runs.ts'
import {
  type GrantRow,
  type GrantStatus,
  grants,
  type InvitationRow,
  invitations,
} from './tables.ts'

const pageRows = 500

export interface Grants extends Invitations {
  /** False when the invitation was for another, or is closed. */
  accept(row: GrantRow): Promise<boolean>
  grant(id: string): Promise<GrantRow | undefined>
  grantAt(subscriptionKey: string): Promise<GrantRow | undefined>
  grantsOf(shareKey: string, after: string, limit: number): Promise<readonly GrantRow[]>
  /** Writes what is given and leaves the rest as it is by then. Revoking also cancels the run that is active. */
  change(id: string, change: GrantChange): Promise<void>
  /** The subscriptions that took the share before the moment; a page of them. */
  takenBefore(shareKey: string, moment: number): Promise<readonly string[]>
  /** These hold no share any more: what comes under its name later was not offered to them. */
  endTaken(shareKey: string, moment: number): Promise<void>
}

interface GrantChange {
  readonly status?: GrantStatus
  readonly expiresAt?: number
}

interface Invitations {
  invitation(id: string): Promise<InvitationRow | undefined>
  invitationAt(resourceKey: string): Promise<InvitationRow | undefined>
  /** Pending ones after an id, in order of ids. */
  pending(after: string, limit: number): Promise<readonly InvitationRow[]>
  writeInvitation(row: InvitationRow): Promise<void>
  withdraw(resourceKey: string): Promise<void>
  /** False when it was no longer pending. */
  reject(id: string): Promise<boolean>
}

export function openGrants(sql: Sql, clock: Clock): Grants {
  return {
    ...openInvitations(sql, clock),
    accept: (row) =>
      sql.transact(async (tx) => {
        const taken = await tx.run(
          "update share_invitations set status = 'Accepted', responded_at = ? where id = ? and status = 'Pending'",
          row.sharedAt,
          row.invitationId,
        )
        const [mine] = await tx.all(
          'select id from share_grants where subscription_key = ?',
          row.subscriptionKey,
        )
        if (mine !== undefined) {
          await tx.run(
            'update share_grants set card = ? where subscription_key = ?',
            JSON.stringify(row.card),
            row.subscriptionKey,
          )
          return true
        }
        if (taken === 0) return false
        await tx.run(
          `insert into share_grants (id, subscription_key, share_key, invitation_id, status, shared_at, expires_at, card)
            values (?, ?, ?, ?, ?, ?, ?, ?)`,
          row.id,
          row.subscriptionKey,
          row.shareKey,
          row.invitationId,
          row.status,
          row.sharedAt,
          row.expiresAt,
          JSON.stringify(row.card),
        )
        return true
      }),
    grant: (id) => one(sql.all('select * from share_grants where id = ?', id), grants.row),
    grantAt: (key) =>
      one(sql.all('select * from share_grants where subscription_key = ?', key), grants.row),
    async grantsOf(shareKey, after, limit) {
      const rows = await sql.all(
        'select * from share_grants where share_key = ? and id > ? order by id limit ?',
        shareKey,
        after,
        limit,
      )
      return rows.map(grants.row)
    },
    async change(id, { status, expiresAt }) {
      await sql.transact(async (tx) => {
        // A run that begins at this moment waits here, or is seen below.
        await tx.run(
          `update share_grants set status = coalesce(?, status), expires_at = coalesce(?, expires_at)
            where id = ?`,
          status ?? null,
          expiresAt ?? null,
          id,
        )
        if (status !== 'Revoked') return
        await tx.run(
          `update share_runs set cancelled = 1, message = 'The provider revoked the share subscription.'
            where ${active} and subscription_key in (select subscription_key from share_grants where id = ?)`,
          id,
        )
      })
    },
    async takenBefore(shareKey, moment) {
      const rows = await sql.all(
        'select subscription_key from share_grants where share_key = ? and shared_at < ? limit ?',
        shareKey,
        moment,
        pageRows,
      )
      return rows.map((row) => String(row['subscription_key']))
    },
    async endTaken(shareKey, moment) {
      await sql.transact(async (tx) => {
        const values = [`${shareKey} (deleted)`, shareKey, moment]
        await tx.run(
          'update share_grants set share_key = ? where share_key = ? and shared_at < ?',
          ...values,
        )
        // What its provider sees of them goes with them.
        await tx.run(
          'update share_runs set share_key = ? where share_key = ? and started_at < ?',
          ...values,
        )
      })
    },
  }
}

function openInvitations(sql: Sql, clock: Clock): Invitations {
  return {
    invitation: (id) =>
      one(sql.all('select * from share_invitations where id = ?', id), invitations.row),
    invitationAt: (key) =>
      one(sql.all('select * from share_invitations where resource_key = ?', key), invitations.row),
    async pending(after, limit) {
      const rows = await sql.all(
        "select * from share_invitations where status = 'Pending' and id > ? order by id limit ?",
        after,
        Math.min(limit, pageRows),
      )
      return rows.map(invitations.row)
    },
    async writeInvitation(row) {
      await change(sql, (tx) =>
        tx.run(
          `insert into share_invitations (id, resource_key, share_key, tenant_id, object_id, email, expires_at,
              status, sent_at, responded_at, card) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            on conflict (id) do update set tenant_id = excluded.tenant_id, object_id = excluded.object_id,
              email = excluded.email, expires_at = excluded.expires_at, card = excluded.card`,
          row.id,
          row.resourceKey,
          row.shareKey,
          row.tenantId,
          row.objectId,
          row.email,
          row.expiresAt,
          row.status,
          row.sentAt,
          row.respondedAt,
          JSON.stringify(row.card),
        ),
      )
    },
    async withdraw(resourceKey) {
      await change(sql, (tx) =>
        tx.run('delete from share_invitations where resource_key = ?', resourceKey),
      )
    },
    reject: async (id) =>
      (await change(sql, (tx) =>
        tx.run(
          "update share_invitations set status = 'Rejected', responded_at = ? where id = ? and status = 'Pending'",
          clock.now(),
          id,
        ),
      )) > 0,
  }
}

async function one<T>(
  rows: Promise<readonly SqlRow[]>,
  read: (row: SqlRow) => T,
): Promise<T | undefined> {
  const [row] = await rows
  return row === undefined ? undefined : read(row)
}

async function change(sql: Sql, work: (tx: SqlTx) => Promise<number>): Promise<number> {
  return sql.transact(work)
}
