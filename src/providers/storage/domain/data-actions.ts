/** The data actions of accounts, by their published names, and what each use of an account's data takes. */

import type { DataUse } from '#plane/access.ts'
import { storageAccountType } from '../resources/storage-accounts/model.ts'

const blobs = `${storageAccountType}/blobServices/containers/blobs`
const files = `${storageAccountType}/fileServices/fileshares/files`

/** By name, with what the reference says of it. */
export const storageDataActions: Readonly<Record<string, string>> = {
  [`${blobs}/read`]: 'Read blobs',
  [`${blobs}/write`]: 'Write blobs',
  [`${blobs}/delete`]: 'Delete blobs',
  [`${files}/read`]: 'Read files of a share',
  [`${files}/write`]: 'Write files of a share',
  [`${files}/delete`]: 'Delete files of a share',
}

/** Whoever may read the keys has everything that they open. A copy and a mount also remove what was there. */
function useOf(of: string, verbs: readonly string[]): DataUse {
  const dataActions = verbs.map((verb) => `${of}/${verb}`)
  return { action: `${storageAccountType}/listKeys/action`, dataActions }
}

const everything = ['read', 'write', 'delete']

export const storageUses = {
  readBlobs: useOf(blobs, ['read']),
  writeBlobs: useOf(blobs, everything),
  readFiles: useOf(files, ['read']),
  writeFiles: useOf(files, everything),
}
