/**
 * The address of a caller. Behind reverse proxies the socket's address is the proxy's, so the headers
 * `X-Forwarded-For` and `Forwarded` (RFC 7239) are read, but only those entries that a trusted proxy wrote: any
 * caller can send such a header.
 */

import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, type Socket, SocketAddress } from 'node:net'
import type { RequestOrigin } from '#kernel/request-origin.ts'

export type AddressOf = (request: IncomingMessage) => string

const userAgentMax = 256
/** Trusted proxies that are followed in a row; a longer chain is a loop or forged. */
const hopsMax = 32

/** Is this the address of a trusted proxy? */
export function createProxyTest(trustedProxies: readonly string[]): (address: string) => boolean {
  if (trustedProxies.length === 0) return () => false
  const trusted = networks(trustedProxies)
  return (text) => {
    const address = canonical(text)
    return address !== undefined && trusted.check(address, familyOf(address))
  }
}

/**
 * `trustedProxies`: addresses and networks (`10.0.0.0/8`, `2001:db8::/32`); with none, the socket's address counts.
 * `written`: the header that these proxies write; the other header may come from the caller.
 */
export function createAddressOf(
  trustedProxies: readonly string[],
  written: 'either' | 'x-forwarded-for' | 'forwarded' = 'either',
): AddressOf {
  const known = new WeakMap<Socket, string>()
  const socketAddress: AddressOf = ({ socket }) => {
    let address = known.get(socket)
    if (address === undefined) {
      address = canonical(socket.remoteAddress ?? '') ?? ''
      // A closed socket has no address any more.
      if (address !== '') known.set(socket, address)
    }
    return address
  }
  if (trustedProxies.length === 0) return socketAddress
  const isTrusted = createProxyTest(trustedProxies)

  /** Walks outward from the nearest proxy: the first address that is no trusted proxy is the caller's. */
  function follow(nearest: string, hops: readonly string[]): string {
    let address = nearest
    for (const hop of hops.slice(-hopsMax).reverse()) {
      if (!isTrusted(address)) return address
      const next = canonical(withoutPort(hop))
      // `unknown`, an obfuscated name or nonsense: the proxy that wrote it is the last known address.
      if (next === undefined) return address
      address = next
    }
    return address
  }

  return (request) => {
    const nearest = socketAddress(request)
    if (nearest === '' || !isTrusted(nearest)) return nearest
    const forwarded = written === 'x-forwarded-for' ? undefined : request.headers.forwarded
    const forwardedFor = written === 'forwarded' ? undefined : request.headers['x-forwarded-for']
    const byStandard = forwarded === undefined ? undefined : follow(nearest, hopsOf(forwarded))
    const listed = typeof forwardedFor === 'string' ? forwardedFor : forwardedFor?.join(',')
    const byCustom = listed === undefined ? undefined : follow(nearest, listed.split(','))
    // A proxy writes one of the two headers and may pass on the other as the caller sent it. Where they disagree, one
    // is forged, and neither is used.
    if (byStandard !== undefined && byCustom !== undefined && byStandard !== byCustom) {
      return nearest
    }
    return byStandard ?? byCustom ?? nearest
  }
}

export function originOf(request: IncomingMessage, addressOf: AddressOf): RequestOrigin {
  const agent = request.headers['user-agent'] ?? ''
  return {
    address: addressOf(request),
    userAgent: agent.slice(0, userAgentMax).replace(/[^\x20-\x7e]/g, '?'),
  }
}

/**
 * The group of addresses that counts as one caller in limits per address. An IPv6 customer has at least a /64
 * network, and could use a new address for every request.
 */
export function addressGroupOf(given: string): string {
  // A server that listens on `::` sees callers of IPv4 as `::ffff:192.0.2.1`: all of them are in one /64.
  const address = canonical(given) ?? given
  if (!address.includes(':')) return address
  const [head = '', tail] = address.split('::', 2)
  const groups = head === '' ? [] : head.split(':')
  if (tail !== undefined) {
    const after = tail === '' ? 0 : tail.split(':').length
    while (groups.length < 8 - after) groups.push('0')
  }
  return `${groups.slice(0, 4).join(':')}::/64`
}

/** One value per hop. An entry without `for` counts as an unknown hop, since a proxy wrote it. */
function hopsOf(header: string): readonly string[] {
  return header.split(',').map((element) => {
    const found = /(?:^|;)\s*for\s*=\s*("(?:[^"\\]|\\.)*"|[^;\s]+)/i.exec(element)?.[1] ?? ''
    return found.startsWith('"') ? found.slice(1, -1) : found
  })
}

/** `192.0.2.1:4711`, `[2001:db8::1]`, `[2001:db8::1]:4711`, or an address alone. */
function withoutPort(hop: string): string {
  const text = hop.trim()
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(text)
  if (bracketed !== null) return bracketed[1] ?? ''
  return /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1] ?? text
}

/** One spelling per address: IPv6 shortened, IPv4 within IPv6 as IPv4. Undefined for what is no address. */
function canonical(text: string): string | undefined {
  const version = isIP(text)
  if (version === 4) return text
  if (version === 0) return undefined
  // The zone (`%eth0`) names one of our own network interfaces, not the caller.
  const [bare = ''] = text.split('%', 1)
  const { address } = new SocketAddress({ address: bare, family: 'ipv6' })
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1] ?? address
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4'
}

function networks(list: readonly string[]): BlockList {
  const blocks = new BlockList()
  for (const one of list) {
    const [address = '', prefix] = one.split('/', 2)
    if (prefix === undefined) blocks.addAddress(address, familyOf(address))
    else blocks.addSubnet(address, Number(prefix), familyOf(address))
  }
  return blocks
}
