/** The turn of a request before it is authenticated, and in whose name it waits for one. */

import type { IncomingMessage } from 'node:http'
import { freeTurn, freeUnknownTurn } from '#plane/next-turn.ts'
import { addressGroupOf } from './client-address.ts'
import type { EdgeDependencies } from './exchange.ts'

/** Addresses share so many lines, whoever has many of them, so most lines are left to callers who are known. */
const addressLines = 64

/**
 * Behind a proxy all callers have one address, so whoever was authenticated before waits by principal. A token that nobody
 * has checked names nobody: anybody can make up any number of them.
 */
export function turnOf(
  request: IncomingMessage,
  { callerOf, addressOf }: Pick<EdgeDependencies, 'callerOf' | 'addressOf'>,
): Promise<void> | undefined {
  const { authorization } = request.headers
  const caller = authorization === undefined ? undefined : callerOf(authorization)
  if (caller !== undefined) return freeTurn(caller)
  return freeUnknownTurn(`address ${numberOf(addressGroupOf(addressOf(request))) % addressLines}`)
}

/** The same for the same text. */
function numberOf(text: string): number {
  let number = 0
  for (let at = 0; at < text.length; at++) number = (number * 31 + text.charCodeAt(at)) >>> 0
  return number
}
