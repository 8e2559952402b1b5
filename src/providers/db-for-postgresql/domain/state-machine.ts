/**
 * The state machine of facts 8.4. It maps what was asked for, the progress so far and what was just seen to the
 * next progress. Pure: it calls nobody, and its only clock is a parameter.
 */

import {
  type DatabaseReport,
  isEnd,
  type MigrationSpec,
  type ObservedDatabase,
  type ObservedMigration,
  type Survey,
  type ValidationReport,
} from '#engines/databases/engine.ts'
import type {
  Migration,
  Progress,
  ServerMetadata,
  SubState,
} from '../resources/migrations/model.ts'
import { concluded, endedState, endsInErrors, showDatabase, unstarted } from './database-state.ts'
import { type Failure, failureText } from './engine-failure.ts'
import { ordersFor } from './requested-actions.ts'

/** What has to be looked at before the next step can be decided. */
type Look = 'nothing' | 'validation' | 'survey' | 'worker'

/** What was seen. `spec` is the specification that a worker would get now. */
export type Observation =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'validation'; readonly report: ValidationReport }
  | {
      readonly kind: 'survey'
      readonly survey: Survey
      readonly spec: MigrationSpec
      readonly source: ServerMetadata
      readonly target: ServerMetadata
    }
  | {
      readonly kind: 'worker'
      readonly observed: ObservedMigration
      /** The report of a worker that has ended. */
      readonly report?: readonly DatabaseReport[]
    }
  | Failure

/** With the time that the worker needs to look and to record, counters are at most two seconds old. */
const workerLookSeconds = 0.5
const surveyLookSeconds = 5
const troubleLookSeconds = 2
/** A server that does not answer before the migration has started may be starting itself. */
const troubleSecondsMax = 60
const windowLookSecondsMax = 60

/** The answers that a wait depends on. When they change, the wait is over even if nobody has looked since. */
export function answersOf(model: Migration): string {
  const { databases, setUpReplication, overwrite, startDataMigration, windowStart } = model
  return JSON.stringify([databases, setUpReplication, overwrite, startDataMigration, windowStart])
}

const start: Progress = {
  state: 'InProgress',
  subState: 'PerformingPreRequisiteSteps',
  databases: [],
  isSettled: false,
  isForgotten: false,
}

export function nextObservation(model: Migration, last: Progress | undefined): Look {
  if (last?.isForgotten === true) return 'nothing'
  if (last?.isSettled === true || last?.plan !== undefined) return 'worker'
  if (remaining(model).length === 0) return 'nothing'
  if (!needsValidation(model, last)) return 'survey'
  // A validation is shown before it starts, since it may take a while. A migration that tries again keeps the state
  // it shows.
  const isTriedAgain = last?.waitedIn !== undefined && last.error !== undefined
  return last?.subState === 'ValidationInProgress' || isTriedAgain ? 'validation' : 'nothing'
}

/**
 * The progress of an ended migration whose databases are started again, before the first look. Undefined where none
 * are started again.
 */
export function restartedProgress(
  { round, databases = [] }: Migration,
  last: Progress,
): Progress | undefined {
  if (!last.isSettled || (round?.number ?? 0) <= (last.round ?? 0)) return undefined
  const again = unstarted(round?.databases ?? [], { cutover: [], cancel: [] })
  const isOf = (name: string) => (one: { readonly databaseName: string }) =>
    one.databaseName === name
  const states = databases.flatMap(
    (name) => again.find(isOf(name)) ?? last.databases.find(isOf(name)) ?? [],
  )
  const { error: _of, plan: _done, waitedIn: _then, validation: _old, ...rest } = last
  return { ...rest, ...start, databases: states, round: round?.number ?? 0 }
}

