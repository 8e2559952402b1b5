/** Settings of the HTTP edge: trusted proxies, and who may read the metrics. */

import { isLoopback } from '#outbound/address.ts'
import { networkList } from './networks.ts'
import { choice, flag, text } from './setting.ts'

export interface EdgeConfig {
  /** Addresses and networks of proxies whose `X-Forwarded-For` and `Forwarded` are trusted. */
  readonly trustedProxies: readonly string[]
  /** The header that these proxies write. */
  readonly proxyHeader: ProxyHeader
  readonly metrics: MetricsPlace
  /** Logs a line for each request, at level `info`. */
  readonly logRequests: boolean
}

const proxyHeaders = ['either', 'x-forwarded-for', 'forwarded'] as const
type ProxyHeader = (typeof proxyHeaders)[number]

/** Where `/metrics` is served: with everything else, on its own listener, or nowhere. */
type MetricsPlace = 'public' | 'nowhere' | { readonly host: string; readonly port: number }

const addressForm = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):(\d{1,5})$/

export const edgeSettings = {
  trustedProxies: networkList(
    'Reverse proxies in front of this server: their `X-Forwarded-For` or `Forwarded` header says which address a request came from. Empty: the address of the connection counts, and the headers are ignored.',
  ),
  proxyHeader: choice(proxyHeaders, {
    default: 'either',
    description:
      'The header that the trusted proxies write; the other one is ignored, since a caller may have sent it. `either`: where both are there and disagree, the address is that of the proxy.',
  }),
  metricsAddress: text(
    'empty, `public`, or `host:port`',
    (value) => value === '' || value === 'public' || addressOf(value) !== undefined,
    {
      default: '',
      description:
        'Where `/metrics` is served, without a token: on an address of its own, or with `public` beside everything else. Empty is `public` while the server is reached from its own machine only, and nowhere otherwise.',
    },
  ),
  logRequests: flag({
    default: 'false',
    description:
      'A line of the log for each request: method, path, status, time, caller, address and ids. With `ARMATURE_LOG_LEVEL=debug` they are there in any case.',
  }),
} as const

function addressOf(value: string): Exclude<MetricsPlace, string> | undefined {
  const [, host, port] = addressForm.exec(value) ?? []
  if (host === undefined || Number(port) > 65_535) return undefined
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
}

export function arrangeEdge(named: {
  readonly trustedProxies: readonly string[]
  readonly proxyHeader: ProxyHeader
  readonly metricsAddress: string
  readonly logRequests: boolean
  readonly host: string
  readonly publicUrl: string
}): EdgeConfig {
  const { trustedProxies, proxyHeader, metricsAddress, logRequests, host, publicUrl } = named
  const isAlone =
    isLoopback(host) &&
    trustedProxies.length === 0 &&
    (publicUrl === '' || isLoopback(URL.parse(publicUrl)?.hostname ?? ''))
  const place = metricsAddress === '' ? (isAlone ? 'public' : 'nowhere') : metricsAddress
  return {
    trustedProxies,
    proxyHeader,
    logRequests,
    metrics: place === 'public' || place === 'nowhere' ? place : (addressOf(place) ?? 'nowhere'),
  }
}
