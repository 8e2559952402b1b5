/** Servers: what migrations move databases to, registered with where they are and how to sign in. */

import { defineResource, type ResourceType } from '#plane/define.ts'
import { refusePostgres } from '../errors.ts'
import { findActive } from '../migrations/active.ts'
import { nameAvailability } from '../migrations/name-availability.ts'
import { type PostgresParts, types } from '../parts.ts'
import { type FlexibleServer, receiverOf } from './model.ts'
import { serverReconciler } from './reconcile.ts'
import { serverVersion } from './shape.ts'

export function flexibleServers(parts: PostgresParts): ResourceType {
  const body = (port: number) => ({
    location: 'here',
    properties: {
      fullyQualifiedDomainName: 'db.example',
      port,
      administratorLogin: 'sample',
      administratorLoginPassword: 'hush-postgres',
    },
  })
  return defineResource<FlexibleServer>({
    type: types.servers,
    description: 'A PostgreSQL server with its sign-in, and the migrations to it.',
    scope: 'resource-group',
    tracked: true,
    location: 'optional',
    name: {
      // 3 to 63 characters by the contract's limits.
      pattern: /^[a-z0-9](?:[a-z0-9-]{1,61}[a-z0-9])$/,
      rule: '3 to 63 lower-case letters, digits and hyphens, no hyphen first or last',
    },
    versions: [serverVersion(parts.seal)],
    secrets: [
      {
        property: 'properties.administratorLoginPassword',
        receiver: receiverOf,
      },
    ],
    prepare: async ({ id }, given: object) => ({ ...given, place: id.key }),
    async deleteRules({ id, reader }) {
      const active = await findActive(reader, id)
      if (active !== undefined) {
        throw refusePostgres.ServerHasActiveMigration({ id: active.id.text })
      }
    },
    reconcile: serverReconciler(parts),
    actions: { checkMigrationNameAvailability: nameAvailability(parts) },
    summary: ({ sku }) => ({ sku }),
    sample: {
      redirects: [
        { properties: { fullyQualifiedDomainName: 'elsewhere.example' } },
        { properties: { port: 6543 } },
        { properties: { sslMode: 'Require' } },
        { properties: { administratorLogin: 'other' } },
        { properties: { rootCertificates: 'another authority' } },
      ],
      name: (seed) => `server-${seed}`,
      body: () => body(5432),
      changed: () => body(5433),
      secrets: ['hush-postgres'],
    },
  })
}
