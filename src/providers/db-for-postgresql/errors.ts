/** The errors of this provider. */

import { type ApiError, defineErrors, type Problem } from '#kernel/error.ts'

export const postgresErrors = defineErrors({
  InvalidInput: {
    status: 400,
    message:
      "The value '{name}' of the parameter MigrationResourceId is not valid: a name is {rule}.",
    advice: 'User: choose another name for the migration.',
  },
  InvalidParameterValue: {
    status: 400,
    message: 'Invalid value given for parameter {path}. {reason}',
    advice: 'User: each entry of `details` names a property and what was expected of it.',
  },
  LinkedAuthorizationFailed: {
    status: 403,
    message:
      "The client '{client}' has permission to write '{scope}'; however, it does not have permission to perform '{linkedAction}' on the linked scope '{linkedScope}', or the scope is invalid.",
    advice: 'User: have an owner of the linked server grant the action.',
  },
  MigrationInProgress: {
    status: 409,
    message: "The target server has a migration under way already: '{id}'. One runs at a time.",
    advice: 'User: wait for its end, or cancel it.',
  },
  MigrationStateConflict: {
    status: 409,
    message:
      "The migration '{name}' is in the state {state}, substate {substate}: {reason}.{number}",
    advice: 'User: `currentStatus` says what the migration waits for.',
  },
  MigrationsLimitReached: {
    status: 409,
    message: 'The server has {limit} migrations, and no more are kept.',
    advice: 'User: delete migrations that have ended.',
  },
  OperationNotSupported: {
    status: 409,
    message: "The server '{name}' runs elsewhere: {what} is up to its operator.",
    advice: 'User: ask whoever operates the server.',
  },
  ServerHasActiveMigration: {
    status: 409,
    message: "The server is the target of the migration '{id}', which is under way.",
    advice: 'User: cancel the migration, and delete the server when it has ended.',
  },
  ServerNotReachable: {
    status: 409,
    message: "The server '{name}' cannot be asked now: {reason}",
    advice: 'User: see that the registered server runs, and that its sign-in is right.',
  },
})

export const refusePostgres: typeof postgresErrors.refuse = postgresErrors.refuse

const shownMax = 3

/** All problems of a body as one error, in the form of this namespace (facts 8.1). */
export function refuseParameters(problems: readonly Problem[]): ApiError {
  const shown = problems.slice(0, shownMax).map(({ path, message }) => `${path}: ${message}`)
  const [first] = problems
  if (first === undefined) throw new Error('a refusal needs at least one problem')
  return refusePostgres.InvalidParameterValue(
    {
      path: first.path === '' ? 'body' : first.path,
      reason:
        problems.length === 1
          ? first.message
          : `${shown.join('; ')}${problems.length > shownMax ? '; …' : ''}`,
    },
    {
      target: first.path,
      details: problems.map(({ path, message, code }) => ({
        code: code ?? 'InvalidParameterValue',
        message,
        target: path,
      })),
    },
  )
}
