/** What the types of this provider need, and the names of the types. */

import type { CopyEngine } from '#engines/copy/engine.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { DataUse } from '#plane/access.ts'
import type { ProviderContext } from '#plane/provider-context.ts'
import type { Grants } from './domain/store/grants.ts'
import type { Runs } from './domain/store/runs.ts'

export const types = {
  accounts: 'DataShare/accounts',
  shares: 'DataShare/accounts/shares',
  dataSets: 'DataShare/accounts/shares/dataSets',
  invitations: 'DataShare/accounts/shares/invitations',
  settings: 'DataShare/accounts/shares/synchronizationSettings',
  consumers: 'DataShare/accounts/shares/providerShareSubscriptions',
  subscriptions: 'DataShare/accounts/shareSubscriptions',
  sources: 'DataShare/accounts/shareSubscriptions/consumerSourceDataSets',
  mappings: 'DataShare/accounts/shareSubscriptions/dataSetMappings',
  triggers: 'DataShare/accounts/shareSubscriptions/triggers',
  results: 'DataShare/accounts/shareSubscriptions/operationResults',
  publishedResults: 'DataShare/accounts/shareSubscriptions/synchronizationOperationResults',
} as const

export const version = '2021-08-01'

/** A data set names what is read; a mapping names what is written. */
export type CopySide = 'source' | 'target'

/** Storage accounts and servers as locations; given by the code that connects the providers. */
export interface RegisteredLocations {
  /** What using an account takes, on each side of a copy. */
  readonly storageUses: Readonly<Record<CopySide, DataUse>>
  storage(id: ResourceId): Promise<
    | { readonly kind: 'folder'; readonly root: string }
    | {
        readonly kind: 'blobs'
        readonly endpoint: string
        readonly account: string
        readonly key: string
      }
    | undefined
  >
  /** The action for using a server; without the vendor word. */
  readonly sqlAction: string
  sql(id: ResourceId): Promise<
    | {
        readonly kind: 'postgres'
        readonly host: string
        readonly port: number
        readonly user: string
        readonly password: string
        readonly tls: 'off' | 'verify'
      }
    | { readonly kind: 'duckdb'; readonly root: string; readonly folder: string }
    | undefined
  >
}

/** Wake signals: one side reports keys, and the reconcilers check them now. */
export interface WakeSignals {
  wake(key: string): void
  onWake(heard: (key: string) => void, signal: AbortSignal): void
}

export interface ShareDependencies
  extends Pick<
    ProviderContext,
    | 'words'
    | 'tenantId'
    | 'directory'
    | 'workloads'
    | 'clock'
    | 'ids'
    | 'timers'
    | 'log'
    | 'sql'
    | 'publicUrl'
  > {
  readonly reader: ProviderContext['services']['reader']
  /** Asks the plane whether the author of an earlier request may do this now. */
  readonly isAllowed: ProviderContext['services']['isAllowed']
  readonly engine: CopyEngine
  readonly places: RegisteredLocations
  readonly grants: Grants
  readonly runs: Runs
  readonly wakes: WakeSignals
  /** Called when runs have begun or shall stop, to check at once. */
  readonly runner: { wake(): void }
}

export function createWakeSignals(): WakeSignals {
  const heard = new Set<(key: string) => void>()
  return {
    wake(key) {
      for (const one of heard) one(key)
    },
    onWake(one, signal) {
      heard.add(one)
      signal.addEventListener('abort', () => heard.delete(one), { once: true })
    },
  }
}

export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

export const proxyName = {
  pattern: /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,88}[A-Za-z0-9_])?$/,
  rule: '1 to 90 letters, digits, periods, hyphens and underscores, a letter or digit first',
}
