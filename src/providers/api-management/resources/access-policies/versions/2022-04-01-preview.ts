/** Access policies on the wire: one shape in all versions of authorizations (facts 3.1). */

import Type, { type Static } from 'typebox'
import { added } from '#plane/declare/added.ts'
import type { Version } from '#plane/declare/wire.ts'
import { showLocation } from '../../../domain/service-location.ts'
import { authorizationDates } from '../../../published-versions.ts'
import type { AccessPolicy } from '../model.ts'

const guid = '^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$'
const body = Type.Object({
  properties: Type.Object({
    tenantId: Type.String({ pattern: guid }),
    objectId: Type.String({ pattern: guid }),
    appIds: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 50 }),
    ),
  }),
})
const answer = Type.Object({ ...body.properties, location: added(Type.String()) })
interface Prepared extends Static<typeof body> {
  readonly place: { readonly location?: string }
}

export const accessPolicyVersions: readonly Version<AccessPolicy>[] = authorizationDates.map(
  (date) => ({
    date,
    body,
    answer,
    unknownProperties: 'ignore' as const,
    patch: 'none' as const,
    toModel: ({ properties, place }: Prepared): AccessPolicy => ({
      ...place,
      tenantId: properties.tenantId,
      objectId: properties.objectId,
      appIds: properties.appIds ?? [],
    }),
    fromModel: ({ tenantId, objectId, appIds, ...place }) => ({
      ...showLocation(place),
      properties: { tenantId, objectId, appIds },
    }),
  }),
)
