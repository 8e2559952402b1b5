/**
 * The wire format of migrations: every field of the contract's table, and PATCH with exactly the contract's list.
 */

import Type from 'typebox'
import type { Problem } from '#kernel/error.ts'
import { isJsonObject } from '#kernel/patch.ts'
import type { Seal } from '#kernel/ports.ts'
import type { Context } from '#plane/declare/resource.ts'
import type { Version } from '#plane/declare/wire.ts'
import { isoTime, version } from '../../../dependencies.ts'
import {
  effectiveOrders,
  isOfAll,
  noRequestedActions,
  type Orders,
  requestedAfter,
} from '../../../domain/requested-actions.ts'
import type { SslModeWord } from '../../flexible-servers/model.ts'
import { sslModes } from '../../flexible-servers/model.ts'
import {
  type Flag,
  type Migration,
  modes,
  openPasswords,
  options,
  type Progress,
  registeredSourceType,
  sealPasswords,
  sourceTypes,
} from '../model.ts'
import { afterAnswers, showStatus } from './status.ts'

const databasesMax = 50
const nameBytesMax = 63

const flag = Type.Optional(Type.Union([Type.Literal('True'), Type.Literal('False')]))
const text = (maxLength: number) => Type.Optional(Type.String({ minLength: 1, maxLength }))
const names = Type.Optional(
  Type.Array(Type.String({ minLength: 1, maxLength: nameBytesMax }), {
    maxItems: databasesMax,
    uniqueItems: true,
  }),
)
// The schema checks the form. `problemsOf` checks that such a day exists.
const moment = Type.Optional(
  Type.String({
    maxLength: 40,
    pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,9})?)?(Z|[+-]\\d{2}:\\d{2})$',
  }),
)
/** The published service accepts these values in any case and answers with the case used here. */
const anyCase = (words: readonly string[]) =>
  Type.Optional(
    Type.String({
      pattern: `^(?:${words.map((word) => word.replaceAll(/[A-Za-z]/g, (one) => `[${one.toUpperCase()}${one.toLowerCase()}]`)).join('|')})$`,
      description: `One of ${words.join(', ')}, in any case.`,
    }),
  )
const host = Type.Optional(
  Type.String({
    maxLength: 255,
    pattern: '^[A-Za-z0-9._:-]+$',
    description: 'A host name or an address.',
  }),
)
const password = Type.Optional(Type.String({ maxLength: 500, writeOnly: true, format: 'password' }))

const secretParameters = Type.Object({
  adminCredentials: Type.Optional(
    Type.Object({ sourceServerPassword: password, targetServerPassword: password }),
  ),
  sourceServerUsername: text(128),
  targetServerUsername: text(128),
})

/** The properties that PATCH accepts. PUT accepts them too. */
const changeable = {
  cancel: flag,
  dbsToCancelMigrationOn: names,
  dbsToMigrate: names,
  dbsToTriggerCutoverOn: names,
  migrateRoles: flag,
  migrationMode: anyCase(modes),
  migrationWindowStartTimeInUtc: moment,
  overwriteDbsInTarget: flag,
  secretParameters: Type.Optional(secretParameters),
  setupLogicalReplicationOnSourceDbIfNeeded: flag,
  sourceDbServerFullyQualifiedDomainName: host,
  sourceDbServerResourceId: text(1024),
  startDataMigration: flag,
  targetDbServerFullyQualifiedDomainName: host,
  triggerCutover: flag,
}

const creatable = {
  ...changeable,
  migrationInstanceResourceId: text(1024),
  migrationOption: Type.Optional(Type.Union(options.map((one) => Type.Literal(one)))),
  migrationWindowEndTimeInUtc: moment,
  sourceDbServerResourceId: Type.String({ minLength: 1, maxLength: 1024 }),
  sourceType: Type.Optional(Type.Union(sourceTypes.map((one) => Type.Literal(one)))),
  sslMode: Type.Optional(Type.Union(sslModes.map((one) => Type.Literal(one)))),
}

interface Changes {
  readonly cancel?: Flag
  readonly dbsToCancelMigrationOn?: readonly string[]
  readonly dbsToMigrate?: readonly string[]
  readonly dbsToTriggerCutoverOn?: readonly string[]
  readonly migrateRoles?: Flag
  /** In any case. */
  readonly migrationMode?: string
  readonly migrationWindowStartTimeInUtc?: string
  readonly overwriteDbsInTarget?: Flag
  readonly secretParameters?: {
    readonly adminCredentials?: {
      readonly sourceServerPassword?: string
      readonly targetServerPassword?: string
    }
    readonly sourceServerUsername?: string
    readonly targetServerUsername?: string
  }
  readonly setupLogicalReplicationOnSourceDbIfNeeded?: Flag
  readonly sourceDbServerFullyQualifiedDomainName?: string
  readonly sourceDbServerResourceId?: string
  readonly startDataMigration?: Flag
  readonly targetDbServerFullyQualifiedDomainName?: string
  readonly triggerCutover?: Flag
}

