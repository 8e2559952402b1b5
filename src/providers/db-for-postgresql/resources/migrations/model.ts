/** The stored model of a migration: what its user asked for, and its progress. */

import type { DatabaseReport, MigrationSpec, ValidationReport } from '#engines/databases/engine.ts'
import type { Seal } from '#kernel/ports.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { tokenOf } from '#plane/subject.ts'
import type { Sku, SslModeWord } from '../flexible-servers/model.ts'

export type Flag = 'True' | 'False'
export const modes = ['Offline', 'Online'] as const
export const options = ['Validate', 'Migrate', 'ValidateAndMigrate'] as const

/** The contract's three source types and those of facts 8.2. */
export const sourceTypes = [
  'OnPremises',
  'PostgreSQLFlexibleServer',
  'PostgreSQLSingleServer',
  'AWS',
  'GCP',
  'VendorVM',
  'AWS_RDS',
  'AWS_AURORA',
  'AWS_EC2',
  'GCP_CloudSQL',
  'GCP_AlloyDB',
  'GCP_Compute',
  'EDB',
  'EDB_Oracle_Server',
  'EDB_PostgreSQL',
  'PostgreSQLCosmosDB',
  'Huawei_RDS',
  'Huawei_Compute',
  'Heroku_PostgreSQL',
  'Crunchy_PostgreSQL',
  'ApsaraDB_RDS',
  'Digital_Ocean_Droplets',
  'Digital_Ocean_PostgreSQL',
  'Supabase_PostgreSQL',
] as const

/** Contract: "resource id when sourceType is PostgreSQLSingleServer". Other types have host, port and user. */
export const registeredSourceType = 'PostgreSQLSingleServer'

/** The actions that were asked for, per database. `all` stands for every database. Requests only add to it. */
export interface RequestedActions {
  readonly cutover: readonly string[] | 'all'
  readonly cancel: readonly string[] | 'all'
}

export interface Migration {
  /** The id at the first PUT, as a key. The seal is bound to it. */
  readonly place: string
  readonly migrationId: string
  readonly mode: (typeof modes)[number]
  readonly option: (typeof options)[number]
  readonly sourceType: (typeof sourceTypes)[number]
  readonly sslMode: SslModeWord
  readonly instanceResourceId?: string
  /**
   * When the migration was created. It is shown as the start of the window where none was given. Absent in
   * migrations stored before this was recorded.
   */
  readonly acceptedAt?: string
  readonly windowStart?: string
  readonly windowEnd?: string
  readonly sourceId: string
  readonly sourceHost?: string
  readonly targetHost?: string
  readonly databases?: readonly string[]
  readonly cutoverOn?: readonly string[]
  readonly cancelOn?: readonly string[]
  readonly migrateRoles?: Flag
  readonly setUpReplication?: Flag
  readonly startDataMigration?: Flag
  readonly triggerCutover?: Flag
  readonly cancel?: Flag
  readonly overwrite?: Flag
  readonly sourceUser?: string
  readonly targetUser?: string
  /** Both passwords, sealed. Undefined if a PUT left one out, which the rules refuse. */
  readonly sealedPasswords?: string
  /** When each password was last given, in milliseconds. Absent in migrations stored before this was recorded. */
  readonly passwordsGiven?: Readonly<Record<'source' | 'target', number>>
  readonly asked: RequestedActions
  /** The databases that are started again after the end, and the number of the round. */
  readonly round?: Round
}

interface Round {
  readonly number: number
  readonly databases: readonly string[]
}

interface Passwords {
  readonly source: string
  readonly target: string
}

const context = (place: string): string => `migration passwords\n${place}`

export function sealPasswords(seal: Seal, place: string, passwords: Passwords): string {
  return seal.seal(JSON.stringify(passwords), context(place))
}

/** Undefined if there are none, or if another key sealed them. */
export function openPasswords(
  seal: Seal,
  { place, sealedPasswords }: Pick<Migration, 'place' | 'sealedPasswords'>,
): Passwords | undefined {
  if (sealedPasswords === undefined) return undefined
  const text = seal.open(sealedPasswords, context(place))
  // Only `sealPasswords` seals this text.
  return text === undefined ? undefined : (JSON.parse(text) as Passwords)
}

export type MigrationState =
  | 'InProgress'
  | 'WaitingForUserAction'
  | 'Canceled'
  | 'Failed'
  | 'Succeeded'
  | 'ValidationFailed'
  | 'CleaningUp'

