/**
 * Decides which network zone an IP address belongs to, and the canonical spelling of hosts. Pure: it resolves
 * nothing.
 */

import { BlockList, isIP } from 'node:net'

type Zone = 'public' | 'loopback' | 'link-local' | 'private' | 'metadata' | 'reserved'

/** The registry of special IPv4 addresses (RFC 6890 and later). Addresses outside it are public. */
const specialV4: readonly (readonly [Zone, network: string, prefix: number])[] = [
  ['loopback', '127.0.0.0', 8],
  // Linux connects to this machine for this address.
  ['loopback', '0.0.0.0', 8],
  ['metadata', '169.254.169.254', 32],
  ['metadata', '168.63.129.16', 32],
  ['metadata', '100.100.100.200', 32],
  ['link-local', '169.254.0.0', 16],
  ['private', '10.0.0.0', 8],
  ['private', '100.64.0.0', 10],
  ['private', '172.16.0.0', 12],
  ['private', '192.168.0.0', 16],
  ['reserved', '192.0.0.0', 24],
  ['reserved', '192.0.2.0', 24],
  ['reserved', '192.88.99.0', 24],
  ['reserved', '198.18.0.0', 15],
  ['reserved', '198.51.100.0', 24],
  ['reserved', '203.0.113.0', 24],
  ['reserved', '224.0.0.0', 3],
]

const specialV6: readonly (readonly [Zone, network: string, prefix: number])[] = [
  ['loopback', '::1', 128],
  ['loopback', '::', 128],
  ['metadata', 'fd00:ec2::254', 128],
  ['link-local', 'fe80::', 10],
  ['private', 'fc00::', 7],
  ['private', 'fec0::', 10],
  // Protocol assignments with Teredo, documentation, 6to4.
  ['reserved', '2001::', 23],
  ['reserved', '2001:db8::', 32],
  ['reserved', '2002::', 16],
  ['reserved', '3fff::', 20],
]

/** The part of IPv6 that is assigned as public. */
const globalV6 = networkOf('2000::', 3, 'ipv6')
const lists = (table: typeof specialV4, family: 'ipv4' | 'ipv6') =>
  table.map(([zone, network, prefix]) => [zone, networkOf(network, prefix, family)] as const)
const zonesV4 = lists(specialV4, 'ipv4')
const zonesV6 = lists(specialV6, 'ipv6')

function networkOf(network: string, prefix: number, family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  list.addSubnet(network, prefix, family)
  return list
}

/** The zone of an address as a resolver writes it. Text that is no address is `reserved`. */
export function zoneOf(address: string): Zone {
  const plain = plainAddress(address)
  if (isIP(plain) === 4) {
    return zonesV4.find(([, list]) => list.check(plain, 'ipv4'))?.[0] ?? 'public'
  }
  if (isIP(plain) !== 6) return 'reserved'
  const special = zonesV6.find(([, list]) => list.check(plain, 'ipv6'))?.[0]
  return special ?? (globalV6.check(plain, 'ipv6') ? 'public' : 'reserved')
}

/**
 * The IPv4 address inside an IPv6 address that leads to it (mapped, or by the well-known NAT64 prefix). Any other
 * address stays as it is, without a zone index.
 */
export function plainAddress(address: string): string {
  const [bare = ''] = address.split('%', 1)
  if (isIP(bare) !== 6) return bare
  const groups = groupsOf(bare)
  const begin = groups.slice(0, 6).join(':')
  if (begin !== '0:0:0:0:0:ffff' && begin !== '64:ff9b:0:0:0:0') return bare
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16))
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** The eight groups of an IPv6 address, in hex without leading zeros. */
function groupsOf(address: string): readonly string[] {
  // The URL parser writes every address in one form, with `::` at most once.
  const text = URL.parse(`http://[${address}]/`)?.hostname.slice(1, -1) ?? '::'
  const [left = '', right] = text.split('::')
  const before = left === '' ? [] : left.split(':')
  const after = right === undefined || right === '' ? [] : right.split(':')
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  return [...before, ...zeros, ...after]
}

const hostCharacters = /^[^\s/\\?#@%<>^|[\]]+$/

/**
 * The canonical spelling of a host: lower case, IDNs as `xn--`, every spelling of an IPv4 address (octal,
 * hexadecimal, one number) as four decimal numbers, IPv6 without brackets, no trailing dot. Undefined for text that
 * is no host.
 */
export function canonicalHost(host: string): string | undefined {
  const isBracketed = host.startsWith('[') && host.endsWith(']')
  const bare = isBracketed ? host.slice(1, -1) : host
  if (isBracketed && isIP(bare) !== 6) return undefined
  if (bare === '' || bare.length > 255) return undefined
  if (isIP(bare) === 6) {
    const address = URL.parse(`http://[${bare}]/`)?.hostname
    return address?.slice(1, -1)
  }
  if (bare.includes(':') || !hostCharacters.test(bare)) return undefined
  const name = URL.parse(`http://${bare}/`)?.hostname.replace(/\.$/, '')
  return name === undefined || name === '' || name.endsWith('.') ? undefined : name
}

/** The zone of names that always lead to this machine or to the metadata service of its cloud. */
export function zoneOfName(name: string): Zone | undefined {
  if (name === 'localhost' || name.endsWith('.localhost')) return 'loopback'
  return metadataNames.has(name) ? 'metadata' : undefined
}

const metadataNames: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.azure.internal',
  'instance-data',
  'instance-data.ec2.internal',
])

/** Whether it is an address of this machine only. The only name that counts is `localhost`. */
export function isLoopback(host: string): boolean {
  const name = canonicalHost(host)
  if (name === undefined) return false
  const zone = isIP(name) === 0 ? zoneOfName(name) : zoneOf(name)
  // Listening on `0.0.0.0` or `::` means listening on all addresses.
  return zone === 'loopback' && !/^(?:0\.|::$)/.test(plainAddress(name))
}
