/** The rules of a migration, and the changes it accepts in each state (facts 8.4). */

import type { Problem } from '#kernel/error.ts'
import { sameJson } from '#kernel/patch.ts'
import { nameOf, parentOf } from '#kernel/resource-id.ts'
import { serverTextProblem } from '#kernel/server-text.ts'
import { qualify, type VendorWords } from '#kernel/vendor.ts'
import type { RightElsewhere, RuleContext } from '#plane/declare/stored.ts'
import { type PostgresDependencies, types } from '../../dependencies.ts'
import { migrationsMax } from '../../domain/active-migration.ts'
import { migrationEndsOf } from '../../domain/plan.ts'
import { ordersFor } from '../../domain/requested-actions.ts'
import { changedSettings, tagProblems } from '../../domain/settings-by-tags.ts'
import { parseSource } from '../../domain/source.ts'
import { refusePostgres } from '../../errors.ts'
import { findServer } from '../flexible-servers/model.ts'
import {
  isActive,
  type Migration,
  migrationOf,
  type Progress,
  registeredSourceType,
} from './model.ts'

const systemDatabases: readonly string[] = ['template0', 'template1']

export async function migrationRules(
  deps: Pick<PostgresDependencies, 'seal' | 'words'>,
  context: RuleContext<Migration>,
): Promise<readonly Problem[]> {
  const { id, desired, previous, reader } = context
  const problems = [...plainProblems(desired, previous === undefined), ...tagProblems(context.tags)]
  const wrongSource = await sourceProblem(deps, context)
  if (wrongSource !== undefined) problems.push(wrongSource)
  const target = await findServer(reader, parentOf(id))
  if (target?.model.sku.tier === 'Burstable') {
    problems.push({ path: 'properties', message: 'the target server is Burstable: take another' })
  }
  if (problems.length > 0) return problems
  if (previous === undefined) {
    await requireRoom(context)
  } else {
    const stored = await reader.get(id)
    const progress = stored === undefined ? undefined : migrationOf(stored).progress
    requireState(nameOf(id), previous, desired, progress)
    const isFixed = progress?.plan !== undefined && isActive(progress)
    return changedSettings(isFixed ? stored?.tags : context.tags, context.tags).map((name) => ({
      path: `tags.${name}`,
      message: 'cannot be changed once data is being migrated',
    }))
  }
  return []
}

function plainProblems(desired: Migration, isNew: boolean): readonly Problem[] {
  const problems: Problem[] = []
  const add = (name: string, message: string): void => {
    problems.push({ path: `properties.${name}`, message })
  }
  if (desired.sealedPasswords === undefined) {
    add(
      'secretParameters.adminCredentials',
      'expected sourceServerPassword and targetServerPassword',
    )
  }
  const databases = desired.databases ?? []
  for (const [index, name] of databases.entries()) {
    if (systemDatabases.includes(name)) {
      add(`dbsToMigrate[${index}]`, `'${name}' is a system database and stays where it is`)
    }
    const problem = serverTextProblem(name)
    if (problem !== undefined) add(`dbsToMigrate[${index}]`, problem)
    if (Buffer.byteLength(name) > 63) add(`dbsToMigrate[${index}]`, 'expected at most 63 bytes')
  }
  for (const [name, list] of [
    ['dbsToTriggerCutoverOn', desired.cutoverOn],
    ['dbsToCancelMigrationOn', desired.cancelOn],
  ] as const) {
    for (const [index, one] of (list ?? []).entries()) {
      if (!databases.includes(one)) {
        add(`${name}[${index}]`, `'${one}' is not among dbsToMigrate`)
      }
    }
  }
  if (isNew && desired.mode === 'Offline' && desired.triggerCutover === 'True') {
    add('triggerCutover', 'an offline migration has no cutover (603114)')
  }
  const { windowStart, windowEnd } = desired
  if (windowStart !== undefined && Number.isNaN(Date.parse(windowStart))) {
    add('migrationWindowStartTimeInUtc', 'expected a moment that exists')
  } else if (
    windowStart !== undefined &&
    windowEnd !== undefined &&
    Date.parse(windowEnd) <= Date.parse(windowStart)
  ) {
    add('migrationWindowEndTimeInUtc', 'the window ends before it begins')
  }
  return problems
}

const readServer = `${types.servers}/read`

/** The right to read a source that is a registered server. */
export function rightsToSource(
  { properties }: { readonly properties?: { readonly sourceDbServerResourceId?: string | null } },
  words: VendorWords,
): readonly RightElsewhere[] {
  const source = properties?.sourceDbServerResourceId ?? ''
  const parsed = parseSource(source, registeredSourceType, words)
  return typeof parsed !== 'string' && parsed.kind === 'resource' && parsed.isFlexible
    ? [{ action: readServer, scope: parsed.id }]
    : []
}

async function sourceProblem(
  deps: Pick<PostgresDependencies, 'seal' | 'words'>,
  context: RuleContext<Migration>,
): Promise<Problem | undefined> {
  const { id, desired, previous, reader, words } = context
  const path = 'properties.sourceDbServerResourceId'
  const parsed = parseSource(desired.sourceId, desired.sourceType, words)
  if (typeof parsed === 'string') return { path, message: parsed }
  const isNamed = previous?.sourceId === desired.sourceId
  if (parsed.kind === 'resource' && parsed.isFlexible && !isNamed) {
    // The right is checked before the existence, so that nobody learns of a server they may not read.
    const action = readServer
    if (!context.may(action, parsed.id)) {
      throw refusePostgres.LinkedAuthorizationFailed({
        client: context.principal.displayName,
        scope: id.text,
        linkedAction: qualify(words, action),
        linkedScope: parsed.id.text,
      })
    }
  }
  if (desired.sealedPasswords === undefined) return undefined
  const ends = await migrationEndsOf(deps, reader, id, desired)
  return typeof ends === 'string' ? { path, message: ends } : undefined
}

