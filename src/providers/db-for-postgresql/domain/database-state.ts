/** The contract's per-database record, out of what the engine tells. Pure. */

import type { DatabasePhase, ObservedDatabase } from '#engines/databases/engine.ts'
import { isoTime } from '../dependencies.ts'
import type { Asked, DatabaseState, MigrationState } from '../resources/migrations/model.ts'
import { ordersFor } from './requested-actions.ts'

const int32Max = 2 ** 31 - 1

/** The counters are int32 in the contract: one that grew beyond stays at the end. */
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

/** Free text in the contract; here the phase of the engine in words. */
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
  /** The worker cannot go on now: how far behind a database is, it does not know. */
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

/** Databases that nothing has been done for. */
export function unstarted(names: readonly string[], asked: Asked): readonly DatabaseState[] {
  const { cancel } = ordersFor(asked, names)
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

/** Those that nothing has been done for, when the whole ends without beginning with them. */
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

/** The whole at its end: failed if one failed; called off if all were, or it was called off as a whole. */
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

/** Why those failed that did; undefined where none did. */
export function endsInErrors(databases: readonly ObservedDatabase[]): string | undefined {
  const failed = databases.filter(({ phase }) => phase === 'failed')
  if (failed.length === 0) return undefined
  return failed
    .map(({ name, message, number }) =>
      number === undefined ? `${name}: ${message}` : `${name}: ${number}: ${message}`,
    )
    .join('; ')
}
