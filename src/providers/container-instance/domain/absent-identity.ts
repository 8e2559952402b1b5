/** Ids for identities that are named but do not exist. */

import { createHash } from 'node:crypto'
import { hyphenate } from '#kernel/uuid.ts'

/** Ids for a named identity that does not exist: nobody can sign in with them, and they never change. */
export function absentIdentity(resourceId: string): { clientId: string; principalId: string } {
  return {
    clientId: uuidOf(`client|${resourceId.toLowerCase()}`),
    principalId: uuidOf(`principal|${resourceId.toLowerCase()}`),
  }
}

const identitySpace = 'armature managed identity|'

/** A name-based UUID in the form of version 5. */
export function uuidOf(name: string): string {
  const bytes = createHash('sha256').update(`${identitySpace}${name}`).digest().subarray(0, 16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return hyphenate(bytes.toString('hex'))
}
