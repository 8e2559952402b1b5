/** Storage accounts: what data sets name. Their names are unique, since folders are called by them. */

import type { Seal } from '#kernel/ports.ts'
import { nameOf } from '#kernel/resource-id.ts'
import { tooManyNames } from '#plane/declare/names-in-use.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineStored } from '#plane/declare/stored.ts'
import { refuseStorage } from '../../errors.ts'
import { type StorageAccount, storageAccountType } from './model.ts'
import { v2023_01_01 } from './versions/2023-01-01.ts'

export const accountName = {
  pattern: /^[a-z0-9]{3,24}$/,
  rule: '3 to 24 lower-case letters and digits',
}

export function storageAccounts({
  seal,
  ownsShares = false,
}: {
  readonly seal: Seal
  readonly ownsShares?: boolean
}): ResourceType {
  const body = (accountName: string) => ({
    location: 'here',
    properties: {
      kind: 'BlobService',
      endpoint: 'https://blobs.example/sample',
      accountName,
      accountKey: 'aHVzaC1zdG9yYWdl',
    },
  })
  return defineStored<StorageAccount>({
    type: storageAccountType,
    description: 'A folder of the installation, or a blob service with its key.',
    scope: 'resource-group',
    tracked: { location: 'optional' },
    name: accountName,
    // File shares lie in folders that are called by the account's group: a container group that mounts one would lose it.
    movable: ({ model }) => model.kind === 'BlobService' && !ownsShares,
    rules: (context) => tooManyNames(context, storageAccountType),
    versions: [v2023_01_01(seal)],
    secrets: [
      {
        property: 'properties.accountKey',
        receiver: (account) =>
          account.kind === 'Folder'
            ? undefined
            : { endpoint: account.endpoint, accountName: account.accountName },
      },
    ],
    prepare: async ({ id }, given: object) => ({ ...given, place: id.key }),
    unique: {
      key: (id) => `storage-account|${nameOf(id).toLowerCase()}`,
      refuse: (id) => refuseStorage.StorageAccountAlreadyTaken({ name: nameOf(id) }),
    },
    sample: {
      redirects: [
        { properties: { endpoint: 'https://elsewhere.example/sample' } },
        { properties: { accountName: 'other' } },
      ],
      name: (seed) => `sample${seed}`,
      body: () => body('sample'),
      changed: () => body('changed'),
      secrets: ['aHVzaC1zdG9yYWdl'],
    },
  })
}
