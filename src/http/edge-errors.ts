/** Errors that only the edge gives: about time, sockets and expectations, never about resources. */

import { defineErrors } from '#kernel/error.ts'

export const edgeErrors = defineErrors({
  GatewayTimeout: {
    status: 504,
    message:
      'The request was not answered within {seconds} seconds; it may still take effect. Read the resource before repeating it.',
    advice: 'Operator: look for slow engines or a slow store (`/metrics`).',
  },
  RequestTimeout: {
    status: 408,
    message: 'The request did not arrive in time.',
    advice: 'User: send the whole request at once.',
  },
  ExpectationFailed: {
    status: 417,
    message: "The expectation '{expectation}' cannot be met; only '100-continue' is known.",
    advice: 'User: leave the `Expect` header out.',
  },
})
