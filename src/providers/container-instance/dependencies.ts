/** What the provider needs besides the engine: small ports, each with its fallback. */

import type { ContainerEngine, Session } from '#engines/containers/engine.ts'
import type { Clock, Ids, Log, Seal, Timers } from '#kernel/ports.ts'
import type { Principal, WorkloadIdentities } from '#kernel/principal.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { UsageMeter } from '#kernel/usage.ts'
import type { DataUse, Permission } from '#plane/access.ts'
import type { Reader } from '#plane/declare/resource.ts'
import type { GroupMetrics } from './domain/groups/metrics.ts'
import type { ContainerLimits } from './domain/limits.ts'

/** Resolves secret references. */
export interface SecretStore {
  /**
   * The resource that a URI names, which need not exist; undefined when it names nothing of this installation.
   * Whoever writes a group must be allowed `use` of it. A store without these is open to all writers.
   */
  locate?(uri: string): Promise<ResourceId | undefined>
  readonly use?: DataUse
  /** Whether the writer of a group may still use the secret. Called whenever the value is read. */
  mayUse?(writer: Principal, id: ResourceId): Promise<boolean>
  /** The secret at the URI; `undefined` when there is none. Throws when the store does not answer now. */
  read(uri: string): Promise<string | undefined>
}

/** Storage accounts, whose file shares groups mount. */
export interface ShareAccounts {
  /** What a caller needs to mount a share without its account's key. */
  useOf(share: { readonly isReadOnly: boolean }): DataUse
  /** The account of that name, in any group. */
  find(name: string): Promise<{ readonly id: ResourceId; isKey(text: string): boolean } | undefined>
}

/** Connects a client to a process over a connection of its own, once, by a password. */
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

/** Identities that exist apart from groups and are assigned to them. */
export interface LentIdentities {
  /** The action that the writer of a group needs on each identity. Without the vendor word. */
  readonly useAction: string
  /** Undefined when there is no identity with that resource id. */
  find(
    resourceId: string,
  ): Promise<{ readonly clientId: string; readonly principalId: string } | undefined>
}

/** Gets git repositories. */
export interface Repositories {
  /**
   * Copies a repository to this machine. Throws an `Error` that the user may read; with `retry: 'never'` when a
   * retry would fail the same way.
   */
  fetch(from: {
    /** The resource group that waits for it. */
    readonly owner: string
    readonly repository: string
    /** The folder of its files in the volume; `.` for the volume itself. */
    readonly directory: string
    /** The repository's default branch when left out. */
    readonly revision: string | undefined
    /** Aborted when nobody wants it any more. */
    readonly signal?: AbortSignal | undefined
  }): Promise<FetchedRepository>
}

export interface FetchedRepository extends AsyncDisposable {
  /** Its files as a tar stream; each call starts over. */
  archive(): AsyncIterable<Uint8Array>
}

export interface ContainerInstanceDependencies {
  readonly engine: ContainerEngine
  /** The plane's reader of committed resources. */
  readonly reader: Reader
  readonly seal: Seal
  readonly clock: Clock
  readonly ids: Ids
  readonly timers: Timers
  readonly log: Log
  /** Shown as the tenant of identities. */
  readonly tenantId: string
  /** The address at which ports of `Public` groups are published. Default: this machine only. */
  readonly hostAddress?: string
  /** Ports of that address that are the server's own. */
  readonly keptPorts?: readonly number[]
  /** The address that `Public` groups show when `hostAddress` is every address. */
  readonly publicAddress?: string
  /** The end of `fqdn`, after label and location. This server resolves no such names. */
  readonly domainSuffix?: string
  /** The folder of file shares, on the engine's machine: `{subscription}/{group}/{account}/{share}`. */
  readonly shareRoot?: string
  /** Registries whose images groups may run, or folders of them; empty or left out: any. */
  readonly allowedRegistries?: readonly string[]
  /** Storage accounts. Without it a share belongs to the account of that name in the group's own resource group. */
  readonly shareAccounts?: ShareAccounts
  /** The cores of the engine's machine; larger CPU limits are reduced to it. */
  readonly cpusMax?: number
  /** Resolves secret references; without it groups with references fail. */
  readonly secrets?: SecretStore
  /** Clones git repositories; without it groups with repository volumes fail. */
  readonly repositories?: Repositories
  /** Serves `exec` and `attach`; without it both are refused. */
  readonly streams?: Streams
  /** The directory, which holds the groups' own identities. */
  readonly workloads: WorkloadIdentities
  /** User-assigned identities; without it each one counts as missing. */
  readonly identities?: LentIdentities
  /** Receives what ran, from when to when; without it nothing is charged. */
  readonly meter?: UsageMeter
  /** Measures what groups use; without it nothing is measured. */
  readonly metrics?: GroupMetrics
  readonly limits?: Partial<ContainerLimits>
}
