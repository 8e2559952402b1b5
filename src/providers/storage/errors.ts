/** The refusals of this provider. */

import { defineErrors } from '#kernel/error.ts'

export const storageErrors = defineErrors({
  StorageAccountAlreadyTaken: {
    status: 409,
    message: "The storage account named '{name}' is already taken.",
    advice:
      'User: choose another name; it is unique in the installation, since a folder is called by it.',
  },
})

export const refuseStorage: typeof storageErrors.refuse = storageErrors.refuse
