/** Servers, which data sets of tables name. DuckDB servers have unique names, because their folders have them. */

import type { Seal } from '#kernel/ports.ts'
import { nameOf } from '#kernel/resource-id.ts'
import { tooManyNames } from '#plane/declare/names-in-use.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineStored } from '#plane/declare/stored.ts'
import { refuseSql } from '../../errors.ts'
import { type SqlServer, sqlServerType } from './model.ts'
import { v2021_11_01 } from './versions/2021-11-01.ts'

export const sqlServerName = {
  pattern: /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
  rule: '1 to 63 lower-case letters, digits and hyphens, no hyphen first or last',
}

export function sqlServers({
  seal,
  isAddressOptional = false,
}: {
  readonly seal: Seal
  readonly isAddressOptional?: boolean
}): ResourceType {
  const body = (port: number) => ({
    location: 'here',
    properties: {
      fullyQualifiedDomainName: 'db.example',
      port,
      administratorLogin: 'sample',
      administratorLoginPassword: 'hush-sql',
    },
  })
  return defineStored<SqlServer>({
    type: sqlServerType,
    description: 'A PostgreSQL server with its sign-in, or a folder of DuckDB files.',
    scope: 'resource-group',
    tracked: { location: 'optional' },
    name: sqlServerName,
    movable: true,
    rules: (context) =>
      context.desired.kind === 'DuckDb' && context.previous?.kind !== 'DuckDb'
        ? tooManyNames({ ...context, previous: undefined }, sqlServerType)
        : [],
    versions: [v2021_11_01(seal, isAddressOptional)],
    secrets: [
      {
        property: 'properties.administratorLoginPassword',
        receiver: (server) =>
          server.kind !== 'PostgreSql'
            ? undefined
            : {
                host: server.host.toLowerCase(),
                port: server.port,
                login: server.login,
                tls: server.tls,
              },
      },
    ],
    prepare: async ({ id }, given: object) => ({ ...given, place: id.key }),
    unique: {
      key: (id, { kind }) =>
        kind === 'DuckDb'
          ? `sql-server|duckdb|${nameOf(id).toLowerCase()}`
          : `sql-server|${id.key}`,
      refuse: (id) => refuseSql.SqlServerAlreadyTaken({ name: nameOf(id) }),
    },
    sample: {
      redirects: [
        { properties: { fullyQualifiedDomainName: 'elsewhere.example' } },
        { properties: { port: 6543 } },
        { properties: { tls: 'verify' } },
        { properties: { administratorLogin: 'other' } },
      ],
      name: (seed) => `server-${seed}`,
      body: () => body(5432),
      changed: () => body(5433),
      secrets: ['hush-sql'],
    },
  })
}
