/**
 * Allowances for the sign-in addresses, where callers have shown no token yet: counted per address of the caller. The
 * start of a sign-in leaves a row in the store until it expires, so all addresses together have an allowance of
 * starts as well, which keeps nobody from the first few. A request for a token by credentials leaves nothing, and is never refused because of other callers.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ApiError } from '#kernel/error.ts'
import { networkOf } from '#kernel/network.ts'
import { type AddressOf, addressGroupOf } from './client-address.ts'
import { type BucketRule, createThrottle, type ThrottleSettings } from './throttle.ts'

/** Seconds to wait, after the refusal was sent; undefined when the request may go on. */
type AnonymousThrottle = (
  request: IncomingMessage,
  response: ServerResponse,
  now: number,
) => number | undefined

/** Documents that clients fetch again and again, and that cost nothing to serve: at their places, below a tenant or not. */
const documents = /^\/(?:[^/]+\/)?(?:v2\.0\/)?(?:\.well-known|discovery)\//i
/** What begins a sign-in or a session without one: pages of `authorize`, device codes and their form, the page to sign out. */
const signInStarts = /\/(?:authorize|devicecode|deviceauth|logout)(?:$|\/)/i

/**
 * Whose allowance a request takes. Any page that somebody looks at can make their browser ask here, from their own
 * address, which may be that of this machine. So what browsers send for pages of other sites has an allowance of its
 * own, and leaves that of the person's programs and of our own pages alone (decision 0396). A page that the person goes to by a
 * click is our own, wherever its link stands: an identity provider leads back so. What is fetched ahead is nobody's click, and says
 * that it comes from no site.
 */
function countedFor({ headers, method }: IncomingMessage, address: string): string {
  const { origin, host, 'sec-fetch-site': site, 'sec-fetch-user': user } = headers
  const isPage = method === 'GET' && headers['sec-fetch-dest'] === 'document' && user === '?1'
  const isFromHere =
    isPage || site === undefined
      ? origin === undefined || URL.parse(origin)?.host === host
      : site === 'same-origin' || site === 'none'
  const isOwn = isFromHere && headers['sec-purpose'] === undefined
  return isOwn ? address : `${address} pages`
}

export function createAnonymousThrottle(
  settings: ThrottleSettings,
  addressOf: AddressOf,
): AnonymousThrottle {
  const { anonymous, allPrincipalsFactor: factor } = settings
  const { size, refillPerSecond } = anonymous
  const own = ofAddress(settings, anonymous)
  const all = ofAddress(settings, {
    size: size * factor,
    refillPerSecond: refillPerSecond * factor,
  })
  const newcomers = ofAddress(settings, newcomer)
  return (request, response, now) => {
    const { url = '', method = '' } = request
    const path = url.split('?', 1)[0] ?? ''
    if (['GET', 'HEAD'].includes(method) && documents.test(path)) return undefined
    const caller = addressGroupOf(addressOf(request))
    const isFree =
      own(countedFor(request, caller), now) === undefined &&
      (!signInStarts.test(path) ||
        all('', now) === undefined ||
        newcomers(networkOf(caller), now) === undefined)
    if (isFree) return undefined
    const seconds = secondsToWait(anonymous)
    refuse(response, seconds)
    return seconds
  }
}

/** Whoever has few starts behind them has one more, however many others there are. */
const newcomer: BucketRule = { size: 10, refillPerSecond: 1 / 90 }

function ofAddress(
  settings: ThrottleSettings,
  rule: BucketRule,
): (address: string, now: number) => ApiError | undefined {
  const rules = { reads: rule, writes: rule, deletes: rule }
  const buckets = createThrottle({ ...settings, subscription: rules, tenant: rules })
  return (address, now) => buckets.take(address, undefined, 'reads', now)?.refusal
}

/**
 * The allowance of 401 answers per address: callers without a token, or with a bad one, get that many. A caller with
 * a good token is neither counted nor refused, whatever others at the same address do.
 */
export function createRefusals(
  settings: ThrottleSettings,
  addressOf: AddressOf,
): (request: IncomingMessage, now: number) => ApiError | undefined {
  const refusalOf = ofAddress(settings, settings.anonymous)
  return (request, now) => refusalOf(countedFor(request, addressGroupOf(addressOf(request))), now)
}

function secondsToWait({ refillPerSecond }: BucketRule): number {
  return Math.max(1, Math.ceil(1 / refillPerSecond))
}

/** In the form of RFC 6749, 5.2, which callers of these addresses read. */
function refuse(response: ServerResponse, seconds: number): void {
  const body = JSON.stringify({
    error: 'temporarily_unavailable',
    error_description: `Too many requests from this address. Try again in ${seconds} seconds.`,
  })
  response.writeHead(429, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'Retry-After': String(seconds),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    // An unread body must not stay in the connection.
    Connection: 'close',
  })
  response.end(body)
}
