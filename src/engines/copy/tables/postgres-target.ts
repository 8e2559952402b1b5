/**
 * Writes a table: a whole one beside the target, which then takes its name in one transaction; or changed rows,
 * merged by the primary key in one transaction. Readers see the old table or the new one.
 */

import type { Writable } from 'node:stream'
import type { Client } from 'pg'
import { escapeIdentifier, escapeLiteral } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { CopyFailure, type CopyTask, type PostgresTable } from '../engine.ts'
import type { RoutedTask } from '../routed-task.ts'
import { type CompletionMarker, formatMarker, parseMarker } from './completion-marker.ts'
import { CopyIn } from './copy-frames.ts'
import {
  type Column,
  callServer,
  definition,
  equals,
  type FrameFormat,
  list,
  named,
  openTable,
  shapeOf,
  type TableShape,
} from './postgres-table.ts'

/** Everything is one transaction, from the stage to publishing. When it is closed earlier, nothing stays. */
interface OpenedTarget extends AsyncDisposable {
  /** Undefined when there is no table yet. */
  readonly shape: TableShape | undefined
  /** The marker, when this run published before it was cut off. */
  readonly marker: CompletionMarker | undefined
  /** Whether changed rows can be merged: the same columns, and a primary key. */
  merges(columns: readonly Column[], key: readonly string[]): boolean
  /**
   * Creates the stage and returns what loads it: CSV, or another server's frames. Nobody else sees it before it is
   * published.
   */
  load(
    kind: 'all' | 'changes',
    columns: readonly Column[],
    format: FrameFormat | 'csv',
  ): Promise<Writable & { rowCount: number }>
  publishAll(key: readonly string[], marker: CompletionMarker): Promise<void>
  publishChanges(
    columns: readonly Column[],
    key: readonly string[],
    marker: CompletionMarker,
  ): Promise<void>
}

export function openPostgresTarget(
  location: PostgresTable,
  task: RoutedTask,
): Promise<OpenedTarget> {
  return openTable(location, task, 'write', (client) => open(client, location, task))
}

async function open(
  client: Client,
  location: PostgresTable,
  task: CopyTask,
): Promise<OpenedTarget> {
  const target = named(location.schema, location.table)
  const stageName = `armature_${task.token.slice(0, 12)}_${task.run.slice(0, 12)}`
  const stage = named(location.schema, stageName)
  await client.query(`create schema if not exists ${escapeIdentifier(location.schema)}`)
  const shape = await shapeOf(client, location.schema, location.table)
  if (shape !== undefined && !task.owned) await requireEmpty(client, location, target)
  const words = <T>(work: () => Promise<T>): Promise<T> => callServer(location, 'write', work)

  const note = (marker: CompletionMarker): string =>
    `comment on table ${target} is ${escapeLiteral(formatMarker(marker))}`

  return {
    shape,
    marker: shape === undefined ? undefined : parseMarker(shape.comment, task),
    merges(columns, key) {
      if (shape === undefined || key.length === 0) return false
      const there = new Set(shape.columns.map(({ name }) => name))
      return columns.every(({ name }) => there.has(name)) && sameNames(shape.key, key)
    },
    load: (kind, columns, format) =>
      words(async () => {
        await client.query('begin isolation level read committed')
        if (kind === 'changes') {
          await client.query(
            `create temporary table armature_changes as select ${list(columns.map(({ name }) => name))} from ${target} where false`,
          )
        } else if (shape === undefined) {
          await client.query(`create table ${stage} (${definition(columns)})`)
        } else {
          await client.query(`create table ${stage} (like ${target} including all)`)
        }
        const into = kind === 'changes' ? 'pg_temp.armature_changes' : stage
        const names = list(columns.map(({ name }) => name))
        // The table is created in this transaction, so its rows can be written as frozen and need no later check.
        const copy = `copy ${into} (${names}) from stdin with (format ${format}, freeze)`
        return client.query(format === 'csv' ? copyFrom(copy) : new CopyIn(copy))
      }),
    publishAll: (key, marker) =>
      words(async () => {
        if (shape === undefined && key.length > 0) {
          await client.query(`alter table ${stage} add primary key (${list(key)})`)
        }
        if (shape !== undefined) {
          await grantAlike(client, target, stage)
          await client.query(`drop table ${target}`)
        }
        await client.query(`alter table ${stage} rename to ${escapeIdentifier(location.table)}`)
        await client.query(note(marker))
        await client.query('commit')
      }),
    publishChanges: (columns, key, marker) =>
      words(async () => {
        const names = columns.map(({ name }) => name)
        const rest = names.filter((name) => !key.includes(name))
        const set = rest.map(
          (name) => `${escapeIdentifier(name)} = excluded.${escapeIdentifier(name)}`,
        )
        const then = set.length === 0 ? 'do nothing' : `do update set ${set.join(', ')}`
        await client.query(
          `insert into ${target} (${list(names)}) select ${list(names)} from pg_temp.armature_changes
            on conflict (${list(key)}) ${then}`,
        )
        await client.query(note(marker))
        await client.query('commit')
      }),
    async [Symbol.asyncDispose]() {
      await client.end()
    },
  }
}

async function requireEmpty(
  client: Client,
  location: PostgresTable,
  target: string,
): Promise<void> {
  const { rows } = await client.query(`select 1 from ${target} limit 1`)
  if (rows.length === 0) return
  throw new CopyFailure(
    'TargetNotEmpty',
    `the table ${location.schema}.${location.table} holds rows that this mapping did not write: empty it, or map elsewhere`,
  )
}

/** Who could read the old table may read the new one. */
async function grantAlike(client: Client, target: string, stage: string): Promise<void> {
  const { rows } = await client.query<{ grant: string }>(
    `select pg_catalog.format('grant %s on table %s to %s', a.privilege_type, ${escapeLiteral(stage)}::pg_catalog.text,
        case when a.grantee ${equals} 0::pg_catalog.oid then 'public'
          else pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(a.grantee)) end) as grant
      from pg_catalog.pg_class c cross join lateral pg_catalog.aclexplode(c.relacl) a
      where c.oid ${equals} $1::pg_catalog.regclass and a.grantee OPERATOR(pg_catalog.<>) c.relowner`,
    [target],
  )
  for (const { grant } of rows) await client.query(grant)
}

function sameNames(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((name) => right.includes(name))
}
