/**
 * A rotation of the installation's key as the store holds it: one row while it runs, and a row for each process
 * that has the new key. Every process reads the same rows, so each knows which key seals. They hold no key.
 */

import { refuse as refusals } from '#kernel/error.ts'
import type { Migration, Sql, SqlRow, SqlTx, SqlValue } from '#stores/store.ts'
import type { Position } from './walk.ts'

/**
 * `gathering`: every process says whether it has the new key; the old one seals. `switching`: the new one seals, while
 * processes learn of it. `resealing`: what is stored is sealed anew.
 */
type RotationPhase = 'gathering' | 'switching' | 'resealing'

export interface RotationProgress {
  /** How often the whole store has been walked. The rotation ends after a walk that found nothing. */
  readonly walks: number
  readonly position: Position | null
  readonly rows: number
  readonly resealed: number
  readonly resealedInWalk: number
}

export interface RotationRow {
  /** The proofs of the two keys (`SealingKey.proof`). */
  readonly from: string
  readonly to: string
  readonly phase: RotationPhase
  /** The process that does the work, and a number that changes while it does. */
  readonly owner: string
  readonly beat: number
  readonly startedAt: number
  readonly progress: RotationProgress
  /** The PostgreSQL transactions that may not know of the new key, as JSON. */
  readonly fence: string | undefined
}

export interface RotationMember {
  readonly process: string
  /** The machine and the process, for the operator. */
  readonly place: string
  readonly holds: boolean
}

const tables = [
  `create table installation_rotation (
    id bigint not null primary key,
    from_proof text not null,
    to_proof text not null,
    phase text not null,
    owner text not null,
    beat bigint not null,
    started_at bigint not null,
    progress text not null,
    fence text
  )`,
  `create table installation_rotation_members (
    process text not null primary key,
    place text not null,
    holds bigint not null
  )`,
] as const

export const rotationMigration: Migration = {
  area: 'installation',
  number: 3,
  sqlite: tables,
  postgres: tables,
}

export const noProgress: RotationProgress = {
  walks: 0,
  position: null,
  rows: 0,
  resealed: 0,
  resealedInWalk: 0,
}

/** The proof of the installation's key and the running rotation, read at one moment. */
export async function readKeyState(
  sql: Pick<Sql, 'all'>,
): Promise<{ readonly proof: string | undefined; readonly rotation: RotationRow | undefined }> {
  const [row] = await sql.all(
    `select i.value as proof, r.* from installation i left join installation_rotation r on r.id = 1
      where i.name = 'keyProof'`,
  )
  if (row === undefined) return { proof: undefined, rotation: undefined }
  return {
    proof: String(row['proof']),
    rotation: row['id'] === null ? undefined : toRotation(row),
  }
}

function toRotation(row: SqlRow): RotationRow {
  const fence = row['fence']
  return {
    from: String(row['from_proof']),
    to: String(row['to_proof']),
    // Only the code below writes this and the progress.
    phase: String(row['phase']) as RotationPhase,
    owner: String(row['owner']),
    beat: Number(row['beat']),
    startedAt: Number(row['started_at']),
    progress: JSON.parse(String(row['progress'])) as RotationProgress,
    fence: fence === null || fence === undefined ? undefined : String(fence),
  }
}

/** Returns false when a rotation is running. Throws where `from` is not the installation's key, or not another one. */
export async function insertRotation(
  sql: Sql,
  row: Pick<RotationRow, 'from' | 'to' | 'owner' | 'startedAt'>,
): Promise<boolean> {
  return sql.transact(async (tx) => {
    const made = await tx.run(
      `insert into installation_rotation
        (id, from_proof, to_proof, phase, owner, beat, started_at, progress, fence)
        values (1, ?, ?, 'gathering', ?, 0, ?, ?, null) on conflict do nothing`,
      row.from,
      row.to,
      row.owner,
      row.startedAt,
      JSON.stringify(noProgress),
    )
    if (made !== 1) return false
    // Asked behind the insertion, which waits for a rotation that ends.
    const [key] = await tx.all("select value from installation where name = 'keyProof'")
    if (key?.['value'] !== row.from || row.from === row.to) {
      throw refusals.KeyNotRotated({ reason: 'another rotation has ended meanwhile' })
    }
    await tx.run('delete from installation_rotation_members')
    await tx.run("delete from installation where name = 'keyRotationRefused'")
    return true
  })
}

