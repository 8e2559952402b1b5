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

function placeOf({ name, columns, key }: CatalogTable): TextPlace {
  const texts = columns.filter(({ type }) => textTypes.has(type)).map((column) => column.name)
  if (key.length === 0 && texts.length > 0) {
    throw new Error(`the table ${name} has text and no primary key: its rows cannot be walked`)
  }
  return { table: name, key, texts }
}

/** The next rows of a place in the order of its key. */
export function placeRowsAfter(
  sql: Pick<Sql, 'all'>,
  { table, key, texts }: TextPlace,
  after: readonly SqlValue[] | undefined,
  limit: number,
): Promise<readonly SqlRow[]> {
  const columns = [...new Set([...key, ...texts])]
  return rowsAfter(sql, { name: table, key, columns }, after, limit)
}

export function keyOf(place: TextPlace, row: SqlRow): readonly SqlValue[] {
  return place.key.map((name) => row[name] ?? null)
}

/** Puts one text in the place of another, unless somebody has changed it since. */
export function replaceText(place: TextPlace, column: string): string {
  const here = place.key.map((name) => `${quoted(name)} = ?`).join(' and ')
  return `update ${quoted(place.table)} set ${quoted(column)} = ? where ${here} and ${quoted(column)} = ?`
}
