/**
 * Finds entries by index that match a search by their own values: a name or a refund operation. Shared values are
 * searched elsewhere.
 */

import { placeholders } from '../cells.ts'
import { byId, entriesOf } from './entries.ts'
import type { Entry, Row, Statement } from './entry.ts'
import type { LedgerDependencies } from './page.ts'
import { entryColumns, rowOf } from './scan.ts'
import { nameOfWord, operationOfWord } from './search.ts'

/** Sorts after every text with the same beginning. */
const last = '\u{10ffff}'

/** All entries that a word may mean; undefined when there are too many to sort in memory. */
export async function entriesOfWords(
  deps: LedgerDependencies,
  statements: readonly Statement[],
  words: readonly string[],
): Promise<readonly Entry[] | undefined> {
  const rows = new Map<number, Row>()
  for (const word of words) {
    const name = nameOfWord(word)
    const operation = operationOfWord(word)
    const found = [
      ...(name === undefined ? [] : await beginning(deps, statements, 'name', name)),
      ...(operation === undefined ? [] : await beginning(deps, statements, 'operation', operation)),
    ]
    for (const row of found) rows.set(row.id, row)
    if (rows.size > deps.limits.sortRowsMax) return undefined
  }
  return entriesOf(deps, [...rows.values()], byId(statements))
}

/** The columns of the indexes. */
const columns = {
  name: { text: 'name', where: '' },
  operation: { text: 'lower(refund_operation)', where: 'and refund_operation is not null' },
} as const

async function beginning(
  { sql, limits }: LedgerDependencies,
  statements: readonly Statement[],
  index: keyof typeof columns,
  word: string,
): Promise<readonly Row[]> {
  if (statements.length === 0) return []
  const using = sql.dialect === 'sqlite' ? `indexed by billing_entries_by_${index}` : ''
  const { text, where } = columns[index]
  const rows = await sql.all(
    `select ${entryColumns} from billing_entries ${using}
     where statement_id in (${placeholders(statements.length)})
       and ${text} >= ? and ${text} < ? ${where} limit ?`,
    ...statements.map(({ id }) => id),
    word,
    word + last,
    limits.sortRowsMax + 1,
  )
  return rows.map(rowOf)
}
