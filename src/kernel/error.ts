/**
 * Refusals of requests. Every code is in a catalogue (the common one below, or a provider's own made with
 * `defineErrors`) with its status, its message, and advice on who can fix it. Failures of other systems and bugs of
 * ours are not refusals.
 */

export interface ErrorEntry {
  readonly status: number
  /** Shown to the caller; `{name}` is filled from the parameters. */
  readonly message: string
  /** How to fix it, and who can. Printed in the reference, never sent. */
  readonly advice: string
}

export interface ErrorExtra {
  /** The property or parameter at fault. */
  readonly target?: string
  readonly details?: readonly ErrorDetail[]
  readonly additionalInfo?: readonly { readonly type: string; readonly info: object }[]
  /** Headers of the answer (`Retry-After`, `Allow`, `WWW-Authenticate`). */
  readonly headers?: Readonly<Record<string, string>>
}

export interface ErrorDetail {
  readonly code: string
  readonly message: string
  readonly target?: string
}

/** A refusal, thrown by any code. Only `http/failure.ts` turns it into a body. */
export class ApiError extends Error {
  readonly code: string
  readonly status: number
  readonly extra: ErrorExtra

  constructor(code: string, status: number, message: string, extra: ErrorExtra = {}) {
    super(message)
    this.name = 'ApiError'
    this.code = code
    this.status = status
    this.extra = extra
  }
}

export type Params = Readonly<Record<string, string | number>>
export type Refuse = (params?: Params, extra?: ErrorExtra) => ApiError
export type Refusals<T> = { readonly [K in keyof T]: Refuse }

/** Makes a function for each code of a catalogue: `throw refuse.ResourceNotFound({ id })`. */
export function defineErrors<const T extends Readonly<Record<string, ErrorEntry>>>(
  entries: T,
): { readonly entries: T; readonly refuse: Refusals<T> } {
  const refuse = Object.fromEntries(
    Object.entries(entries).map(([code, entry]) => [
      code,
      (params: Params = {}, extra: ErrorExtra = {}) =>
        new ApiError(code, entry.status, fill(entry.message, params), extra),
    ]),
  )
  // The keys are those of `entries`, as the type says.
  return { entries, refuse: refuse as Refusals<T> }
}

function fill(template: string, params: Params): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(params, name) ? String(params[name]) : whole,
  )
}

/** A fault of one property. Rules and schemas return all faults they find. */
export interface Problem {
  /** The path of the property as the caller wrote it: `properties.containers[0].name`. */
  readonly path: string
  /** What was expected. */
  readonly message: string
  /** The type's own code; `InvalidRequestContent` when left out. */
  readonly code?: string
}

/** The three body families of the contract's section on errors. */
export type ErrorFamily = 'resource-manager' | 'health' | 'data-share'

