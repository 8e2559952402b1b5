/** What this namespace refuses (facts 3.2): bodies come back with one entry per field under one code. */

import { type ApiError, defineErrors, type Problem } from '#kernel/error.ts'

export const apiManagementErrors = defineErrors({
  ValidationError: {
    status: 400,
    message: 'One or more fields contain incorrect values: {reason}',
    advice: 'User: each entry of `details` names a field and what was expected of it.',
  },
  VersionSetInUse: {
    status: 409,
    message: "The version set '{name}' cannot be deleted: the API '{api}' belongs to it.",
    advice: 'User: delete the APIs of the set, or give them another one, before it.',
  },
})

const shownMax = 3

/** All problems of a body in this namespace's form. */
export function refuseFields(problems: readonly Problem[]): ApiError {
  const shown = problems.slice(0, shownMax).map(({ path, message }) => `${path}: ${message}`)
  const reason = `${shown.join('; ')}${problems.length > shownMax ? '; …' : ''}`
  const target = problems[0]?.path
  return apiManagementErrors.refuse.ValidationError(
    { reason },
    {
      ...(target === undefined ? {} : { target }),
      details: problems.map(({ path, message, code }) => ({
        code: code ?? 'ValidationError',
        message,
        target: path,
      })),
    },
  )
}

/** The refusals of confirming consent and of token requests. */
export const consentErrors = defineErrors({
  ConsentCodeInvalid: {
    status: 400,
    message: 'The consent code is not one of this authorization.',
    advice: 'User: get a login link, follow it, and confirm the code it comes back with.',
  },
  ConsentCodeUsed: {
    status: 400,
    message: 'The consent code was used before.',
    advice: 'User: a code works once; follow a new login link for another.',
  },
  ConsentCodeExpired: {
    status: 400,
    message: 'The consent code has expired.',
    advice: 'User: confirm a code within five minutes; follow a new login link for another.',
  },
  LoginLinkUnsupported: {
    status: 400,
    message: "An authorization with the grant '{grant}' has nobody to sign in.",
    advice: 'User: login links are for the authorization code grant.',
  },
  AuthorizationNotConnected: {
    status: 409,
    message: 'The authorization has no token: {reason}',
    advice: 'User: connect it, by a login link or by writing it again.',
  },
})

export const refuseConsent: typeof consentErrors.refuse = consentErrors.refuse