/** Facts 8.2. */
export type SubState =
  | 'PerformingPreRequisiteSteps'
  | 'WaitingForLogicalReplicationSetupRequestOnSourceDB'
  | 'WaitingForDBsToMigrateSpecification'
  | 'WaitingForTargetDBOverwriteConfirmation'
  | 'WaitingForDataMigrationScheduling'
  | 'WaitingForDataMigrationWindow'
  | 'MigratingData'
  | 'WaitingForCutoverTrigger'
  | 'CompletingMigration'
  | 'Completed'
  | 'CancelingRequestedDBMigrations'
  | 'ValidationInProgress'

export interface ServerMetadata {
  readonly location: string
  readonly sku: Sku | Record<never, never>
  readonly storageMb: number
  readonly version: string
}

/** The contract's DatabaseMigrationState. */
export interface DatabaseState {
  readonly databaseName: string
  readonly migrationState:
    | 'InProgress'
    | 'WaitingForCutoverTrigger'
    | 'Failed'
    | 'Canceled'
    | 'Succeeded'
    | 'Canceling'
  readonly migrationOperation: string
  readonly message: string
  readonly startedOn?: string
  readonly endedOn?: string
  readonly latency?: number
  readonly incomingChanges: number
  readonly appliedChanges: number
  readonly cdcInsertCounter: number
  readonly cdcUpdateCounter: number
  readonly cdcDeleteCounter: number
  readonly fullLoadCompletedTables: number
  readonly fullLoadErroredTables: number
  readonly fullLoadLoadingTables: number
  readonly fullLoadQueuedTables: number
}

/** The step that the reconciler is about to take. It is stored before it is taken. */
export type Todo =
  | { readonly kind: 'set-up-replication' }
  | { readonly kind: 'run' }
  | {
      readonly kind: 'order'
      readonly cutover: readonly string[]
      readonly cancel: readonly string[]
    }
  | { readonly kind: 'forget' }

/** The progress of a migration: everything that is kept between two looks. */
export interface Progress {
  readonly state: MigrationState
  readonly subState: SubState
  /** Why the migration failed, or the trouble it has now. */
  readonly error?: string
  readonly databases: readonly DatabaseState[]
  /** The last validation and its inputs. When the inputs change, the migration is validated again. */
  readonly validation?: { readonly of: string; readonly report: ValidationReport }
  readonly source?: ServerMetadata
  readonly target?: ServerMetadata
  /** The worker's specification. Once it is set, it cannot change. */
  readonly plan?: MigrationSpec
  /** The answers that had been given when a wait before the worker's start began. */
  readonly answers?: string
  /**
   * Where the migration last waited for its user before the worker started. Another answer may mend a failure since
   * then.
   */
  readonly waitedIn?: SubState
  /** Since when looks have failed, before the worker has started. */
  readonly troubleSince?: number
  readonly todo?: Todo
  /** True if the migration has ended and nothing of it will change. */
  readonly isSettled: boolean
  /** Set at the end, if a worker ran. */
  readonly report?: readonly DatabaseReport[]
  /** True if the worker's record has been removed. */
  readonly isForgotten: boolean
  /** The number of the round of `Migration.round` that this progress belongs to. 0 when left out. */
  readonly round?: number
  /** The migration that is at work on the target while this one waits for its turn. */
  readonly turn?: string
  /** Where the worker's record and process are seen, and when somebody there looked last, about. */
  readonly place?: { readonly of: string; readonly at: number }
  /** When to look again. Never, when left out. */
  readonly lookInSeconds?: number
}

/** Rows of this type have this model. */
export function migrationOf(resource: Resource): {
  readonly model: Migration
  readonly progress: Progress | undefined
} {
  return {
    model: resource.model as Migration,
    progress: resource.observed as Progress | undefined,
  }
}

/**
 * The engine's token of a migration. Each round has its own, since an engine never resumes a migration that has
 * ended.
 */
export function tokenOfRound(token: string, progress: Progress | undefined): string {
  const round = progress?.round ?? 0
  return round === 0 ? token : `${token}r${round}`
}

export function tokenOfMigration(resource: Resource): string {
  const token = tokenOf(resource.id, resource.systemData.createdAt)
  return tokenOfRound(token, migrationOf(resource).progress)
}

/**
 * True if the migration keeps others from its target. It does not while it waits before any of its data has moved.
 */
export function holdsPlace(progress: Progress | undefined): boolean {
  if (!isActive(progress)) return false
  if (progress?.turn !== undefined) return false
  return progress?.plan !== undefined || progress?.state !== 'WaitingForUserAction'
}

export function isActive(progress: Progress | undefined): boolean {
  return progress?.isSettled !== true
}
