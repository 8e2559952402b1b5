/**
 * Sessions on a PostgreSQL server for a migration: TLS by `sslMode`, no inherited time-outs, exact text forms.
 * Every error is converted here; there is no pool.
 */

import pg, { type Client, type ClientConfig } from 'pg'
import { serverTextProblem } from '#kernel/server-text.ts'
import { serverTypes } from '#kernel/server-values.ts'
import { withoutSecrets } from '#kernel/short-words.ts'
import { NotReached, type Route, socketOf } from '#outbound/outbound.ts'
import { tlsOutward, wordsOf } from '#outbound/tls.ts'
import type { WayOut } from '#outbound/way-of-parent.ts'
import {
  type Credentials,
  DatabaseEngineError,
  type ServerAccess,
  type ServerAddress,
} from '../engine.ts'
import { BrokenOff, GuardedConnection, type LookBudget } from './guarded-connection.ts'

/** The outbound policy, and what a session under it may use. */
export interface Reach {
  readonly outbound: WayOut
  /** A session without a budget carries data, in a worker of its own. */
  readonly budget?: LookBudget
}

/** What is needed to reach both servers of a migration. */
export interface Means extends Credentials, Reach {}

/** A server, and how to reach it. */
export interface ReachableServer extends ServerAccess, Reach {}

interface SessionOptions {
  readonly database: string
  /** Shown in `pg_stat_activity`; a later process ends leftovers by it. */
  readonly applicationName: string
  /** A walsender session, for slots. */
  readonly replication?: boolean
  /** The server's own time-outs hold until the first statement, and can be read after it. */
  readonly keepsTimeouts?: boolean
}

/** An open session. Disposing it never waits for the server. */
export interface Session extends AsyncDisposable {
  readonly client: Client
  readonly encrypted: boolean
  /** Set once the connection is lost. */
  lost(): Error | undefined
  /** Rows as objects by column name. The caller names their type, which the query determines. */
  rows<T extends object>(text: string, values?: readonly unknown[]): Promise<readonly T[]>
  /** The first column of the first row, as text. */
  value(text: string, values?: readonly unknown[]): Promise<string | undefined>
  run(text: string): Promise<void>
}

const connectMilliseconds = 10_000

/**
 * Set in every session first: a time-out of the database or role would cancel a plain COPY (facts A.7, 7), and text
 * must be written the way it is read (dates, floats, money). Settings that this version lacks are left out.
 */
const settings: Readonly<Record<string, string>> = {
  // Queries of the catalogs are long and soon done: compiling them costs more than they do.
  jit: 'off',
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
  transaction_timeout: '0',
  lock_timeout: '20s',
  search_path: '',
  datestyle: 'ISO, YMD',
  intervalstyle: 'postgres',
  extra_float_digits: '3',
  lc_monetary: 'C',
  timezone: 'UTC',
  xmloption: 'content',
  bytea_output: 'hex',
  default_transaction_read_only: 'off',
  default_transaction_isolation: 'read committed',
  row_security: 'off',
  // A planner would compute conditions of constraints.
  constraint_exclusion: 'off',
  synchronize_seqscans: 'off',
  quote_all_identifiers: 'off',
}

const wanted = Object.entries(settings)
  .map(([name, value]) => `('${name}', '${value}')`)
  .join(', ')

/**
 * The path of the database holds until then: its owner may have put functions and operators of its own before the system's.
 * A setting that is not there is null; a list of all settings would cost more than the rest of a connection's start.
 */
const prelude = `SELECT pg_catalog.set_config(name, value, false) FROM (VALUES ${wanted}) AS wanted (name, value)
  WHERE pg_catalog.current_setting(name, true) IS NOT NULL`

export async function connect(access: ReachableServer, options: SessionOptions): Promise<Session> {
  const opened = await open(access, options)
  const { client, connection } = opened
  let lost: Error | undefined
  client.on('error', (error) => {
    lost = error
  })
  client.on('end', () => {
    lost ??= new Error('The connection ended.')
  })
  try {
    await client.query(prelude)
  } catch (error) {
    discard(opened)
    throw translate(error, access)
  }
  const rows = async <T extends object>(
    text: string,
    values: readonly unknown[] = [],
  ): Promise<readonly T[]> => {
    const answer =
      values.length === 0
        ? await client.query<T>(text)
        : await client.query<T>({ text, values: [...values] })
    return answer.rows
  }
  return {
    client,
    encrypted: connection.isEncrypted,
    lost: () => lost,
    rows,
    value: async (text, values = []) => {
      const [row] = await rows<Record<string, unknown>>(text, values)
      const [cell] = Object.values(row ?? {})
      return cell === null || cell === undefined ? undefined : String(cell)
    },
    run: async (text) => {
      await client.query(text)
    },
    [Symbol.asyncDispose]: async () => discard(opened),
  }
}

/** The server's major version. */
export async function majorOf(session: Session): Promise<number> {
  return Math.floor(Number(await session.value('SHOW server_version_num')) / 10_000)
}

