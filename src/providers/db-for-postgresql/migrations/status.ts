/** `currentStatus` on the wire: MigrationStatus, its database records and ValidationDetails (facts 8.3). */

import type { Finding, ValidationReport } from '#engines/databases/engine.ts'
import { isoTime } from '../parts.ts'
import type { Progress } from './model.ts'

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
