/** The wire format of `currentStatus`: MigrationStatus, its database records and ValidationDetails (facts 8.3). */

import type { Finding, ValidationReport } from '#engines/databases/engine.ts'
import { isoTime } from '../../../dependencies.ts'
import { ordersFor } from '../../../domain/requested-actions.ts'
import { answersOf, restartedProgress } from '../../../domain/state-machine.ts'
import type { DatabaseState, Migration, Progress } from '../model.ts'

export function showStatus(progress: Progress | undefined): object {
  const { state = 'InProgress', subState = 'PerformingPreRequisiteSteps' } = progress ?? {}
  const { error, databases = [], validation } = progress ?? {}
  return {
    state,
    ...(error === undefined ? {} : { error }),
    currentSubStateDetails: {
      currentSubState: subState,
      ...(databases.length === 0
        ? {}
        : { dbDetails: Object.fromEntries(databases.map((one) => [one.databaseName, one])) }),
      ...(validation === undefined ? {} : { validationDetails: showReport(validation.report) }),
    },
  }
}

function showReport(report: ValidationReport): object {
  return {
    status: report.state,
    validationStartTimeInUtc: isoTime(report.startedAt),
    validationEndTimeInUtc: isoTime(report.endedAt),
    serverLevelValidationDetails: report.server.map(showFinding),
    dbLevelValidationDetails: report.databases.map(({ name, startedAt, endedAt, findings }) => ({
      databaseName: name,
      startedOn: isoTime(startedAt),
      endedOn: isoTime(endedAt),
      summary: findings.map(showFinding),
    })),
  }
}

function showFinding({ type, state, messages }: Finding): object {
  return { type, state, messages }
}

/**
 * The status after the user's last answers, where nobody has looked since: a wait that was answered is over, and a
 * canceled migration is ending.
 */
export function afterAnswers(
  model: Migration,
  progress: Progress | undefined,
): Progress | undefined {
  if (progress === undefined) return progress
  if (progress.isSettled) return restartedProgress(model, progress) ?? progress
  const names = progress.databases.map(({ databaseName }) => databaseName)
  const { cutover, cancel } = ordersFor(model.asked, names)
  const databases = progress.databases.map((one): DatabaseState => {
    const isOpen = ['InProgress', 'WaitingForCutoverTrigger'].includes(one.migrationState)
    if (isOpen && cancel.includes(one.databaseName)) return { ...one, migrationState: 'Canceling' }
    const cuts =
      one.migrationState === 'WaitingForCutoverTrigger' && cutover.includes(one.databaseName)
    return cuts
      ? { ...one, migrationState: 'InProgress', message: 'The cutover was asked for.' }
      : one
  })
  const now = { ...progress, databases }
  if (model.asked.cancel === 'all' && progress.state !== 'CleaningUp') {
    return { ...now, state: 'InProgress', subState: 'CancelingRequestedDBMigrations' }
  }
  if (progress.state !== 'WaitingForUserAction') return now
  if (progress.subState === 'WaitingForCutoverTrigger') {
    const isWaiting = databases.some(
      ({ migrationState }) => migrationState === 'WaitingForCutoverTrigger',
    )
    return isWaiting ? now : { ...now, state: 'InProgress', subState: 'CompletingMigration' }
  }
  return progress.answers === answersOf(model)
    ? now
    : { ...now, state: 'InProgress', subState: 'PerformingPreRequisiteSteps' }
}
