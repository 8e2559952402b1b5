/**
 * Fetches linked templates for deployments: only below the addresses that the operator listed, without redirects,
 * and not from private networks unless that was allowed. It knows nothing of what the text says.
 */

import { lookup } from 'node:dns'
import { type IncomingMessage, request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import type { LinkedText, TemplateLinks } from '#providers/resources/provider.ts'

export interface TemplateLinkOptions {
  /** Addresses that end with a slash. */
  readonly allowed: readonly string[]
  readonly allowPrivate: boolean
  readonly timeoutSeconds?: number
}

/** A template has at most four million characters, of up to three bytes each as UTF-8. */
const bytesMax = 12 * 1024 * 1024

export function openTemplateLinks(options: TemplateLinkOptions): TemplateLinks {
  const allowed = options.allowed.flatMap((one) => URL.parse(one) ?? [])
  return {
    async read(uri) {
      const url = URL.parse(uri)
      if (url === null) return refused('it is no address')
      if (url.username !== '' || url.password !== '')
        return refused('it holds a name or a password')
      if (!allowed.some((one) => isBelow(url, one)))
        return refused('its address is not allowed here')
      const address = url.hostname.replace(/^\[|\]$/g, '')
      if (!options.allowPrivate && isIP(address) !== 0 && isPrivate(address)) return refused(inside)
      return fetched(url, options)
    },
  }
}

const inside = 'it leads to a private address'

function refused(reason: string): LinkedText {
  return { ok: false, reason }
}

/** Both were parsed, so dots, escapes and default ports are as the request will have them. */
function isBelow(url: URL, allowed: URL): boolean {
  return url.origin === allowed.origin && url.pathname.startsWith(allowed.pathname)
}

/** Throws nothing: whatever goes wrong is a reason. */
async function fetched(url: URL, options: TemplateLinkOptions): Promise<LinkedText> {
  const signal = AbortSignal.timeout((options.timeoutSeconds ?? 10) * 1000)
  try {
    const answer = await answerOf(url, options, signal)
    const { statusCode = 0 } = answer
    if (statusCode >= 300 && statusCode < 400) {
      answer.destroy()
      return refused('it is redirected, and redirects are not followed')
    }
    if (statusCode !== 200) {
      answer.destroy()
      return refused(`it is answered with the status ${statusCode}`)
    }
    return await textOf(answer)
  } catch (error) {
    if (error instanceof PrivateAddress) return refused(inside)
    if (signal.aborted) return refused('it takes too long')
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'failed'
    return refused(`it cannot be fetched (${code})`)
  }
}

function answerOf(
  url: URL,
  { allowPrivate }: TemplateLinkOptions,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const send = url.protocol === 'https:' ? requestSecure : requestPlain
  return new Promise((resolve, reject) => {
    const headers = { accept: 'application/json', 'accept-encoding': 'identity' }
    // No agent: a connection that another link has opened is never taken over.
    const options = {
      agent: false,
      headers,
      signal,
      ...(allowPrivate ? {} : { lookup: publicLookup }),
    }
    send(url, options, resolve).once('error', reject).end()
  })
}

async function textOf(answer: IncomingMessage): Promise<LinkedText> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of answer) {
    // Without an encoding a response gives buffers.
    const buffer = chunk as Buffer
    bytes += buffer.length
    if (bytes > bytesMax) {
      answer.destroy()
      return refused(`it is larger than ${bytesMax} bytes`)
    }
    chunks.push(buffer)
  }
  return { ok: true, text: Buffer.concat(chunks).toString('utf8') }
}

class PrivateAddress extends Error {}

/** The addresses that are connected to are these very ones, so no second answer of a name server can differ. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, '', 4)
    const [first] = addresses
    if (first === undefined || addresses.some(({ address }) => isPrivate(address))) {
      return callback(new PrivateAddress(inside), '', 4)
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