export async function insertMember(sql: Sql, member: RotationMember): Promise<void> {
  await sql.transact((tx) =>
    tx.run(
      `insert into installation_rotation_members (process, place, holds) values (?, ?, ?)
        on conflict (process) do update set place = excluded.place, holds = excluded.holds`,
      member.process,
      member.place,
      member.holds ? 1 : 0,
    ),
  )
}

export async function membersOf(sql: Pick<Sql, 'all'>): Promise<readonly RotationMember[]> {
  const rows = await sql.all(
    'select process, place, holds from installation_rotation_members order by place, process',
  )
  return rows.map((row) => ({
    process: String(row['process']),
    place: String(row['place']),
    holds: row['holds'] === 1,
  }))
}

/** Takes over the work of a silent process. Returns false when another was faster or the process is not silent. */
export async function takeOverRotation(
  sql: Sql,
  seen: RotationRow,
  owner: string,
): Promise<boolean> {
  return sql.transact(async (tx) => {
    const taken = await tx.run(
      'update installation_rotation set owner = ?, beat = beat + 1 where id = 1 and owner = ? and beat = ?',
      owner,
      seen.owner,
      seen.beat,
    )
    return taken === 1
  })
}

/** Stops the work of a process that was replaced. */
export class NotTheOwner extends Error {}

/** Changes the row of a rotation that this process owns, in a transaction. */
export async function updateRotation(
  tx: SqlTx,
  owner: string,
  values: {
    readonly phase?: RotationPhase
    readonly progress?: RotationProgress
    readonly fence?: string
  },
): Promise<void> {
  const sets = ['beat = beat + 1']
  const given: SqlValue[] = []
  const set = (column: string, value: string | undefined): void => {
    if (value === undefined) return
    sets.push(`${column} = ?`)
    given.push(value)
  }
  set('phase', values.phase)
  set('fence', values.fence)
  set('progress', values.progress === undefined ? undefined : JSON.stringify(values.progress))
  const changed = await tx.run(
    `update installation_rotation set ${sets.join(', ')} where id = 1 and owner = ?`,
    ...given,
    owner,
  )
  if (changed !== 1) throw new NotTheOwner('another process works on the rotation of the key')
}

export interface LastRotation {
  readonly fromKeyId: string
  readonly toKeyId: string
  readonly startedAt: string
  readonly endedAt: string
  readonly resealed: number
}

/** After this the old key opens nothing. */
export async function finishRotation(
  tx: SqlTx,
  owner: string,
  to: string,
  last: LastRotation,
): Promise<void> {
  await updateRotation(tx, owner, {})
  await tx.run("update installation set value = ? where name = 'keyProof'", to)
  await setNote(tx, 'keyRotated', JSON.stringify(last))
  await drop(tx)
}

export interface RefusedRotation {
  readonly toKeyId: string
  readonly at: string
  /** The processes without the new key. */
  readonly without: readonly string[]
}

/** Ends the rotation. Nothing was changed, and the old key stays. */
export async function refuse(tx: SqlTx, owner: string, refused: RefusedRotation): Promise<void> {
  await updateRotation(tx, owner, {})
  await setNote(tx, 'keyRotationRefused', JSON.stringify(refused))
  await drop(tx)
}

async function drop(tx: SqlTx): Promise<void> {
  await tx.run('delete from installation_rotation')
  await tx.run('delete from installation_rotation_members')
}

async function setNote(tx: SqlTx, name: string, value: string): Promise<void> {
  await tx.run(
    `insert into installation (name, value) values (?, ?)
      on conflict (name) do update set value = excluded.value`,
    name,
    value,
  )
}

export async function notesOf(sql: Pick<Sql, 'all'>): Promise<{
  readonly last: LastRotation | undefined
  readonly refused: RefusedRotation | undefined
}> {
  const rows = await sql.all(
    "select name, value from installation where name in ('keyRotated', 'keyRotationRefused')",
  )
  const values = new Map(rows.map((row) => [String(row['name']), String(row['value'])]))
  const [last, refused] = [values.get('keyRotated'), values.get('keyRotationRefused')]
  return {
    // Only the code above writes this.
    last: last === undefined ? undefined : (JSON.parse(last) as LastRotation),
    refused: refused === undefined ? undefined : (JSON.parse(refused) as RefusedRotation),
  }
}
