/** The namespace `Sql`: servers that other namespaces copy tables from and to, registered with their sign-in. */

import type { Seal } from '#kernel/ports.ts'
import { defineProvider, type Provider } from '#plane/define.ts'
import { sqlErrors } from './errors.ts'
import { publishedVersions } from './published-versions.ts'
import { sqlServers } from './servers/resource.ts'

export interface SqlParts {
  /** What `openSqlPlaces` opens again. */
  readonly seal: Seal
}

export function sqlProvider(parts: SqlParts): Provider {
  return defineProvider({
    namespace: 'Sql',
    alikeVersions: publishedVersions,
    description: 'PostgreSQL servers with their sign-in, and folders of DuckDB files.',
    errors: sqlErrors.entries,
    types: [sqlServers(parts)],
  })
}
