/** What the provider needs from outside besides the engine: small ports, each with what it falls back to. */

import { createHash } from 'node:crypto'
import type { ResourceId } from '#kernel/resource-id.ts'

/** Where secret references are resolved. */
export interface SecretStore {
  /**
   * The resource that a URI names, which need not exist; undefined when it names nothing of this installation.
   * Whoever writes a group must be allowed `useAction` on it. A store without both is open to all writers.
   */
  locate?(uri: string): Promise<ResourceId | undefined>
  /** Without the vendor word. */
  readonly useAction?: string
  /** The secret at the URI, or `undefined` when there is none. Throws when it cannot be asked now. */
  read(uri: string): Promise<string | undefined>
}

/** Gives managed identities their ids. The same answer for the same resource, always. */
export interface ManagedIdentities {
  userAssigned(
    resourceId: string,
  ): Promise<{ readonly clientId: string; readonly principalId: string }>
  systemAssigned(resourceId: string): Promise<{ readonly principalId: string }>
}

/** Gets a git repository as a tar stream, its files in `directory`. */
export interface Repositories {
  archive(from: {
    readonly repository: string
    readonly directory: string
    readonly revision: string | undefined
  }): AsyncIterable<Uint8Array>
}

/** Ids made of names, for as long as no directory gives any: nobody can sign in with them. */
export function derivedIdentities(): ManagedIdentities {
  return {
    userAssigned: async (resourceId) => ({
      clientId: uuidOf(`client|${resourceId.toLowerCase()}`),
      principalId: uuidOf(`principal|${resourceId.toLowerCase()}`),
    }),
    systemAssigned: async (resourceId) => ({
      principalId: uuidOf(`system|${resourceId.toLowerCase()}`),
    }),
  }
}

const identitySpace = 'armature managed identity|'

/** A name-based UUID, in the form of version 5, which every reader of UUIDs knows. */
export function uuidOf(name: string): string {
  const bytes = createHash('sha256').update(`${identitySpace}${name}`).digest().subarray(0, 16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [0, 8, 12, 16, 20].map((from, at) => hex.slice(from, [8, 12, 16, 20, 32][at])).join('-')
}
