/** Registered servers are the targets of migrations. A registration holds the address and the credentials. */

import { nameOf } from '#kernel/resource-id.ts'
import type { Action } from '#plane/declare/action.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineReconciled } from '#plane/declare/reconciled.ts'
import { type PostgresDependencies, types } from '../../dependencies.ts'
import { acceptedAs } from '../../domain/accepted.ts'
import { findActive } from '../../domain/active-migration.ts'
import { refusePostgres } from '../../errors.ts'
import { nameAvailability } from '../migrations/actions/name-availability.ts'
import { type FlexibleServer, receiverOf } from './model.ts'
import { serverReconciler } from './reconcile.ts'
import { serverVersion } from './versions/2025-08-01.ts'

/** The contract's limits are 3 to 63 characters. */
export const serverName = {
  pattern: /^[a-z0-9](?:[a-z0-9-]{1,61}[a-z0-9])$/,
  rule: '3 to 63 lower-case letters, digits and hyphens, no hyphen first or last',
}

/** A registered server is not started or stopped from here: nothing of this installation runs it. */
const power = Object.fromEntries(
  (['start', 'stop', 'restart'] as const).map((what) => {
    const refusal: Action<FlexibleServer> = {
      method: 'POST',
      description: `Refused: who runs the server may ${what} it`,
      async run({ id }) {
        throw refusePostgres.OperationNotSupported({ name: nameOf(id), what: `its ${what}` })
      },
    }
    return [what, refusal]
  }),
)

export function flexibleServers(deps: PostgresDependencies): ResourceType {
  const body = (port: number) => ({
    location: 'here',
    properties: {
      fullyQualifiedDomainName: 'db.example',
      port,
      administratorLogin: 'sample',
      administratorLoginPassword: 'hush-postgres',
    },
  })
  return defineReconciled<FlexibleServer>({
    type: types.servers,
    description: 'A PostgreSQL server with its sign-in, and the migrations to it.',
    scope: 'resource-group',
    tracked: { location: 'optional' },
    name: serverName,
    movable: true,
    // Migrations name a server by its id. At its new one it receives no password that was given for the one before it.
    moved: (model, now) => ({ ...model, receiverSince: now }),
    versions: [serverVersion(deps)],
    protocol: {
      answers: acceptedAs('UpsertServerManagementOperationV2', 'DropServerManagementOperation'),
    },
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
    reconcile: serverReconciler(deps),
    actions: { checkMigrationNameAvailability: nameAvailability(deps), ...power },
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
