/**
 * Storage accounts as owners of file shares: who may mount one. It asks nobody for permission: the caller of
 * `find` asks for the key, or for `useOf`.
 */

import { createHash, timingSafeEqual } from 'node:crypto'
import type { Seal } from '#kernel/ports.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { DataUse } from '#plane/access.ts'
import type { Reader } from '#plane/declare/resource.ts'
import { findByName } from '#plane/resource-by-name.ts'
import {
  openKey,
  type StorageAccount,
  storageAccountType,
} from '../resources/storage-accounts/model.ts'
import { storageUses } from './data-actions.ts'

interface ShareAccounts {
  /** What mounting a share takes of those who do not send the account's key. */
  useOf(share: { readonly isReadOnly: boolean }): DataUse
  /** The account of that name. Names are unique in the installation. */
  find(name: string): Promise<{ readonly id: ResourceId; isKey(text: string): boolean } | undefined>
}

export function openShareAccounts({
  reader,
  seal,
}: {
  readonly reader: Reader
  readonly seal: Seal
}): ShareAccounts {
  const idOf = findByName(reader, storageAccountType)
  return {
    useOf: ({ isReadOnly }) => (isReadOnly ? storageUses.readFiles : storageUses.writeFiles),
    async find(name) {
      const id = await idOf(name.toLowerCase())
      const found = id === undefined ? undefined : await reader.get(id)
      if (found === undefined) return undefined
      // Rows of this type hold this model.
      const model = found.model as StorageAccount
      return { id: found.id, isKey: (text) => isKey(seal, model, text) }
    },
  }
}

/** An account that is a folder has no key, so no key is right. */
function isKey(seal: Seal, model: StorageAccount, text: string): boolean {
  const key = model.kind === 'Folder' ? undefined : openKey(seal, model.place, model.sealedKey)
  if (key === undefined || key === '') return false
  const digest = (one: string) => createHash('sha256').update(one).digest()
  return timingSafeEqual(digest(key), digest(text))
}
