/** The refusals of the directory, besides the common ones. None says whether a password was right. */

import { defineErrors } from '#kernel/error.ts'

export const identityErrors = defineErrors({
  PrincipalNotFound: {
    status: 404,
    message: "The directory has no {type} with the id '{id}'.",
    advice: 'User: `GET /directory/users`, `/groups` and `/servicePrincipals` list what exists.',
  },
  PrincipalExists: {
    status: 409,
    message: "A user with the sign-in name '{signInName}' exists already.",
    advice: 'User: choose another sign-in name; case does not matter.',
  },
  ClientIdExists: {
    status: 409,
    message: "An application with the client id '{clientId}' exists already.",
    advice: 'User: `GET /directory/servicePrincipals` shows whose it is.',
  },
  InvalidPrincipal: {
    status: 400,
    message: 'The principal is invalid: {reason}.',
    advice: 'User: mend the property.',
  },
  InvalidPassword: {
    status: 400,
    message: 'The password is not accepted: {reason}.',
    advice: 'User: choose another password.',
  },
  PasswordsBusy: {
    status: 429,
    message: 'Too many passwords are being checked at this moment. Retry after {seconds} seconds.',
    advice:
      'User: wait as told. Operator: `passwordsAtOnceMax` says how many are computed at once.',
  },
  MemberNotFound: {
    status: 404,
    message: "The principal '{id}' is not a direct member of the group '{group}'.",
    advice: 'User: `GET /directory/groups/{id}/members` lists the direct members.',
  },
  SecretNotFound: {
    status: 404,
    message: "The principal has no secret with the id '{id}'.",
    advice: 'User: `GET` the service principal; its `secrets` name them.',
  },
  FederatedCredentialNotFound: {
    status: 404,
    message: "The application has no federated credential '{id}'.",
    advice: 'User: list them; their ids and names both find one.',
  },
  FederatedCredentialExists: {
    status: 409,
    message:
      "The federated credential '{name}' has the name, or the issuer and subject, of another one of the application.",
    advice: 'User: change that one, or choose another name or subject.',
  },
  TooManyFederatedCredentials: {
    status: 409,
    message: 'The application has {limit} federated credentials already, the most it may have.',
    advice: 'User: remove one that is no longer used.',
  },
  SessionNotFound: {
    status: 404,
    message: "The principal has no session with the id '{id}'.",
    advice: 'User: list the sessions; one that has ended or timed out is not among them.',
  },
  TooManySecrets: {
    status: 409,
    message: 'The principal has {limit} secrets already, the most it may have.',
    advice: 'User: remove one that is no longer used.',
  },
  OwnerProtected: {
    status: 409,
    message: "The installation's owner cannot be deleted or disabled.",
    advice: 'User: act on another principal. The owner is the way back in when all else fails.',
  },
})

export const refuseIdentity: typeof identityErrors.refuse = identityErrors.refuse
