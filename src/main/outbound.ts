/**
 * Requests to addresses that users named: nothing but one answer is read, redirects are left to the caller, and private
 * networks are out of reach unless the operator opened them.
 */

import { lookup } from 'node:dns'
import { type IncomingMessage, request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'

export interface OutboundRequest {
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  /** Sent by POST; without one it is a GET. */
  readonly body?: string
  /** Private addresses may be connected to. */
  readonly isOpen: boolean
  readonly signal: AbortSignal
}

/** The name of a host led to a private address. */
export class PrivateAddress extends Error {}

/** The answer has more bytes than were asked for. */
export class TooLarge extends Error {}

/** Rejects with `PrivateAddress`, or with what the platform says. */
export function answerOf({
  url,
  headers,
  body,
  isOpen,
  signal,
}: OutboundRequest): Promise<IncomingMessage> {
  const send = url.protocol === 'https:' ? requestSecure : requestPlain
  return new Promise((resolve, reject) => {
    const options = {
      method: body === undefined ? 'GET' : 'POST',
      // No agent: a connection that another request has opened is never taken over.
      agent: false,
      headers: { accept: 'application/json', 'accept-encoding': 'identity', ...headers },
      signal,
      ...(isOpen ? {} : { lookup: publicLookup }),
    }
    send(url, options, resolve).once('error', reject).end(body)
  })
}

export async function textOf(answer: IncomingMessage, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of answer) {
    // Without an encoding a response gives buffers.
    const buffer = chunk as Buffer
    bytes += buffer.length
    if (bytes > bytesMax) {
      answer.destroy()
      throw new TooLarge(`it is larger than ${bytesMax} bytes`)
    }
    chunks.push(buffer)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Is its host written as a private address? One that is a name is looked at when it is connected to. */
export function leadsInside(url: URL): boolean {
  const address = url.hostname.replace(/^\[|\]$/g, '')
  return isIP(address) !== 0 && isPrivate(address)
}

/** The addresses that are connected to are these very ones, so no second answer of a name server can differ. */
const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, '', 4)
    const [first] = addresses
    if (first === undefined || addresses.some(({ address }) => isPrivate(address))) {
      return callback(new PrivateAddress('it leads to a private address'), '', 4)
    }
    if (options.all === true) return callback(null, addresses)
    return callback(null, first.address, first.family)
  })
}

/** Everything that is not the public network, by its registry of special addresses. */
function specialAddresses(): BlockList {
  const list = new BlockList()
  for (const [network, prefix] of [
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['169.254.0.0', 16],
    ['172.16.0.0', 12],
    ['192.0.0.0', 24],
    ['192.0.2.0', 24],
    ['192.88.99.0', 24],
    ['192.168.0.0', 16],
    ['198.18.0.0', 15],
    ['198.51.100.0', 24],
    ['203.0.113.0', 24],
    ['224.0.0.0', 3],
  ] as const) {
    list.addSubnet(network, prefix, 'ipv4')
  }
  for (const [network, prefix] of [
    ['::', 96],
    ['64:ff9b::', 96],
    ['64:ff9b:1::', 48],
    ['100::', 64],
    ['2001::', 23],
    ['2001:db8::', 32],
    ['2002::', 16],
    ['fc00::', 7],
    ['fe80::', 10],
    ['fec0::', 10],
    ['ff00::', 8],
  ] as const) {
    list.addSubnet(network, prefix, 'ipv6')
  }
  return list
}

const special = specialAddresses()

export function isPrivate(address: string): boolean {
  const bare = address.replace(/%.*$/, '')
  return special.check(bare, isIP(bare) === 6 ? 'ipv6' : 'ipv4')
}
