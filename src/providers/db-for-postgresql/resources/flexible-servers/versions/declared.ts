/**
 * What published clients write of a server besides its address and sign-in. A registered server is run by somebody else,
 * so nothing is done to it: what is written is kept and answered as written, and what is left out is answered as this
 * installation has it: no backups, no standby, no window, sign-in by password. Clients compute with the size of the storage
 * and what goes with it, so these are answered as the smallest that can be asked for (decision 0070).
 */

import Type from 'typebox'
import { added } from '#plane/declare/added.ts'

const text = Type.String({ maxLength: 500 })
const switched = Type.Enum(['Enabled', 'Disabled'])
const whole = Type.Integer({ minimum: 0, maximum: 1_000_000_000 })

/** Properties of `storage` besides its size. */
export const storageProperties = {
  type: added(text),
  iops: added(whole),
  throughput: added(whole),
  tier: added(text),
  autoGrow: added(switched),
}

/** In bodies and answers alike. */
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

/** Answered only. */
export const declaredAnswers = {
  replica: added(Type.Object({ role: Type.String(), capacity: Type.Integer() })),
  replicaCapacity: added(Type.Integer({ readOnly: true })),
}

type Declared = Readonly<Record<string, unknown>>

/** The members of a body that are kept as they are written. */
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

/** All of it, each object completed. */
export function showDeclared(declared: Declared): Declared {
  const whole = Object.entries(defaults).map(([name, usual]): [string, unknown] => {
    const given = declared[name]
    return [name, typeof usual === 'string' ? (given ?? usual) : { ...usual, ...(given as object) }]
  })
  const shown: Declared = { ...declared, ...Object.fromEntries(whole) }
  return { ...shown, replica: { role: shown['replicationRole'], capacity: 0 }, replicaCapacity: 0 }
}

/** The published class of a size: from so many GB, its name and what it is rated at. */
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
