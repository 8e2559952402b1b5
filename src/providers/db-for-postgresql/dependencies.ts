/** The dependencies of this provider's types, and their names. */

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

/** How migrations are done on this installation. The operator chooses, since the contract has no field for it. */
export interface MigrationSettings {
  readonly fence: Fence
  readonly verify: Verification
  /** Migrations at work in the installation. A resource group may have half of them, at least one. */
  readonly atOnceMax: number
  readonly tablesAtOnce: number
  readonly databasesAtOnce: number
  /**
   * How target servers reach a source, keyed by the `host:port` at which this process reaches it. Only sources
   * where the two differ are listed.
   */
  readonly sourcesFromTargets?: ReadonlyMap<
    string,
    { readonly host: string; readonly port: number }
  >
  /**
   * Addresses of servers that are put without one, keyed by server name in lower case. `*` stands for every other
   * server.
   */
  readonly serverAddresses?: ReadonlyMap<string, { readonly host: string; readonly port: number }>
  /** See `MigrationSpec`. */
  readonly authoritiesAtTarget?: string
}

/** The dependencies of the provider. */
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
  /** Receives a signal when a server that is the target of a migration does not answer. */
  readonly signals: HealthSignals
}

export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
