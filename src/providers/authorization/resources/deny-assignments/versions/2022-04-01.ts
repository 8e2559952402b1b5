/** The wire form of deny assignments in 2022-04-01. Only the installation writes the body. */

import Type, { type Static } from 'typebox'
import { scopeOf } from '#kernel/resource-id.ts'
import type { Version, View } from '#plane/declare/wire.ts'
import type { Permission } from '../../role-definitions/model.ts'
import { type DenyAssignment, type DenyPrincipal, denyPrincipalTypes, everybody } from '../model.ts'

const names = Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 512 })))
const principal = Type.Object({
  id: Type.String({ format: 'uuid' }),
  type: Type.Enum([...denyPrincipalTypes]),
  displayName: Type.Optional(Type.String()),
})

const body = Type.Object({
  properties: Type.Object({
    denyAssignmentName: Type.String({ minLength: 1, maxLength: 512 }),
    description: Type.Optional(Type.String({ maxLength: 2048 })),
    permissions: Type.Array(
      Type.Object({ actions: names, notActions: names, dataActions: names, notDataActions: names }),
      { minItems: 1, maxItems: 20 },
    ),
    doNotApplyToChildScopes: Type.Optional(Type.Boolean()),
    principals: Type.Array(principal, { minItems: 1, maxItems: 100 }),
    excludePrincipals: Type.Optional(Type.Array(principal, { maxItems: 100 })),
  }),
})

type DenyAssignmentBody = Static<typeof body>

const actions = Type.Array(Type.String())
const answer = Type.Object({
  properties: Type.Object({
    denyAssignmentName: Type.String(),
    description: Type.Optional(Type.String()),
    permissions: Type.Array(
      Type.Object({
        actions,
        notActions: actions,
        dataActions: actions,
        notDataActions: actions,
      }),
    ),
    scope: Type.String(),
    doNotApplyToChildScopes: Type.Boolean(),
    principals: Type.Array(principal),
    excludePrincipals: Type.Array(principal),
    isSystemProtected: Type.Boolean(),
    createdOn: Type.String({ format: 'date-time' }),
    updatedOn: Type.String({ format: 'date-time' }),
    createdBy: Type.String(),
    updatedBy: Type.String(),
  }),
})

export const v2022_04_01: Version<DenyAssignment> = {
  date: '2022-04-01',
  body,
  answer,
  unknownProperties: 'refuse',
  patch: 'none',
  toModel({ properties }: DenyAssignmentBody): DenyAssignment {
    const { denyAssignmentName, description } = properties
    return {
      denyAssignmentName,
      ...(description === undefined ? {} : { description }),
      permissions: properties.permissions.map(
        ({ actions = [], notActions = [], dataActions = [], notDataActions = [] }): Permission => ({
          actions,
          notActions,
          dataActions,
          notDataActions,
        }),
      ),
      doNotApplyToChildScopes: properties.doNotApplyToChildScopes ?? false,
      principals: properties.principals.map(keptPrincipal),
      excludePrincipals: (properties.excludePrincipals ?? []).map(keptPrincipal),
    }
  },
  fromModel(model: DenyAssignment, { id, systemData }: Pick<View, 'id' | 'systemData'>) {
    return {
      properties: {
        ...model,
        scope: scopeOf(id).text,
        isSystemProtected: true,
        createdOn: systemData.createdAt,
        updatedOn: systemData.lastModifiedAt,
        createdBy: systemData.createdBy,
        updatedBy: systemData.lastModifiedBy,
      },
    }
  },
}

function keptPrincipal({ id, type, displayName }: DenyPrincipal): DenyPrincipal {
  const name = displayName ?? (id === everybody ? 'All Principals' : undefined)
  return { id: id.toLowerCase(), type, ...(name === undefined ? {} : { displayName: name }) }
}