export function advance(
  model: Migration,
  before: Progress | undefined,
  seen: Observation,
  now: number,
): Progress {
  if (before?.round === undefined || before.isSettled) return advanceRound(model, before, seen, now)
  // Earlier results stay as they are.
  const round = model.round?.databases ?? []
  const isOld = (name: string): boolean => !round.includes(name)
  const old = before.databases.filter(({ databaseName }) => isOld(databaseName))
  const own = before.databases.filter(({ databaseName }) => !isOld(databaseName))
  const of = { ...model, databases: round }
  const next = advanceRound(of, { ...before, databases: own }, seen, now)
  const databases = [...old, ...next.databases]
  const report =
    seen.kind !== 'worker' || seen.report === undefined
      ? before.report
      : [...(before.report ?? []).filter(({ name }) => isOld(name)), ...seen.report]
  return {
    ...next,
    databases,
    ...(next.isSettled && next.state !== 'ValidationFailed'
      ? { state: endedState(databases, false) }
      : {}),
    ...(report === undefined ? {} : { report }),
  }
}

/** Progress of a migration that waits because others are at work; `turn` names what it waits for. */
export function waitingProgress(next: Progress, turn: string, reason: string): Progress {
  const { plan: _not, todo: _yet, place: _none, ...rest } = next
  const waits = `It goes on when ${reason}.`
  return {
    ...rest,
    state: 'InProgress',
    subState: 'PerformingPreRequisiteSteps',
    turn,
    databases: next.databases.map((one) =>
      one.migrationState === 'InProgress' ? { ...one, message: waits } : one,
    ),
    lookInSeconds: surveyLookSeconds,
  }
}

function advanceRound(
  model: Migration,
  before: Progress | undefined,
  seen: Observation,
  now: number,
): Progress {
  const {
    todo: _done,
    lookInSeconds: _when,
    answers: _given,
    turn: _was,
    ...last
  } = before ?? start
  if (last.isSettled) {
    const ended = seen.kind === 'worker' ? afterEnd(last, seen.observed) : last
    return (ended.isForgotten ? restartedProgress(model, ended) : undefined) ?? ended
  }
  if (last.plan !== undefined) return withWorker(model, { ...last, plan: last.plan }, seen, now)
  return beforeWorker(model, last, seen, now)
}

/** The worker's record is removed once everything in it is stored here. */
function afterEnd(last: Progress, observed: ObservedMigration): Progress {
  if (observed.worker === 'none') return { ...last, isForgotten: true }
  return { ...last, todo: { kind: 'forget' }, lookInSeconds: workerLookSeconds }
}

/** The named databases that are not canceled. */
function remaining(model: Migration): readonly string[] {
  const databases = model.databases ?? []
  const { cancel } = ordersFor(model.asked, databases)
  return databases.filter((name) => !cancel.includes(name))
}

/** The inputs of a validation. When they change, its findings no longer hold. */
function judged(model: Migration): string {
  const { mode, sourceId, sourceHost, targetHost, sourceUser, targetUser, migrateRoles } = model
  const ends = [sourceId, sourceHost, targetHost, sourceUser, targetUser]
  return JSON.stringify([mode, remaining(model), ends, migrateRoles ?? 'False'])
}

function needsValidation(model: Migration, last: Progress | undefined): boolean {
  return model.option !== 'Migrate' && last?.validation?.of !== judged(model)
}

function beforeWorker(model: Migration, last: Progress, seen: Observation, now: number): Progress {
  const databases = model.databases ?? []
  if (model.asked.cancel === 'all') return settled(last, 'Canceled', canceled(databases))
  if (databases.length === 0) {
    const what = 'name the databases to migrate'
    return waiting(model, last, 'WaitingForDBsToMigrateSpecification', { about: [], message: what })
  }
  if (remaining(model).length === 0) return settled(last, 'Canceled', canceled(databases))
  const shown = unstarted(databases, model.asked)
  const failure = last.waitedIn === undefined ? seen : (unreached(seen) ?? seen)
  if (failure.kind === 'failure') {
    return inTrouble(heldInWait(model, { ...last, databases: shown }), failure, now)
  }
  const { troubleSince: _over, error: _old, ...well } = last
  if (seen.kind === 'validation') return judge(model, { ...well, databases: shown }, seen.report)
  if (needsValidation(model, last)) {
    return goOn({ ...well, databases: shown }, 'ValidationInProgress', 0)
  }
  if (seen.kind !== 'survey') {
    return goOn({ ...well, databases: shown }, 'PerformingPreRequisiteSteps', 0)
  }
  const { source, target } = seen
  return prepare(model, { ...well, databases: shown, source, target }, seen, now)
}

