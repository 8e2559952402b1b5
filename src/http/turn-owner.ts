/** In whose name a request waits for its turn before it is authenticated. */

import type { IncomingMessage } from 'node:http'
import { addressGroupOf } from './client-address.ts'
import type { EdgeDependencies } from './exchange.ts'

/** Addresses share so many lines, whoever has many of them, so most lines are left to callers who are known. */
const addressLines = 64

/**
 * Behind a proxy all callers have one address, so whoever was authenticated before waits by principal. A token that nobody
 * has checked names nobody: anybody can make up any number of them.
 */
export function turnOwnerOf(
  request: IncomingMessage,
  { callerOf, addressOf }: Pick<EdgeDependencies, 'callerOf' | 'addressOf'>,
): string {
  const { authorization } = request.headers
  const caller = authorization === undefined ? undefined : callerOf(authorization)
  return caller ?? `address ${numberOf(addressGroupOf(addressOf(request))) % addressLines}`
}

/** The same for the same text. */
function numberOf(text: string): number {
  let number = 0
  for (let at = 0; at < text.length; at++) number = (number * 31 + text.charCodeAt(at)) >>> 0
  return number
}
