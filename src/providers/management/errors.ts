/** What this provider refuses. */

import { defineErrors } from '#kernel/error.ts'

export const managementErrors = defineErrors({
  ParentManagementGroupNotFound: {
    status: 404,
    message: "The management group '{name}' was not found.",
    advice:
      "User: create it first, or leave `details.parent` out: the tenant's own group is meant then.",
  },
  ManagementGroupCircle: {
    status: 400,
    message: "The management group '{name}' would lie in itself.",
    advice: 'User: choose a parent that does not lie below it.',
  },
  ManagementGroupDepth: {
    status: 400,
    message: 'Management groups lie at most {limit} deep below the one of the tenant.',
    advice: 'User: choose a parent further up.',
  },
  ManagementGroupNotEmpty: {
    status: 409,
    message: "The management group '{name}' holds '{child}', and possibly more.",
    advice: 'User: move what it holds elsewhere, or delete it first.',
  },
  ManagementGroupQuotaExceeded: {
    status: 409,
    message: 'At most {limit} management groups are kept.',
    advice: 'User: delete some that hold nothing.',
  },
  ManagementGroupMoved: {
    status: 409,
    message: "The management group '{name}' is moved by a PUT, and by one at a time.",
    advice: 'User: send a PUT with `details.parent`, once no other one is under way.',
  },
  TenantManagementGroup: {
    status: 409,
    message: "The management group '{name}' is the tenant's own: it is always there, as it is.",
    advice: 'User: nothing is to be done.',
  },
  SubscriptionPlacedElsewhere: {
    status: 409,
    message: "The subscription '{name}' lies in '{existing}'.",
    advice: 'User: take it out there first (DELETE), and put it here then.',
  },
})

export const refuseManagement: typeof managementErrors.refuse = managementErrors.refuse
