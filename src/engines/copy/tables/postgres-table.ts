/** A table of a PostgreSQL server: its shape, and operations on it. Refuses names it cannot write safely. */

import { Client, DatabaseError, escapeIdentifier } from 'pg'
import { serverTextProblem } from '#kernel/server-text.ts'
import { serverTypes } from '#kernel/server-values.ts'
import { withoutSecrets } from '#kernel/short-words.ts'
import { type Outbound, socketOf } from '#outbound/outbound.ts'
import { tlsOutward } from '#outbound/tls.ts'
import { CopyFailure, type PostgresTable } from '../engine.ts'
import { notReached, type RoutedTask, requireRoute } from '../routed-task.ts'

const connectMilliseconds = 10_000
const lockSeconds = 60

export interface Column {
  readonly name: string
  /** As PostgreSQL prints it: `character varying(20)`. */
  readonly type: string
  readonly notNull: boolean
}

/** The format in which rows go from server to server. */
export type FrameFormat = 'text' | 'binary'

export interface TableShape {
  readonly columns: readonly Column[]
  /** The names of the primary key's columns; empty without one. */
  readonly key: readonly string[]
  /** The comment on it, ours or somebody's. */
  readonly comment: string | null
}

async function connectTo(location: PostgresTable, outbound: Outbound): Promise<Client> {
  for (const text of [
    location.database,
    location.schema,
    location.table,
    location.user,
    location.password,
  ]) {
    const problem = serverTextProblem(text)
    if (problem === undefined) continue
    throw new CopyFailure('PathRefused', `a name or password of the server is invalid: ${problem}`)
  }
  const destination = { scheme: 'postgresql', host: location.host, port: location.port }
  const route = await requireRoute(outbound, destination, `the server of ${shown(location)}`)
  const client = new Client({
    host: route.host,
    port: route.port,
    stream: () => socketOf(route),
    database: location.database,
    user: location.user,
    // A function, because for an empty text the driver would use a password of the environment or of a file.
    password: () => location.password,
    ssl: location.tls === 'verify' ? { ...tlsOutward, rejectUnauthorized: true } : false,
    connectionTimeoutMillis: connectMilliseconds,
    application_name: 'armature data share',
    types: serverTypes,
    keepAlive: true,
  })
  // A connection that breaks between queries is reported at the next one.
  client.on('error', () => undefined)
  try {
    await client.connect()
  } catch (error) {
    // A server that does not speak PostgreSQL is reported as one that does not answer.
    if (speaks(error)) return await callServer(location, 'open', () => Promise.reject(error))
    throw notReached(`the server of ${shown(location)}`, outbound.failed(destination, error))
  }
  try {
    await callServer(location, 'open', () => client.query(alike))
  } catch (error) {
    await client.end()
    throw error
  }
  return client
}

/** Connects to the table's server and opens one side of a copy; a failure closes the connection. */
export async function openTable<T>(
  location: PostgresTable,
  { outbound }: RoutedTask,
  what: 'read' | 'write',
  open: (client: Client) => Promise<T>,
): Promise<T> {
  const client = await connectTo(location, outbound)
  try {
    return await callServer(location, what, () => open(client))
  } catch (error) {
    await client.end()
    throw error
  }
}

function shown({ database, schema, table }: PostgresTable): string {
  return `${database}.${schema}.${table}`
}

function speaks(error: unknown): boolean {
  if (error instanceof DatabaseError) return true
  return error instanceof Error && /does not support SSL|certificate/i.test(error.message)
}

/** Compares by the system's operator, whatever the `search_path` is. */
export const equals = 'OPERATOR(pg_catalog.=)'

/**
 * Text that one server writes must be read the same by the other, whatever their owners' settings; and a copy may
 * take as long as it needs, but waits for no lock for longer than a minute: a table that its owner keeps locked would
 * keep one of the few places of all. Settings that a server does not know are skipped.
 *
 * The owner of a database may have put functions and operators of its own before the system's (`search_path`), and they would
 * run with the rights of our user. So the system's come first, and since an operator or function with a closer signature is taken
 * before an earlier one, our statements name the system's (`tests/law/sql-names.test.ts`).
 */
const alike = `select pg_catalog.set_config(s.name, wished.value, false) from pg_catalog.pg_settings s join (values
    ('DateStyle', 'ISO, YMD'), ('IntervalStyle', 'postgres'), ('extra_float_digits', '3'),
    ('search_path', pg_catalog.rtrim(pg_catalog.concat('pg_catalog, ', pg_catalog.current_setting('search_path')), ', ')),
    ('statement_timeout', '0'), ('transaction_timeout', '0'), ('idle_in_transaction_session_timeout', '0'),
    ('lock_timeout', '${lockSeconds}s')
  ) as wished (name, value) on wished.name ${equals} s.name`

