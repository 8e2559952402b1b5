/**
 * The HTTP server: sockets with limits, the router, the pipeline that every request goes through, listening and
 * draining. The pipeline makes all decisions. The body is not read before it, because permission comes before the
 * body.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type ApiError, refuse } from '#kernel/error.ts'
import type { Limits } from '#kernel/limits.ts'
import { createRoom } from '#kernel/room.ts'
import { createAnonymousThrottle, createRefusals } from './anonymous-throttle.ts'
import { createArrivalTurns } from './arrival-turn.ts'
import { fittingConnections, ownMemory, trackConnections } from './connections.ts'
import { edgeErrors } from './edge-errors.ts'
import {
  createExchange,
  type Edge,
  type EdgeDependencies,
  type Endpoint,
  type Exchange,
} from './exchange.ts'
import { answerErrors, fail } from './failure.ts'
import { createLargeBodies } from './large-bodies.ts'
import {
  createListener,
  createSecureListener,
  type Listening,
  listen,
  type ServerCertificates,
} from './listener.ts'
import { createMetrics, type MetricSource, type Metrics } from './metrics.ts'
import { type Check, options } from './open-endpoints.ts'
import { runPipeline } from './pipeline.ts'
import { bounded } from './raw-handlers.ts'
import { createRoutingStamp } from './respond.ts'
import { createRouter, type PathParameters } from './router.ts'
import { addRoutes, type RawHandler, type RouteDependencies } from './routes.ts'
import { createSlowReaders } from './slow-readers.ts'
import { unlocated } from './steps/locate.ts'
import type { UpgradeMount } from './streams.ts'
import { createThrottle, type ThrottleSettings, unthrottled } from './throttle.ts'

export interface HttpServerOptions extends EdgeDependencies, RouteDependencies {
  /** Tells whether an address is a trusted proxy's. Such a connection carries requests of many callers. */
  readonly isProxy: (address: string) => boolean
  /** `false`: requests are not counted. */
  readonly throttle: ThrottleSettings | false
  /** Printed by `/metrics` besides the counts of requests. */
  readonly metricSources?: readonly MetricSource[]
  /** Certificates of https, which is served beside http. */
  readonly certificates?: ServerCertificates
  /** Connections that may be upgraded (web sockets). Other upgrade requests are ignored. */
  readonly upgrades?: readonly UpgradeMount[]
  /** Answers that continue until their client leaves; they are ended when the server is about to close. */
  readonly endless?: readonly { end(): void }[]
}

export interface HttpServer extends AsyncDisposable {
  /** Connections that are open. */
  connections(): number
  /** The metrics, for a listener of their own. */
  scrape: Metrics['scrape']
  /** Port 0 takes a free one, which the result contains. */
  listen(where: ListenAddress): Promise<ListenPorts>
  /** Stops accepting, lets running requests end, then cuts what is left. */
  close(how: { readonly drainSeconds: number }): Promise<void>
}

interface ListenAddress {
  readonly host: string
  readonly port: number
  /** The port of https, where there is a certificate. */
  readonly securePort?: number
}

interface ListenPorts {
  readonly port: number
  readonly securePort?: number
}

const sweepMilliseconds = 1_000

