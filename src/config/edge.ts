/** Settings of the HTTP edge: what stands in front of the server. */

import { networkList } from './networks.ts'

export interface EdgeConfig {
  /** Addresses and networks of proxies whose `X-Forwarded-For` and `Forwarded` are believed. */
  readonly trustedProxies: readonly string[]
}

export const edgeSettings = {
  trustedProxies: networkList(
    'Reverse proxies in front of this server: their `X-Forwarded-For` or `Forwarded` header says which address a request came from. Empty: the address of the connection counts, and the headers are ignored.',
  ),
} as const
