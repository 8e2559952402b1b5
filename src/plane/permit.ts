/**
 * Settles a pending grant where a request has come far enough to know: what it asks for, and what is stored.
 * A grant that does not hold is refused exactly as one that was never there.
 */

import { type ApiError, refuse } from '#kernel/error.ts'
import type { Principal } from '#kernel/principal.ts'
import type { RequestFacts } from './access.ts'
import type { Route, RunInput } from './plane.ts'

export function denial(route: Route, principal: Principal): ApiError {
  return refuse.AuthorizationFailed({
    client: principal.displayName,
    principalId: principal.id,
    action: route.action,
    scope: route.scope.text,
  })
}

/** Returns, or throws `AuthorizationFailed`. `facts` are looked up only for a grant that depends on them. */
export function requireGrant(
  route: Route,
  input: Pick<RunInput, 'pending' | 'principal'>,
  facts: () => RequestFacts,
): void {
  if (input.pending === undefined) return
  if (!input.pending.holds(facts())) throw denial(route, input.principal)
}

/**
 * A write must be allowed as it is asked for; and where something is stored already, also if it asked for
 * just that: nobody reaches what they may not write by asking to turn it into something they may.
 */
export function requireWriteGrant(
  route: Route,
  input: Pick<RunInput, 'pending' | 'principal'>,
  facts: () => { readonly asked: RequestFacts; readonly stored: boolean },
): void {
  if (input.pending === undefined) return
  const { asked, stored } = facts()
  const before = stored ? { ...asked, request: asked.resource } : asked
  if (!input.pending.holds(asked) || !input.pending.holds(before)) {
    throw denial(route, input.principal)
  }
}
