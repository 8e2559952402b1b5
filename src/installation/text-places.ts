/**
 * Every place of a store that may hold text, by asking the database itself: a table that somebody adds is walked like the
 * rest. Reads only.
 */

import { type CatalogTable, quoted, readCatalog, rowsAfter } from '#stores/catalog.ts'
import type { Sql, SqlRow, SqlValue } from '#stores/store.ts'

export interface TextPlace {
  readonly table: string
  /** The columns that tell its rows apart, in order. */
  readonly key: readonly string[]
  readonly texts: readonly string[]
  /** What tells of a row what it is: read with its texts, and never changed. */
  readonly beside: readonly string[]
}

/** What the rotation itself keeps: nothing in there is sealed. */
const own = /^installation_rotation/

const textTypes = new Set(['text', 'character varying', 'varchar'])

export async function textPlaces(sql: Pick<Sql, 'all' | 'dialect'>): Promise<readonly TextPlace[]> {
  return (await readCatalog(sql, sql.dialect))
    .filter(({ name }) => !own.test(name))
    .map(placeOf)
    .filter(({ texts }) => texts.length > 0)
    .sort((left, right) => (left.table < right.table ? -1 : 1))
}

/**
 * Keys, and what the store keeps of a resource besides its document, are names: nothing of an installation is sealed
 * there, and a caller may give a name that holds a sealed text. It stays as it was given.
 */
function placeOf({ name, columns, key }: CatalogTable): TextPlace {
  const texts = columns
    .filter(({ type, part, isGenerated }) => textTypes.has(type) && part === 0 && !isGenerated)
    .map((column) => column.name)
    .filter((column) => name !== 'resources' || column === 'document')
  if (key.length === 0 && texts.length > 0) {
    throw new Error(`the table ${name} has text and no primary key: its rows cannot be walked`)
  }
  return { table: name, key, texts, beside: name === 'resources' ? ['type'] : [] }
}

const rowsAtOnce = 100
/** Whatever a caller may store: a row of more is read alone. */
const bytesAtOnce = 4 * 1024 * 1024

/** The next rows of a place in the order of its key, and the key that further ones come after; undefined: there are none. */
export async function placeRowsAfter(
  sql: Pick<Sql, 'all'>,
  place: TextPlace,
  after: readonly SqlValue[] | undefined,
): Promise<{ readonly rows: readonly SqlRow[]; readonly end: readonly SqlValue[] | undefined }> {
  const { table: name, key, texts, beside } = place
  const sizes = await sizesAfter(sql, place, after)
  let limit = 0
  for (let bytes = 0; limit < sizes.length; limit++) {
    bytes += Number(sizes[limit]?.['bytes'])
    if (bytes > bytesAtOnce && limit > 0) break
  }
  const columns = [...new Set([...key, ...texts, ...beside])]
  const rows = limit === 0 ? [] : await rowsAfter(sql, { name, key, columns }, after, limit)
  const last = rows.at(-1) ?? sizes[limit - 1]
  // Rows that came between the two questions may have moved some behind the last one, so the end is a page without any.
  return { rows, end: last === undefined ? undefined : keyOf(place, last) }
}

/** How many bytes the texts of the next rows have. */
function sizesAfter(
  sql: Pick<Sql, 'all'>,
  { table, key, texts }: TextPlace,
  after: readonly SqlValue[] | undefined,
): Promise<readonly SqlRow[]> {
  const order = key.map(quoted).join(', ')
  const bytes = texts.map((name) => `coalesce(octet_length(${quoted(name)}), 0)`).join(' + ')
  const where = after === undefined ? '' : `where (${order}) > (${key.map(() => '?').join(', ')})`
  return sql.all(
    `select ${order}, ${bytes} as bytes from ${quoted(table)} ${where} order by ${order} limit ${rowsAtOnce}`,
    ...(after ?? []),
  )
}

export function keyOf(place: TextPlace, row: SqlRow): readonly SqlValue[] {
  return place.key.map((name) => row[name] ?? null)
}

/** Puts one text in the place of another, unless somebody has changed it since. */
export function replaceText(place: TextPlace, column: string): string {
  const here = place.key.map((name) => `${quoted(name)} = ?`).join(' and ')
  return `update ${quoted(place.table)} set ${quoted(column)} = ? where ${here} and ${quoted(column)} = ?`
}
