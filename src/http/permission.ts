/** The permission of one request, checked again after its answer: the same token, the same action. */

import { ApiError } from '#kernel/error.ts'
import type { Permission, PermissionAnswer } from '#plane/access.ts'
import { type Edge, type Exchange, principalOf } from './exchange.ts'

const accessTakenAway: PermissionAnswer = {
  holds: false,
  reason: 'the right to this was taken away',
}

/** Keeps only the token and the route of the request. */
export function permissionOf(exchange: Exchange, edge: Edge): Permission {
  const token = exchange.request.headers.authorization
  const { route } = exchange
  const { id } = principalOf(exchange)

  async function ask(): Promise<PermissionAnswer> {
    const principal = await edge.authenticate(token)
    // The expiry of a token outside the cache is unknown, so it is checked at every look.
    const until = edge.expiryOf(token) ?? 0
    if (route === undefined) return { holds: true, until }
    const { allowed, conditional } = await edge.plane.stillAllows(route, principal)
    if (!allowed) return accessTakenAway
    return { holds: true, until: conditional ? 0 : until }
  }

  return {
    principalId: id,
    ask: () => ask().catch(asAnswer),
  }
}

/** A refused token is an answer; any other error is none. */
function asAnswer(error: unknown): PermissionAnswer {
  if (error instanceof ApiError && error.status === 401) {
    return { holds: false, reason: 'the token is no longer accepted' }
  }
  throw error
}
