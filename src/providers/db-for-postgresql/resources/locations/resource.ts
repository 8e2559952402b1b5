/**
 * The capabilities of a location. Command lines check a server's size, version and storage against them before the
 * PUT. Servers are registered here, not created, so the capabilities are what a registration may contain. Computed.
 */

import Type from 'typebox'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { types, version } from '../../dependencies.ts'

/** The major versions that migrations are tested between, and the versions between those. */
const majors = ['13', '14', '15', '16', '17', '18']
/** Command lines print nothing for a location with a single zone. */
const zones = ['none', '1']
const iopsPerCore = 1600
const storageGb = [32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384]

const tiers = [
  { tier: 'Burstable', memoryMb: 2048, sizes: { B1ms: 1, B2s: 2, B2ms: 2, B4ms: 4 } },
  {
    tier: 'GeneralPurpose',
    memoryMb: 4096,
    sizes: { D2s_v3: 2, D4s_v3: 4, D8s_v3: 8, D2ds_v4: 2, D4ds_v4: 4, D2ds_v5: 2, D4ds_v5: 4 },
  },
  {
    tier: 'MemoryOptimized',
    memoryMb: 8192,
    sizes: { E2s_v3: 2, E4s_v3: 4, E2ds_v4: 2, E4ds_v4: 4, E2ds_v5: 2, E4ds_v5: 4 },
  },
] as const

/** Of a location, and of a server, which may be registered anew with what its location has. */
export function capabilities(): readonly ResourceType[] {
  return (
    [
      ['DBforPostgreSQL/locations/capabilities', 'subscription'],
      [`${types.servers}/capabilities`, 'resource-group'],
    ] as const
  ).map(([type, scope]) =>
    defineComputed({
      type,
      description: 'Sizes, versions and storage that a server may be registered with.',
      scope,
      apiVersions: [version],
      answer: Type.Object({ name: Type.String() }, { additionalProperties: true }),
      source: { list: async () => ({ items: zones.map((zone) => ({ ...offered, zone })) }) },
    }),
  )
}

const supportedServerVersions = majors.map((name, at) => ({
  name,
  supportedVersionsToUpgrade: majors.slice(at + 1),
}))

const editions = tiers.map(({ tier, memoryMb, sizes }) => {
  const skus = Object.entries(sizes).map(([size, vCores]) => ({
    name: `Standard_${size}`,
    vCores,
    supportedIops: vCores * iopsPerCore,
    supportedMemoryPerVcoreMb: memoryMb,
    // The name in api-versions before 2023-06.
    supportedMemoryPerVcoreMB: memoryMb,
  }))
  const sizesOfStorage = storageGb.map((size) => ({
    name: String(size * 1024),
    storageSizeMb: size * 1024,
    storageSizeMB: size * 1024,
  }))
  return {
    name: tier,
    defaultSkuName: skus[0]?.name,
    supportedServerSkus: skus,
    supportedStorageEditions: [
      {
        name: 'ManagedDisk',
        defaultStorageSizeMb: 32_768,
        supportedStorageMb: sizesOfStorage,
        supportedStorageMB: sizesOfStorage,
      },
    ],
    // Before 2023-06, sizes were listed below versions.
    supportedServerVersions: supportedServerVersions.map((one) => ({
      ...one,
      supportedVcores: skus,
    })),
  }
})

/**
 * The answer has both families of property names, since clients read theirs and ignore the other. It leaves out a
 * property that is a boolean in one family and a string in the other. There are no standbys and no replicas in
 * other regions.
 */
const offered = {
  name: 'FlexibleServerCapabilities',
  supportedServerEditions: editions,
  supportedFlexibleServerEditions: editions,
  supportedServerVersions,
  supportedHAMode: [],
}