/** The unique key of the store refuses a second active migration. */
async function requireRoom({ id, reader }: RuleContext<Migration>): Promise<void> {
  const under = parentOf(id)
  if (!(await reader.hasRoom({ type: types.migrations, under, limit: migrationsMax }))) {
    throw refusePostgres.MigrationsLimitReached({ limit: String(migrationsMax) })
  }
}

/** The worker's specification cannot change while it runs. */
const fixed = [
  ['databases', 'dbsToMigrate'],
  ['mode', 'migrationMode'],
  ['option', 'migrationOption'],
  ['migrateRoles', 'migrateRoles'],
  ['overwrite', 'overwriteDbsInTarget'],
  ['setUpReplication', 'setupLogicalReplicationOnSourceDbIfNeeded'],
  ['windowStart', 'migrationWindowStartTimeInUtc'],
  ['windowEnd', 'migrationWindowEndTimeInUtc'],
  ['sourceType', 'sourceType'],
  ['sslMode', 'sslMode'],
] as const

/** The values of members that a stored migration may lack. */
const unsaid: Partial<Migration> = { migrateRoles: 'False', setUpReplication: 'False' }

function requireState(
  name: string,
  previous: Migration,
  desired: Migration,
  progress: Progress | undefined,
): void {
  // A body whose passwords equal the stored ones must not be told from one whose passwords differ.
  if (sameJson(withoutPasswords(previous), withoutPasswords(desired))) return
  const state = progress?.state ?? 'InProgress'
  const substate = progress?.subState ?? 'PerformingPreRequisiteSteps'
  const refuse = (reason: string, number = ''): never => {
    const tail = number === '' ? '' : ` (${number})`
    throw refusePostgres.MigrationStateConflict({ name, state, substate, reason, number: tail })
  }
  const { cutover, cancel } = ordersFor(desired.asked, desired.databases ?? [])
  const before = ordersFor(previous.asked, previous.databases ?? [])
  const newCutover = cutover.filter((one) => !before.cutover.includes(one))
  const asksCutover = desired.triggerCutover === 'True' && previous.triggerCutover !== 'True'
  if (!isActive(progress)) {
    const isCutover = asksCutover || newCutover.length > 0
    refuse(
      isCutover
        ? 'cutover is not possible any more'
        : 'it has ended, and nothing of it can be changed',
      isCutover ? '603113' : '',
    )
  }
  const asksCancel = cancel.length > before.cancel.length || asksAll(previous, desired)
  if (asksCancel && progress?.state === 'CleaningUp') {
    refuse('its databases have ended, and cancel is not possible any more')
  }
  // A body that cancels may set other properties too. Cancel wins.
  if (cancel.length > before.cancel.length || desired.asked.cancel === 'all') return
  if ((asksCutover || newCutover.length > 0) && desired.mode === 'Offline') {
    refuse('an offline migration has no cutover', '603114')
  }
  const canceled = cutoverNames(desired).find(
    (one) => before.cancel.includes(one) && !cutoverNames(previous).includes(one),
  )
  if (canceled !== undefined) {
    refuse(`cutover of '${canceled}' is not possible, it was canceled`, '603113')
  }
  // Without names, the flag applies to all databases that have not ended. With names, it applies to those alone.
  const isOfAll = desired.asked.cutover === 'all'
  const meant = isOfAll ? newCutover.filter((one) => !hasEnded(one, progress)) : newCutover
  if (isOfAll && asksCutover && meant.length === 0) {
    refuse('no database waits for cutover any more', '603113')
  }
  for (const one of meant) requireReady(one, progress, refuse)
  if (progress?.plan === undefined) return
  for (const [member, wire] of fixed) {
    if (
      !sameJson(
        previous[member] ?? unsaid[member] ?? null,
        desired[member] ?? unsaid[member] ?? null,
      )
    ) {
      refuse(`${wire} cannot be changed once data is being migrated`)
    }
  }
  if (desired.startDataMigration === 'False' && previous.startDataMigration !== 'False') {
    refuse('the data migration has started already')
  }
}

/** The databases that were named for cutover so far. */
function cutoverNames({ asked }: Migration): readonly string[] {
  return asked.cutover === 'all' ? [] : asked.cutover
}

function asksAll(previous: Migration, desired: Migration): boolean {
  return desired.asked.cancel === 'all' && previous.asked.cancel !== 'all'
}

function withoutPasswords({
  sealedPasswords: _sealed,
  passwordsGiven: _given,
  ...rest
}: Migration): Omit<Migration, 'sealedPasswords' | 'passwordsGiven'> {
  return rest
}

function stateOf(database: string, progress: Progress | undefined) {
  return progress?.databases.find((one) => one.databaseName === database)?.migrationState
}

function hasEnded(database: string, progress: Progress | undefined): boolean {
  return ['Succeeded', 'Failed', 'Canceled'].includes(stateOf(database, progress) ?? '')
}

function requireReady(
  database: string,
  progress: Progress | undefined,
  refuse: (reason: string, number?: string) => never,
): void {
  const state = stateOf(database, progress)
  if (state === 'WaitingForCutoverTrigger') return
  if (hasEnded(database, progress)) {
    refuse(`cutover of '${database}' is not possible, it is ${state}`, '603113')
  }
  refuse(`cutover of '${database}' is possible once its base copy is complete`)
}
