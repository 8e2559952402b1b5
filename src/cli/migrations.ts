/** Shared by the commands of migrations: paths, options, their api-version, and what an answer says. */

import { textOf } from '#client/answer.ts'
import { listOf } from '#client/resource.ts'
import { isJsonObject } from '#kernel/patch.ts'
import type { Connection } from './context.ts'
import { type GroupPlace, groupOptions, inGroup } from './group-place.ts'
import type { Column } from './output/table.ts'

export const migrationVersion = '2025-08-01'
export const migrationQuery = { 'api-version': migrationVersion } as const

const serverType = 'DBforPostgreSQL/flexibleServers'

export const sslModes = ['Prefer', 'Require', 'VerifyCA', 'VerifyFull'] as const

/** Migrations are below the target server. */
export const targetOptions = {
  server: {
    type: 'string',
    short: 's',
    value: 'name',
    required: true,
    summary: 'The registered server that databases are brought to',
  },
  ...groupOptions,
} as const

export const databasesOption = {
  databases: {
    type: 'string',
    short: 'd',
    value: 'names',
    summary: 'Only these, with commas between them; all of them when left out',
  },
} as const

export interface TargetPlace extends GroupPlace {
  readonly server: string
}

export function serverPath(
  connection: Connection,
  place: GroupPlace,
  name: string,
): Promise<string> {
  return inGroup(connection, place, serverType, name)
}

export async function migrationsPath(connection: Connection, place: TargetPlace): Promise<string> {
  return `${await serverPath(connection, place, place.server)}/migrations`
}

export async function migrationPath(
  connection: Connection,
  place: TargetPlace,
  name: string,
): Promise<string> {
  return `${await migrationsPath(connection, place)}/${encodeURIComponent(name)}`
}

/** PATCH of a migration (contract, operation 8). */
export async function patchMigration(
  { client }: Pick<Connection, 'client'>,
  path: string,
  properties: object,
): Promise<unknown> {
  return (await client.request('PATCH', path, { query: migrationQuery, body: { properties } })).body
}

/** Sets `flag` for all databases of a migration, or with `list` for the named ones. */
export async function orderMigration(
  connection: Connection,
  place: TargetPlace & { readonly name: string; readonly databases?: string | undefined },
  flag: 'cancel' | 'triggerCutover',
  list: 'dbsToCancelMigrationOn' | 'dbsToTriggerCutoverOn',
): Promise<unknown> {
  const path = await migrationPath(connection, place, place.name)
  const names = namesIn(place.databases)
  const properties = { [flag]: 'True', ...(names.length === 0 ? {} : { [list]: names }) }
  return patchMigration(connection, path, properties)
}

/**
 * Asks the worker of a migration for something beyond the contract, for the named databases or for all that it
 * applies to.
 */
export async function orderOfWorker(
  connection: Connection,
  place: TargetPlace & { readonly name: string; readonly databases?: string | undefined },
  action: 'catchUp' | 'retry',
): Promise<unknown> {
  const path = await migrationPath(connection, place, place.name)
  const names = namesIn(place.databases)
  const { body } = await connection.client.request('POST', `${path}/${action}`, {
    query: migrationQuery,
    body: names.length === 0 ? {} : { databases: names },
  })
  return body
}

