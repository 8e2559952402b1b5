/** The refusals of this provider. */

import { defineErrors } from '#kernel/error.ts'

export const shareErrors = defineErrors({
  LinkedAuthorizationFailed: {
    status: 403,
    message:
      "The client '{client}' has permission to write '{scope}'; however, it does not have permission to perform '{linkedAction}' on the linked scope '{linkedScope}', or the scope is invalid.",
    advice: 'User: have an owner of the linked resource grant the action.',
  },
  EmailNotVerifiable: {
    status: 400,
    message: "The name '{name}' cannot be verified as an address.",
    advice:
      'User: be invited by your object id or tenant instead. No mail leaves the installation, and only names of its own users are vouched for.',
  },
  InvitationNotFound: {
    status: 404,
    message: "There is no invitation '{id}' for you.",
    advice: 'User: `share invitations` lists yours; an invitation names a principal or an address.',
  },
  InvitationNotPending: {
    status: 409,
    message: "The invitation '{id}' is no longer open: it is {status}.",
    advice: 'User: ask the provider for a new invitation.',
  },
  InvitationTargetInvalid: {
    status: 400,
    message: '{reason}',
    advice: 'User: name `targetEmail`, or `targetActiveDirectoryId` with `targetObjectId`.',
  },
  DataSetNotFound: {
    status: 400,
    message: "The share has no data set '{id}'.",
    advice: 'User: `consumerSourceDataSets` lists those of the share.',
  },
  DataSetKindNotSupported: {
    status: 400,
    message: '{reason}',
    advice: 'User: map to a kind the message names.',
  },
  DataSetMappingConflict: {
    status: 409,
    message: "The target is taken by the mapping '{id}'.",
    advice: 'User: map to a place that no other mapping writes to.',
  },
  ShareSubscriptionNotFound: {
    status: 404,
    message: "The share subscription '{id}' was not found.",
    advice: 'User: check the path.',
  },
  ShareSubscriptionNotActive: {
    status: 409,
    message: "The share subscription '{id}' is {status}: nothing can be synchronized.",
    advice: 'User: ask the provider to reinstate it.',
  },
  TriggersLimitReached: {
    status: 409,
    message: 'The share subscription has {limit} triggers, and no more are kept.',
    advice: 'User: change or delete one of them.',
  },
  SynchronizationInProgress: {
    status: 409,
    message: "The synchronization '{id}' of this share subscription is running.",
    advice: 'User: wait for its end, or cancel it.',
  },
  SynchronizationNotFound: {
    status: 404,
    message: "The synchronization '{id}' was not found.",
    advice: 'User: `listSynchronizations` lists them.',
  },
  InvalidFilter: {
    status: 400,
    message: 'The {parameter} is invalid: {reason}.',
    advice: 'User: the message says where and what was expected.',
  },
  NoDataSetMappings: {
    status: 409,
    message: "The share subscription '{id}' maps no data set yet.",
    advice: 'User: map at least one data set.',
  },
})

export const refuseShare: typeof shareErrors.refuse = shareErrors.refuse