interface Creation extends Changes {
  readonly migrationInstanceResourceId?: string
  readonly migrationOption?: Migration['option']
  readonly migrationWindowEndTimeInUtc?: string
  readonly sourceDbServerResourceId: string
  readonly sourceType?: Migration['sourceType']
  readonly sslMode?: SslModeWord
}

interface Body {
  /** Added by `prepare`. */
  readonly place?: string
  readonly properties: Creation
}

/** The body of a merge patch. Null removes a property. */
interface PatchBody {
  readonly properties?: PatchedChanges | null
}

type PatchedChanges = {
  readonly [K in Exclude<keyof Changes, 'secretParameters'>]?: Changes[K] | null
} & {
  readonly secretParameters?: {
    readonly adminCredentials?: Readonly<Record<string, string | null>> | null
    readonly sourceServerUsername?: string | null
    readonly targetServerUsername?: string | null
  } | null
}

/** The stored members that null removes, by their wire name. Other members return to their default. */
const removable: readonly (readonly [keyof Changes, ...(keyof Migration)[]])[] = [
  ['cancel', 'cancel'],
  ['dbsToCancelMigrationOn', 'cancelOn'],
  ['dbsToMigrate', 'databases'],
  ['dbsToTriggerCutoverOn', 'cutoverOn'],
  ['migrationWindowStartTimeInUtc', 'windowStart'],
  ['overwriteDbsInTarget', 'overwrite'],
  // The rules then ask for the passwords again.
  ['secretParameters', 'sealedPasswords', 'sourceUser', 'targetUser'],
  ['sourceDbServerFullyQualifiedDomainName', 'sourceHost'],
  ['startDataMigration', 'startDataMigration'],
  ['targetDbServerFullyQualifiedDomainName', 'targetHost'],
  ['triggerCutover', 'triggerCutover'],
]

export function migrationVersion(seal: Seal, newId: () => string): Version<Migration> {
  return {
    date: version,
    body: Type.Object({ properties: Type.Object(creatable) }),
    problems: (body: Body) => problemsOf(body.properties),
    answer: Type.Object({
      properties: Type.Object({
        ...creatable,
        migrationMode: Type.Optional(Type.Union(modes.map((one) => Type.Literal(one)))),
        secretParameters: Type.Optional(Type.Never()),
        migrationId: Type.String(),
        targetDbServerResourceId: Type.String(),
        sourceDbServerMetadata: Type.Optional(metadataShape),
        targetDbServerMetadata: Type.Optional(metadataShape),
        currentStatus: statusShape,
      }),
    }),
    unknownProperties: 'ignore',
    toModel({ properties, place }: Body, previous, { now }) {
      const acceptedAt = previous === undefined ? isoTime(now) : previous.acceptedAt
      const given = asGiven(properties, acceptedAt)
      const sourceType = given.sourceType ?? registeredSourceType
      const fresh = {
        place: previous?.place ?? place ?? '',
        migrationId: previous?.migrationId ?? newId(),
        mode: modeOf(given.migrationMode) ?? 'Offline',
        option: given.migrationOption ?? 'ValidateAndMigrate',
        sourceType,
        sslMode: given.sslMode ?? (sourceType === registeredSourceType ? 'VerifyFull' : 'Prefer'),
        ...optional('instanceResourceId', given.migrationInstanceResourceId),
        ...optional('windowEnd', given.migrationWindowEndTimeInUtc),
        sourceId: given.sourceDbServerResourceId,
        ...optional('acceptedAt', acceptedAt),
        ...optional('round', previous?.round),
        migrateRoles: 'False',
        setUpReplication: 'False',
      } as const
      const base = { ...fresh, asked: previous?.asked ?? noRequestedActions }
      return { ...changed(seal, base, given, previous), ...passwordsGiven(previous, given, now) }
    },
    fromModel: (model, view) => ({
      // Only the reconciler of this type writes this value.
      properties: show(model, view.observed as Progress | undefined, view.id.text),
    }),
    patch: {
      body: Type.Object({ properties: Type.Optional(Type.Object(changeable)) }),
      isExact: true,
      apply({ properties }: PatchBody, previous, { now }: Context) {
        const rest = withoutRemoved(previous, properties ?? {})
        const given = withoutNulls(properties ?? {}) as Changes
        return { ...changed(seal, rest, given, rest), ...passwordsGiven(previous, given, now) }
      },
    },
  }
}

