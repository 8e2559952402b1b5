/** What this provider refuses beyond the codes every request may meet. */

import { defineErrors } from '#kernel/error.ts'

export const resourcesErrors = defineErrors({
  InvalidResourceGroupLocation: {
    status: 409,
    message:
      "The resource group '{name}' already exists in location '{existing}'; it cannot be created in location '{location}'.",
    advice: 'User: keep the location, or choose another group name.',
  },
})

export const refuseResources: typeof resourcesErrors.refuse = resourcesErrors.refuse
