/** The namespace `DBforPostgreSQL`: registered PostgreSQL servers, and migrations that move databases into them. */

import type { DatabaseEngine } from '#engines/databases/engine.ts'
import type { HealthSignals } from '#kernel/health.ts'
import { defineProvider, type Provider } from '#plane/define.ts'
import type { World } from '#plane/world.ts'
import { serverDatabases } from './databases.ts'
import { postgresErrors, refuseParameters } from './errors.ts'
import { flexibleServers } from './flexible-servers/resource.ts'
import { migrations } from './migrations/resource.ts'
import type { MigrationSettings, PostgresParts } from './parts.ts'
import { publishedVersions } from './published-versions.ts'

export interface DatabaseParts extends World {
  readonly engine: DatabaseEngine
  readonly settings: MigrationSettings
  readonly signals: HealthSignals
}

export function postgresProvider(given: DatabaseParts): Provider {
  const parts: PostgresParts = {
    ...given,
    reader: given.services.reader,
    seal: given.sealOf('postgres'),
  }
  return defineProvider({
    namespace: 'DBforPostgreSQL',
    alikeVersions: publishedVersions,
    description: 'PostgreSQL servers, and migrations that move databases into them.',
    errors: postgresErrors.entries,
    refuseProblems: refuseParameters,
    types: [flexibleServers(parts), serverDatabases(parts), migrations(parts)],
  })
}
