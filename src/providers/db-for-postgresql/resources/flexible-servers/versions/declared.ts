/**
 * The properties of a server that published clients write besides its address and credentials. Somebody else runs a
 * registered server, so these properties have no effect on it. They are stored and returned as written. Properties
 * that were left out get this installation's values: no backups, no standby, no maintenance window, password
 * authentication. Clients compute with the storage size and the properties that depend on it, so these get the
 * smallest values that a client can ask for (decision 0070).
 */

import Type from 'typebox'
import { added } from '#plane/declare/added.ts'

const text = Type.String({ maxLength: 500 })
const switched = Type.Enum(['Enabled', 'Disabled'])
const whole = Type.Integer({ minimum: 0, maximum: 1_000_000_000 })

/** The properties of `storage` other than its size. */
export const storageProperties = {
  type: added(text),
  iops: added(whole),
  throughput: added(whole),
  tier: added(text),
  autoGrow: added(switched),
}

/** In requests and in answers. */
export const declaredProperties = {
  availabilityZone: added(text),
  authConfig: added(
    Type.Object({
      activeDirectoryAuth: Type.Optional(switched),
      passwordAuth: Type.Optional(switched),
      tenantId: Type.Optional(text),
    }),
  ),
  backup: added(
    Type.Object({
      backupRetentionDays: Type.Optional(whole),
      geoRedundantBackup: Type.Optional(switched),
    }),
  ),
  dataEncryption: added(Type.Object({}, { additionalProperties: true })),
  highAvailability: added(
    Type.Object({
      mode: Type.Optional(Type.Enum(['Disabled', 'ZoneRedundant', 'SameZone'])),
      standbyAvailabilityZone: Type.Optional(text),
      state: Type.Optional(text),
    }),
  ),
  maintenanceWindow: added(
    Type.Object({
      customWindow: Type.Optional(switched),
      dayOfWeek: Type.Optional(whole),
      startHour: Type.Optional(whole),
      startMinute: Type.Optional(whole),
    }),
  ),
  network: added(
    Type.Object({
      publicNetworkAccess: Type.Optional(switched),
      delegatedSubnetResourceId: Type.Optional(text),
      privateDnsZoneArmResourceId: Type.Optional(text),
    }),
  ),
  replicationRole: added(text),
}

/** In answers only. */
export const declaredAnswers = {
  replica: added(Type.Object({ role: Type.String(), capacity: Type.Integer() })),
  replicaCapacity: added(Type.Integer({ readOnly: true })),
}

type Declared = Readonly<Record<string, unknown>>

/** The properties of a body that are stored as written. */
export function declaredOf(properties: object): Declared {
  return Object.fromEntries(
    Object.entries(properties).filter(([name]) => Object.hasOwn(declaredProperties, name)),
  )
}

const defaults = {
  availabilityZone: '1',
  dataEncryption: { type: 'SystemManaged' },
  authConfig: { activeDirectoryAuth: 'Disabled', passwordAuth: 'Enabled' },
  backup: { backupRetentionDays: 0, geoRedundantBackup: 'Disabled' },
  highAvailability: { mode: 'Disabled', state: 'NotEnabled' },
  maintenanceWindow: { customWindow: 'Disabled', dayOfWeek: 0, startHour: 0, startMinute: 0 },
  network: { publicNetworkAccess: 'Enabled' },
  replicationRole: 'Primary',
} as const

/** All declared properties, with every object completed. */
export function showDeclared(declared: Declared): Declared {
  const whole = Object.entries(defaults).map(([name, usual]): [string, unknown] => {
    const given = declared[name]
    return [name, typeof usual === 'string' ? (given ?? usual) : { ...usual, ...(given as object) }]
  })
  const shown: Declared = { ...declared, ...Object.fromEntries(whole) }
  return { ...shown, replica: { role: shown['replicationRole'], capacity: 0 }, replicaCapacity: 0 }
}

/** The published storage tiers: the smallest size in GB, the name and the rated values. */
const storageTiers = [
  [1, 'P4', 120],
  [33, 'P6', 240],
  [65, 'P10', 500],
  [129, 'P15', 1100],
  [257, 'P20', 2300],
  [513, 'P30', 5000],
  [1025, 'P40', 7500],
  [2049, 'P50', 7500],
  [4097, 'P60', 16_000],
  [8193, 'P70', 18_000],
  [16_385, 'P80', 20_000],
] as const
const usualStorageSizeGB = 32

export function showStorage(size: number | undefined, written: Declared): Declared {
  const storageSizeGB = size ?? usualStorageSizeGB
  const [, tier, iops] = storageTiers.findLast(([from]) => storageSizeGB >= from) ?? storageTiers[0]
  return { autoGrow: 'Disabled', iops, tier, ...written, storageSizeGB }
}

/** The size that was written, and the other members of `storage` that differ from what the size tells. */
interface WrittenStorage {
  readonly storageSizeGB?: number
  readonly storage?: Declared
}

/**
 * What was answered without having been written stays unwritten when the answer comes back. The size is taken for an
 * answer where its tier and rate come with it, as no client writes those of the smallest size by hand.
 */
export function writtenStorage(
  given: Declared & { readonly storageSizeGB?: number },
  before: WrittenStorage = {},
): WrittenStorage {
  const { storageSizeGB: size, ...others } = given
  const shown = showStorage(before.storageSizeGB, {})
  const isAnswer = ['storageSizeGB', 'tier', 'iops'].every((name) => given[name] === shown[name])
  const isUnwritten = before.storageSizeGB === undefined && isAnswer
  // A PATCH of the size alone comes with the tier of the size before.
  const computed = [shown, showStorage(size, {})]
  const written = Object.entries(others).filter(([name, value]) =>
    computed.every((one) => value !== one[name]),
  )
  return {
    ...(size === undefined || isUnwritten ? {} : { storageSizeGB: size }),
    ...(written.length === 0 ? {} : { storage: Object.fromEntries(written) }),
  }
}
