/** Options that several commands share. */

export const connectionOptions = {
  url: {
    type: 'string',
    value: 'address',
    summary: 'The installation to ask; the one signed in to or running here when left out',
  },
  token: {
    type: 'string',
    value: 'token',
    summary: 'The access token to ask with; one of the session or of the local owner when left out',
  },
} as const

export const subscriptionOption = {
  subscription: {
    type: 'string',
    value: 'id',
    summary: 'The subscription; the installation’s first one when left out',
  },
} as const

export const noWaitOption = {
  'no-wait': {
    type: 'boolean',
    summary: 'Return as soon as the request is accepted, without waiting for its end',
  },
} as const
