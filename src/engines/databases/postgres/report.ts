/** What has come of a migration, from its folder alone: kept by whoever asked for it after the folder is gone. */

import {
  type ComparedTable,
  type DatabaseReport,
  type ReportedTable,
  reportedTablesMax,
} from '../engine.ts'
import type { DatabaseTask } from './database-task.ts'
import { RecordFolder, type ShownTables } from './record.ts'

const fileOf = (index: number): string => `copied-${index}.json`
const comparedFileOf = (index: number): string => `compared-${index}.json`
const shownFileOf = (index: number): string => `shown-${index}.json`

/** Once all tables of a database are copied. Larger than what is told four times a second. */
export function recordCopied(
  { folder, index }: Pick<DatabaseTask, 'folder' | 'index'>,
  tables: readonly ReportedTable[],
): void {
  const record = new RecordFolder(folder)
  record.writeTables(fileOf(index), tables)
  recordShown(record, index)
}

export function recordCompared(
  { folder, index }: Pick<DatabaseTask, 'folder' | 'index'>,
  tables: readonly ComparedTable[],
): void {
  const record = new RecordFolder(folder)
  record.writeTables(comparedFileOf(index), tables)
  recordShown(record, index)
}

/** The server reads no more than this: the other files have as many tables as the database. */
function recordShown(record: RecordFolder, index: number): void {
  record.writeShown(shownFileOf(index), shownOf(tablesOf(record, index)))
}

function shownOf(tables: readonly ReportedTable[]): ShownTables {
  return { tables: tables.slice(0, reportedTablesMax), all: tables.length }
}

/** What was copied of each table, with what was compared of it; those that came later too. */
function tablesOf(folder: RecordFolder, index: number): readonly ReportedTable[] {
  const copied = folder.readTables<ReportedTable>(fileOf(index))
  const compared = new Map(
    folder.readTables<ComparedTable>(comparedFileOf(index)).map((one) => [one.name, one]),
  )
  const known = new Set(copied.map(({ name }) => name))
  const later = [...compared.values()]
    .filter(({ name }) => !known.has(name))
    .map(({ name, rows }): ReportedTable => ({ name, rows, bytes: 0, milliseconds: 0 }))
  return [...copied, ...later].map((table) => {
    const found = compared.get(table.name)
    if (found === undefined) return table
    const { how, rows, milliseconds } = found
    return { ...table, compared: { how, rows, milliseconds } }
  })
}

export function reportOf(folder: RecordFolder): readonly DatabaseReport[] {
  const databases = folder.readState()?.databases ?? []
  let room = reportedTablesMax
  return databases.map(({ observed, leftOut, setAside }, index) => {
    // A migration that began under an earlier version has no such file.
    const shown = folder.readShown(shownFileOf(index)) ?? shownOf(tablesOf(folder, index))
    const tables = shown.tables.slice(0, room)
    room -= tables.length
    return {
      name: observed.name,
      outcome: observed.phase,
      attempts: observed.attempt,
      startedAt: observed.startedAt,
      endedAt: observed.endedAt,
      bytesCopied: observed.bytesCopied,
      appliedChanges: observed.counters.appliedChanges,
      pauseMilliseconds: observed.pauseMilliseconds,
      verified: observed.verified,
      leftOut: [...setAside, ...leftOut.map((setting) => `the setting ${setting}`)],
      message: observed.message,
      tables,
      tablesNotShown: shown.all - tables.length,
    }
  })
}
