/** A task together with the way out that its connections take: what connectors are given. */

import { NotReached, type Outbound } from '#outbound/outbound.ts'
import { CopyFailure, type CopyTask } from './engine.ts'

export interface RoutedTask extends CopyTask {
  readonly outbound: Outbound
}

/** What is told of a server that was not reached. */
export function notReached(what: string, { isRuledOut, message }: NotReached): CopyFailure {
  const retry = isRuledOut ? 'never' : 'later'
  return new CopyFailure('Unreachable', `${what} is not reached: ${message}`, retry)
}

/** Rejects with `CopyFailure` where the policy rules out what is named, before anything is asked. */
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
