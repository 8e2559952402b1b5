/** Maps what the engine reports of a database to the contract's record of it. Pure. */

import type { DatabasePhase, ObservedDatabase } from '#engines/databases/engine.ts'
import { isoTime } from '../dependencies.ts'
import type {
  DatabaseState,
  MigrationState,
  RequestedActions,
} from '../resources/migrations/model.ts'
import { ordersFor } from './requested-actions.ts'

const int32Max = 2 ** 31 - 1

/** The contract's counters are int32. A larger count is shown as the largest int32. */
function clamp(count: number): number {
  return Math.max(0, Math.min(int32Max, Math.round(count)))
}

const states: Readonly<Record<DatabasePhase, DatabaseState['migrationState']>> = {
  queued: 'InProgress',
  preparing: 'InProgress',
  schema: 'InProgress',
  copying: 'InProgress',
  indexing: 'InProgress',
  finishing: 'InProgress',
  replicating: 'WaitingForCutoverTrigger',
  'cutting-over': 'InProgress',
  canceling: 'Canceling',
  'cleaning-up': 'Failed',
  succeeded: 'Succeeded',
  failed: 'Failed',
  canceled: 'Canceled',
}

/** The contract has free text here. This text is the engine's phase in words. */
const operations: Readonly<Record<DatabasePhase, string>> = {
  queued: 'Queued',
  preparing: 'Preparing',
  schema: 'MigratingSchema',
  copying: 'CopyingTables',
  indexing: 'BuildingIndexes',
  finishing: 'Finishing',
  replicating: 'ReplicatingChanges',
  'cutting-over': 'CuttingOver',
  canceling: 'Canceling',
  'cleaning-up': 'CleaningUp',
  succeeded: 'Completed',
  failed: 'Failed',
  canceled: 'Canceled',
}

export function showDatabase(
  one: ObservedDatabase,
  orders: { readonly cutover: readonly string[]; readonly cancel: readonly string[] },
  /** The worker cannot go on now, so it does not know how far behind a database is. */
  isStalled: boolean,
): DatabaseState {
  const { name, phase, counters, startedAt, endedAt, number } = one
  const isEnded =
    states[phase] === 'Succeeded' || states[phase] === 'Canceled' || phase === 'failed'
  const cancels = orders.cancel.includes(name) && !isEnded && phase !== 'cleaning-up'
  const cuts = phase === 'replicating' && orders.cutover.includes(name)
  const words = [one.message, one.warning].filter((text) => text).join(' ')
  const message = number === undefined ? words : `${number}: ${words}`
  return {
    databaseName: name,
    migrationState: cancels ? 'Canceling' : cuts ? 'InProgress' : states[phase],
    migrationOperation: operations[phase],
    message,
    ...(startedAt === undefined ? {} : { startedOn: isoTime(startedAt) }),
    ...(endedAt === undefined ? {} : { endedOn: isoTime(endedAt) }),
    ...(counters.latencySeconds === undefined || isStalled
      ? {}
      : { latency: clamp(counters.latencySeconds) }),
    incomingChanges: clamp(counters.incomingChanges),
    appliedChanges: clamp(counters.appliedChanges),
    cdcInsertCounter: clamp(counters.cdcInsertCounter),
    cdcUpdateCounter: clamp(counters.cdcUpdateCounter),
    cdcDeleteCounter: clamp(counters.cdcDeleteCounter),
    fullLoadCompletedTables: clamp(counters.fullLoadCompletedTables),
    fullLoadErroredTables: clamp(counters.fullLoadErroredTables),
    fullLoadLoadingTables: clamp(counters.fullLoadLoadingTables),
    fullLoadQueuedTables: clamp(counters.fullLoadQueuedTables),
  }
}

/** The records of databases whose migration has not started. */
export function unstarted(
  names: readonly string[],
  requested: RequestedActions,
): readonly DatabaseState[] {
  const { cancel } = ordersFor(requested, names)
  return names.map((databaseName) => ({
    databaseName,
    migrationState: cancel.includes(databaseName) ? 'Canceled' : 'InProgress',
    migrationOperation: cancel.includes(databaseName) ? 'Canceled' : 'Queued',
    message: '',
    incomingChanges: 0,
    appliedChanges: 0,
    cdcInsertCounter: 0,
    cdcUpdateCounter: 0,
    cdcDeleteCounter: 0,
    fullLoadCompletedTables: 0,
    fullLoadErroredTables: 0,
    fullLoadLoadingTables: 0,
    fullLoadQueuedTables: 0,
  }))
}

/** The records of databases that had not started when the migration ended. */
export function concluded(
  databases: readonly DatabaseState[],
  of: (name: string) => 'Succeeded' | 'Failed',
  operation: string,
): readonly DatabaseState[] {
  return databases.map((one) =>
    one.migrationState === 'InProgress'
      ? { ...one, migrationState: of(one.databaseName), migrationOperation: operation }
      : one,
  )
}

/**
 * The state of the whole migration at its end. It is failed if one database failed, and canceled if all were
 * canceled or the migration was canceled as a whole.
 */
export function endedState(
  databases: readonly DatabaseState[],
  calledOff: boolean,
): MigrationState {
  const isAny = (state: DatabaseState['migrationState']): boolean =>
    databases.some((one) => one.migrationState === state)
  if (isAny('Failed')) return 'Failed'
  if (!isAny('Canceled')) return 'Succeeded'
  return calledOff || !isAny('Succeeded') ? 'Canceled' : 'Succeeded'
}

/** The reasons of all databases that failed. Undefined where none failed. */
export function endsInErrors(databases: readonly ObservedDatabase[]): string | undefined {
  const failed = databases.filter(({ phase }) => phase === 'failed')
  if (failed.length === 0) return undefined
  return failed
    .map(({ name, message, number }) =>
      number === undefined ? `${name}: ${message}` : `${name}: ${number}: ${message}`,
    )
    .join('; ')
}
