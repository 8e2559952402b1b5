/**
 * The identity of an installation, stored so that every replica has the same one: its tenant, its first
 * subscription, its owner, and a proof of its key. Replicas on one PostgreSQL get the key by setting.
 */

import type { Ids } from '#kernel/ports.ts'
import type { Migration, Sql } from '#stores/store.ts'
import { denialMigration } from './denials.ts'
import { rotationMigration } from './rotation-record.ts'

export interface InstallationRecord {
  readonly tenantId: string
  readonly subscriptionId: string
  /** The name of the owner's role assignment at the root. */
  readonly ownerAssignmentId: string
  /** Whether the sealed texts of this store name their key. */
  readonly namesKeys: boolean
  /** The key of the hashes by which rows of sign-in are found, sealed; undefined until it is stored. */
  readonly sealedIndexKey: string | undefined
}

const table = ['create table installation (name text primary key, value text not null)'] as const

export const installationMigrations: readonly Migration[] = [
  { area: 'installation', number: 1, sqlite: table, postgres: table },
  denialMigration,
  rotationMigration,
]

/** The record. The first replica creates it, and its key becomes the installation's. */
export async function openRecord(
  sql: Sql,
  ids: Ids,
  keyProof: string,
): Promise<InstallationRecord> {
  const rows = await sql.transact(async (tx) => {
    const made = await tx.run(
      "insert into installation (name, value) values ('tenantId', ?) on conflict do nothing",
      ids.uuid(),
    )
    for (const [name, value] of [
      ['subscriptionId', ids.uuid()],
      ['ownerAssignmentId', ids.uuid()],
      ['keyProof', keyProof],
      // Texts sealed by an earlier version do not name their key yet (`earlier-seals.ts`).
      ...(made === 1 ? [[sealedForm, 'named'] as const] : []),
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
  return {
    tenantId: values.get('tenantId') ?? '',
    subscriptionId: values.get('subscriptionId') ?? '',
    ownerAssignmentId: values.get('ownerAssignmentId') ?? '',
    namesKeys: values.has(sealedForm),
    sealedIndexKey: values.get(indexKey),
  }
}

const sealedForm = 'sealedForm'
const indexKey = 'indexKey'

export async function markNamesKeys(sql: Sql): Promise<void> {
  await keep(sql, sealedForm, 'named')
}

/** Stores the key unless another replica was first. Returns the stored one. */
export async function keepIndexKey(sql: Sql, sealed: string): Promise<string> {
  await keep(sql, indexKey, sealed)
  const [row] = await sql.all('select value from installation where name = ?', indexKey)
  return String(row?.['value'])
}

async function keep(sql: Sql, name: string, value: string): Promise<void> {
  await sql.transact((tx) =>
    tx.run(
      'insert into installation (name, value) values (?, ?) on conflict do nothing',
      name,
      value,
    ),
  )
}

/** Whether the first start completed: owner, role assignment and first subscription exist. */
export async function isSeeded(sql: Sql): Promise<boolean> {
  return (await sql.all("select name from installation where name = 'furnished'")).length > 0
}

export async function markSeeded(sql: Sql): Promise<void> {
  await sql.transact((tx) =>
    tx.run(
      "insert into installation (name, value) values ('furnished', 'yes') on conflict do nothing",
    ),
  )
}

/** Whether the store holds an installation already. Its key must then be given, not created. */
export async function hasRecord(sql: Sql): Promise<boolean> {
  return (await sql.all('select name from installation limit 1')).length > 0
}
