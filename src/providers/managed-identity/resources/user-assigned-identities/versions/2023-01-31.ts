/** User-assigned identities on the wire: nothing is asked for but a location; the ids are answered. */

import Type from 'typebox'
import type { Version } from '#plane/declare/wire.ts'
import type { UserAssignedIdentity } from '../model.ts'

/** The body once `prepare` has put in the ids. */
interface PreparedBody {
  readonly ids: UserAssignedIdentity
}

export function v2023_01_31(tenantId: string): Version<UserAssignedIdentity> {
  return {
    date: '2023-01-31',
    // What it may hold is answered, not asked for.
    body: Type.Object({ properties: Type.Optional(Type.Object({})) }),
    answer: Type.Object({
      properties: Type.Object({
        tenantId: Type.String(),
        principalId: Type.String({ description: 'What role assignments name.' }),
        clientId: Type.String({ description: 'What it signs in with.' }),
      }),
    }),
    unknownProperties: 'ignore',
    // As the transaction finds it: a principal that was deleted since the request came does not come back.
    toModel: ({ ids }: PreparedBody, previous) => previous ?? ids,
    fromModel: ({ principalId, clientId }) => ({ properties: { tenantId, principalId, clientId } }),
    patch: 'tags',
  }
}
