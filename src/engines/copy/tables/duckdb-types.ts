/**
 * Maps types between PostgreSQL and DuckDB, and writes values of DuckDB as CSV that both read the same. A type
 * without a counterpart becomes text, so that nothing is lost or rounded.
 */

import type { Column } from './postgres-table.ts'

const decimalDigitsMax = 38

/** The DuckDB type of a PostgreSQL column. */
function duckdbType(type: string): string {
  const [, digits, scale] = /^numeric\((\d+),(\d+)\)$/.exec(type) ?? []
  if (digits !== undefined && Number(digits) <= decimalDigitsMax) {
    return `decimal(${digits},${scale ?? 0})`
  }
  return toDuckdb.get(type) ?? 'varchar'
}

const toDuckdb: ReadonlyMap<string, string> = new Map([
  ['smallint', 'smallint'],
  ['integer', 'integer'],
  ['bigint', 'bigint'],
  ['real', 'real'],
  ['double precision', 'double'],
  ['boolean', 'boolean'],
  ['date', 'date'],
  ['time without time zone', 'time'],
  ['timestamp without time zone', 'timestamp'],
  ['timestamp with time zone', 'timestamptz'],
  ['uuid', 'uuid'],
  ['bytea', 'blob'],
])

/** The type with which a column of PostgreSQL's CSV is read; only bytes need another. */
export function csvType(type: string): string {
  return type === 'bytea' ? 'varchar' : duckdbType(type)
}

export function fromCsv(quotedName: string, type: string): string {
  // PostgreSQL writes bytes as \x and digits.
  return type === 'bytea' ? `unhex(substr(${quotedName}, 3)) as ${quotedName}` : quotedName
}

/** The PostgreSQL type of a DuckDB column. */
function postgresType(type: string): string {
  const decimal = /^DECIMAL\((\d+),(\d+)\)$/.exec(type)
  if (decimal !== null) return `numeric(${decimal[1]},${decimal[2]})`
  if (isNested(type)) return 'jsonb'
  return toPostgres.get(type) ?? 'text'
}

const toPostgres: ReadonlyMap<string, string> = new Map([
  ['TINYINT', 'smallint'],
  ['SMALLINT', 'smallint'],
  ['INTEGER', 'integer'],
  ['BIGINT', 'bigint'],
  ['HUGEINT', 'numeric(39,0)'],
  ['UTINYINT', 'smallint'],
  ['USMALLINT', 'integer'],
  ['UINTEGER', 'bigint'],
  ['UBIGINT', 'numeric(20,0)'],
  ['UHUGEINT', 'numeric(39,0)'],
  ['FLOAT', 'real'],
  ['DOUBLE', 'double precision'],
  ['BOOLEAN', 'boolean'],
  ['DATE', 'date'],
  ['TIME', 'time without time zone'],
  ['TIMESTAMP', 'timestamp without time zone'],
  ['TIMESTAMP_S', 'timestamp without time zone'],
  ['TIMESTAMP_MS', 'timestamp without time zone'],
  ['TIMESTAMP WITH TIME ZONE', 'timestamp with time zone'],
  ['INTERVAL', 'interval'],
  ['UUID', 'uuid'],
  ['BLOB', 'bytea'],
  ['JSON', 'jsonb'],
])

/** Not behind a word: some texts with a word before them end otherwise. */
const quotedText = /(?<=^|[ (,])(?:'(?:[^']|'')*'|"(?:[^"]|"")*")/g
const zoned = /\b(?:TIME|TIMESTAMP) WITH TIME ZONE\b/g
const item = '\\w+(?: \\w+)?'
const nested = new RegExp(`\\w+\\(${item}(?:, ?${item})*\\)|\\w+\\[\\d*\\]`, 'g')

/**
 * Whether a text is a type and nothing that continues a statement. DuckDB shows a type by the name that it has in its file, and
 * whoever made the file may have written any.
 */
export function isDuckdbType(text: string): boolean {
  let rest = text.replace(quotedText, 'q').replace(zoned, 'q')
  for (let before = ''; before !== rest; ) {
    before = rest
    rest = rest.replace(nested, 'q')
  }
  return /^\w+$/.test(rest)
}

function isNested(type: string): boolean {
  return /\]$|^(STRUCT|MAP|UNION)\(/.test(type)
}

/** The expression that writes a column so that PostgreSQL reads it as `postgresType`. */
export function intoCsv(quotedName: string, type: string): string {
  if (type === 'BLOB') return `'\\x' || lower(hex(${quotedName})) as ${quotedName}`
  if (isNested(type)) return `to_json(${quotedName})::varchar as ${quotedName}`
  return quotedName
}

export function asPostgres(columns: readonly Column[]): readonly Column[] {
  return columns.map((one) => ({ ...one, type: postgresType(one.type) }))
}

export function asDuckdb(columns: readonly Column[]): readonly Column[] {
  return columns.map((one) => ({ ...one, type: duckdbType(one.type) }))
}
