/**
 * Role assignments on the wire, version 2022-04-01 (contract, operation 1). Only the six writable fields and
 * the principal's id are read from a body; returned-only ones in it are ignored, whatever they hold.
 */

import Type, { type Static } from 'typebox'
import type { PrincipalType } from '#kernel/principal.ts'
import { scopeOf } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { Context } from '#plane/declare/resource.ts'
import type { Version, View } from '#plane/declare/wire.ts'
import { type RoleAssignment, roleIdIn } from '../model.ts'

const principalTypes: readonly PrincipalType[] = [
  'User',
  'Group',
  'ServicePrincipal',
  'ForeignGroup',
  'Device',
]

// The rules check version and lengths, with their own codes.
const body = Type.Object({
  properties: Type.Object({
    principalId: Type.String(),
    roleDefinitionId: Type.String(),
    principalType: Type.Optional(Type.Enum([...principalTypes])),
    condition: Type.Optional(Type.String()),
    conditionVersion: Type.Optional(
      Type.String({ description: "The only accepted value is '2.0'." }),
    ),
    delegatedManagedIdentityResourceId: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
  }),
})

export type RoleAssignmentBody = Static<typeof body>

/** The body, and what the directory knows about its principal. */
export type PreparedBody = RoleAssignmentBody & {
  /** The directory does not know the principal; the caller stated its type. */
  readonly typeIsUnverified?: true
  /** Nobody stated the type of the principal. What is stored may say it; without it, this is what is missing. */
  readonly missing?: 'principal' | 'assignment'
}

const answer = Type.Object({
  properties: Type.Object({
    scope: Type.String(),
    roleDefinitionId: Type.String(),
    principalId: Type.String(),
    principalType: Type.Enum([...principalTypes]),
    condition: Type.Optional(Type.String()),
    conditionVersion: Type.Optional(Type.String()),
    delegatedManagedIdentityResourceId: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    createdOn: Type.String({ format: 'date-time' }),
    updatedOn: Type.String({ format: 'date-time' }),
    createdBy: Type.String(),
    updatedBy: Type.String(),
  }),
})

export const v2022_04_01: Version<RoleAssignment> = {
  date: '2022-04-01',
  body,
  answer,
  unknownProperties: 'ignore',
  patch: 'none',
  toModel(
    { properties, missing }: PreparedBody,
    previous: RoleAssignment | undefined,
    { words }: Pick<Context, 'words'>,
  ): RoleAssignment {
    const roleId = roleIdIn(properties.roleDefinitionId, words)
    const principalId = properties.principalId.toLowerCase()
    // The type of an assignment that was deleted since the request came is nobody's any more.
    const isAbsent = missing !== undefined && previous?.principalId !== principalId
    const principalType = properties.principalType ?? previous?.principalType ?? 'User'
    // Fixed at creation, so leaving it out changes nothing.
    const delegated =
      properties.delegatedManagedIdentityResourceId ?? previous?.delegatedManagedIdentityResourceId
    return {
      principalId,
      roleId: roleId ?? '',
      ...(roleId === undefined ? { unrecognizedRole: properties.roleDefinitionId } : {}),
      ...(isAbsent ? { missing } : {}),
      principalType,
      ...given('condition', properties.condition),
      ...given('conditionVersion', properties.conditionVersion),
      ...given('delegatedManagedIdentityResourceId', delegated),
      ...given('description', properties.description),
    }
  },
  fromModel(model: RoleAssignment, view: Pick<View, 'id' | 'systemData' | 'words'>) {
    const namespace = qualify(view.words, 'Authorization')
    return {
      properties: {
        roleDefinitionId: `/providers/${namespace}/roleDefinitions/${model.roleId}`,
        principalId: model.principalId,
        principalType: model.principalType,
        scope: scopeOf(view.id).text,
        ...given('condition', model.condition),
        ...given('conditionVersion', model.conditionVersion),
        ...given('delegatedManagedIdentityResourceId', model.delegatedManagedIdentityResourceId),
        ...given('description', model.description),
        createdOn: view.systemData.createdAt,
        updatedOn: view.systemData.lastModifiedAt,
        createdBy: view.systemData.createdBy,
        updatedBy: view.systemData.lastModifiedBy,
      },
    }
  },
}

/** A property that is absent, not undefined, when there is no value. */
function given<K extends string>(
  key: K,
  value: string | undefined,
): { readonly [P in K]?: string } {
  // The computed key is K itself.
  return value === undefined ? {} : ({ [key]: value } as { readonly [P in K]?: string })
}
