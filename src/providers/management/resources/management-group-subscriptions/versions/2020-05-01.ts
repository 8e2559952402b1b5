/** A subscription in a management group, on the wire as published. */

import Type from 'typebox'
import { nameOf, parentOf } from '#kernel/resource-id.ts'
import type { Version } from '#plane/declare/wire.ts'
import type { GroupSubscription } from '../model.ts'

export interface PreparedPlacement {
  /** The right to place it was asked for, and held. `prepare` says so. */
  readonly mayPlace: boolean
}

export function v2020_05_01(tenantId: string): Version<GroupSubscription> {
  return {
    date: '2020-05-01',
    body: Type.Object({}),
    answer: Type.Object({
      properties: Type.Object({
        tenant: Type.String(),
        displayName: Type.String(),
        parent: Type.Object({ id: Type.String() }),
        state: Type.String(),
      }),
    }),
    unknownProperties: 'ignore',
    patch: 'none',
    toModel: ({ mayPlace }: PreparedPlacement, previous) =>
      previous === undefined && !mayPlace ? { isUnchecked: true } : {},
    fromModel: (_model, { id }) => ({
      properties: {
        tenant: tenantId,
        displayName: nameOf(id),
        parent: { id: parentOf(id).text },
        state: 'Active',
      },
    }),
  }
}
