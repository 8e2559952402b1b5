/** What the provider needs from outside besides the engine: small ports, each with what it falls back to. */

import type { ContainerEngine, Session } from '#engines/containers/engine.ts'
import type { Clock, Ids, Log, Seal, Timers } from '#kernel/ports.ts'
import type { Principal, WorkloadIdentities } from '#kernel/principal.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { UsageMeter } from '#kernel/usage.ts'
import type { Permission } from '#plane/access.ts'
import type { Reader } from '#plane/declare/resource.ts'
import type { ContainerLimits } from './domain/limits.ts'

/** Where secret references are resolved. */
export interface SecretStore {
  /**
   * The resource that a URI names, which need not exist; undefined when it names nothing of this installation.
   * Whoever writes a group must be allowed `useAction` on it. A store without these is open to all writers.
   */
  locate?(uri: string): Promise<ResourceId | undefined>
  /** Without the vendor word. */
  readonly useAction?: string
  /** May whoever wrote a group still use the secret? Asked whenever the value is read. */
  mayUse?(writer: Principal, id: ResourceId): Promise<boolean>
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
   * the permission is gone. `publicUrl` is the address by which the client came.
   */
  offer(
    open: () => Promise<Session>,
    permission: Permission,
    publicUrl?: string,
  ): {
    readonly webSocketUri: string
    readonly password: string
  }
}

/** Identities that live apart from groups, and are lent to them. */
export interface LentIdentities {
  /** Whoever writes a group must be allowed this on each identity. Without the vendor word. */
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
    /** The resource group that waits for it. */
    readonly owner: string
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

export interface ContainerInstanceDependencies {
  readonly engine: ContainerEngine
  /** From the plane: reads committed resources. */
  readonly reader: Reader
  readonly seal: Seal
  readonly clock: Clock
  readonly ids: Ids
  readonly timers: Timers
  readonly log: Log
  /** Shown as the tenant of identities. */
  readonly tenantId: string
  /** Where the ports of `Public` groups are published. Default: this machine alone. */
  readonly hostAddress?: string
  /** What `Public` groups show as their address where `hostAddress` is every address. */
  readonly publicAddress?: string
  /** The end of `fqdn`, after label and location. No server here resolves such names. */
  readonly domainSuffix?: string
  /** The folder of file shares, on the engine's machine: `{subscription}/{group}/{account}/{share}`. */
  readonly shareRoot?: string
  /** Registries whose images groups may run, or folders of them; empty or left out: any. */
  readonly allowedRegistries?: readonly string[]
  /** Storage accounts; without it a share is of an account of that name in the group's own resource group. */
  readonly shareAccounts?: ShareAccounts
  /** Cores of the engine's machine; CPU limits above are set to it. */
  readonly cpusMax?: number
  /** Resolves secret references; without it groups that use any fail to be made. */
  readonly secrets?: SecretStore
  /** Clones git repositories; without it groups that mount any fail to be made. */
  readonly repositories?: Repositories
  /** Carries `exec` and `attach`; without it both are refused. */
  readonly streams?: Streams
  /** The directory: groups have identities of their own in it. */
  readonly workloads: WorkloadIdentities
  /** User-assigned identities; without it each is as one that is not there. */
  readonly identities?: LentIdentities
  /** Told what ran, from when to when; without it nothing is charged. */
  readonly meter?: UsageMeter
  readonly limits?: Partial<ContainerLimits>
}
