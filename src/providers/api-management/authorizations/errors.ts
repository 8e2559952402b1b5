/** What confirming consent and asking for tokens refuses. */

import { defineErrors } from '#kernel/error.ts'

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