/** A validation that could not connect to a server has no findings. */
function unreached(seen: Observation): Failure | undefined {
  if (seen.kind !== 'validation') return undefined
  const messages = seen.report.server
    .filter(({ type, state }) => type.endsWith('Connection') && state === 'Failed')
    .flatMap((one) => one.messages)
    .filter(({ state }) => state === 'Failed')
    .map(({ message }) => message)
  if (messages.length === 0) return undefined
  return { kind: 'failure', message: messages.join(' '), number: undefined, passes: true }
}

/** The user was asked for more before and may still answer, so the migration stays in its wait. */
function heldInWait(model: Migration, last: Progress): Progress {
  if (last.waitedIn === undefined) return last
  const state = 'WaitingForUserAction'
  return { ...last, state, subState: last.waitedIn, answers: answersOf(model) }
}

function judge(model: Migration, last: Progress, report: ValidationReport): Progress {
  const next: Progress = { ...last, validation: { of: judged(model), report } }
  if (report.state === 'Failed') {
    const failed = [...report.server, ...report.databases.flatMap(({ findings }) => findings)]
      .flatMap(({ messages }) => messages)
      .filter(({ state }) => state === 'Failed')
      .map(({ message }) => message)
    const error = failed.slice(0, 3).join(' ')
    const isSound = (name: string): boolean =>
      report.server.every(({ state }) => state !== 'Failed') &&
      report.databases.some(
        (one) => one.name === name && one.findings.every(({ state }) => state !== 'Failed'),
      )
    const judgedAll = concluded(
      last.databases,
      (name) => (isSound(name) ? 'Succeeded' : 'Failed'),
      'Validated',
    )
    return { ...settled(next, 'ValidationFailed', judgedAll), error }
  }
  if (model.option === 'Validate') {
    const judgedAll = concluded(last.databases, () => 'Succeeded', 'Validated')
    return settled(next, 'Succeeded', judgedAll)
  }
  return goOn(next, 'PerformingPreRequisiteSteps', 0)
}

/** Handles consents and times in the order of facts 8.4. The worker's specification is fixed after that. */
function prepare(
  model: Migration,
  last: Progress,
  { survey, spec }: Extract<Observation, { kind: 'survey' }>,
  now: number,
): Progress {
  const { replication, targetDatabases, missing } = survey
  if (missing.length > 0) {
    const error = `603102: the source has no database ${missing.map((name) => `'${name}'`).join(', ')}`
    return { ...settled(last, 'Failed', unbegun(last)), error }
  }
  if (replication.kind !== 'ready') {
    const reasons = replication.reasons.join('; ')
    if (replication.kind === 'consent-needed' && model.setUpReplication === 'True') {
      const todo = { kind: 'set-up-replication' } as const
      return { ...goOn(last, 'PerformingPreRequisiteSteps', surveyLookSeconds), todo }
    }
    const what =
      replication.kind === 'restart-needed'
        ? `the settings are written: restart the source server (${reasons})`
        : `allow setupLogicalReplicationOnSourceDbIfNeeded, or change it yourself: ${reasons}`
    const subState = 'WaitingForLogicalReplicationSetupRequestOnSourceDB'
    return waiting(model, last, subState, { about: spec.databases, message: what })
  }
  const taken = targetDatabases.filter(({ made }) => !made).map(({ name }) => name)
  if (taken.length > 0 && model.overwrite !== 'True') {
    const what = 'the target has a database of this name: allow overwriteDbsInTarget, or remove it'
    return waiting(model, last, 'WaitingForTargetDBOverwriteConfirmation', {
      about: taken,
      message: what,
    })
  }
  const later = timeToWait(model, now)
  if (later !== undefined) {
    const wait = waiting(model, last, later.subState, {
      about: spec.databases,
      message: later.what,
    })
    return { ...wait, lookInSeconds: later.seconds }
  }
  return { ...goOn(last, 'MigratingData', 0), plan: spec }
}

