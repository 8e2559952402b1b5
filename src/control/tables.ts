/**
 * The tables of a store as a state holds them: their names, the columns that are written, and the number of rows
 * per statement. It reads the database's catalog, so new tables are included by themselves. Tables of the process
 * and its history are left out.
 */

import { quoted, readCatalog } from '#stores/catalog.ts'
import type { Sql, SqlTx, SqlValue } from '#stores/store.ts'

export interface Table {
  readonly name: string
  readonly columns: readonly string[]
  /** The columns that order the rows; all columns where there is no primary key. */
  readonly key: readonly string[]
  /** Columns numbered by the database, which must continue after the highest number. */
  readonly numbered: readonly string[]
  /** Columns of 64 bits, whose values may be too large for a number. */
  readonly wholes: ReadonlySet<string>
  /** What each column takes, in their order. */
  readonly cells: readonly CellRule[]
}

interface CellRule {
  /** Undefined where the database declares none. */
  readonly holds: 'text' | 'whole' | 'number' | 'bytes' | undefined
  readonly isRequired: boolean
}

const kinds: Readonly<Record<string, CellRule['holds']>> = {
  text: 'text',
  bigint: 'whole',
  integer: 'whole',
  smallint: 'whole',
  real: 'number',
  'double precision': 'number',
  blob: 'bytes',
  bytea: 'bytes',
}
const rowNumber: CellRule = { holds: 'whole', isRequired: true }

/**
 * Keys, schema, feeds and fences are never restored: their readers must never see them go back. Nor is who is notified:
 * a state that is brought elsewhere calls nobody.
 */
const left =
  /^(?:sqlite_|store_|installation$|installation_rotation|feeds$|feed_entries$|fences$|business_(?:changes|subscriptions|followed_sets|row_changes)$)/

export async function readTables(
  sql: Pick<SqlTx, 'all'>,
  dialect: Sql['dialect'],
): Promise<readonly Table[]> {
  return (await readCatalog(sql, dialect))
    .filter(({ name, kind }) => kind !== 'shadow' && !left.test(name))
    .map(({ name, kind, columns, key }) => {
      // The tables of a search index follow its main table. They have a row id that is not in the list of columns.
      const isVirtual = kind === 'virtual'
      const written = columns.filter(({ isGenerated }) => !isGenerated)
      const names = [...(isVirtual ? ['rowid'] : []), ...written.map((column) => column.name)]
      return {
        name,
        columns: names,
        key: isVirtual ? ['rowid'] : key.length > 0 ? key : names,
        numbered: written.filter(({ isNumbered }) => isNumbered).map((column) => column.name),
        wholes: new Set(
          written.filter(({ type }) => type === 'bigint').map((column) => column.name),
        ),
        cells: [
          ...(isVirtual ? [rowNumber] : []),
          ...written.map(({ type, isRequired }) => ({ holds: kinds[type], isRequired })),
        ],
      }
    })
}

/**
 * Whether the row may stand in the table. SQLite would keep cells of other types, and whatever reads them later would
 * fail.
 */
export function isRowOf({ cells }: Table, row: readonly unknown[]): boolean {
  return row.length === cells.length && cells.every((rule, at) => isCell(rule, row[at]))
}

function isCell({ holds, isRequired }: CellRule, cell: unknown): boolean {
  if (cell === null) return !isRequired
  if (Buffer.isBuffer(cell)) return holds === 'bytes' || holds === undefined
  if (holds === 'text') return typeof cell === 'string'
  if (holds === 'number') return typeof cell === 'number'
  // A number above what numbers hold exactly is text.
  if (holds === 'whole') return Number.isSafeInteger(cell) || isLong(cell)
  return holds === undefined && ['string', 'number'].includes(typeof cell)
}

function isLong(cell: unknown): boolean {
  if (typeof cell !== 'string' || !/^-?\d{1,19}$/.test(cell)) return false
  return BigInt(cell) === BigInt.asIntN(64, BigInt(cell))
}

/** The number of values in one statement. */
const valuesMax = 2000

/** Writes rows, many per statement. */
export async function writeRows(
  tx: SqlTx,
  dialect: Sql['dialect'],
  table: Pick<Table, 'name' | 'columns' | 'numbered'>,
  rows: readonly (readonly SqlValue[])[],
): Promise<void> {
  const width = table.columns.length
  const atOnce = Math.max(1, Math.floor(valuesMax / width))
  const names = table.columns.map(quoted).join(', ')
  const over = dialect === 'postgres' && table.numbered.length > 0 ? ' overriding system value' : ''
  const row = `(${Array.from({ length: width }, () => '?').join(', ')})`
  for (let at = 0; at < rows.length; at += atOnce) {
    const part = rows.slice(at, at + atOnce)
    await tx.run(
      `insert into ${quoted(table.name)} (${names})${over} values ${part.map(() => row).join(', ')}`,
      ...part.flat(),
    )
  }
}

export async function emptyTables(
  tx: SqlTx,
  dialect: Sql['dialect'],
  tables: readonly Table[],
): Promise<void> {
  if (dialect === 'postgres') {
    // Readers continue; writers wait until the other state is complete.
    await tx.run(
      `lock table ${tables.map(({ name }) => quoted(name)).join(', ')} in exclusive mode`,
    )
  }
  for (const { name } of tables) await tx.run(`delete from ${quoted(name)}`)
}

/** Makes the database continue its numbers after the rows that exist now. */
export async function numberOn(
  tx: SqlTx,
  dialect: Sql['dialect'],
  tables: readonly Table[],
): Promise<void> {
  if (dialect === 'sqlite') return
  for (const { name, numbered } of tables) {
    for (const column of numbered) {
      await tx.all(
        `select setval(pg_get_serial_sequence('${quoted(name)}', '${column}'),
          greatest(coalesce((select max(${quoted(column)}) from ${quoted(name)}), 0), 1),
          exists (select 1 from ${quoted(name)})) as at`,
      )
    }
  }
}
