/**
 * The way out of a child process that leaves each decision to its parent: the parent judges a destination and resolves its name
 * by its own policy, and the child connects to the addresses it was given. So what is decided and logged is the same in
 * both, and the parent opens no connection.
 */

import { type Destination, lookupOf, NotReached, type Outbound, type Route } from './outbound.ts'
import { wordsOf } from './tls.ts'

/** What is used by code that opens connections, in whichever process. */
export type WayOut = Pick<Outbound, 'route' | 'failed'>

/** A decision as it is sent to the child. */
export type Decision =
  | ({ readonly kind: 'route' } & Omit<Route, 'lookup'>)
  | { readonly kind: 'refused'; readonly isRuledOut: boolean }

/** In the parent. */
export async function decide(outbound: WayOut, destination: Destination): Promise<Decision> {
  try {
    const { host, port, addresses } = await outbound.route(destination)
    return { kind: 'route', host, port, addresses }
  } catch (error) {
    const { isRuledOut } = outbound.failed(destination, error)
    return { kind: 'refused', isRuledOut }
  }
}

interface Parent {
  decide(destination: Destination): Promise<Decision>
  /** Says why a connection failed, for the operator's log. */
  failed(destination: Destination, reason: string): void
}

/** In the child. */
export function wayOfParent(parent: Parent): WayOut {
  return {
    async route(destination) {
      const decision = await parent.decide(destination)
      if (decision.kind === 'refused') throw new NotReached(decision.isRuledOut)
      const { host, port, addresses } = decision
      return { host, port, addresses, lookup: lookupOf(addresses) }
    },
    failed(destination, cause) {
      if (cause instanceof NotReached) return cause
      parent.failed(destination, cause instanceof Error ? wordsOf(cause) : String(cause))
      return new NotReached(false, { cause })
    },
  }
}
