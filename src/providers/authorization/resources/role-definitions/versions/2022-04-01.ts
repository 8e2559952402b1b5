/** Role definitions on the wire, version 2022-04-01 (facts 2.6). */

import Type, { type Static } from 'typebox'
import type { Version, View } from '#plane/declare/wire.ts'
import type { RoleDefinition } from '../model.ts'

const strings = Type.Optional(Type.Array(Type.String()))

const permissionBody = Type.Object({
  actions: strings,
  notActions: strings,
  dataActions: strings,
  notDataActions: strings,
})

const body = Type.Object({
  properties: Type.Object({
    roleName: Type.String({ minLength: 1, maxLength: 512 }),
    description: Type.Optional(Type.String({ maxLength: 2048 })),
    type: Type.Optional(Type.Enum(['CustomRole'])),
    permissions: Type.Array(permissionBody, { minItems: 1 }),
    assignableScopes: Type.Array(Type.String()),
  }),
})

const answer = Type.Object({
  properties: Type.Object({
    roleName: Type.String(),
    description: Type.String(),
    type: Type.Enum(['BuiltInRole', 'CustomRole']),
    assignableScopes: Type.Array(Type.String()),
    permissions: Type.Array(
      Type.Object({
        actions: Type.Array(Type.String()),
        notActions: Type.Array(Type.String()),
        dataActions: Type.Array(Type.String()),
        notDataActions: Type.Array(Type.String()),
      }),
    ),
    createdOn: Type.String({ format: 'date-time' }),
    updatedOn: Type.String({ format: 'date-time' }),
    createdBy: Type.Optional(Type.String()),
    updatedBy: Type.Optional(Type.String()),
  }),
})

export const v2022_04_01: Version<RoleDefinition> = {
  date: '2022-04-01',
  body,
  answer,
  unknownProperties: 'ignore',
  patch: 'none',
  toModel({ properties }: Static<typeof body>): RoleDefinition {
    return {
      roleName: properties.roleName,
      description: properties.description ?? '',
      kind: 'CustomRole',
      assignableScopes: properties.assignableScopes,
      permissions: properties.permissions.map((permission) => ({
        actions: permission.actions ?? [],
        notActions: permission.notActions ?? [],
        dataActions: permission.dataActions ?? [],
        notDataActions: permission.notDataActions ?? [],
      })),
    }
  },
  fromModel(model: RoleDefinition, view: Pick<View, 'systemData'>) {
    return {
      properties: {
        ...propertiesOf(model),
        createdOn: view.systemData.createdAt,
        updatedOn: view.systemData.lastModifiedAt,
        createdBy: view.systemData.createdBy,
        updatedBy: view.systemData.lastModifiedBy,
      },
    }
  },
}

/** The definition itself, without its author and dates. */
export function propertiesOf(model: RoleDefinition): Readonly<Record<string, unknown>> {
  return {
    roleName: model.roleName,
    type: model.kind,
    description: model.description,
    assignableScopes: model.assignableScopes,
    permissions: model.permissions,
  }
}