function timeToWait(
  { startDataMigration, windowStart }: Migration,
  now: number,
): { readonly subState: SubState; readonly what: string; readonly seconds: number } | undefined {
  if (startDataMigration === 'True') return undefined
  if (windowStart !== undefined) {
    const seconds = Math.ceil((Date.parse(windowStart) - now) / 1000)
    if (seconds <= 0) return undefined
    const what = `the window begins at ${windowStart}`
    return {
      subState: 'WaitingForDataMigrationWindow',
      what,
      seconds: Math.min(seconds, windowLookSecondsMax),
    }
  }
  if (startDataMigration !== 'False') return undefined
  return {
    subState: 'WaitingForDataMigrationScheduling',
    what: 'set startDataMigration to True, or the beginning of a window',
    seconds: windowLookSecondsMax,
  }
}

function withWorker(
  model: Migration,
  last: Progress & { readonly plan: MigrationSpec },
  seen: Observation,
  now: number,
): Progress {
  const { plan } = last
  const orders = ordersFor(model.asked, plan.databases)
  if (seen.kind === 'failure') {
    // The migration ends here: it has not started, and is not to start.
    if (last.databases.every(({ startedOn }) => startedOn === undefined)) {
      if (orders.cancel.length === plan.databases.length) {
        return settled(last, 'Canceled', canceled(model.databases ?? []))
      }
      return inTrouble(last, seen, now)
    }
    const again = { ...last, error: failureText(seen) }
    return { ...again, todo: { kind: 'run' }, lookInSeconds: troubleLookSeconds }
  }
  if (seen.kind !== 'worker') return { ...last, lookInSeconds: 0 }
  const { observed } = seen
  if (observed.worker === 'none') {
    if (orders.cancel.length === plan.databases.length) {
      return settled(last, 'Canceled', canceled(model.databases ?? []))
    }
    return { ...last, todo: { kind: 'run' }, lookInSeconds: workerLookSeconds }
  }
  const { error: _old, troubleSince: _over, ...well } = last
  const databases = [
    // A worker that has just started has no report yet.
    ...(observed.databases.length === 0
      ? unstarted(plan.databases, model.asked)
      : observed.databases.map((one) => showDatabase(one, orders, observed.message !== ''))),
    ...canceled((model.databases ?? []).filter((name) => !plan.databases.includes(name))),
  ]
  if (observed.worker === 'ended') {
    const state = endedState(databases, model.asked.cancel === 'all')
    const error = endsInErrors(observed.databases)
    const { report } = seen
    return {
      ...settled(well, state, databases),
      ...(error === undefined ? {} : { error }),
      ...(report === undefined ? {} : { report }),
    }
  }
  const cutover = orders.cutover.filter((name) => !observed.asked.cutover.includes(name))
  const cancel = orders.cancel.filter((name) => !observed.asked.cancel.includes(name))
  const hasOrders = cutover.length > 0 || cancel.length > 0
  const next: Progress = {
    ...well,
    ...neverBack(last, whole(model, observed, orders.cutover)),
    ...(observed.message === '' ? {} : { error: observed.message }),
    databases,
    lookInSeconds: workerLookSeconds,
  }
  if (observed.worker === 'lost') return { ...next, todo: { kind: 'run' } }
  return hasOrders ? { ...next, todo: { kind: 'order', cutover, cancel } } : next
}

/**
 * A database that fails or is tried again while it completes has copied its data before. It must not show that its
 * data starts to move again.
 */
function neverBack(
  last: Progress,
  now: Pick<Progress, 'state' | 'subState' | 'error'>,
): Pick<Progress, 'state' | 'subState' | 'error'> {
  const isBack = last.subState === 'CompletingMigration' && now.subState === 'MigratingData'
  return isBack ? { ...now, subState: 'CompletingMigration' } : now
}

