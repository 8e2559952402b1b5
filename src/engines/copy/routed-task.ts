/** A task together with the outbound policy of its connections; connectors get this. */

import { NotReached, type Outbound } from '#outbound/outbound.ts'
import { CopyFailure, type CopyTask } from './engine.ts'

export interface RoutedTask extends CopyTask {
  readonly outbound: Outbound
}

/** The message about a server that was not reached. */
export function notReached(what: string, { isRuledOut, message }: NotReached): CopyFailure {
  const retry = isRuledOut ? 'never' : 'later'
  return new CopyFailure('Unreachable', `${what} is not reached: ${message}`, retry)
}

/** Rejects with `CopyFailure` when the policy refuses the destination, before any request. */
export async function requireRoute(
  outbound: Outbound,
  destination: Parameters<Outbound['route']>[0],
  what: string,
): Promise<Awaited<ReturnType<Outbound['route']>>> {
  try {
    return await outbound.route(destination)
  } catch (error) {
    if (!(error instanceof NotReached)) throw error
    throw notReached(what, error)
  }
}
