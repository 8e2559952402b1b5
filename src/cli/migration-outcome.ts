/** Prints a migration to standard output: state, findings and databases for people, otherwise the answer. */

import { databaseColumns, type Finding, findingColumns, statusOf } from './migrations.ts'
import { printData, printRecord, printRows } from './output/print.ts'
import type { Terminal } from './terminal.ts'

/** The exit code of a migration that ended without success. */
export const exitEndedBadly = 1
/** The exit code of a migration that waits for a decision. */
export const exitWaits = 3

/** Findings are printed on request, and when the migration ended because of them. */
export function printMigration(
  terminal: Terminal,
  migration: unknown,
  { withFindings = false }: { readonly withFindings?: boolean } = {},
): void {
  if (terminal.output.isData) {
    printData(terminal, migration)
    return
  }
  const { name, mode, state, subState, error, databases, findings } = statusOf(migration)
  const failure = error === '' ? {} : { error }
  printRecord(terminal, { name, mode, state, subState, ...failure })
  if (databases.length > 0) {
    terminal.out('\n')
    printRows(terminal, databases, databaseColumns)
  }
  const isWanted = withFindings || state === 'ValidationFailed'
  if (!isWanted || findings.length === 0) return
  const worth = findings.filter((one) => one.state !== 'Succeeded')
  terminal.out(`\n${findingsLine(findings)}\n`)
  if (worth.length > 0) printRows(terminal, worth, findingColumns)
}

function findingsLine(findings: readonly Finding[]): string {
  const counts = (['Failed', 'Warning', 'Succeeded'] as const)
    .map((state) => [findings.filter((one) => one.state === state).length, state] as const)
    .filter(([count]) => count > 0)
    .map(([count, state]) =>
      state === 'Warning' && count > 1 ? `${count} warnings` : `${count} ${state.toLowerCase()}`,
    )
  return `Validation: ${counts.join(', ')}`
}