/**
 * For a statement with a secret: it stays out of the server's log if the user may set that. A failure leaves the
 * session inside a transaction: discard it.
 */
export async function runSecretly(session: Session, statement: string): Promise<void> {
  await session.run('BEGIN')
  await keepOutOfLog(session)
  await session.run(statement)
  await session.run('COMMIT')
}

/** Keeps the rest of the transaction out of the server's log. */
export async function keepOutOfLog(session: Session): Promise<void> {
  await session.rows(
    `SELECT pg_catalog.set_config(name, value, true)
     FROM (VALUES ('log_statement', 'none'), ('log_min_duration_statement', '-1'),
       ('log_min_error_statement', 'panic')) AS quiet (name, value)
     WHERE (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user)`,
  )
}

/** A polite end that is not awaited: a server that is away would never answer. */
function discard({ client, connection }: Opened): void {
  // On a lost connection the end fails, which ends it.
  void client.end().catch(() => undefined)
  connection.closeSoon()
}

interface Opened {
  readonly client: Client
  readonly connection: GuardedConnection
}

function destinationOf({ host, port }: ServerAddress) {
  return { scheme: 'postgresql', host, port }
}

/** The addresses to connect to. Throws `DatabaseEngineError` when none is allowed. */
export async function routeTo(server: ReachableServer): Promise<Route> {
  try {
    return await server.outbound.route(destinationOf(server.address))
  } catch (error) {
    throw translate(error, server)
  }
}

/** A server that does not speak PostgreSQL is reported as one that does not answer. */
function unreached(error: unknown, { outbound, address }: ReachableServer): unknown {
  const speaks = error instanceof pg.DatabaseError || refusesTls(error) || isTlsError(error)
  return speaks ? error : outbound.failed(destinationOf(address), error)
}

async function open(access: ReachableServer, options: SessionOptions): Promise<Opened> {
  const { address, password } = access
  checkServerTexts(access, options.database)
  const route = await routeTo(access)
  const config: ClientConfig & { replication?: string } = {
    // The certificate is checked for this name; the socket goes to the judged addresses.
    host: route.host,
    port: route.port,
    user: address.user,
    // A function, because for an empty text the driver would use a password of the environment or the user's files.
    password: () => password,
    database: options.database,
    application_name: options.applicationName,
    types: serverTypes,
    connectionTimeoutMillis: connectMilliseconds,
    // Sent with the connection, because a short time-out would end the first statement already.
    ...(options.keepsTimeouts === true
      ? {}
      : { options: '-c statement_timeout=0 -c idle_in_transaction_session_timeout=0' }),
    ...(options.replication === true ? { replication: 'database' } : {}),
  }
  const attempt = (ssl: Exclude<ClientConfig['ssl'], true | undefined>): Opened => {
    const stream = socketOf(route)
    const { host } = address
    const { budget } = access
    const mayBePlain = ssl !== false && address.sslMode === 'prefer'
    const connection = new GuardedConnection({ host, stream, ssl, mayBePlain, budget })
    // The driver accepts a custom connection; its types leave that out.
    const given: ClientConfig & { connection: GuardedConnection } = { ...config, ssl, connection }
    const client = new pg.Client(given)
    // Registered at once: a server may send something at any moment.
    client.on('error', () => undefined)
    return { client, connection }
  }
  const first = attempt(tlsOptions(address))
  try {
    await first.client.connect()
    return first
  } catch (error) {
    discard(first)
    // Where the server's rules allow this user only without TLS. Its own programs try again too.
    const mayBePlain = first.connection.isEncrypted && codeOf(error) === '28000'
    if (address.sslMode !== 'prefer' || !mayBePlain) {
      throw translate(unreached(error, access), access)
    }
  }
  const plain = attempt(false)
  try {
    await plain.client.connect()
    return plain
  } catch (error) {
    discard(plain)
    throw translate(unreached(error, access), access)
  }
}

/** Refuses text that the protocol, or a program's environment, would split. */
export function checkServerTexts({ address, password }: ServerAccess, database: string): void {
  for (const [what, text] of [
    ['user', address.user],
    ['password', password],
    ['database', database],
  ] as const) {
    const problem = serverTextProblem(text)
    if (problem === undefined) continue
    throw new DatabaseEngineError('refused', `The ${what} is invalid: ${problem}.`)
  }
}

/** The options for Node; `verify-ca` checks the chain and not the name. */
function tlsOptions(address: ServerAddress): NonNullable<Exclude<ClientConfig['ssl'], boolean>> {
  const authorities = address.rootCertificates === undefined ? {} : { ca: address.rootCertificates }
  const checked = { ...tlsOutward, rejectUnauthorized: true, ...authorities }
  switch (address.sslMode) {
    case 'prefer':
    case 'require':
      return { ...tlsOutward, rejectUnauthorized: false }
    case 'verify-ca':
      return { ...checked, checkServerIdentity: () => undefined }
    case 'verify-full':
      return checked
    default:
      return address.sslMode satisfies never
  }
}

function refusesTls(error: unknown): boolean {
  return error instanceof Error && /does not support SSL/.test(error.message)
}