/** Types whose binary form is the same on every server and contains no number of a database. */
const plainTypes = new Set(
  (
    'smallint|integer|bigint|real|double precision|numeric|boolean|text|character varying|character|bytea|uuid|date|' +
    'time without time zone|time with time zone|timestamp without time zone|timestamp with time zone|interval|json|' +
    'jsonb|inet|cidr|macaddr'
  ).split('|'),
)

/** Binary is half the work for both servers; it needs exactly the same types on both sides. */
export function frameFormat(from: readonly Column[], to: readonly Column[]): FrameFormat {
  const there = new Map(to.map(({ name, type }) => [name, type]))
  const isPlain = ({ name, type }: Column): boolean =>
    there.get(name) === type && plainTypes.has(type.replace(/\([^()]*\)/, '').replace(/\[\]$/, ''))
  return from.every(isPlain) ? 'binary' : 'text'
}

/** Calls the server; an error becomes a `CopyFailure` that names the table and no credentials. */
export async function callServer<T>(
  location: PostgresTable,
  what: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof CopyFailure) throw error
    const where = shown(location)
    if (error instanceof DatabaseError) {
      const side = what === 'read' ? 'SourceRefused' : 'TargetRefused'
      const words = withoutSecrets(error.message, [location.password])
      const fate = error.code?.startsWith('28') ? 'sign-in refused' : words
      throw new CopyFailure(side, `${where}: ${fate} (${error.code ?? 'no code'})`, 'never', {
        cause: error,
      })
    }
    // An error of the socket; its message names only host and port.
    const reason = error instanceof Error ? error.message : String(error)
    throw new CopyFailure(
      'Unreachable',
      `the server of ${where} cannot be reached: ${reason}`,
      'later',
      {
        cause: error,
      },
    )
  }
}

export function named(schema: string, table: string): string {
  return `${escapeIdentifier(schema)}.${escapeIdentifier(table)}`
}

export function list(names: readonly string[]): string {
  return names.map((name) => escapeIdentifier(name)).join(', ')
}

/** Undefined when there is no such table (or view, for reading). */
export async function shapeOf(
  client: Client,
  schema: string,
  table: string,
): Promise<TableShape | undefined> {
  const found = await client.query<{ oid: number; comment: string | null }>(
    `select c.oid, pg_catalog.obj_description(c.oid, 'pg_class') as comment
      from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid ${equals} c.relnamespace
      where n.nspname ${equals} $1 and c.relname ${equals} $2
        and c.relkind ${equals} any ('{r,p,v,m,f}'::pg_catalog."char"[])`,
    [schema, table],
  )
  const [row] = found.rows
  if (row === undefined) return undefined
  const columns = await client.query<{ name: string; type: string; notnull: boolean }>(
    `select attname as name, pg_catalog.format_type(atttypid, atttypmod) as type, attnotnull as notnull
      from pg_catalog.pg_attribute where attrelid ${equals} $1 and attnum OPERATOR(pg_catalog.>) 0
        and not attisdropped and attgenerated ${equals} ''
      order by attnum`,
    [row.oid],
  )
  const key = await client.query<{ name: string }>(
    `select a.attname as name from pg_catalog.pg_index i
      cross join lateral pg_catalog.unnest(i.indkey) with ordinality as k(attnum, place)
      join pg_catalog.pg_attribute a on a.attrelid ${equals} i.indrelid and a.attnum ${equals} k.attnum
      where i.indrelid ${equals} $1 and i.indisprimary order by k.place`,
    [row.oid],
  )
  return {
    columns: columns.rows.map(({ name, type, notnull }) => ({ name, type, notNull: notnull })),
    key: key.rows.map(({ name }) => name),
    comment: row.comment,
  }
}

const word = '(?:[a-z_][a-z0-9_$]*|"(?:[^"]|"")+")'
const intervals = 'interval(?: (?:year|month|day|hour|minute|second|to)){1,3}'
/** A type as PostgreSQL prints it, and nothing that could continue a statement. */
const typeForm = new RegExp(
  `^(?:${word}(?:\\.${word})?|double precision|(?:character|bit) varying|${intervals})` +
    '(?:\\(-?\\w+(?:,-?\\w+)*\\))?(?: with(?:out)? time zone)?(?:\\[\\])*$',
)
const typeCharactersMax = 300

/**
 * Types come from another server, whose owner can make it say anything. Throws `CopyFailure` for text that is no
 * type.
 */
export function definition(columns: readonly Column[]): string {
  return columns
    .map(({ name, type, notNull }) => {
      if (type.length > typeCharactersMax || !typeForm.test(type)) {
        const shown = name.slice(0, 63)
        throw new CopyFailure('Unsupported', `the type of the column '${shown}' is none`)
      }
      return `${escapeIdentifier(name)} ${type}${notNull ? ' not null' : ''}`
    })
    .join(', ')
}
