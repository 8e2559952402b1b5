/** The namespace `Storage`: accounts that other namespaces copy from and to, each a folder here or a blob service. */

import type { Seal } from '#kernel/ports.ts'
import { defineProvider, type Provider } from '#plane/define.ts'
import { storageErrors } from './errors.ts'
import { publishedVersions } from './published-versions.ts'
import { storageAccounts } from './storage-accounts/resource.ts'

export interface StorageParts {
  /** What `openStorageAccounts` opens again. */
  readonly seal: Seal
}

export function storageProvider(parts: StorageParts): Provider {
  return defineProvider({
    namespace: 'Storage',
    alikeVersions: publishedVersions,
    description:
      'Storage accounts: folders of the installation and blob services, registered with their keys.',
    errors: storageErrors.entries,
    types: [storageAccounts(parts)],
  })
}