/**
 * What a PUT asks for. A body may be the answer of a GET, with values that nobody asked for: an offline migration
 * shows that it cuts over by itself, a migration without a window shows when it was accepted, and each shows
 * whether it overwrites.
 */
function asGiven(properties: Creation, acceptedAt: string | undefined): Creation {
  const { triggerCutover, overwriteDbsInTarget: overwrite, ...others } = properties
  const { migrationWindowStartTimeInUtc: start, ...rest } = others
  const isOffline = (modeOf(properties.migrationMode) ?? 'Offline') === 'Offline'
  const cutsByItself = isOffline && properties.dbsToTriggerCutoverOn === undefined
  return {
    ...rest,
    ...optional('overwriteDbsInTarget', overwrite === 'False' ? undefined : overwrite),
    ...(cutsByItself ? {} : optional('triggerCutover', triggerCutover)),
    ...(start === acceptedAt ? {} : optional('migrationWindowStartTimeInUtc', start)),
  }
}

/** The stored migration without what null removes. */
function withoutRemoved(previous: Migration, given: PatchedChanges): Migration {
  const secrets = given.secretParameters
  const credentials = secrets?.adminCredentials
  const removed = new Set<keyof Migration>([
    ...removable.flatMap(([name, ...members]) => (given[name] === null ? members : [])),
    ...(secrets?.sourceServerUsername === null ? (['sourceUser'] as const) : []),
    ...(secrets?.targetServerUsername === null ? (['targetUser'] as const) : []),
    ...(credentials === null || Object.values(credentials ?? {}).includes(null)
      ? (['sealedPasswords'] as const)
      : []),
  ])
  const rest = Object.entries(previous).filter(([name]) => !removed.has(name as keyof Migration))
  return {
    // Members that a migration must have cannot be removed.
    ...(Object.fromEntries(rest) as unknown as Migration),
    ...(given.migrationMode === null ? { mode: 'Offline' } : {}),
    ...(given.migrateRoles === null ? { migrateRoles: 'False' } : {}),
    ...(given.setupLogicalReplicationOnSourceDbIfNeeded === null
      ? { setUpReplication: 'False' }
      : {}),
    // The rules refuse an empty source.
    ...(given.sourceDbServerResourceId === null ? { sourceId: '' } : {}),
  }
}

function withoutNulls(given: object): object {
  return Object.fromEntries(
    Object.entries(given)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, isJsonObject(value) ? withoutNulls(value) : value]),
  )
}

function modeOf(given: string | undefined): Migration['mode'] | undefined {
  return modes.find((mode) => mode.toLowerCase() === given?.toLowerCase())
}

/** `base` with the changes of the body. Passwords and orders that the body leaves out come from `previous`. */
function changed(
  seal: Seal,
  base: Migration,
  given: Changes,
  previous: Migration | undefined,
): Migration {
  const { secretParameters: secrets } = given
  const orders = {
    ...optional('triggerCutover', given.triggerCutover),
    ...optional('cancel', given.cancel),
    ...optional('cutoverOn', given.dbsToTriggerCutoverOn),
    ...optional('cancelOn', given.dbsToCancelMigrationOn),
  }
  return {
    ...shownOrders(base, orders),
    ...optional('mode', modeOf(given.migrationMode)),
    ...optional('windowStart', given.migrationWindowStartTimeInUtc),
    ...optional('sourceId', given.sourceDbServerResourceId),
    ...optional('sourceHost', given.sourceDbServerFullyQualifiedDomainName),
    ...optional('targetHost', given.targetDbServerFullyQualifiedDomainName),
    ...optional('databases', given.dbsToMigrate),
    ...optional('migrateRoles', given.migrateRoles),
    ...optional('setUpReplication', given.setupLogicalReplicationOnSourceDbIfNeeded),
    ...optional('startDataMigration', given.startDataMigration),
    ...optional('overwrite', given.overwriteDbsInTarget),
    ...optional('sourceUser', secrets?.sourceServerUsername ?? previous?.sourceUser),
    ...optional('targetUser', secrets?.targetServerUsername ?? previous?.targetUser),
    ...optional(
      'sealedPasswords',
      passwordsAfter(seal, base.place, previous, secrets?.adminCredentials),
    ),
    asked: requestedAfter(base.asked, orders),
  }
}

/**
 * The migration with the orders of this body, as they are shown. A flag without names applies to all databases, so
 * the names of an earlier body are dropped.
 */
function shownOrders(base: Migration, orders: Orders): Migration {
  const { cutoverOn, cancelOn, ...rest } = base
  return {
    ...rest,
    ...(isOfAll(orders, 'triggerCutover') ? {} : optional('cutoverOn', cutoverOn)),
    ...(isOfAll(orders, 'cancel') ? {} : optional('cancelOn', cancelOn)),
    ...effectiveOrders(orders),
  }
}

