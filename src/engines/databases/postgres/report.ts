/** What has come of a migration, from its folder alone: kept by whoever asked for it after the folder is gone. */

import { type DatabaseReport, type ReportedTable, reportedTablesMax } from '../engine.ts'
import type { DatabaseTask } from './database-task.ts'
import { RecordFolder } from './record.ts'

const fileOf = (index: number): string => `copied-${index}.json`

/** Once all tables of a database are copied. Larger than what is told four times a second. */
export function recordCopied(
  { folder, index }: Pick<DatabaseTask, 'folder' | 'index'>,
  tables: readonly ReportedTable[],
): void {
  new RecordFolder(folder).writeTables(fileOf(index), tables)
}

export function reportOf(folder: RecordFolder): readonly DatabaseReport[] {
  const databases = folder.readState()?.databases ?? []
  let room = reportedTablesMax
  return databases.map(({ observed, leftOut, setAside }, index) => {
    const all = folder.readTables(fileOf(index))
    const tables = all.slice(0, room)
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
      tablesNotShown: all.length - tables.length,
    }
  })
}