/** The codes that any request may get (facts 9.7). Providers add theirs in their own folder. */
export const commonErrors = defineErrors({
  MissingApiVersionParameter: {
    status: 400,
    message: 'The api-version query parameter (?api-version=) is required for all requests.',
    advice: 'User: add `api-version` to the query.',
  },
  InvalidApiVersionParameter: {
    status: 400,
    message:
      "The api-version '{version}' is invalid. The supported versions of '{type}' are '{supported}'.",
    advice: 'User: take one of the listed versions.',
  },
  InvalidResourceNamespace: {
    status: 404,
    message:
      "The resource namespace '{namespace}' is invalid: no such provider is installed. {advice}",
    advice:
      'User: `GET /providers` lists the namespaces. Operator: `ARMATURE_VENDOR_NAMESPACE` is the word before the dot; `ARMATURE_GENERIC_RESOURCES=on` stores resources of any type as documents.',
  },
  InvalidResourceType: {
    status: 404,
    message:
      "The resource type '{type}' could not be found in the namespace '{namespace}' for api version '{version}'. With ARMATURE_GENERIC_RESOURCES=on such resources are stored as documents.",
    advice:
      'User: `GET /providers/{namespace}` lists the types and their versions. Operator: `ARMATURE_GENERIC_RESOURCES=on` stores resources of any type as documents.',
  },
  InvalidRequestUri: {
    status: 400,
    message: 'The request path is malformed: {reason}.',
    advice: 'User: mend the path.',
  },
  InvalidQueryParameter: {
    status: 400,
    message: "The query parameter '{name}' is invalid: {reason}.",
    advice: 'User: mend the parameter.',
  },
  InvalidSubscriptionId: {
    status: 400,
    message:
      "The provided subscription identifier '{id}' is malformed or invalid: it must be a UUID.",
    advice: 'User: `npx armature status` prints the installation’s first subscription.',
  },
  SubscriptionNotFound: {
    status: 404,
    message: "The subscription '{id}' could not be found.",
    advice: 'User: create it, or let the operator set scopes to `implicit`.',
  },
  ResourceGroupNotFound: {
    status: 404,
    message: "Resource group '{name}' could not be found.",
    advice: 'User: create the group first, or let the operator set scopes to `implicit`.',
  },
  ResourceNotFound: {
    status: 404,
    message: "The resource '{id}' was not found.",
    advice: 'User: check the path; lists show what exists.',
  },
  ParentResourceNotFound: {
    status: 404,
    message: "The parent resource '{id}' was not found.",
    advice: 'User: create the parent first.',
  },
  OperationNotFound: {
    status: 404,
    message: "The operation '{id}' was not found.",
    advice: 'User: operations are kept for a limited time (limits: operationKeptSeconds).',
  },
  AuthenticationFailed: {
    status: 401,
    message: "Authentication failed. The 'Authorization' header is missing.",
    advice: 'User: send `Authorization: Bearer <token>`; `npx armature token` prints one.',
  },
  AuthenticationFailedInvalidHeader: {
    status: 401,
    message:
      "Authentication failed. The 'Authorization' header must have the form 'Bearer <token>'.",
    advice: 'User: mend the header.',
  },
  InvalidAuthenticationToken: {
    status: 401,
    message: 'The access token is invalid: {reason}.',
    advice: 'User: get a new token.',
  },
  ExpiredAuthenticationToken: {
    status: 401,
    message: 'The access token expired at {expiredAt}.',
    advice: 'User: get a new token.',
  },
  InvalidAuthenticationTokenTenant: {
    status: 401,
    message: "The access token is of the tenant '{tenant}', which is not this installation's.",
    advice: 'User: sign in here. Operator: map the issuer’s tenant.',
  },
  InvalidAuthenticationTokenAudience: {
    status: 401,
    message: "The access token is for the audience '{audience}'; expected '{expected}'.",
    advice: 'User: ask for this resource when signing in.',
  },
  AuthorizationFailed: {
    status: 403,
    message:
      "The client '{client}' with object id '{principalId}' does not have authorization to perform action '{action}' over scope '{scope}', or the scope is invalid. If access was recently granted, get a new token.",
    advice: 'User: have an owner assign a role that grants the action at the scope or above.',
  },
  DenyAssignmentAuthorizationFailed: {
    status: 403,
    message:
      "The client '{client}' with object id '{principalId}' has permission to perform action '{action}' on scope '{scope}'; however, the access is denied because of the deny assignment with name '{name}' and id '{denyAssignment}' at scope '{denyScope}'.",
    advice: 'User: ask whoever manages what made the deny assignment, such as a deployment stack.',
  },
  ControlNotFound: {
    status: 404,
    message: "There is no {kind} '{name}': {advice}.",
    advice: 'Operator: list them: `armature snapshot list`, `armature fault list`.',
  },
  ControlNotPossible: {
    status: 409,
    message: 'The installation cannot do this: {reason}.',
    advice: 'Operator: see the settings `ARMATURE_CONTROL` and `ARMATURE_CLOCK`.',
  },
  KeyNotRotated: {
    status: 409,
    message: "The installation's key is not rotated: {reason}.",
    advice: 'Operator: `armature key status` shows what is under way; see the hardening guide.',
  },
  ReadOnlyDisabledSubscription: {
    status: 409,
    message: "The subscription '{id}' is disabled and therefore read-only.",
    advice: 'Operator: enable the subscription.',
  },
  ScopeLocked: {
    status: 409,
    message: "The scope '{scope}' cannot perform the operation because it is locked by '{locks}'.",
    advice: 'User: have an owner remove the lock.',
  },
  LocationRequired: {
    status: 400,
    message: "The 'location' property is required for this type.",
    advice: 'User: add `location`; `GET /subscriptions/{id}/locations` lists the names.',
  },
  InvalidResourceLocation: {
    status: 409,
    message:
      "The resource '{name}' already exists in location '{existing}'; it cannot be created in location '{location}'.",
    advice: 'User: keep the location, or delete the resource first.',
  },
  ResourceGroupBeingDeleted: {
    status: 409,
    message: "The resource group '{name}' is being deleted; nothing can be written in it.",
    advice: 'User: wait until the delete has finished.',
  },
  InvalidRequestContent: {
    status: 400,
    message: 'The request content is invalid: {reason}',
    advice: 'User: each entry of `details` names a property and what was expected of it.',
  },
  InvalidResourceName: {
    status: 400,
    message: "The resource name '{name}' is invalid: {rule}.",
    advice: 'User: choose a name by the rule.',
  },
  InvalidTagName: {
    status: 400,
    message: 'The tags are invalid: {reason}.',
    advice: 'User: mend the tags; limits stand in the reference.',
  },
  PropertyChangeNotAllowed: {
    status: 409,
    message: "Changing the property '{property}' is not allowed.",
    advice: 'User: keep the value, or delete and create the resource anew.',
  },
  InvalidFilterInQueryString: {
    status: 400,
    message: 'The $filter is invalid: {reason}.',
    advice: 'User: the message says where and what was expected.',
  },
  InvalidContinuationToken: {
    status: 400,
    message: 'The continuation token is invalid: follow `nextLink` exactly as it was given.',
    advice: 'User: start the list anew.',
  },
  Conflict: {
    status: 409,
    message: "Another request changed '{id}' at the same time; nothing was written.",
    advice: 'User: read the resource again and repeat.',
  },
  ResourceMoveNotSupported: {
    status: 409,
    message:
      "'{id}' cannot be moved: its type '{type}' stays where it was made. Nothing was moved.",
    advice: 'User: move without it, or make it anew in the other group.',
  },
  ResourceMoveConflict: {
    status: 409,
    message: "There is a resource '{id}' in the target group already. Nothing was moved.",
    advice: 'User: remove or rename one of the two.',
  },
  ResourceMoveTooLarge: {
    status: 409,
    message: "With '{id}' and what is below it more than {limit} would move, the most at once.",
    advice: 'User: move less at once.',
  },
  AnotherOperationInProgress: {
    status: 409,
    message:
      "Another operation on '{id}' is in progress (state '{state}'). Retry when it has ended.",
    advice: 'User: follow the running operation, then repeat.',
  },
  MethodNotAllowed: {
    status: 405,
    message: "The method '{method}' is not allowed here; allowed: {allow}.",
    advice: 'User: take an allowed method.',
  },
  UnsupportedMediaType: {
    status: 415,
    message: "The media type '{type}' is not supported; send 'application/json'.",
    advice: 'User: set `Content-Type: application/json`.',
  },
  RequestEntityTooLarge: {
    status: 413,
    message: 'The request body is larger than {limit} bytes.',
    advice: 'User: send less at once.',
  },
  RequestHeaderFieldsTooLarge: {
    status: 431,
    message: 'The request headers are too large.',
    advice: 'User: send fewer or shorter headers.',
  },
  BadRequest: {
    status: 400,
    message: 'The request is malformed: {reason}.',
    advice: 'User: mend the request.',
  },
  PreconditionFailed: {
    status: 412,
    message:
      "The condition set in the request header '{header}' was not met by '{id}'; nothing was written.",
    advice: 'User: read the resource again and send its current tag.',
  },
  SubscriptionRequestsThrottled: {
    status: 429,
    message:
      "The number of {kind} for the subscription '{id}' exceeded the allowance. Retry after {seconds} seconds.",
    advice: 'User: wait as told. Operator: the allowances are settings.',
  },
  TooManyRequests: {
    status: 429,
    message: 'The number of {kind} exceeded the allowance. Retry after {seconds} seconds.',
    advice: 'User: wait as told. Operator: the allowances are settings.',
  },
  NotFound: {
    status: 404,
    message: "There is nothing at '{path}'.",
    advice: 'User: check the path.',
  },
  NotImplemented: {
    status: 501,
    message: "There is no '{type}' here, and none can be made. {reason}",
    advice: 'User: do without it. The message says why there is none.',
  },
  InternalServerError: {
    status: 500,
    message:
      'The server met an unexpected fault. Tell the operator the correlation id {correlationId}.',
    advice: 'Operator: the log holds the fault under the correlation id.',
  },
  ServiceUnavailable: {
    status: 503,
    message: 'The service cannot answer now: {reason}. Retry later.',
    advice: 'Operator: check the store and the engines (`/readyz`).',
  },
})

export const refuse: typeof commonErrors.refuse = commonErrors.refuse

/**
 * Turns all problems of a body into one refusal. A single problem is the refusal itself; several become its
 * details.
 */
export function refuseProblems(problems: readonly Problem[]): ApiError {
  const first = problems[0]
  if (first === undefined) throw new Error('refuseProblems needs at least one problem')
  const details = problems.map((p) => ({
    code: p.code ?? 'InvalidRequestContent',
    message: p.message,
    target: p.path,
  }))
  if (problems.length === 1) {
    return new ApiError(
      first.code ?? 'InvalidRequestContent',
      400,
      `${first.path === '' ? 'body' : first.path}: ${first.message}`,
      { target: first.path, details },
    )
  }
  const listed = problems.slice(0, 3).map((p) => `${p.path}: ${p.message}`)
  return refuse.InvalidRequestContent(
    {
      reason: `${problems.length} properties are wrong. ${listed.join('; ')}${problems.length > 3 ? '; …' : ''}`,
    },
    { target: first.path, details },
  )
}
