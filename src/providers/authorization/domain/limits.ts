/** The limits of this provider (facts 2.5), as parameters of `authorizationProvider`. */

import { defaultLimits } from '#kernel/limits.ts'

export interface AuthorizationLimits {
  /** Assignments in a subscription, including its groups and resources. */
  readonly assignmentsPerSubscriptionMax: number
  /** Assignments at one management group. */
  readonly assignmentsPerManagementGroupMax: number
  /** Custom roles of the installation. */
  readonly customRolesMax: number
  /** Of all custom roles together (`sizeOfRole`): every process keeps them in memory. */
  readonly customRolesSizeMax: number
  /** Of these, what roles of one subscription may have. */
  readonly customRolesSizePerSubscriptionMax: number
  readonly descriptionLengthMax: number
  readonly conditionLengthMax: number
  /** The nesting of parentheses in a condition. */
  readonly conditionDepthMax: number
  /** Expressions and values in a condition. */
  readonly conditionNodesMax: number
  readonly assignableScopesMax: number
  /** Actions of all kinds in one role definition. */
  readonly actionsPerRoleMax: number
  /** Rows read for one page of a filtered list; the page may come back short, with a next link. */
  readonly scanRowsMax: number
}

export const defaultAuthorizationLimits: AuthorizationLimits = Object.freeze({
  assignmentsPerSubscriptionMax: 4000,
  assignmentsPerManagementGroupMax: 500,
  customRolesMax: 5000,
  customRolesSizeMax: 64 * 1024 * 1024,
  customRolesSizePerSubscriptionMax: 16 * 1024 * 1024,
  descriptionLengthMax: 1024,
  conditionLengthMax: 8192,
  conditionDepthMax: 64,
  conditionNodesMax: 2000,
  assignableScopesMax: 2000,
  actionsPerRoleMax: 2048,
  scanRowsMax: defaultLimits.filterScanRowsMax,
})
