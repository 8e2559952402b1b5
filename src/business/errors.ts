/**
 * The refusals of the business application: the codes on the wire (business facts 7), each with the situations that have
 * it. Every message names the property or the part of the address, and what is allowed there.
 */

import { type ApiError, defineErrors } from '#kernel/error.ts'

export const businessErrors = defineErrors({
  BadRequest: {
    status: 400,
    message: '{reason}',
    advice: 'User: the message names the property, the option or the place, and what is allowed.',
  },
  BadRequest_InvalidRequestUrl: {
    status: 400,
    message: 'The address is not one of this interface: {reason}',
    advice: 'User: the service document lists the sets; keys stand in parentheses.',
  },
  BadRequest_NotFound: {
    status: 404,
    message: "The version or the part '{name}' of the address does not exist.",
    advice: 'User: the versions are v2.0 and v1.0; the service document lists the sets.',
  },
  BadRequest_ResourceNotFound: {
    status: 404,
    message: 'There is no {type} with {key}.',
    advice: 'User: a list of the set shows what exists.',
  },
  BadRequest_InvalidOperation: {
    status: 400,
    message: '{reason}',
    advice: 'User: the message says what the set allows instead.',
  },
  BadRequest_InvalidToken: {
    status: 400,
    message:
      "The header 'If-Match' {reason}: send the value of '@odata.etag' from your last read, or '*' for whatever there is.",
    advice: 'User: read the entity, then send its tag. `*` turns the check off.',
  },
  BadRequest_RequiredParamNotProvided: {
    status: 400,
    message: "'{name}' is required: {reason}",
    advice: 'User: add the property or the parameter.',
  },
  BadRequest_MethodNotAllowed: {
    status: 405,
    message: "The method '{method}' is not allowed here; allowed: {allow}.",
    advice: 'User: take an allowed method.',
  },
  BadRequest_MethodNotImplemented: {
    status: 501,
    message: '{reason}',
    advice: 'User: the README of the business application lists what is left out.',
  },
  Request_EntityChanged: {
    status: 412,
    message:
      "Another client changed this {type} since the tag in 'If-Match' was read. Its tag now is {etag}.",
    advice:
      'User: read it again and repeat. Operator: the setting `businessConflictStatus` makes it 409.',
  },
  Request_DeltaLinkExpired: {
    status: 410,
    message:
      "The changes of '{set}' since this delta link are no longer known. Read the set anew, with 'Prefer: odata.track-changes'.",
    advice:
      'User: read the whole set again. Changes are kept for a week at least, unless there are very many.',
  },
  Internal_DataNotFoundFilter: {
    status: 400,
    message: '{reason}',
    advice: 'User: name what the message asks for in the filter or in the address.',
  },
  Internal_RecordNotFound: {
    status: 400,
    message: "'{property}': there is no {type} with {key}.",
    advice: 'User: a list of the set shows what exists.',
  },
  Internal_InvalidTableRelation: {
    status: 400,
    message: "'{property}': {reason}",
    advice: 'User: the message says which values belong together.',
  },
  Internal_EntityWithSameKeyExists: {
    status: 409,
    message: "'{property}': another {type} has the value '{value}'.",
    advice: 'User: choose another value, or change the other row.',
  },
  Internal_CompanyNotFound: {
    status: 404,
    message: 'There is no company {key}.',
    advice: 'User: `GET {root}/companies` lists those you may read.',
  },
  Internal_TenantUnavailable: {
    status: 503,
    message: 'Other writers of the same rows were in the way for too long; nothing was written.',
    advice: 'User: send it again as it is.',
  },
  Application_DialogException: {
    status: 400,
    message: '{reason}',
    advice: 'User: a rule of the documents; the message says which and what to do.',
  },
  Application_FieldValidationException: {
    status: 400,
    message: "'{property}': {reason}",
    advice: 'User: the message says what is allowed.',
  },
  Application_StringExceededLength: {
    status: 400,
    message: "'{property}' holds {length} characters; at most {lengthMax} fit.",
    advice: 'User: send a shorter text.',
  },
  Application_InvalidGUID: {
    status: 400,
    message: "'{property}': '{value}' is not a GUID (xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx).",
    advice: 'User: send the id of the row; numbers and codes have properties of their own.',
  },
  Application_EvaluateException: {
    status: 400,
    message: "'{property}': '{value}' is none of {allowed}.",
    advice: 'User: take one of the listed values.',
  },
  Application_FilterErrorException: {
    status: 400,
    message: "The option '{option}' is invalid: {reason}",
    advice: 'User: the message says where and what was expected.',
  },
  Authorization_RequestDenied: {
    status: 403,
    message: "You have no right to {what} in the company '{company}': that needs the role {needs}.",
    advice:
      'User: have someone with the role full give you the role: `companies({id})/accessRights`.',
  },
})

export const refuse: typeof businessErrors.refuse = businessErrors.refuse

/** A rule of documents was broken. */
export function ruleBroken(reason: string, target?: string): ApiError {
  return refuse.Application_DialogException({ reason }, target === undefined ? {} : { target })
}

/** A value that the property cannot have. */
export function badValue(property: string, reason: string): ApiError {
  return refuse.Application_FieldValidationException({ property, reason }, { target: property })
}
