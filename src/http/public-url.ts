/**
 * The address that a caller used, for absolute links in the answer to that caller. It comes from the caller's `Host`
 * header, so it is given to nobody else: never kept, cached or recorded.
 */

import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'

/** An origin, without a slash at its end. */
export type PublicUrlOf = (request: IncomingMessage) => string

interface PublicUrlOptions {
  /** Used always, where it is set. */
  readonly configured: string | undefined
  /** Used for requests whose host cannot be trusted. */
  readonly listening: () => string
  readonly isProxy: (address: string) => boolean
  /** The header that trusted proxies write. */
  readonly proxyHeader: 'either' | 'x-forwarded-for' | 'forwarded'
}

/** A name, an IPv4 address or an IPv6 address in brackets; perhaps a port. */
const authority =
  /^(?:[a-z0-9_](?:[a-z0-9_.-]{0,252}[a-z0-9_])?|\[[0-9a-f:.]{2,45}\])(?::(?<port>\d{1,5}))?$/

export function createPublicUrlOf(options: PublicUrlOptions): PublicUrlOf {
  const { configured, listening, isProxy, proxyHeader } = options
  if (configured !== undefined) return () => configured
  // Of nearly all requests the host is that of the request before.
  let latest: string | undefined
  return (request) => {
    const { socket, headers } = request
    const forwarded = isProxy(socket.remoteAddress ?? '') ? forwardedOf(request, proxyHeader) : {}
    const own = socket instanceof TLSSocket ? 'https' : 'http'
    const scheme = forwarded.scheme ?? own
    const host = (forwarded.host ?? headers.host ?? '').toLowerCase()
    const url = `${scheme}://${host}`
    if (url === latest) return url
    const written = authority.exec(host)
    const port = Number(written?.groups?.['port'] ?? 1)
    if (written === null || port > 65_535 || !URL.canParse(url)) return listening()
    latest = url
    return url
  }
}

interface Forwarded {
  readonly scheme?: 'http' | 'https'
  readonly host?: string
}

/**
 * The value of the nearest proxy, which stands last. Where two headers disagree, one came from the caller, and
 * neither counts.
 */
function forwardedOf(
  { headers }: IncomingMessage,
  proxyHeader: PublicUrlOptions['proxyHeader'],
): Forwarded {
  const custom =
    proxyHeader === 'forwarded'
      ? {}
      : forwardedBy(headers['x-forwarded-proto'], headers['x-forwarded-host'])
  const element = proxyHeader === 'x-forwarded-for' ? '' : last(headers.forwarded)
  const standard = forwardedBy(parameterOf(element, 'proto'), parameterOf(element, 'host'))
  const scheme = agreed(standard.scheme, custom.scheme)
  const host = agreed(standard.host, custom.host)
  return { ...(scheme === undefined ? {} : { scheme }), ...(host === undefined ? {} : { host }) }
}

type HeaderValue = string | readonly string[] | undefined

function forwardedBy(proto: HeaderValue, host: HeaderValue): Forwarded {
  const scheme = last(proto).toLowerCase()
  const name = last(host)
  return {
    ...(scheme === 'http' || scheme === 'https' ? { scheme } : {}),
    ...(name === '' ? {} : { host: name }),
  }
}

function agreed<T>(one: T | undefined, other: T | undefined): T | undefined {
  return one !== undefined && other !== undefined && one !== other ? undefined : (one ?? other)
}

function last(value: HeaderValue): string {
  const text = typeof value === 'object' ? value.join(',') : (value ?? '')
  return text.split(',').at(-1)?.trim() ?? ''
}

function parameterOf(element: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|;)\\s*${name}\\s*=\\s*("[^"]*"|[^;\\s]+)`, 'i').exec(element)?.[1]
  return found?.replaceAll('"', '')
}
