/**
 * Settles a pending grant as soon as a request knows what it asks for and what is stored. A grant that does not hold
 * is refused exactly like a missing one.
 */

import { ApiError, refuse } from '#kernel/error.ts'
import type { Principal } from '#kernel/principal.ts'
import type { Access, Attributes, Prohibition, RequestFacts } from './access.ts'
import type { Route, RunInput } from './plane.ts'

export function authorizationFailed(
  route: Pick<Route, 'action' | 'scope'>,
  principal: Principal,
): ApiError {
  return refuse.AuthorizationFailed({
    client: principal.displayName,
    principalId: principal.id,
    action: route.action,
    scope: route.scope.text,
  })
}

/** The refusal of an action that is not allowed. It names the deny assignment where that alone is the reason. */
export async function refusalOf(
  access: Access,
  route: Pick<Route, 'action' | 'scope'>,
  principal: Principal,
): Promise<ApiError> {
  const prohibitions = await access.prohibitionsFor?.(principal)
  const found = prohibitions?.find(route)
  return found !== undefined && prohibitions?.wouldBeGranted(route) === true
    ? prohibitedError(route, principal, found)
    : authorizationFailed(route, principal)
}

export function prohibitedError(
  { action, scope }: Pick<Route, 'action' | 'scope'>,
  principal: Principal,
  found: Prohibition,
): ApiError {
  return refuse.DenyAssignmentAuthorizationFailed({
    client: principal.displayName,
    principalId: principal.id,
    action,
    scope: scope.text,
    name: found.name,
    denyAssignment: found.id,
    denyScope: found.scope,
  })
}

/** A pending grant that did not hold. The caller sees the same refusal as for a missing one; explanations see more. */
export class GrantDenied extends ApiError {
  readonly right: Pick<Route, 'action' | 'scope'>
  readonly request: Attributes | 'unknown'
  constructor(
    { code, status, message, extra }: ApiError,
    right: GrantDenied['right'],
    request: GrantDenied['request'],
  ) {
    super(code, status, message, extra)
    this.right = right
    this.request = request
  }
}

/** Returns, or throws `AuthorizationFailed`. `facts` are looked up only for a grant that depends on them. */
export function requireGrant(
  route: Route,
  input: Pick<RunInput, 'pending' | 'principal'>,
  facts: () => RequestFacts,
): void {
  if (input.pending === undefined) return
  const known = facts()
  if (input.pending.holds(known)) return
  throw new GrantDenied(authorizationFailed(route, input.principal), route, known.request)
}
