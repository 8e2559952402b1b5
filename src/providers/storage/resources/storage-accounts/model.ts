/** The stored form of a storage account: where its data is. The key is sealed and never shown. */

import type { Seal } from '#kernel/ports.ts'

export type StorageAccount =
  /** A folder with the account's name, below the operator's folder. */
  | { readonly kind: 'Folder' }
  | {
      readonly kind: 'BlobService'
      /** The id at the first PUT, as a key: the context of the seal. */
      readonly place: string
      readonly endpoint: string
      readonly accountName: string
      readonly sealedKey: string
    }

export const storageAccountType = 'Storage/storageAccounts'

export function sealKey(seal: Seal, place: string, key: string): string {
  return seal.seal(key, `storage account key\n${place}`)
}

export function openKey(seal: Seal, place: string, sealed: string): string | undefined {
  return seal.open(sealed, `storage account key\n${place}`)
}
