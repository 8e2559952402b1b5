/** A migration as it is stored: what its user asked for, and what has come of it. */

import type { DatabaseReport, MigrationSpec, ValidationReport } from '#engines/databases/engine.ts'
import type { Seal } from '#kernel/ports.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { tokenOf } from '#plane/subject.ts'
import type { Sku, SslModeWord } from '../flexible-servers/model.ts'

export type Flag = 'True' | 'False'
export const modes = ['Offline', 'Online'] as const
export const options = ['Validate', 'Migrate', 'ValidateAndMigrate'] as const

/** The contract's three and those of facts 8.2. */
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

/** The contract: "resource id when sourceType is PostgreSQLSingleServer", host, port and user for the others. */
export const registeredSourceType = 'PostgreSQLSingleServer'

/** What is wanted of single databases; `all` of every one. Only grows. */
export interface Asked {
  readonly cutover: readonly string[] | 'all'
  readonly cancel: readonly string[] | 'all'
}

export interface Migration {
  /** The id at the first PUT, as a key: what the seal is bound to. */
  readonly place: string
  readonly migrationId: string
  readonly mode: (typeof modes)[number]
  readonly option: (typeof options)[number]
  readonly sourceType: (typeof sourceTypes)[number]
  readonly sslMode: SslModeWord
  readonly instanceResourceId?: string
  /** When it was made, as it is shown where no window was given. Absent in those made before it was kept. */
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
  /** Both passwords, sealed; undefined where a PUT left one out, which the rules refuse. */
  readonly sealedPasswords?: string
  /** When each was given last, in milliseconds. Absent in those made before it was kept. */
  readonly passwordsGiven?: Readonly<Record<'source' | 'target', number>>
  readonly asked: Asked
  /** Databases that are begun anew after the end, and for which time of it. */
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

/** Undefined where there are none, or they were sealed by another key. */
export function openPasswords(
  seal: Seal,
  { place, sealedPasswords }: Pick<Migration, 'place' | 'sealedPasswords'>,
): Passwords | undefined {
  if (sealedPasswords === undefined) return undefined
  const text = seal.open(sealedPasswords, context(place))
  // Sealed by `sealPasswords` alone.
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

/** What the reconciler is about to do; written down before it is done. */
export type Todo =
  | { readonly kind: 'set-up-replication' }
  | { readonly kind: 'run' }
  | {
      readonly kind: 'order'
      readonly cutover: readonly string[]
      readonly cancel: readonly string[]
    }
  | { readonly kind: 'forget' }

/** What has come of a migration so far: all that is known between two looks. */
export interface Progress {
  readonly state: MigrationState
  readonly subState: SubState
  /** Why it failed, or what it has trouble with now. */
  readonly error?: string
  readonly databases: readonly DatabaseState[]
  /** The last validation, and what it validated: when that changes, it is validated again. */
  readonly validation?: { readonly of: string; readonly report: ValidationReport }
  readonly source?: ServerMetadata
  readonly target?: ServerMetadata
  /** What the worker is given. From here on nothing of it can be changed. */
  readonly plan?: MigrationSpec
  /** The answers that were given when a wait before the worker's start began. */
  readonly answers?: string
  /** Where it waited for its user last, before the worker: another answer may mend what fails since. */
  readonly waitedIn?: SubState
  /** Since when looks fail, before the worker has begun. */
  readonly troubleSince?: number
  readonly todo?: Todo
  /** At its end, and nothing will change any more. */
  readonly isSettled: boolean
  /** Once it is at its end, if a worker was at it. */
  readonly report?: readonly DatabaseReport[]
  /** The worker's record has been removed. */
  readonly isForgotten: boolean
  /** Of `Migration.round`, the number of what this is about; 0 when left out. */
  readonly round?: number
  /** The migration that is at the target, while this one would go on and cannot. */
  readonly turn?: string
  /** When to look again; never when left out. */
  readonly lookInSeconds?: number
}

/** Rows of this type hold these. */
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
 * The name under which its engine knows a migration: another one for each round, since an engine never takes up again what
 * has ended.
 */
export function tokenOfRound(token: string, progress: Progress | undefined): string {
  const round = progress?.round ?? 0
  return round === 0 ? token : `${token}r${round}`
}

export function tokenOfMigration(resource: Resource): string {
  const token = tokenOf(resource.id, resource.systemData.createdAt)
  return tokenOfRound(token, migrationOf(resource).progress)
}

/** Does it keep others from its target? Not while it waits before anything of its data has moved. */
export function holdsPlace(progress: Progress | undefined): boolean {
  if (!isActive(progress)) return false
  if (progress?.turn !== undefined) return false
  return progress?.plan !== undefined || progress?.state !== 'WaitingForUserAction'
}

export function isActive(progress: Progress | undefined): boolean {
  return progress?.isSettled !== true
}