/** Of what is still to be removed, in the words of servers. */
const reasonsMax = 10

/** The state and the substate while a worker runs. */
function whole(
  model: Migration,
  observed: ObservedMigration,
  cutover: readonly string[],
): Pick<Progress, 'state' | 'subState' | 'error'> {
  const open = observed.databases.filter(({ phase }) => !isEnd(phase))
  if (observed.databases.length === 0) return { state: 'InProgress', subState: 'MigratingData' }
  const isLeaving = ({ phase }: ObservedDatabase): boolean =>
    phase === 'canceling' || phase === 'cleaning-up'
  // A clean-up that failed is tried again, and stays visible until it succeeds.
  if (open.length === 0 || (observed.pendingCleanUps.length > 0 && open.every(isLeaving))) {
    const reasons = observed.pendingCleanUps.map(
      ({ side, kind, name, reason }) => `${kind} '${name}' at the ${side}: ${reason}`,
    )
    const more = reasons.length > reasonsMax ? ` and ${reasons.length - reasonsMax} more` : ''
    const shown = `${reasons.slice(0, reasonsMax).join('; ')}${more}`
    const error = reasons.length === 0 ? {} : { error: `still to be removed: ${shown}` }
    return { state: 'CleaningUp', subState: 'CompletingMigration', ...error }
  }
  const isIn = (phases: readonly ObservedDatabase['phase'][]) => (one: ObservedDatabase) =>
    phases.includes(one.phase)
  if (model.asked.cancel === 'all' || open.every(isIn(['canceling']))) {
    return { state: 'InProgress', subState: 'CancelingRequestedDBMigrations' }
  }
  const waits = open.filter(({ name, phase }) => phase === 'replicating' && !cutover.includes(name))
  if (waits.length === open.length) {
    return { state: 'WaitingForUserAction', subState: 'WaitingForCutoverTrigger' }
  }
  const completes = open.every(
    (one) => waits.includes(one) || isIn(['replicating', 'cutting-over', 'finishing'])(one),
  )
  return { state: 'InProgress', subState: completes ? 'CompletingMigration' : 'MigratingData' }
}

function goOn(last: Progress, subState: SubState, lookInSeconds: number): Progress {
  return { ...last, state: 'InProgress', subState, lookInSeconds }
}

/** The wait is shown at the databases that it concerns. */
function waiting(
  model: Migration,
  last: Progress,
  subState: SubState,
  { about, message }: { readonly about: readonly string[]; readonly message: string },
): Progress {
  return {
    ...last,
    state: 'WaitingForUserAction',
    subState,
    databases: last.databases.map((one) =>
      about.includes(one.databaseName) ? { ...one, message } : one,
    ),
    lookInSeconds: surveyLookSeconds,
    answers: answersOf(model),
    waitedIn: subState,
  }
}

function settled(
  last: Progress,
  state: Progress['state'],
  databases: Progress['databases'],
): Progress {
  return { ...last, state, subState: 'Completed', databases, isSettled: true, lookInSeconds: 0 }
}

function canceled(names: readonly string[]): Progress['databases'] {
  return unstarted(names, { cutover: [], cancel: 'all' })
}

function unbegun({ databases }: Progress): Progress['databases'] {
  return concluded(databases, () => 'Failed', 'Failed')
}

function inTrouble(last: Progress, failure: Failure, now: number): Progress {
  const error = failureText(failure)
  const isHeld = last.plan === undefined && last.waitedIn !== undefined
  if (failure.waitsForUser === true || isHeld) {
    const { todo: _given, troubleSince: _over, ...again } = last
    return { ...again, error, lookInSeconds: troubleLookSeconds }
  }
  const troubleSince = last.troubleSince ?? now
  if (!failure.passes || now - troubleSince >= troubleSecondsMax * 1000) {
    return { ...settled(last, 'Failed', unbegun(last)), error }
  }
  const { todo: _given, ...again } = last
  return { ...again, error, troubleSince, lookInSeconds: troubleLookSeconds }
}