export function createHttpServer(deps: HttpServerOptions): HttpServer {
  let draining = false
  const edge = createEdge(deps, () => draining)
  const upgradeOf = ({ url = '' }: IncomingMessage): UpgradeMount | undefined =>
    deps.upgrades?.find(({ prefix }) => url.startsWith(prefix))
  // Behind answers that wait, another protocol would overtake them: such a request is one like any other.
  const server = createListener(
    deps.limits,
    (request) => upgradeOf(request) !== undefined && connections.isIdle(request.socket),
  )
  const secure =
    deps.certificates === undefined ? undefined : createSecureListener(server, deps.certificates)
  const ports: Listening[] = []
  const { connectionsMax } = deps.limits
  const sizes = { ...deps.limits, ...fittingConnections(connectionsMax, secure !== undefined) }
  const connections = trackConnections(server, sizes, deps.isProxy, secure)

  function enter(
    request: IncomingMessage,
    response: ServerResponse,
    endpoint: Endpoint,
    params?: PathParameters,
  ): void {
    const exchange = createExchange(request, response, {
      endpoint,
      startedAt: edge.ticks(),
      params,
    })
    edge.running.add(exchange)
    // `answerErrors` catches everything the pipeline throws; only a fault of the log could escape it.
    void answerErrors(exchange, edge, runPipeline)
  }

  edge.heap?.onFull(() => {
    connections.cutHalf()
    giveUpLast(edge)
  })

  // The plane explains what is wrong with a path that cannot be decoded, after authentication.
  const router = createRouter((request, response) =>
    enter(request, response, request.method === 'OPTIONS' ? options : unlocated),
  )
  const readiness = async (): Promise<readonly Check[]> => [
    { name: 'accepting', ok: !draining, ...(draining ? { reason: 'shutting down' } : {}) },
    ...(await deps.readiness()),
  ]
  const throttled = anonymouslyThrottled(deps, edge)
  const raw = (handle: RawHandler): RawHandler => bounded(handle, deps.addressOf, edge)
  const mounts = (deps.mounts ?? []).map(({ handle, ...mount }) => ({
    ...mount,
    handle: raw(mount.isThrottled === true ? throttled(handle) : handle),
  }))
  addRoutes(router, { ...deps, oauth: raw(throttled(deps.oauth)), mounts, readiness }, enter)
  if (edge.isClockMoved) {
    server.on('request', (_, response) => {
      response.setHeader('Date', new Date(edge.clock.now()).toUTCString())
    })
  }
  function arrive(request: IncomingMessage, response: ServerResponse): void {
    if (!request.socket.destroyed) router.route(request, response)
  }
  const turnOf = createArrivalTurns({
    ...deps,
    after: (milliseconds, run) => setTimeout(run, milliseconds).unref(),
  })
  server.on('request', (request, response) => {
    // Requests that were sent in one piece come one after the other, also when their connection was ended.
    if (request.socket.destroyed) return
    if (edge.heap?.isFull() === true && !probes.has(request.url)) {
      refuseFull(request, response, edge)
      return
    }
    const turn = turnOf(request)
    if (turn === undefined) arrive(request, response)
    else void turn.then(() => arrive(request, response))
  })

  // Only requests that `shouldUpgradeCallback` accepted come here.
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    connections.release(socket)
    // An upgraded connection may be silent for longer than a request may take.
    socket.setTimeout(0)
    socket.setNoDelay(true)
    upgradeOf(request)?.accept(request, socket, head)
  })

  const sweep = setInterval(() => {
    refuseLate(edge)
    edge.slowReaders.sweep()
    edge.largeBodies.sweep()
  }, sweepMilliseconds)
  sweep.unref()

  async function close({ drainSeconds }: { readonly drainSeconds: number }): Promise<void> {
    draining = true
    for (const one of [...(deps.upgrades ?? []), ...(deps.endless ?? [])]) one.end()
    const closed = Promise.all(ports.map((port) => port.close()))
    if (ports.length > 0) await connections.drain(drainSeconds, closed)
    clearInterval(sweep)
    // Nothing listens any more: this stops the timers of `node:http`.
    server.close()
  }

  return {
    connections: () => connections.count(),
    scrape: () => edge.metrics.scrape(),
    async listen({ host, port, securePort }) {
      const plain = await listen(server, { host, port })
      ports.push(plain)
      if (secure === undefined || securePort === undefined) return { port: plain.port }
      const encrypted = await listen(secure, { host, port: securePort })
      ports.push(encrypted)
      return { port: plain.port, securePort: encrypted.port }
    },
    close,
    [Symbol.asyncDispose]: () => close({ drainSeconds: 0 }),
  }
}

function createEdge(deps: HttpServerOptions, isDraining: () => boolean): Edge {
  const running = new Set<Exchange>()
  const rooms = roomsOf(deps.limits)
  return {
    ...deps,
    throttle: deps.throttle === false ? unthrottled : createThrottle(deps.throttle),
    routingStamp: createRoutingStamp(),
    metrics: createMetrics([
      {
        name: 'armature_http_requests_running',
        type: 'gauge',
        help: 'Requests under way',
        values: () => [{ value: running.size }],
      },
      ...(deps.metricSources ?? []),
    ]),
    refuseAnonymous:
      deps.throttle === false ? () => undefined : createRefusals(deps.throttle, deps.addressOf),
    running,
    spareBodies: [],
    ...rooms,
    largeBodies: createLargeBodies(rooms.largeBodyRoom, deps.ticks),
    slowReaders: createSlowReaders(deps.limits, deps.ticks, (reason) =>
      deps.log.info({ reason }, 'cut a connection'),
    ),
    isDraining,
  }
}

