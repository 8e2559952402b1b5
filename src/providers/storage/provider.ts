/**
 * The namespace `Storage`: accounts that other namespaces copy from and to, each a folder here or a blob service.
 */

import type { Seal } from '#kernel/ports.ts'
import { nameAvailability } from '#plane/declare/name-availability.ts'
import { defineProvider, type Provider } from '#plane/declare/provider.ts'
import { storageDataActions } from './domain/data-actions.ts'
import { storageErrors } from './errors.ts'
import { publishedVersions } from './published-versions.ts'
import { storageAccountType } from './resources/storage-accounts/model.ts'
import { accountName, storageAccounts } from './resources/storage-accounts/resource.ts'

interface StorageDependencies {
  /** The seal of `openStorageAccounts`. */
  readonly seal: Seal
  /** Container groups mount file shares of its accounts. */
  readonly ownsShares?: boolean
}

export function storageProvider(deps: StorageDependencies): Provider {
  return defineProvider({
    namespace: 'Storage',
    compatibleVersions: publishedVersions,
    description:
      'Storage accounts: folders of the installation and blob services, registered with their keys.',
    errors: storageErrors.entries,
    dataActions: storageDataActions,
    types: [
      storageAccounts(deps),
      nameAvailability({
        type: 'Storage/checkNameAvailability',
        apiVersions: ['2023-01-01'],
        name: accountName,
        uniqueAmong: storageAccountType,
        reasons: { invalid: 'AccountNameInvalid', taken: 'AlreadyExists' },
      }),
    ],
  })
}
