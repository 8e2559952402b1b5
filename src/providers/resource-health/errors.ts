/** The refusals of service health. */

import { defineErrors } from '#kernel/error.ts'

export const healthErrors = defineErrors({
  InvalidFilter: {
    status: 400,
    message: 'The filter is invalid: {reason}',
    advice: 'User: the message says where and what was expected.',
  },
  InvalidQueryStartTime: {
    status: 400,
    message: "queryStartTime '{given}' is no date: expected M/D/YYYY or an ISO 8601 date.",
    advice: 'User: write `7/24/2020` or `2020-07-24T00:00:00Z`.',
  },
  EventNotFound: {
    status: 404,
    message: "There is no event '{name}' here.",
    advice: 'User: the list of events has the tracking ids.',
  },
  EventExists: {
    status: 409,
    message: "The event '{name}' was published before.",
    advice: 'Operator: update it, or take another tracking id.',
  },
  EventResolved: {
    status: 409,
    message: "The event '{name}' is resolved and can only be annotated.",
    advice: 'Operator: annotate it, or publish another event.',
  },
  InvalidEvent: {
    status: 400,
    message: 'The event cannot be taken: {reason}',
    advice: 'Operator: `details` names each property and what was expected.',
  },
  NotASecurityAdvisory: {
    status: 400,
    message: "The event '{name}' is no security advisory.",
    advice: 'User: ask `impactedResources` instead.',
  },
  TooManySteps: {
    status: 400,
    message:
      'At most {limit} steps of the timelines of one subscription, or of the installation, may wait at once.',
    advice: 'Operator: play shorter timelines, or one after the other.',
  },
})

export const refuseHealth: typeof healthErrors.refuse = healthErrors.refuse
