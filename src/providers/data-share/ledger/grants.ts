/** Invitations and what became of them, as both sides see them: rows that no single resource owns. */

import type { Clock } from '#kernel/ports.ts'
import type { Sql, SqlRow, SqlTx } from '#stores/store.ts'

export type InvitationStatus = 'Pending' | 'Accepted' | 'Rejected' | 'Withdrawn'
export type GrantStatus = 'Active' | 'Revoked'

/** What the other side may know of a share and its provider. */
export interface ShareCard {
  readonly invitationName: string
  readonly location: string
  readonly shareName: string
  readonly description: string | undefined
  readonly terms: string | undefined
  readonly shareKind: string
  readonly providerName: string
  readonly providerEmail: string
  readonly providerTenant: string
  /** Of the resource that the row was written of. */
  readonly generation: number
}

export interface InvitationRow {
  readonly id: string
  readonly resourceKey: string
  readonly shareKey: string
  readonly tenantId: string | null
  readonly objectId: string | null
  readonly email: string | null
  readonly expiresAt: number | null
  readonly status: InvitationStatus
  readonly sentAt: number
  readonly respondedAt: number | null
  readonly card: ShareCard
}

/** What the provider may know of a consumer. */
export interface ConsumerCard {
  readonly consumerName: string
  readonly consumerEmail: string
  readonly consumerTenant: string
}

export interface GrantRow {
  readonly id: string
  readonly subscriptionKey: string
  readonly shareKey: string
  readonly invitationId: string
  readonly status: GrantStatus
  readonly sharedAt: number
  readonly expiresAt: number | null
  readonly card: ShareCard & ConsumerCard
}

const pageRows = 500

export interface Grants {
  invitation(id: string): Promise<InvitationRow | undefined>
  invitationAt(resourceKey: string): Promise<InvitationRow | undefined>
  /** Pending ones after an id, in order of ids. */
  pending(after: string, limit: number): Promise<readonly InvitationRow[]>
  writeInvitation(row: InvitationRow): Promise<void>
  withdraw(resourceKey: string): Promise<void>
  /** False when it was no longer pending. */
  reject(id: string): Promise<boolean>
  /** False when the invitation went to another, or is closed. */
  accept(row: GrantRow): Promise<boolean>
  grant(id: string): Promise<GrantRow | undefined>
  grantAt(subscriptionKey: string): Promise<GrantRow | undefined>
  grantsOf(shareKey: string, after: string, limit: number): Promise<readonly GrantRow[]>
  setStatus(id: string, status: GrantStatus, expiresAt: number | null): Promise<void>
  removeGrant(subscriptionKey: string): Promise<void>
}

export function openGrants(sql: Sql, clock: Clock): Grants {
  const one = async <T>(rows: Promise<readonly SqlRow[]>, read: (row: SqlRow) => T) => {
    const [row] = await rows
    return row === undefined ? undefined : read(row)
  }
  const change = (work: (tx: SqlTx) => Promise<unknown>): Promise<number> =>
    sql.transact(async (tx) => Number(await work(tx)))
  return {
    invitation: (id) =>
      one(sql.all('select * from share_invitations where id = ?', id), toInvitation),
    invitationAt: (key) =>
      one(sql.all('select * from share_invitations where resource_key = ?', key), toInvitation),
    async pending(after, limit) {
      const rows = await sql.all(
        "select * from share_invitations where status = 'Pending' and id > ? order by id limit ?",
        after,
        Math.min(limit, pageRows),
      )
      return rows.map(toInvitation)
    },
    async writeInvitation(row) {
      await change((tx) =>
        tx.run(
          `insert into share_invitations (id, resource_key, share_key, tenant_id, object_id, email, expires_at,
              status, sent_at, responded_at, card) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            on conflict (id) do update set expires_at = excluded.expires_at, card = excluded.card`,
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
      await change((tx) =>
        tx.run('delete from share_invitations where resource_key = ?', resourceKey),
      )
    },
    reject: async (id) =>
      (await change((tx) =>
        tx.run(
          "update share_invitations set status = 'Rejected', responded_at = ? where id = ? and status = 'Pending'",
          clock.now(),
          id,
        ),
      )) > 0,
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
    grant: (id) => one(sql.all('select * from share_grants where id = ?', id), toGrant),
    grantAt: (key) =>
      one(sql.all('select * from share_grants where subscription_key = ?', key), toGrant),
    async grantsOf(shareKey, after, limit) {
      const rows = await sql.all(
        'select * from share_grants where share_key = ? and id > ? order by id limit ?',
        shareKey,
        after,
        limit,
      )
      return rows.map(toGrant)
    },
    async setStatus(id, status, expiresAt) {
      await change((tx) =>
        tx.run(
          'update share_grants set status = ?, expires_at = ? where id = ?',
          status,
          expiresAt,
          id,
        ),
      )
    },
    async removeGrant(subscriptionKey) {
      await change((tx) =>
        tx.run('delete from share_grants where subscription_key = ?', subscriptionKey),
      )
    },
  }
}

/** Rows as this file writes them. */
function toInvitation(row: SqlRow): InvitationRow {
  return {
    id: String(row['id']),
    resourceKey: String(row['resource_key']),
    shareKey: String(row['share_key']),
    tenantId: textOrNull(row['tenant_id']),
    objectId: textOrNull(row['object_id']),
    email: textOrNull(row['email']),
    expiresAt: numberOrNull(row['expires_at']),
    status: String(row['status']) as InvitationStatus,
    sentAt: Number(row['sent_at']),
    respondedAt: numberOrNull(row['responded_at']),
    card: JSON.parse(String(row['card'])) as ShareCard,
  }
}

function toGrant(row: SqlRow): GrantRow {
  return {
    id: String(row['id']),
    subscriptionKey: String(row['subscription_key']),
    shareKey: String(row['share_key']),
    invitationId: String(row['invitation_id']),
    status: String(row['status']) as GrantStatus,
    sharedAt: Number(row['shared_at']),
    expiresAt: numberOrNull(row['expires_at']),
    card: JSON.parse(String(row['card'])) as GrantRow['card'],
  }
}

export function textOrNull(value: SqlRow[string] | undefined): string | null {
  return value === null || value === undefined ? null : String(value)
}

export function numberOrNull(value: SqlRow[string] | undefined): number | null {
  return value === null || value === undefined ? null : Number(value)
}
