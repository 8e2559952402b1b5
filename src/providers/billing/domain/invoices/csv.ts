/** The transactions of a statement as CSV (RFC 4180), streamed in recording order. */

import { isJsonObject } from '#kernel/patch.ts'
import { freeTurn, nextTurn } from '#plane/next-turn.ts'
import { entriesOf } from '../ledger/entries.ts'
import type { Statement } from '../ledger/entry.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { entryColumns, rowOf } from '../ledger/scan.ts'
import { showEntry } from '../ledger/show.ts'

const rowsAtOnce = 50

/** `ownerId`: who waits for it. Many files may be read at once, and nobody waits behind all that another reads. */
export async function* csvOf(
  ledger: Ledger,
  statement: Statement,
  ownerId: string,
): AsyncIterable<Uint8Array> {
  const names = ledger.fields.list.map(({ path }) => path)
  const paths = names.map((name) => name.split('/'))
  yield Buffer.from(`${names.map((name) => name.replace(/^properties\//, '')).join(',')}\r\n`)
  const known = new Map([[statement.id, statement]])
  for (let after = 0; ; ) {
    await nextTurn(ownerId)
    const rows = await ledger.sql.all(
      `select ${entryColumns} from billing_entries where statement_id = ? and id > ? order by id limit ?`,
      statement.id,
      after,
      rowsAtOnce,
    )
    const entries = await entriesOf(ledger, rows.map(rowOf), known)
    const lines: string[] = []
    for (const entry of entries) {
      await freeTurn(ownerId)
      const shown = showEntry(ledger.words, entry, undefined)
      lines.push(paths.map((path) => cell(at(shown, path))).join(','))
    }
    if (lines.length > 0) yield Buffer.from(`${lines.join('\r\n')}\r\n`)
    const last = entries.at(-1)
    if (last === undefined || rows.length < rowsAtOnce) return
    after = last.row.id
  }
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((one, name) => (isJsonObject(one) ? one[name] : undefined), value)
}

/** Text that a spreadsheet would run as a formula. A plain number is none. */
const formula = /^[=+\-@\t\r](?!\d+(?:\.\d+)?$)/

/**
 * Text that looks like a formula gets a leading apostrophe, so that the author of a transaction runs nothing where
 * the file is opened.
 */
export function cell(value: unknown): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'string' && formula.test(value) ? `'${value}` : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
