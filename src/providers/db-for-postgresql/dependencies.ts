/** What the types of this provider are made with, and their names. */

import type { DatabaseEngine, Fence, Verification } from '#engines/databases/engine.ts'
import type { HealthSignals } from '#kernel/health.ts'
import type { Seal } from '#kernel/ports.ts'
import type { ProviderContext } from '#plane/provider-context.ts'

export const types = {
  servers: 'DBforPostgreSQL/flexibleServers',
  databases: 'DBforPostgreSQL/flexibleServers/databases',
  configurations: 'DBforPostgreSQL/flexibleServers/configurations',
  firewallRules: 'DBforPostgreSQL/flexibleServers/firewallRules',
  migrations: 'DBforPostgreSQL/flexibleServers/migrations',
} as const

export const version = '2025-08-01'

/** How migrations are done here: the operator's choice, since the contract has no field for it. */
export interface MigrationSettings {
  readonly fence: Fence
  readonly verify: Verification
  readonly tablesAtOnce: number
  readonly databasesAtOnce: number
  /** Where targets reach a source, by the `host:port` at which we reach it; only where the two differ. */
  readonly sourcesFromTargets?: ReadonlyMap<
    string,
    { readonly host: string; readonly port: number }
  >
  /** By the names of servers in lower case, and `*`: where those are that are put without an address. */
  readonly serverAddresses?: ReadonlyMap<string, { readonly host: string; readonly port: number }>
  /** As `MigrationSpec` has it. */
  readonly authoritiesAtTarget?: string
}

/** What the provider is made with. */
export interface DatabaseDependencies extends ProviderContext {
  readonly engine: DatabaseEngine
  readonly settings: MigrationSettings
  readonly signals: HealthSignals
}

export interface PostgresDependencies
  extends Pick<ProviderContext, 'words' | 'clock' | 'ids' | 'log'> {
  readonly reader: ProviderContext['services']['reader']
  readonly seal: Seal
  readonly engine: DatabaseEngine
  readonly settings: MigrationSettings
  /** Told when a server that is being migrated to does not answer. */
  readonly signals: HealthSignals
}

export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