/** Passwords are sealed anew only if one differs. A body that changes nothing must leave the model equal. */
function passwordsAfter(
  seal: Seal,
  place: string,
  previous: Migration | undefined,
  given: NonNullable<Changes['secretParameters']>['adminCredentials'],
): string | undefined {
  const known = previous === undefined ? undefined : openPasswords(seal, previous)
  const source = given?.sourceServerPassword ?? known?.source
  const target = given?.targetServerPassword ?? known?.target
  if (source === undefined || target === undefined) return undefined
  if (source === known?.source && target === known.target) return previous?.sealedPasswords
  return sealPasswords(seal, place, { source, target })
}

/**
 * When each password was last given. A server that has become another receiver since then does not get it
 * (`plan.ts`).
 */
function passwordsGiven(
  previous: Migration | undefined,
  { secretParameters }: Changes,
  now: number,
): Pick<Migration, 'passwordsGiven'> {
  const { sourceServerPassword, targetServerPassword } = secretParameters?.adminCredentials ?? {}
  const before = previous?.passwordsGiven
  if (sourceServerPassword === undefined && targetServerPassword === undefined) {
    return optional('passwordsGiven', before)
  }
  return {
    passwordsGiven: {
      source: sourceServerPassword === undefined ? (before?.source ?? 0) : now,
      target: targetServerPassword === undefined ? (before?.target ?? 0) : now,
    },
  }
}

function problemsOf(given: Creation): readonly Problem[] {
  const start = given.migrationWindowStartTimeInUtc
  const end = given.migrationWindowEndTimeInUtc
  const problems: Problem[] = []
  for (const [name, value] of [
    ['migrationWindowStartTimeInUtc', start],
    ['migrationWindowEndTimeInUtc', end],
  ] as const) {
    if (value === undefined || !Number.isNaN(Date.parse(value))) continue
    problems.push({ path: `properties.${name}`, message: 'expected a moment that exists' })
  }
  const credentials = given.secretParameters?.adminCredentials
  // The rules ask for the passwords that a PUT of an existing migration may leave out.
  if (credentials !== undefined && Object.values(credentials).includes('')) {
    const path = 'properties.secretParameters.adminCredentials'
    problems.push({ path, message: 'a password may not be empty' })
  }
  return problems
}

function show(model: Migration, progress: Progress | undefined, id: string): object {
  return {
    migrationId: model.migrationId,
    currentStatus: showStatus(afterAnswers(model, progress)),
    ...optional('migrationInstanceResourceId', model.instanceResourceId),
    migrationMode: model.mode,
    migrationOption: model.option,
    sourceType: model.sourceType,
    sslMode: model.sslMode,
    ...optional('sourceDbServerMetadata', progress?.source),
    ...optional('targetDbServerMetadata', progress?.target),
    sourceDbServerResourceId: model.sourceId,
    ...optional('sourceDbServerFullyQualifiedDomainName', model.sourceHost),
    targetDbServerResourceId: id.slice(0, id.toLowerCase().lastIndexOf('/migrations/')),
    ...optional('targetDbServerFullyQualifiedDomainName', model.targetHost),
    ...optional('dbsToMigrate', model.databases),
    setupLogicalReplicationOnSourceDbIfNeeded: model.setUpReplication ?? 'False',
    overwriteDbsInTarget: model.overwrite ?? 'False',
    ...optional('migrationWindowStartTimeInUtc', model.windowStart ?? model.acceptedAt),
    ...optional('migrationWindowEndTimeInUtc', model.windowEnd),
    migrateRoles: model.migrateRoles ?? 'False',
    ...optional('startDataMigration', model.startDataMigration),
    ...optional('triggerCutover', model.mode === 'Offline' ? 'True' : model.triggerCutover),
    ...optional('dbsToTriggerCutoverOn', model.cutoverOn),
    ...optional('cancel', model.cancel),
    ...optional('dbsToCancelMigrationOn', model.cancelOn),
  }
}

function optional<K extends string, V>(name: K, value: V | undefined): { readonly [P in K]?: V } {
  // It has one member or none. The type cannot say that.
  return (value === undefined ? {} : { [name]: value }) as { readonly [P in K]?: V }
}

const metadataShape = Type.Object({
  location: Type.String(),
  sku: Type.Object({ name: Type.Optional(Type.String()), tier: Type.Optional(Type.String()) }),
  storageMb: Type.Integer(),
  version: Type.String(),
})

const statusShape = Type.Object({
  state: Type.String(),
  error: Type.Optional(Type.String()),
  currentSubStateDetails: Type.Object({
    currentSubState: Type.String(),
    dbDetails: Type.Optional(Type.Record(Type.String(), Type.Object({}))),
    validationDetails: Type.Optional(Type.Object({})),
  }),
})
