/** What the provider needs from outside besides the engine: small ports, each with what it falls back to. */

import { createHash } from 'node:crypto'
import type { Session } from '#engines/containers/engine.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { Permission } from '#plane/access.ts'

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

/** Storage accounts, whose file shares groups mount. */
export interface ShareAccounts {
  /** Whoever mounts a share without its account's key must be allowed this. Without the vendor word. */
  readonly keysAction: string
  /** The account of that name, wherever it is. */
  find(name: string): Promise<{ readonly id: ResourceId; isKey(text: string): boolean } | undefined>
}

/** Lets a client talk with a process over a connection of its own, once, by a password. */
export interface Streams {
  /**
   * `open` is called when the client has come. Throws the refusal when too many wait already. The connection ends when
   * the permission is gone.
   */
  offer(
    open: () => Promise<Session>,
    permission: Permission,
  ): {
    readonly webSocketUri: string
    readonly password: string
  }
}

/** Identities that live apart from groups, and are lent to them. */
export interface LentIdentities {
  /** Whoever writes a group must be allowed this on each identity that there is. Without the vendor word. */
  readonly useAction: string
  /** Undefined when there is none of that resource id. */
  find(
    resourceId: string,
  ): Promise<{ readonly clientId: string; readonly principalId: string } | undefined>
}

/** Gets git repositories. */
export interface Repositories {
  /**
   * Copies one to this machine. Throws an `Error` for the user's eyes; with `retry: 'never'` where another try
   * would end the same.
   */
  fetch(from: {
    readonly repository: string
    /** Where its files go in the volume; `.` for the volume itself. */
    readonly directory: string
    /** The branch it has as its own when left out. */
    readonly revision: string | undefined
  }): Promise<FetchedRepository>
}

export interface FetchedRepository extends AsyncDisposable {
  /** Its files as a tar stream, from the start at each call. */
  archive(): AsyncIterable<Uint8Array>
}

/** Ids for an identity that is named and not there: nobody can sign in with them, and nobody gets others. */
export function absentIdentity(resourceId: string): { clientId: string; principalId: string } {
  return {
    clientId: uuidOf(`client|${resourceId.toLowerCase()}`),
    principalId: uuidOf(`principal|${resourceId.toLowerCase()}`),
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