export function namesIn(list: string | undefined): readonly string[] {
  return (list ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

/** One database of `currentStatus`. */
export interface DatabaseStatus {
  readonly name: string
  readonly state: string
  readonly operation: string
  readonly message: string
  readonly startedOn: string
  readonly endedOn: string
  readonly latency: number | undefined
  readonly incomingChanges: number
  readonly appliedChanges: number
  readonly tablesDone: number
  readonly tables: number
}

/** The status of a migration. */
export interface MigrationStatus {
  readonly name: string
  readonly mode: string
  readonly state: string
  readonly subState: string
  readonly error: string
  readonly databases: readonly DatabaseStatus[]
  readonly findings: readonly Finding[]
  /** The setup of the source was allowed already, so what is missing is for its operator to do. */
  readonly mayBeSetUp: boolean
  /** Substates whose question was answered already; they end soon. */
  readonly answered: readonly string[]
}

/** One message of a validation. */
export interface Finding {
  /** Empty for the server. */
  readonly database: string
  readonly check: string
  readonly state: string
  readonly message: string
}

const ends: readonly string[] = ['Succeeded', 'Failed', 'Canceled', 'ValidationFailed']

export function hasEnded({ state }: Pick<MigrationStatus, 'state'>): boolean {
  return ends.includes(state)
}

/** Databases that replicate and can be cut over now. */
export function readyForCutover({ databases }: MigrationStatus): readonly string[] {
  return databases
    .filter(({ state }) => state === 'WaitingForCutoverTrigger')
    .map(({ name }) => name)
}

/** Databases that have not ended. */
export function openDatabases({ databases }: MigrationStatus): readonly string[] {
  return databases.filter(({ state }) => !ends.includes(state)).map(({ name }) => name)
}

/** `now` in milliseconds decides whether a scheduled start is still ahead. */
export function statusOf(migration: unknown, now = 0): MigrationStatus {
  const properties = recordAt(migration, 'properties')
  const status = recordAt(properties, 'currentStatus')
  const details = recordAt(status, 'currentSubStateDetails')
  return {
    name: textOf(migration, 'name') ?? '',
    mode: textOf(properties, 'migrationMode') ?? '',
    state: textOf(status, 'state') ?? '',
    subState: textOf(details, 'currentSubState') ?? '',
    error: textOf(status, 'error') ?? '',
    databases: Object.values(recordAt(details, 'dbDetails')).map(databaseOf),
    findings: findingsOf(recordAt(details, 'validationDetails')),
    mayBeSetUp: textOf(properties, 'setupLogicalReplicationOnSourceDbIfNeeded') === 'True',
    answered: answeredOf(properties, now),
  }
}

function answeredOf(properties: Readonly<Record<string, unknown>>, now: number): readonly string[] {
  const isTrue = (name: string): boolean => textOf(properties, name) === 'True'
  // A migration without a window shows the time it was accepted; a past time starts nothing.
  const start = Date.parse(textOf(properties, 'migrationWindowStartTimeInUtc') ?? '')
  const hasTime = start > now
  return [
    ...(isTrue('cancel') ? ['WaitingForCutoverTrigger'] : []),
    ...(isTrue('overwriteDbsInTarget') ? ['WaitingForTargetDBOverwriteConfirmation'] : []),
    ...(isTrue('startDataMigration') || hasTime ? ['WaitingForDataMigrationScheduling'] : []),
    ...(listOf(properties, 'dbsToMigrate').length > 0
      ? ['WaitingForDBsToMigrateSpecification']
      : []),
  ]
}

function databaseOf(one: unknown): DatabaseStatus {
  const tables = ['Completed', 'Errored', 'Loading', 'Queued'].map((state) =>
    numberAt(one, `fullLoad${state}Tables`),
  )
  const [tablesDone = 0] = tables
  return {
    name: textOf(one, 'databaseName') ?? '',
    state: textOf(one, 'migrationState') ?? '',
    operation: textOf(one, 'migrationOperation') ?? '',
    message: textOf(one, 'message') ?? '',
    startedOn: textOf(one, 'startedOn') ?? '',
    endedOn: textOf(one, 'endedOn') ?? '',
    latency: isJsonObject(one) && typeof one['latency'] === 'number' ? one['latency'] : undefined,
    incomingChanges: numberAt(one, 'incomingChanges'),
    appliedChanges: numberAt(one, 'appliedChanges'),
    tablesDone,
    tables: tables.reduce((sum, count) => sum + count, 0),
  }
}

function findingsOf(details: Readonly<Record<string, unknown>>): readonly Finding[] {
  const ofServer = listOf(details, 'serverLevelValidationDetails').flatMap((item) =>
    messagesOf('', item),
  )
  const ofDatabases = listOf(details, 'dbLevelValidationDetails').flatMap((one) =>
    listOf(one, 'summary').flatMap((item) => messagesOf(textOf(one, 'databaseName') ?? '', item)),
  )
  return [...ofServer, ...ofDatabases]
}

function messagesOf(database: string, item: unknown): readonly Finding[] {
  const check = textOf(item, 'type') ?? ''
  const messages = listOf(item, 'messages')
  // A check without messages found nothing wrong.
  if (messages.length === 0) {
    return [{ database, check, state: textOf(item, 'state') ?? '', message: '' }]
  }
  return messages.map((one) => ({
    database,
    check,
    state: textOf(one, 'state') ?? '',
    message: textOf(one, 'message') ?? '',
  }))
}

export const databaseColumns: readonly Column<DatabaseStatus>[] = [
  { title: 'DATABASE', of: ({ name }) => name },
  { title: 'STATE', of: ({ state }) => state },
  { title: 'OPERATION', of: ({ operation }) => operation },
  { title: 'TABLES', of: ({ tablesDone, tables }) => `${tablesDone} of ${tables}` },
  { title: 'APPLIED', of: ({ appliedChanges }) => String(appliedChanges) },
  { title: 'LATENCY', of: ({ latency }) => (latency === undefined ? '' : `${latency} s`) },
  { title: 'MESSAGE', of: ({ message }) => message },
]

export const findingColumns: readonly Column<Finding>[] = [
  { title: 'DATABASE', of: ({ database }) => database || '(server)' },
  { title: 'CHECK', of: ({ check }) => check },
  { title: 'STATE', of: ({ state }) => state },
  { title: 'MESSAGE', of: ({ message }) => message },
]

function recordAt(value: unknown, name: string): Readonly<Record<string, unknown>> {
  const found = isJsonObject(value) ? value[name] : undefined
  return isJsonObject(found) ? found : {}
}

export function numberAt(value: unknown, name: string): number {
  const found = isJsonObject(value) ? value[name] : undefined
  return typeof found === 'number' ? found : 0
}
