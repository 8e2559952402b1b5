/**
 * Storage accounts as locations to copy from and to. It checks no permission: the writer of a reference to an
 * account was asked for `uses`.
 */

import { join } from 'node:path'
import type { Seal } from '#kernel/ports.ts'
import { nameOf, type ResourceId } from '#kernel/resource-id.ts'
import type { DataUse } from '#plane/access.ts'
import type { Reader } from '#plane/declare/resource.ts'
import { openKey, type StorageAccount } from '../resources/storage-accounts/model.ts'
import { storageUses } from './data-actions.ts'

type StoragePlace =
  | { readonly kind: 'folder'; readonly root: string }
  | {
      readonly kind: 'blobs'
      readonly endpoint: string
      readonly account: string
      readonly key: string
    }

interface StoragePlaces {
  /** What referring to an account takes, as what is read or as what is written. */
  readonly uses: { readonly source: DataUse; readonly target: DataUse }
  /** Undefined when there is no such account, or its key does not open. */
  find(id: ResourceId): Promise<StoragePlace | undefined>
}

export function openStoragePlaces(parts: {
  readonly reader: Reader
  readonly seal: Seal
  /** An absolute path: the folder of folder accounts. */
  readonly root: string
}): StoragePlaces {
  return {
    uses: { source: storageUses.readBlobs, target: storageUses.writeBlobs },
    async find(id) {
      const found = await parts.reader.get(id)
      if (found === undefined) return undefined
      // The id is of that type, and so is its model.
      const model = found.model as StorageAccount
      if (model.kind === 'Folder') {
        return { kind: 'folder', root: join(parts.root, nameOf(found.id).toLowerCase()) }
      }
      const key = openKey(parts.seal, model.place, model.sealedKey)
      if (key === undefined) return undefined
      return { kind: 'blobs', endpoint: model.endpoint, account: model.accountName, key }
    },
  }
}
