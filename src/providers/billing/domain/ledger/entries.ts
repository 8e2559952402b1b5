/** Joins rows with their dimensions and statements. */

import type { Entry, Row, Statement } from './entry.ts'
import type { LedgerDependencies } from './page.ts'

export async function entriesOf(
  { dimensions }: LedgerDependencies,
  rows: readonly Row[],
  statements: ReadonlyMap<number, Statement>,
): Promise<readonly Entry[]> {
  const found = await dimensions.read(rows.map(({ dimensionId }) => dimensionId))
  return rows.map((row) => {
    const dimension = found.get(row.dimensionId)
    const statement = statements.get(row.statementId)
    if (dimension === undefined || statement === undefined) {
      throw new Error(`the entry ${row.id} has lost what it belongs to`)
    }
    return { row, dimension, statement }
  })
}

export function byId(statements: readonly Statement[]): ReadonlyMap<number, Statement> {
  return new Map(statements.map((statement) => [statement.id, statement]))
}
