/**
 * What an installation is, kept in its store so that every replica is the same one: its tenant, its first
 * subscription, its owner, and a proof of its key. Replicas on one PostgreSQL share the key by setting.
 */

import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { Ids } from '#kernel/ports.ts'
import { type Migration, type Sql, StoreUnavailable } from '#stores/store.ts'
import { denialMigration } from './denials.ts'

export interface InstallationRecord {
  readonly tenantId: string
  readonly subscriptionId: string
  /** The name of the owner's role assignment at the root. */
  readonly ownerAssignmentId: string
}

const table = ['create table installation (name text primary key, value text not null)'] as const

export const installationMigrations: readonly Migration[] = [
  { area: 'installation', number: 1, sqlite: table, postgres: table },
  denialMigration,
]

/**
 * The record, made by whichever replica comes first. Throws `StoreUnavailable('never')` when the store
 * belongs to an installation with another key.
 */
export async function openRecord(sql: Sql, ids: Ids, key: Uint8Array): Promise<InstallationRecord> {
  const proof = createHmac('sha256', key).update('armature installation').digest('hex')
  const rows = await sql.transact(async (tx) => {
    for (const [name, value] of [
      ['tenantId', ids.uuid()],
      ['subscriptionId', ids.uuid()],
      ['ownerAssignmentId', ids.uuid()],
      ['keyProof', proof],
    ] as const) {
      await tx.run(
        'insert into installation (name, value) values (?, ?) on conflict do nothing',
        name,
        value,
      )
    }
    return tx.all('select name, value from installation')
  })
  const values = new Map(rows.map((row) => [String(row['name']), String(row['value'])]))
  const known = Buffer.from(values.get('keyProof') ?? '', 'hex')
  const given = Buffer.from(proof, 'hex')
  if (known.length !== given.length || !timingSafeEqual(known, given)) {
    throw new StoreUnavailable(
      'this store belongs to an installation with another key: give this process that key (ARMATURE_KEY, or installation.key of the first home)',
      'never',
    )
  }
  return {
    tenantId: values.get('tenantId') ?? '',
    subscriptionId: values.get('subscriptionId') ?? '',
    ownerAssignmentId: values.get('ownerAssignmentId') ?? '',
  }
}

/** Was the first start brought to its end: owner, their right to everything, first subscription? */
export async function isFurnished(sql: Sql): Promise<boolean> {
  return (await sql.all("select name from installation where name = 'furnished'")).length > 0
}

export async function markFurnished(sql: Sql): Promise<void> {
  await sql.transact((tx) =>
    tx.run(
      "insert into installation (name, value) values ('furnished', 'yes') on conflict do nothing",
    ),
  )
}

/** Does the store hold an installation already? Then its key must be given, not made up. */
export async function hasRecord(sql: Sql): Promise<boolean> {
  return (await sql.all('select name from installation limit 1')).length > 0
}

/** One key a purpose, so that no two uses ever share one. */
export function deriveKey(key: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, new Uint8Array(0), `armature/${purpose}`, 32))
}
