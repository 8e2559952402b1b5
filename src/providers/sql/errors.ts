/** The refusals of this provider. */

import { defineErrors } from '#kernel/error.ts'

export const sqlErrors = defineErrors({
  SqlServerAlreadyTaken: {
    status: 409,
    message: "The server named '{name}' is already taken.",
    advice:
      'User: choose another name; of servers of DuckDB it is unique in the installation, since a folder is called by it.',
  },
})

export const refuseSql: typeof sqlErrors.refuse = sqlErrors.refuse
