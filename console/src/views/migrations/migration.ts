/** The properties of a migration that its document leaves open, and the actions that it waits for. */

import type { AnswerOf } from '../../api/client.ts'

export type Migration = Pick<AnswerOf<'getMigration'>, 'properties'>
export type Report = AnswerOf<'getMigrationReport'>

export interface DatabaseState {
  readonly databaseName: string
  readonly migrationState: string
  readonly migrationOperation: string
  readonly message?: string
  readonly latency?: number
  readonly appliedChanges?: number
  readonly fullLoadQueuedTables?: number
  readonly fullLoadLoadingTables?: number
  readonly fullLoadCompletedTables?: number
  readonly fullLoadErroredTables?: number
}

interface ValidationItem {
  readonly type?: string
  readonly state?: string
  readonly messages?: readonly { readonly state?: string; readonly message?: string }[]
}

interface Validation {
  readonly serverLevelValidationDetails?: readonly ValidationItem[]
  readonly dbLevelValidationDetails?: readonly {
    readonly databaseName?: string
    readonly summary?: readonly ValidationItem[]
  }[]
}

export interface Finding {
  readonly database: string
  readonly check: string
  readonly state: string
  readonly message: string
}

interface Status {
  readonly state: string
  readonly step: string
  readonly error: string | undefined
  readonly ended: boolean
  readonly databases: readonly DatabaseState[]
  /** Names of databases that can be cut over. */
  readonly ready: readonly string[]
  readonly findings: readonly Finding[]
}

const ends = ['Succeeded', 'Failed', 'Canceled', 'ValidationFailed']

export function statusOf({ properties }: Migration): Status {
  const { state, error, currentSubStateDetails: details } = properties.currentStatus
  const databases = Object.values(details.dbDetails ?? {}) as unknown as readonly DatabaseState[]
  return {
    state,
    step: details.currentSubState,
    error,
    ended: ends.includes(state),
    databases,
    ready: databases
      .filter((one) => one.migrationState === 'WaitingForCutoverTrigger')
      .map((one) => one.databaseName),
    findings: findingsOf((details.validationDetails ?? {}) as Validation),
  }
}

function findingsOf(validation: Validation): readonly Finding[] {
  const of = (database: string, items: readonly ValidationItem[]): readonly Finding[] =>
    items.flatMap(({ type = '', messages = [] }) =>
      messages.map(({ state = '', message = '' }) => ({ database, check: type, state, message })),
    )
  return [
    ...of('', validation.serverLevelValidationDetails ?? []),
    ...(validation.dbLevelValidationDetails ?? []).flatMap(({ databaseName = '', summary = [] }) =>
      of(databaseName, summary),
    ),
  ]
}

/** Lines of the structure that differ, taken from the database's message without the sentences around them. */
export function differencesIn(message: string | undefined): readonly string[] {
  const found = /source and target differs: ([\s\S]*?)\. (?:Have the target|Catching up)/.exec(
    message ?? '',
  )
  return (found?.[1] ?? '').split('; ').filter((line) => line !== '')
}