/** The server's error code (`SQLSTATE`), or the system's; undefined for others. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

const authentication: ReadonlySet<string> = new Set(['28000', '28P01'])

/** The error that the port's caller gets instead of `error`. */
export function translate(error: unknown, access: ServerAccess): DatabaseEngineError {
  if (error instanceof DatabaseEngineError) return error
  // The words of the server alone: ours name hosts and users, which may be written as the password is.
  if (error instanceof Error) error.message = withoutSecrets(error.message, [access.password])
  return worded(error, access.address)
}

function worded(error: unknown, address: ServerAddress): DatabaseEngineError {
  const cause = error instanceof Error ? error : new Error(String(error))
  const where = `${address.host}:${address.port}`
  if (cause instanceof NotReached) {
    const kind = cause.isRuledOut ? 'refused' : 'unavailable'
    const message = `The server ${where} is not reached: ${cause.message}.`
    return new DatabaseEngineError(kind, message, { cause, number: 603000 })
  }
  if (cause instanceof BrokenOff) {
    const kind = isTransient(cause) ? 'unavailable' : 'refused'
    const message = `The session with ${where} was broken off: ${cause.message}.`
    return new DatabaseEngineError(kind, message, { cause, number: 603000 })
  }
  const code = codeOf(cause)
  if (code !== undefined && authentication.has(code)) {
    return new DatabaseEngineError(
      'refused',
      `The server ${where} does not accept the user '${address.user}' with this password: ${cause.message}`,
      { cause, number: 603100 },
    )
  }
  if (refusesTls(cause) || isTlsError(cause)) {
    return new DatabaseEngineError(
      'refused',
      `TLS with ${where} is not as the mode '${address.sslMode}' demands: ${wordsOf(cause)}`,
      { cause, number: 603001 },
    )
  }
  if (code === '3D000') {
    return new DatabaseEngineError('absent', `On ${where}: ${cause.message}`, {
      cause,
      number: 603102,
    })
  }
  if (isTransient(cause)) {
    return new DatabaseEngineError('unavailable', `No answer from ${where}: ${cause.message}`, {
      cause,
      number: 603000,
    })
  }
  return new DatabaseEngineError('refused', `The server ${where} says: ${cause.message}`, {
    cause,
    ...(code === '42501' ? { number: 603110 } : {}),
  })
}

function isTlsError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = codeOf(error)
  return (
    (code !== undefined &&
      /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|EPROTO|ERR_OSSL)/.test(code)) ||
    /self[- ]signed certificate|certificate/i.test(error.message)
  )
}

/** A snapshot goes with the session that made it. Where the server crashed, another session may learn this first. */
export const lostSnapshot = /invalid snapshot identifier|snapshot "[^"]*" does not exist/

/** Connection trouble, no resources, a shutdown, a lost race: a retry may succeed. */
export function isTransient(error: unknown): boolean {
  if (error instanceof DatabaseEngineError) return error.retry === 'later'
  const code = codeOf(error)
  if (code !== undefined) {
    if (/^(ECONN|EHOST|ENET|ENOTFOUND|EAI_|ETIMEDOUT|EPIPE)/.test(code)) return true
    if (/^(08|53|57P|58)/.test(code)) return true
    if (code === '40001' || code === '40P01' || code === '55P03') return true
    return error instanceof Error && lostSnapshot.exec(error.message)?.index === 0
  }
  return (
    error instanceof Error &&
    /Connection terminated|timeout expired|connection ended|not queryable|ECONN|timed out/i.test(
      error.message,
    )
  )
}

/** The server's disk is full: a restarted copy would end the same way. */
export function isFullDisk(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return (
    codeOf(error) === '53100' ||
    /No space left on device/.test(error.message) ||
    isFullDisk(error.cause)
  )
}

/** Quotes a name for SQL. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Quotes a value for a connection string. */
export function connectionWord(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

/** Quotes a text for SQL. */
export function quoteText(text: string): string {
  return text.includes('\\')
    ? ` E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
    : `'${text.replaceAll("'", "''")}'`
}

/**
 * Converts a server's stored list to SQL. Each item is quoted again: the owner of that server may have put anything
 * there, and it must not end the statement.
 */
function quoteList(value: string): string {
  const items = [...value.matchAll(/"((?:[^"]|"")*)"|[^\s",]+/g)].map(([bare, quoted]) =>
    quoteText(quoted === undefined ? bare : quoted.replaceAll('""', '"')),
  )
  return items.length === 0 ? "''" : items.join(', ')
}

/** Values of these are lists, whose items the server keeps quoted. */
const listSettings: ReadonlySet<string> = new Set([
  'local_preload_libraries',
  'search_path',
  'session_preload_libraries',
  'shared_preload_libraries',
  'temp_tablespaces',
  'unix_socket_directories',
])

/** What sets it for a role or a database. */
export function settingClause({ name, value }: { readonly name: string; readonly value: string }) {
  const isList = listSettings.has(name.toLowerCase())
  return `SET ${name.split('.').map(quoteName).join('.')} TO ${isList ? quoteList(value) : quoteText(value)}`
}
