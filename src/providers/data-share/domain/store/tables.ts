/** The tables of data sharing: invitations and rights to copy, runs, results of data sets, copied items. */

import { defineTable, flag, json, nullable, type RowOf, text, whole } from '#query/table.ts'
import type { SqlRow } from '#stores/store.ts'

export type InvitationStatus = 'Pending' | 'Accepted' | 'Rejected' | 'Withdrawn'
export type GrantStatus = 'Active' | 'Revoked'
export type RunStatus = 'Accepted' | 'InProgress' | 'Succeeded' | 'Failed' | 'Cancelled'
export type DetailStatus = 'Queued' | 'InProgress' | 'Succeeded' | 'Failed' | 'Cancelled'
export type Mode = 'Incremental' | 'FullSync'

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
  /** The generation of the resource that the row was written from. */
  readonly generation: number
}

/** What the provider may know of a consumer. */
export interface ConsumerCard {
  readonly consumerName: string
  readonly consumerEmail: string
  readonly consumerTenant: string
}

const key = text({ tacit: true })

export const invitations = defineTable(
  'share_invitations',
  {
    id: key,
    resource_key: text({ unique: true }),
    share_key: text(),
    tenant_id: nullable(text()),
    object_id: nullable(text()),
    email: nullable(text()),
    expires_at: nullable(whole()),
    status: text<InvitationStatus>(),
    sent_at: whole(),
    responded_at: nullable(whole()),
    card: json<ShareCard>(),
  },
  ['id'],
)
export type InvitationRow = RowOf<typeof invitations>

export const grants = defineTable(
  'share_grants',
  {
    id: key,
    subscription_key: text({ unique: true }),
    share_key: text(),
    invitation_id: text(),
    status: text<GrantStatus>(),
    shared_at: whole(),
    expires_at: nullable(whole()),
    card: json<ShareCard & ConsumerCard>(),
  },
  ['id'],
)
export type GrantRow = RowOf<typeof grants>

export const triggers = defineTable(
  'share_triggers',
  {
    resource_key: key,
    subscription_key: text(),
    share_key: text(),
    mode: text<Mode>(),
    every_milliseconds: whole(),
    next_at: whole(),
    /** The generation of the resource. */
    body: text(),
  },
  ['resource_key'],
)

export const runs = defineTable(
  'share_runs',
  {
    id: key,
    subscription_key: text(),
    share_key: text(),
    mode: text<Mode>(),
    status: text<RunStatus>(),
    message: nullable(text()),
    started_at: whole(),
    ended_at: nullable(whole()),
    cancelled: flag(),
    planned: flag(),
    lease_owner: nullable(text()),
    lease_until: whole(),
    fence: whole(),
    // How often it gave up its place to others. It counts for the order of those that wait.
    turns_lost: whole({ default: 0, since: 4 }),
  },
  ['id'],
)
export type Run = RowOf<typeof runs>

export const details = defineTable(
  'share_details',
  {
    run_id: text(),
    place: whole(),
    mapping_key: text(),
    data_set_key: text(),
    data_set_id: text(),
    data_set_type: text(),
    name: text(),
    status: text<DetailStatus>(),
    message: nullable(text()),
    started_at: nullable(whole()),
    ended_at: nullable(whole()),
    files_read: whole(),
    files_written: whole(),
    rows_read: whole(),
    rows_copied: whole(),
    size_read: whole(),
    size_written: whole(),
    live_rows_read: whole(),
    live_rows_copied: whole(),
    live_size_read: whole(),
    live_size_written: whole(),
    // 1 when its target may hold part of what the run wrote; 2 when it holds all of it.
    publishing: whole({ default: 0, since: 2 }),
  },
  ['run_id', 'place'],
)

type DetailRow = RowOf<typeof details>

export interface Detail extends Omit<DetailRow, 'publishing'> {
  /** Its target may hold part of what the run wrote. */
  readonly publishing: boolean
  /** Its target holds everything the run wrote: nothing is left to copy. */
  readonly published: boolean
}

/** Numbers of what is under way are shown with those of what is done: they move while it runs. */
export function toDetail(cells: SqlRow): Detail {
  const row = details.row(cells)
  return {
    ...row,
    publishing: row.publishing > 0,
    published: row.publishing === 2,
    rowsRead: row.rowsRead + row.liveRowsRead,
    rowsCopied: row.rowsCopied + row.liveRowsCopied,
    sizeRead: row.sizeRead + row.liveSizeRead,
    sizeWritten: row.sizeWritten + row.liveSizeWritten,
  }
}

export const manifests = defineTable(
  'share_manifests',
  {
    token: key,
    stage: text(),
    watermark: nullable(text()),
    owned: flag(),
    // Where it was read and written last; nothing where an earlier version did it.
    source: text({ default: '', since: 5 }),
    target: text({ default: '', since: 5 }),
  },
  ['token'],
)

export const items = defineTable(
  'share_items',
  {
    token: text(),
    stage: text(),
    item: text({ bytewise: true }),
    etag: text(),
    size: whole(),
    digest: text(),
    run_id: text(),
  },
  ['token', 'stage', 'item'],
)

export const parts = defineTable(
  'share_parts',
  {
    token: text(),
    stage: text(),
    item: text({ bytewise: true }),
    etag: text(),
    position: whole(),
  },
  ['token', 'stage', 'item'],
)

export const active = defineTable('share_active', { subscription_key: key, run_id: text() }, [
  'subscription_key',
])

/** In the order that their migration makes them. */
export const dataShareTables = [
  invitations,
  grants,
  triggers,
  runs,
  active,
  details,
  manifests,
  items,
  parts,
]
