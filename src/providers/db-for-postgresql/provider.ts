/** The namespace `DBforPostgreSQL`: registered PostgreSQL servers, and migrations that move databases into them. */

import { nameAvailability } from '#plane/declare/name-availability.ts'
import { defineProvider, type Provider } from '#plane/declare/provider.ts'
import { type DatabaseDependencies, type PostgresDependencies, version } from './dependencies.ts'
import { postgresErrors, refuseParameters } from './errors.ts'
import { publishedVersions } from './published-versions.ts'
import { absentFromServers } from './resources/absent/resource.ts'
import { serverConfigurations } from './resources/configurations/resource.ts'
import { serverDatabases } from './resources/databases/resource.ts'
import { firewallRules } from './resources/firewall-rules/resource.ts'
import { flexibleServers, serverName } from './resources/flexible-servers/resource.ts'
import { capabilities } from './resources/locations/resource.ts'
import { migrations } from './resources/migrations/resource.ts'
import { threatProtection } from './resources/threat-protection/resource.ts'

export function postgresProvider(given: DatabaseDependencies): Provider {
  const deps: PostgresDependencies = {
    ...given,
    reader: given.services.reader,
    seal: given.sealOf('postgres'),
  }
  return defineProvider({
    namespace: 'DBforPostgreSQL',
    serviceNames: ['Database for PostgreSQL', 'Database for PostgreSQL flexible servers'],
    compatibleVersions: publishedVersions,
    description: 'PostgreSQL servers, and migrations that move databases into them.',
    errors: postgresErrors.entries,
    refuseProblems: refuseParameters,
    types: [
      flexibleServers(deps),
      serverDatabases(deps),
      serverConfigurations(deps),
      firewallRules(),
      ...absentFromServers(),
      migrations(deps),
      ...capabilities(),
      threatProtection(),
      ...['checkNameAvailability', 'locations/checkNameAvailability'].map((word) =>
        nameAvailability({
          type: `DBforPostgreSQL/${word}`,
          apiVersions: [version],
          name: serverName,
        }),
      ),
    ],
  })
}
