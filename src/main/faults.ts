/** Makes requests and the store fail by the rules of `control/faults.ts`. It is loaded only when control is on. */

import type { Exchange } from '#http/exchange.ts'
import { ApiError, refuse } from '#kernel/error.ts'
import type { Timers } from '#kernel/ports.ts'
import { qualify } from '#kernel/vendor.ts'
import type { Registry } from '#plane/registry.ts'
import { type Sql, type Store, StoreUnavailable } from '#stores/store.ts'
import { nearestName } from '../config/nearest-name.ts'
import type { Faults, RequestFault } from '../control/faults.ts'
import type { Foundation } from './foundation.ts'

/** A caller may ask for a fault of one request: `x-armature-fault: status=429; retry-after=2; latency=100; cut`. */
const faultHeader = 'x-armature-fault'
const latencyMax = 300_000

/** Called for each request once its caller and type are known. */
export function createFaultCheck(faults: Faults, timers: Timers) {
  return (exchange: Exchange): void | Promise<void> => {
    // Whoever adds fault rules must be able to remove them.
    if (exchange.path.startsWith('/_armature/')) return undefined
    const own = exchange.request.headers[faultHeader]
    const fault =
      typeof own === 'string'
        ? readFault(own)
        : faults.ofRequest({
            method: exchange.method,
            path: exchange.path,
            type: typeOf(exchange),
            principalId: exchange.principal?.id ?? '',
            principalName: exchange.principal?.displayName ?? '',
            correlationId: exchange.correlationId,
          })
    if (fault === undefined) return undefined
    if (fault.latency === undefined) return happen(exchange, fault)
    return wait(timers, fault.latency).then(() => happen(exchange, fault))
  }
}

/** The types that requests can have, those for the state of an operation included. */
export function typesForRules({ types, providers, words }: Registry) {
  const states = providers.flatMap(({ namespace }) =>
    ['operationStatuses', 'operationResults'].map(
      (name) => `${qualify(words, namespace)}/locations/${name}`,
    ),
  )
  return { types: [...types.map(({ fullType }) => fullType), ...states], nearest: nearestName }
}

/** Generic resources are counted under one word. Their type is in the name of the operation. */
function typeOf({ type, route }: Exchange): string {
  const ofDocument = /^(.+?)(?:\/[^/]+\/action|\/[^/]+)$/.exec(route?.operation ?? '')?.[1]
  return type === 'generic' ? (ofDocument ?? type) : type
}

function wait(timers: Timers, milliseconds: number): Promise<void> {
  return new Promise((resolve) => timers.after(Math.min(latencyMax, milliseconds), resolve))
}

function happen(exchange: Exchange, fault: RequestFault): void {
  if (fault.cut) cutBody(exchange)
  if (fault.token === 'refused') {
    throw refuse.InvalidAuthenticationToken({ reason: 'a rule of this installation refuses it' })
  }
  if (fault.status !== undefined) throw refusalOf(fault.status, fault)
}

const usual: Readonly<Record<number, readonly [code: string, message: string]>> = {
  409: [
    'AnotherOperationInProgress',
    'Another operation on this or a dependent resource is in progress.',
  ],
  429: ['TooManyRequests', 'Too many requests.'],
  500: ['InternalServerError', 'The server met an unexpected fault.'],
  503: ['ServiceUnavailable', 'The service is unavailable for now.'],
}

function refusalOf(status: number, { code, retryAfter }: RequestFault): ApiError {
  const [usualCode, message] = usual[status] ?? [`Status${status}`, `Answered ${status}.`]
  const seconds = retryAfter ?? (status === 429 || status === 503 ? 1 : undefined)
  const headers = seconds === undefined ? {} : { 'Retry-After': String(seconds) }
  return new ApiError(code ?? usualCode, status, `${message} (A rule of this installation.)`, {
    headers,
  })
}

/** Sends half of the first write and then cuts the connection. */
function cutBody({ response }: Exchange): void {
  const end = response.end.bind(response)
  response.end = ((chunk?: unknown, encoding?: unknown) => {
    const text = typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8'
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, text) : chunk
    if (!(bytes instanceof Uint8Array)) {
      response.destroy()
      return end()
    }
    response.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), () => response.destroy())
    return response
  }) as typeof response.end
}

function readFault(header: string): RequestFault | undefined {
  const fault: Record<string, unknown> = {}
  for (const part of header.slice(0, 200).split(';')) {
    const [name = '', value] = part.split('=').map((one) => one.trim())
    if (name === 'cut') fault['cut'] = true
    else if (name === 'code' && value !== undefined) fault['code'] = value
    else if (name === 'token' && value === 'refused') fault['token'] = value
    else if (['status', 'retry-after', 'latency'].includes(name) && /^\d{1,9}$/.test(value ?? '')) {
      fault[name === 'retry-after' ? 'retryAfter' : name] = Number(value)
    } else {
      throw refuse.BadRequest({
        reason: `${faultHeader}: '${part.trim()}' is none of status=, code=, retry-after=, latency=, token=refused, cut`,
      })
    }
  }
  const { status } = fault
  if (status !== undefined && !(Number(status) >= 400 && Number(status) <= 599)) {
    throw refuse.BadRequest({ reason: `${faultHeader}: the status is from 400 to 599` })
  }
  return fault
}

/** The same foundation with a store that fails. */
export function withFaultyStore(base: Foundation, faults: Faults): Foundation {
  return { ...base, store: faultyStore(base.store, faults, base.machineTimers) }
}

/** A store that is away or slow as long as a rule says so. */
function faultyStore(store: Store, faults: Faults, timers: Timers): Store {
  const unlessFaulty = async <T>(ask: () => Promise<T>): Promise<T> => {
    const fault = faults.ofStore()
    if (fault?.store === 'away') {
      throw new StoreUnavailable('A rule of this installation keeps the store away.', 'later')
    }
    if (fault?.store === 'slow') await wait(timers, fault.latency ?? 1000)
    return ask()
  }
  const sql: Sql = {
    dialect: store.sql.dialect,
    all: (text, ...values) => unlessFaulty(() => store.sql.all(text, ...values)),
    scan: (text, ...values) => unlessFaulty(() => store.sql.scan(text, ...values)),
    snapshot: (work) => unlessFaulty(() => store.sql.snapshot(work)),
    transact: (work, alone) => unlessFaulty(() => store.sql.transact(work, alone)),
  }
  const overlaid: Partial<Store> = {
    sql,
    get: (key) => unlessFaulty(() => store.get(key)),
    list: (query) => unlessFaulty(() => store.list(query)),
    count: (query) => unlessFaulty(() => store.count(query)),
    transact: (work, alone) => unlessFaulty(() => store.transact(work, alone)),
    ping: () => unlessFaulty(() => store.ping()),
  }
  return new Proxy(store, {
    get(target, name) {
      if (Object.hasOwn(overlaid, name)) return Reflect.get(overlaid, name)
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
