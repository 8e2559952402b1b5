/**
 * Storage accounts as owners of file shares: who may mount one. It asks nobody for permission: the caller of
 * `find` asks for the key, or for `keysAction`.
 */

import { createHash, timingSafeEqual } from 'node:crypto'
import type { Seal } from '#kernel/ports.ts'
import { nameOf, type ResourceId, rootId } from '#kernel/resource-id.ts'
import type { Reader } from '#plane/declare/resource.ts'
import {
  openKey,
  type StorageAccount,
  storageAccountType,
} from '../resources/storage-accounts/model.ts'

interface ShareAccounts {
  /** Reading the keys of an account; without the vendor word. */
  readonly keysAction: string
  /** The account of that name. Names are unique in the installation. */
  find(name: string): Promise<{ readonly id: ResourceId; isKey(text: string): boolean } | undefined>
}

const pageRows = 500
/** Accounts looked through for a name; each name found is remembered. */
const pagesMax = 100
const rememberedMax = 10_000

export function openShareAccounts({
  reader,
  seal,
}: {
  readonly reader: Reader
  readonly seal: Seal
}): ShareAccounts {
  const known = new Map<string, ResourceId>()

  async function idOf(name: string): Promise<ResourceId | undefined> {
    const remembered = known.get(name)
    if (remembered !== undefined) {
      // The same name elsewhere means that this one is gone.
      if ((await reader.get(remembered)) !== undefined) return remembered
      known.delete(name)
    }
    let after: string | undefined
    for (let page = 0; page < pagesMax; page++) {
      const rows = await reader.list({
        type: storageAccountType,
        under: rootId,
        limit: pageRows,
        ...(after === undefined ? {} : { after }),
      })
      const found = rows.find(({ id }) => nameOf(id).toLowerCase() === name)
      if (found !== undefined) {
        if (known.size >= rememberedMax) known.clear()
        known.set(name, found.id)
        return found.id
      }
      after = rows.at(-1)?.id.key
      if (rows.length < pageRows) return undefined
    }
    return undefined
  }

  return {
    keysAction: `${storageAccountType}/listKeys/action`,
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

/** An account that is a folder has no key, so none is right. */
function isKey(seal: Seal, model: StorageAccount, text: string): boolean {
  const key = model.kind === 'Folder' ? undefined : openKey(seal, model.place, model.sealedKey)
  if (key === undefined || key === '') return false
  const digest = (one: string) => createHash('sha256').update(one).digest()
  return timingSafeEqual(digest(key), digest(text))
}
