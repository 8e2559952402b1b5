/** A deny assignment: actions that principals may not take at a scope, whatever their roles allow. */

import type { Permission } from '../role-definitions/model.ts'

export const denyAssignmentType = 'Authorization/denyAssignments'

/** The principal that means everybody, including future principals. */
export const everybody = '00000000-0000-0000-0000-000000000000'

export const denyPrincipalTypes = [
  'SystemDefined',
  'User',
  'Group',
  'ServicePrincipal',
  'ForeignGroup',
  'Device',
] as const

export interface DenyPrincipal {
  /** A GUID in lower case. */
  readonly id: string
  readonly type: (typeof denyPrincipalTypes)[number]
  readonly displayName?: string
}

export interface DenyAssignment {
  readonly denyAssignmentName: string
  readonly description?: string
  readonly permissions: readonly Permission[]
  /** It applies only at its very scope. */
  readonly doNotApplyToChildScopes: boolean
  readonly principals: readonly DenyPrincipal[]
  readonly excludePrincipals: readonly DenyPrincipal[]
}
