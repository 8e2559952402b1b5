/**
 * The way out: everything the server connects to on a caller's behalf asks here first. A name is resolved once, sixteen
 * of its addresses at the most are judged, and the connection goes to those very addresses, so that no second answer of a
 * name server can differ. What a caller is told never says what was found behind an address; the operator's log does.
 */

import { lookup as resolveName } from 'node:dns/promises'
import { isIP, type LookupFunction, Socket } from 'node:net'
import type { Log } from '#kernel/ports.ts'
import { canonicalHost, plainAddress, zoneOf } from './address.ts'
import { isOwnAddress } from './own-address.ts'
import { createPolicy, type OutboundSettings } from './policy.ts'
import { wordsOf } from './tls.ts'

/** All addresses of a name. Rejects when it has none, with the system's code. `signal`: nobody waits any more. */
export type Resolve = (name: string, signal?: AbortSignal) => Promise<readonly string[]>

export interface Destination {
  /** `https`, `http`, `postgresql`: the schemes that rules name. */
  readonly scheme: string
  /** A name or an address, as a caller wrote it. */
  readonly host: string
  readonly port: number
}

/** An allowed destination. */
export interface Route {
  /** In canonical spelling. Certificates are checked against it. */
  readonly host: string
  readonly port: number
  /** At least one, and few; all judged by the policy. */
  readonly addresses: readonly string[]
  /** For sockets that are given the host's name: it returns the judged addresses, whatever name it gets. */
  readonly lookup: LookupFunction
}

export interface Outbound {
  /** For child processes, which open their own connections. */
  readonly settings: OutboundSettings
  /** Throws `NotReached`. `signal`: nobody waits any more. */
  route(destination: Destination, signal?: AbortSignal): Promise<Route>
  /**
   * The same policy with more destinations allowed: addresses that the operator named elsewhere. Denied ones stay
   * denied.
   */
  allowing(urls: readonly URL[]): Outbound
  /** Logs a failure of an allowed connection for the operator, and returns the error to throw instead. */
  failed(destination: Destination, cause: unknown): NotReached
}

/** One sentence for every failure to connect, so that it does not reveal which ports are open. */
export const noAnswer = 'it gives no answer, or must not be asked from here'

/**
 * The destination was not reached. The message may be shown to a caller. `isRuledOut`: the policy refused what the
 * caller wrote before anything was resolved or contacted, so a retry has the same result.
 */
export class NotReached extends Error {
  readonly isRuledOut: boolean
  constructor(isRuledOut: boolean, options?: ErrorOptions) {
    super(isRuledOut ? 'its address must not be asked from here' : noAnswer, options)
    this.name = 'NotReached'
    this.isRuledOut = isRuledOut
  }
}

interface OutboundOptions {
  readonly settings: OutboundSettings
  readonly log: Log
  /** Default: the system's. */
  readonly resolve?: Resolve
  /** Whether an address leads to this machine. Default: the system tells. */
  readonly isOwn?: (address: string) => Promise<boolean>
}

/** The addresses of a name that are judged, and connected to. Its owner chooses how many there are: an answer of DNS has room for 4,000. */
const addressesMax = 16

export function openOutbound(options: OutboundOptions): Outbound {
  const { settings, log, resolve = resolveAll, isOwn = isOwnAddress } = options
  const own = new Set<string>()
  const policy = createPolicy(settings, (address) => own.has(plainAddress(address)))
  const warn = warnOnce(log)

  const refused = (destination: Destination, reason: string, isRuledOut: boolean): NotReached => {
    warn(destination, reason, 'an outbound connection is not allowed')
    return new NotReached(isRuledOut)
  }

  const failed = (destination: Destination, cause: unknown): NotReached => {
    if (cause instanceof NotReached) return cause
    const reason = cause instanceof Error ? wordsOf(cause) : String(cause)
    warn(destination, reason, 'an outbound call failed')
    return new NotReached(false, { cause })
  }

  async function lookWhose(address: string): Promise<void> {
    if (settings.mode === 'open' || zoneOf(address) !== 'public') return
    const plain = plainAddress(address)
    if (await isOwn(plain)) own.add(plain)
    else own.delete(plain)
  }

  async function addressesOf(
    destination: Destination,
    host: string,
    signal: AbortSignal | undefined,
  ): Promise<readonly string[]> {
    if (isIP(host) !== 0) return [host]
    try {
      return (await resolve(host, signal)).slice(0, addressesMax)
    } catch (error) {
      throw failed(destination, error)
    }
  }

  return {
    settings,
    failed,
    allowing(urls) {
      const allow = [...settings.allow, ...urls.map(ruleFor)]
      return openOutbound({ ...options, settings: { ...settings, allow } })
    },
    async route(destination, signal) {
      const { scheme, port } = destination
      const host = canonicalHost(destination.host)
      if (host === undefined || !Number.isInteger(port) || port < 1 || port > 65_535) {
        throw refused(destination, 'it is no host with a port', true)
      }
      const target = { scheme, host, port }
      if (isIP(host) !== 0) await lookWhose(host)
      const ruledOut = policy.judgeText(target)
      if (ruledOut !== undefined) throw refused(destination, ruledOut, true)
      const addresses = await addressesOf(destination, host, signal)
      if (addresses.length === 0) throw refused(destination, 'the name has no address', false)
      for (const address of addresses) {
        if (address !== host) await lookWhose(address)
        const reason = policy.judgeAddress(target, address)
        // A name that leads to an inner network looks like one that leads nowhere.
        if (reason !== undefined) throw refused(destination, reason, false)
      }
      return { host, port, addresses, lookup: lookupOf(addresses) }
    },
  }
}

async function resolveAll(name: string): Promise<readonly string[]> {
  const found = await resolveName(name, { all: true })
  return found.map(({ address }) => address)
}

/** For sockets that are given a name: these addresses, whatever name it is. */
export function lookupOf(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({
    address,
    family: isIP(address.split('%', 1)[0] ?? ''),
  }))
  return (_name, { all: wantsAll }, callback) => {
    if (wantsAll === true) return callback(null, all)
    const [first] = all
    return callback(null, first?.address ?? '', first?.family)
  }
}

/** The number of destinations whose last reason is remembered. */
const remembered = 1000

/**
 * Logs a failure of a destination only when its reason changes: servers that are away are contacted every few
 * seconds.
 */
function warnOnce(log: Log) {
  const last = new Map<string, string>()
  return ({ scheme, host, port }: Destination, cause: string, message: string): void => {
    const reason = cause.slice(0, 500)
    const key = `${scheme}://${host.slice(0, 255)}:${port}`
    if (last.get(key) === reason) return
    // The oldest entry is removed first; a changed reason moves an entry to the end.
    last.delete(key)
    last.set(key, reason)
    if (last.size > remembered) last.delete(last.keys().next().value ?? key)
    log.warn({ scheme, host: host.slice(0, 255), port, reason }, message)
  }
}

/** A socket that connects to this route, whatever host and port its user names. */
export function socketOf({ host, port, lookup }: Route): Socket {
  const socket = new Socket()
  const connect = socket.connect.bind(socket)
  // Drivers get the socket and call `connect` themselves, with the name.
  socket.connect = () => connect({ host, port, lookup })
  return socket
}

/** The rule for one URL's scheme, host and port. */
function ruleFor(url: URL): string {
  const { scheme, port } = destinationOf(url)
  return `${scheme}://${url.hostname.replace(/\.$/, '')}:${port}`
}

/** The destination of a URL whose scheme has a default port. */
export function destinationOf(url: URL): Destination {
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  return { scheme: url.protocol.slice(0, -1), host: url.hostname, port }
}
