/** The refusals of this provider. */

import { defineErrors } from '#kernel/error.ts'

export const secretErrors = defineErrors({
  VaultAlreadyExists: {
    status: 409,
    message:
      "The vault name '{name}' is taken. The name stands in references, so it is unique in the installation.",
    advice: 'User: choose another name.',
  },
  SecretValueRequired: {
    status: 400,
    message: 'expected the value of the new secret',
    advice: 'User: add `properties.value`; only an update may leave it out.',
  },
})

export const refuseSecret: typeof secretErrors.refuse = secretErrors.refuse
