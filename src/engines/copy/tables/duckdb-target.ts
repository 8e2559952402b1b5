/**
 * Writes a table of DuckDB. Rows are collected in a file of the stage. The target's own file is open only for the
 * transaction that makes them visible, so readers wait only that long and never see half.
 */

import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { CopyFailure, type CopyTask, type DuckdbTable } from '../engine.ts'
import { type CompletionMarker, formatMarker, parseMarker } from './completion-marker.ts'
import { type DuckdbFiles, isThere, literal, quoted } from './duckdb-files.ts'
import { type DuckdbShape, duckdbShape, pathOf } from './duckdb-table.ts'
import { csvType, fromCsv } from './duckdb-types.ts'
import type { Column } from './postgres-table.ts'
import type { TableStage } from './table-stage.ts'

interface DuckdbTarget {
  readonly shape: DuckdbShape | undefined
  /** The marker, when this run published before it was cut off. */
  readonly marker: CompletionMarker | undefined
  merges(columns: readonly Column[], key: readonly string[]): boolean
  /** Loads a CSV of PostgreSQL whose columns have these types there; returns the number of rows. */
  loadCsv(csv: string, columns: readonly Column[]): Promise<number>
  /** Loads the result of a statement over what a source attached; returns the number of rows. */
  loadRows(from: DuckdbFiles, select: string): Promise<number>
  /** Opens the target. No other process can until `close`. */
  open(): Promise<void>
  close(): Promise<void>
  publishAll(
    columns: readonly Column[],
    key: readonly string[],
    marker: CompletionMarker,
  ): Promise<void>
  publishChanges(
    columns: readonly Column[],
    key: readonly string[],
    marker: CompletionMarker,
  ): Promise<void>
}

const batchFile = 'rows.duckdb'

export async function openDuckdbTarget(
  files: DuckdbFiles,
  location: DuckdbTable,
  task: CopyTask,
  stage: TableStage,
): Promise<DuckdbTarget> {
  const { path } = files
  const catalog = `target_${task.token}`
  const staged = `stage_${task.token}`
  const target = pathOf(catalog, location.schema, location.table)
  const rows = pathOf(staged, 'main', 'rows')
  const shape = isThere(path) ? await look(files, { path, catalog }, location, task) : undefined
  const marker = shape === undefined ? undefined : parseMarker(shape.comment, task)

  const inStage = async (through: DuckdbFiles, make: string): Promise<number> => {
    await through.attach(stage.at(batchFile), staged, 'write')
    try {
      await through.run(`create or replace table ${rows} as ${make}`)
      const [counted] = await through.rows(`select count(*)::varchar as n from ${rows}`)
      return Number(counted?.['n'])
    } finally {
      await through.detach(staged)
    }
  }

  /** All of it or nothing. */
  const change = async (marker: CompletionMarker, statements: readonly string[]): Promise<void> => {
    await files.attach(stage.at(batchFile), staged, 'read')
    try {
      await files.run('begin')
      for (const one of statements) await files.run(one)
      await files.run(`comment on table ${target} is ${literal(formatMarker(marker))}`)
      await files.run('commit')
    } finally {
      await files.detach(staged)
    }
  }

  return {
    shape,
    marker,
    merges(columns, key) {
      if (shape === undefined || key.length === 0) return false
      const there = new Set(shape.columns.map(({ name }) => name))
      const same = shape.key.length === key.length && key.every((one) => shape.key.includes(one))
      return same && columns.every(({ name }) => there.has(name))
    },
    loadCsv(csv, columns) {
      const types = columns.map(({ name, type }) => `${literal(name)}: ${literal(csvType(type))}`)
      const read = columns.map(({ name, type }) => fromCsv(quoted(name), type))
      return inStage(
        files,
        `select ${read.join(', ')} from read_csv(${literal(csv)}, header = false, auto_detect = false, delim = ',', quote = '"',
          escape = '"', nullstr = '', allow_quoted_nulls = false, columns = {${types.join(', ')}})`,
      )
    },
    loadRows: inStage,
    async open() {
      mkdirSync(dirname(path), { recursive: true })
      await files.attach(path, catalog, 'write')
    },
    close: () => files.detach(catalog),
    publishAll(columns, key, marker) {
      const names = columns.map(({ name }) => quoted(name)).join(', ')
      const makes =
        shape === undefined
          ? [`create table ${target} (${definition(columns, key)})`]
          : // As DuckDB writes them: without the name of the file, which is the one in use.
            [`use ${quoted(catalog)}`, `drop table ${target}`, ...shape.makes]
      return change(marker, [
        `create schema if not exists ${quoted(catalog)}.${quoted(location.schema)}`,
        ...makes,
        `insert into ${target} (${names}) select ${names} from ${rows}`,
      ])
    },
    publishChanges(columns, key, marker) {
      const names = columns.map(({ name }) => name)
      const list = names.map(quoted).join(', ')
      const rest = names.filter((one) => !key.includes(one))
      const set = rest.map((one) => `${quoted(one)} = excluded.${quoted(one)}`)
      const then = set.length === 0 ? 'do nothing' : `do update set ${set.join(', ')}`
      return change(marker, [
        `insert into ${target} (${list}) select ${list} from ${rows}
          on conflict (${key.map(quoted).join(', ')}) ${then}`,
      ])
    },
  }
}

async function look(
  files: DuckdbFiles,
  { path, catalog }: { readonly path: string; readonly catalog: string },
  location: DuckdbTable,
  task: CopyTask,
): Promise<DuckdbShape | undefined> {
  await files.attach(path, catalog, 'read')
  try {
    const shape = await duckdbShape(files, catalog, location)
    if (shape === undefined || task.owned) return shape
    const target = pathOf(catalog, location.schema, location.table)
    const found = await files.rows(`select 1 as one from ${target} limit 1`)
    if (found.length === 0) return shape
    throw new CopyFailure(
      'TargetNotEmpty',
      `the table ${location.schema}.${location.table} holds rows that this mapping did not write: empty it, or map elsewhere`,
    )
  } finally {
    await files.detach(catalog)
  }
}

function definition(columns: readonly Column[], key: readonly string[]): string {
  const parts = columns.map(
    ({ name, type, notNull }) => `${quoted(name)} ${type}${notNull ? ' not null' : ''}`,
  )
  if (key.length > 0) parts.push(`primary key (${key.map(quoted).join(', ')})`)
  return parts.join(', ')
}
