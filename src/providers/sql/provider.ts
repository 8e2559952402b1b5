/**
 * The namespace `Sql`: servers that other namespaces copy tables from and to, registered with their credentials.
 */

import type { Seal } from '#kernel/ports.ts'
import { nameAvailability } from '#plane/declare/name-availability.ts'
import { defineProvider, type Provider } from '#plane/declare/provider.ts'
import { sqlErrors } from './errors.ts'
import { publishedVersions } from './published-versions.ts'
import { sqlServerName, sqlServers } from './resources/servers/resource.ts'

interface SqlDependencies {
  /** The seal of `openSqlPlaces`. */
  readonly seal: Seal
  /** Accepts a body without an address, for a server that is never contacted. */
  readonly isAddressOptional?: boolean
}

export function sqlProvider(deps: SqlDependencies): Provider {
  return defineProvider({
    namespace: 'Sql',
    serviceNames: ['SQL Database'],
    compatibleVersions: publishedVersions,
    description: 'PostgreSQL servers with their sign-in, and folders of DuckDB files.',
    errors: sqlErrors.entries,
    types: [
      sqlServers(deps),
      nameAvailability({
        type: 'Sql/checkNameAvailability',
        apiVersions: ['2021-11-01'],
        name: sqlServerName,
      }),
    ],
  })
}