/** Probes are answered whatever else is not. */
const probes: ReadonlySet<string | undefined> = new Set(['/healthz', '/readyz', '/metrics'])

function memoryFull(): ApiError {
  return refuse.ServiceUnavailable(
    { reason: 'its memory is nearly full' },
    { headers: { 'Retry-After': '5' } },
  )
}

function refuseFull(request: IncomingMessage, response: ServerResponse, edge: Edge): void {
  // Each of its chunks would be kept until the answer is made.
  if (request.headers['transfer-encoding'] !== undefined) request.destroy()
  const exchange = createExchange(request, response, {
    endpoint: unlocated,
    startedAt: edge.ticks(),
  })
  fail(exchange, edge, memoryFull())
}

/** Of the requests under way those that came last are refused, and their work is aborted. */
function giveUpLast(edge: Edge): void {
  const all = [...edge.running].filter(({ answered }) => !answered)
  const last = all.slice(all.length / 2)
  edge.log.warn({ requests: last.length }, 'the memory is nearly full, so requests are given up')
  for (const exchange of last) giveUp(exchange, edge, memoryFull())
}

/** Bodies above `bodyBytesMax` at once; each may take `businessBodyBytesMax` of the disk. */
const largeBodiesAtOnceMax = 2

/**
 * In characters, as they weigh; an object that is kept as a table takes eight bytes for each, so in a small heap there are fewer.
 * The last part is for callers of whom no such body is there.
 */
function objectSizes(): Parameters<typeof createRoom>[0] {
  const sumMax = Math.min(32 * 1024 * 1024, ownMemory().heapBytes / 32)
  return { perOwnerMax: Math.min(4 * 1024 * 1024, sumMax / 4), sumMax, spare: sumMax / 4 }
}

/** Characters of large resources of one principal at once; each takes some times as many bytes. */
const textsMax = 8 * 1024 * 1024

function roomsOf(
  limits: Limits,
): Pick<
  Edge,
  'bodyRoom' | 'objectRoom' | 'largeBodyRoom' | 'answerRoom' | 'unreadRoom' | 'textRoom'
> {
  return {
    bodyRoom: createRoom({
      perOwnerMax: limits.bodyBytesAtOncePerPrincipalMax,
      sumMax: limits.bodyBytesAtOnceMax,
    }),
    objectRoom: createRoom(objectSizes()),
    largeBodyRoom: createRoom({ perOwnerMax: 1, sumMax: largeBodiesAtOnceMax }),
    answerRoom: createRoom({
      perOwnerMax: limits.answersAtOncePerPrincipalMax,
      sumMax: limits.answersAtOnceMax,
      // For callers of whom no answer is made: those of others may take long.
      spare: Math.floor(limits.answersAtOnceMax / 4),
    }),
    // No bound for all callers together: slow readers would make everybody wait. Unread bytes are bounded elsewhere.
    unreadRoom: createRoom({
      perOwnerMax: limits.answersAtOncePerPrincipalMax,
      sumMax: Number.POSITIVE_INFINITY,
    }),
    textRoom: createRoom({ perOwnerMax: textsMax, sumMax: Number.POSITIVE_INFINITY }),
  }
}

/** Callers of the sign-in have no token yet, so they are counted by address. */
function anonymouslyThrottled(
  { throttle, addressOf }: HttpServerOptions,
  { clock }: Edge,
): (handle: RawHandler) => RawHandler {
  if (throttle === false) return (handle) => handle
  const refuseAnonymous = createAnonymousThrottle(throttle, addressOf)
  return (handle) => (request, response) => {
    if (refuseAnonymous(request, response, clock.now()) === undefined) handle(request, response)
  }
}

/** Answers requests that have taken too long (facts 9.1) and aborts their work. */
function refuseLate(edge: Edge): void {
  const seconds = edge.limits.requestSeconds
  const latest = edge.ticks() - seconds * 1000
  for (const exchange of edge.running) {
    // Requests are in order of arrival, so the first one in time ends the search.
    if (exchange.startedAt > latest) return
    // A stream may continue for as long as its reader wants.
    if (exchange.answered) continue
    giveUp(exchange, edge, edgeErrors.refuse.GatewayTimeout({ seconds }))
  }
}

/** What was committed by then stands. */
function giveUp(exchange: Exchange, edge: Edge, refusal: ApiError): void {
  fail(exchange, edge, refusal)
  exchange.deadline?.abort()
}
