/**
 * The HTTP server: Fastify's router in front of the pipeline, limits of the sockets, listening and draining.
 * Everything of a request is decided in the pipeline; a request leaves Fastify at `onRequest`, before its
 * body is touched, because permission comes before the body.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { ActivityQueue } from '#activity/queue.ts'
import type { Business } from '#business/service.ts'
import { oauthPaths } from '#identity/rewrite.ts'
import type { Limits } from '#kernel/limits.ts'
import type { Clock, Ids, Log } from '#kernel/ports.ts'
import type { Principal } from '#kernel/principal.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import { createChecker } from '#plane/check.ts'
import type { Plane } from '#plane/plane.ts'
import { createAnonymousThrottle } from './anonymous-throttle.ts'
import { businessEndpoints, noSuchVersion } from './business.ts'
import type { AddressOf } from './client-address.ts'
import { trackConnections } from './connections.ts'
import { type DirectoryRoute, directoryEndpoint, methodRefusal } from './directory.ts'
import { edgeErrors } from './edge-errors.ts'
import { createExchange, type Edge, type Endpoint } from './exchange.ts'
import { answerBrokenRequest, fail, guard } from './failure.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import {
  type Check,
  front,
  healthz,
  metrics,
  nothing,
  openapi,
  options,
  readyz,
} from './open-endpoints.ts'
import type { PermissionWatch } from './permission-watch.ts'
import { walk } from './pipeline.ts'
import { createRoutingStamp } from './respond.ts'
import { createSlowReaders } from './slow-readers.ts'
import { unlocated } from './steps/locate.ts'
import type { UpgradeMount } from './streams.ts'
import { createThrottle, type ThrottleSettings, unthrottled } from './throttle.ts'

/** Answers raw requests: identity's pages, the portal, the business application. Never throws. */
export type RawHandler = (request: IncomingMessage, response: ServerResponse) => void

export interface HttpServerOptions {
  readonly plane: Plane
  /** The caller by the `Authorization` header. Throws the 401 refusals. Synchronous when cached. */
  authenticate(header: string | undefined): Principal | Promise<Principal>
  /** Until when a token that was let in is good; undefined when that is not known. */
  expiryOf(header: string | undefined): number | undefined
  /** Ends streams whose caller has lost the right to them. */
  readonly permissions: PermissionWatch
  /** Identity's own paths, untouched. */
  readonly oauth: RawHandler
  readonly directoryRoutes: readonly DirectoryRoute[]
  /** May the caller do this in the directory? Throws `AuthorizationFailed`. */
  authorizeAction(action: string, principal: Principal): void | Promise<void>
  /** The caller's address, behind the proxies that are trusted. */
  readonly addressOf: AddressOf
  /** Is this the address of a trusted proxy? Its connections are those of many callers. */
  readonly isProxy: (address: string) => boolean
  /** Takes requests that were refused although they came from somebody known. */
  readonly activity: Pick<ActivityQueue, 'note'>
  readonly clock: Clock
  readonly ids: Ids
  /** Milliseconds that only ever grow; durations and deadlines are told by it, not by the clock. */
  ticks(): number
  readonly log: Log
  /** A debug line per request; off spares making it. */
  readonly logRequests: boolean
  readonly limits: Limits
  /** `false`: no counting at all. */
  readonly throttle: ThrottleSettings | false
  readonly words: VendorWords
  /** First part of `x-ms-routing-request-id`. */
  readonly region: string
  /** Origin for absolute links, without a slash at its end. Asked per request: the port may be late. */
  publicUrl(): string
  readiness(): Promise<readonly Check[]>
  /** Anyone who reaches the server may read `/metrics`. */
  readonly publishesMetrics: boolean
  /** A document as JSON text, by its path below `/openapi/`. Asked without a token: it must cost nothing. */
  openapi?(path: string): string | undefined
  /** The business application, at `/api/v2.0` and `/api/v1.0`. */
  readonly business?: Business
  /** Areas with a voice of their own, by path prefix (`/portal`, `/bc`): they get the raw request. */
  readonly mounts?: readonly { readonly prefix: string; readonly handle: RawHandler }[]
  /** Connections that become something else (web sockets). Asked for elsewhere, an upgrade is not made. */
  readonly upgrades?: readonly UpgradeMount[]
}

export interface HttpServer extends AsyncDisposable {
  readonly app: FastifyInstance
  /** The metrics, for a listener of their own. */
  scrape: Metrics['scrape']
  /** Port 0 picks one; the answer has it. */
  listen(where: { readonly host: string; readonly port: number }): Promise<{ readonly url: string }>
  /** Stops accepting, lets running requests end, then cuts what is left. */
  close(how: { readonly drainSeconds: number }): Promise<void>
}

/** Facts of sockets, not of the contract: time for a request's head, and for an idle connection. */
const headersTimeoutMilliseconds = 15_000
const keepAliveMilliseconds = 72_000
const sweepMilliseconds = 1_000

export function createHttpServer(given: HttpServerOptions): HttpServer {
  let draining = false
  const running: Edge['running'] = new Set()
  const edge: Edge = {
    plane: given.plane,
    authenticate: (header) => given.authenticate(header),
    expiryOf: (header) => given.expiryOf(header),
    permissions: given.permissions,
    authorizeAction: (action, principal) => given.authorizeAction(action, principal),
    addressOf: given.addressOf,
    activity: given.activity,
    clock: given.clock,
    ids: given.ids,
    ticks: () => given.ticks(),
    log: given.log,
    logRequests: given.logRequests,
    limits: given.limits,
    throttle: given.throttle === false ? unthrottled : createThrottle(given.throttle),
    words: given.words,
    region: given.region,
    routingStamp: createRoutingStamp(),
    publicUrl: () => given.publicUrl(),
    metrics: createMetrics(() => running.size),
    running,
    slowReaders: createSlowReaders(given.limits, given.ticks, (reason) =>
      given.log.info({ reason }, 'cut a connection'),
    ),
    isDraining: () => draining,
  }
  const upgradeOf = ({ url = '' }: IncomingMessage): UpgradeMount | undefined =>
    given.upgrades?.find(({ prefix }) => url.startsWith(prefix))
  const app = createApp(
    given.limits,
    (request) => upgradeOf(request) !== undefined,
    (request, reply) => enterPlane(request.raw, reply),
  )
  function enter(
    request: IncomingMessage,
    reply: FastifyReply,
    endpoint: Endpoint,
    params?: Readonly<Record<string, string>>,
  ): void {
    reply.hijack()
    const { socket } = request
    if (socket.destroyed) return
    // Answers wait for those before them: a connection may not pile up more.
    if (connections.running(socket) > edge.limits.requestsPerConnectionMax) {
      socket.destroy()
      return
    }
    const wanted = request.method === 'OPTIONS' ? options : endpoint
    const exchange = createExchange(request, reply.raw, wanted, edge.ticks(), params)
    running.add(exchange)
    // `guard` catches whatever the walk throws; what it could throw itself would be a fault of the log.
    void guard(exchange, edge, walk)
  }

  function enterPlane(request: IncomingMessage, reply: FastifyReply): void {
    enter(request, reply, unlocated)
  }

  function mount(path: string, byMethod: ReadonlyMap<string, Endpoint>, other: Endpoint): void {
    route(app, path, (request, reply) => {
      // Parameters of the router are strings, since none of its paths repeats one.
      const params = request.params as Readonly<Record<string, string>>
      enter(request.raw, reply, byMethod.get(request.method) ?? other, params)
    })
  }

  function mountRaw(path: string, handle: RawHandler): void {
    route(app, path, (request, reply) => {
      reply.hijack()
      if (request.raw.headers.expect !== undefined) reply.raw.writeContinue()
      handle(request.raw, reply.raw)
    })
  }

  const refuseAnonymous =
    given.throttle === false ? undefined : createAnonymousThrottle(given.throttle, given.addressOf)
  const oauth: RawHandler = (request, response) => {
    if (refuseAnonymous?.(request, response, edge.clock.now()) === undefined) {
      given.oauth(request, response)
    }
  }
  for (const path of oauthPaths) mountRaw(path, oauth)
  for (const { prefix, handle } of given.mounts ?? []) {
    mountRaw(prefix, handle)
    mountRaw(`${prefix}/*`, handle)
  }
  for (const [path, byMethod] of directoryTable(given.directoryRoutes)) {
    mount(path, byMethod, methodRefusal('directory', [...byMethod.keys()]))
  }
  if (given.business !== undefined) {
    for (const version of ['v2.0', 'v1.0'] as const) {
      const { byMethod, other } = businessEndpoints(given.business, version)
      for (const path of [`/api/${version}`, `/api/${version}/*`]) mount(path, byMethod, other)
    }
    for (const path of ['/api', '/api/*']) mount(path, new Map(), noSuchVersion)
  }
  mount('/directory', new Map(), nothing('directory'))
  mount('/directory/*', new Map(), nothing('directory'))
  const readiness = async (): Promise<readonly Check[]> => [
    { name: 'accepting', ok: !draining, ...(draining ? { reason: 'shutting down' } : {}) },
    ...(await given.readiness()),
  ]
  const documents = openapi((path) => given.openapi?.(path))
  for (const [path, endpoint] of [
    ['/', front],
    ['/healthz', healthz],
    ['/readyz', readyz(readiness)],
    ['/metrics', given.publishesMetrics ? metrics : nothing('open')],
    ['/openapi', documents],
    ['/openapi/*', documents],
  ] as const) {
    mount(path, readable(endpoint), methodRefusal('open', ['GET', 'HEAD']))
  }
  route(app, '/*', (request, reply) => enterPlane(request.raw, reply))

  const { server } = app
  const connections = trackConnections(server, given.limits, given.isProxy)
  // The client is told to go on by `read-body`, when it is allowed to; anything else expected is refused.
  server.on('checkContinue', (request, response) => server.emit('request', request, response))
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))

  // Only those that `shouldUpgradeCallback` let through come here.
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    connections.release(socket)
    // The times of requests do not bind what may be still for long.
    socket.setTimeout(0)
    socket.setNoDelay(true)
    upgradeOf(request)?.accept(request, socket, head)
  })

  const sweep = setInterval(() => {
    refuseLate(edge)
    edge.slowReaders.sweep()
  }, sweepMilliseconds)
  sweep.unref()

  async function close({ drainSeconds }: { readonly drainSeconds: number }): Promise<void> {
    draining = true
    for (const mount of given.upgrades ?? []) mount.end()
    if (server.listening) await connections.drain(drainSeconds)
    clearInterval(sweep)
    await app.close()
  }

  return {
    app,
    scrape: () => edge.metrics.scrape(),
    async listen({ host, port }) {
      const url = await app.listen({ host, port })
      return { url }
    },
    close,
    [Symbol.asyncDispose]: () => close({ drainSeconds: 0 }),
  }
}

type Enter = (request: FastifyRequest, reply: FastifyReply) => void

function createApp(
  limits: Limits,
  upgrades: (request: IncomingMessage) => boolean,
  misrouted: Enter,
): FastifyInstance {
  const app = fastify({
    logger: false,
    bodyLimit: limits.bodyBytesMax,
    requestTimeout: limits.requestSeconds * 1000,
    keepAliveTimeout: keepAliveMilliseconds,
    // While draining, requests of open connections are still served, with `Connection: close`.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    http: {
      maxHeaderSize: limits.headerBytesMax,
      headersTimeout: headersTimeoutMilliseconds,
      connectionsCheckingInterval: 5_000,
      // Asked for in `correlate`, whose refusal has a body in the right family.
      requireHostHeader: false,
      optimizeEmptyRequests: true,
      shouldUpgradeCallback: upgrades,
    },
    routerOptions: {
      maxParamLength: 1_000,
      // The pipeline reads the query itself.
      querystringParser: () => ({}),
    },
    clientErrorHandler: answerBrokenRequest,
    // A path the router cannot decode: the plane says what is wrong with it, after asking who calls.
    frameworkErrors: (_, request, reply) => misrouted(request, reply),
  })
  // Methods the router does not know end up here; the pipeline refuses them in its own order.
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) misrouted(request, reply)
    else done()
  })
  return app
}

/** Every method of a path, taken over at `onRequest`: Fastify neither reads the body nor answers. */
function route(app: FastifyInstance, url: string, enter: Enter): void {
  app.route({
    method: app.supportedMethods,
    url,
    onRequest: (request, reply, _done) => enter(request, reply),
    handler: () => {
      throw new Error('a hijacked request reached a handler')
    },
  })
}

function directoryTable(
  routes: readonly DirectoryRoute[],
): ReadonlyMap<string, Map<string, Endpoint>> {
  const checker = createChecker()
  const table = new Map<string, Map<string, Endpoint>>()
  for (const one of routes) {
    if (!one.path.startsWith('/directory/')) throw new Error(`${one.path} is not in the directory`)
    const path = one.path.replace(/\{(\w+)\}/g, ':$1')
    const byMethod = table.get(path) ?? new Map<string, Endpoint>()
    byMethod.set(one.method, directoryEndpoint(one, checker))
    table.set(path, byMethod)
  }
  return table
}

function readable(endpoint: Endpoint): ReadonlyMap<string, Endpoint> {
  return new Map([
    ['GET', endpoint],
    ['HEAD', endpoint],
  ])
}

/** Answers what has taken too long (facts 9.1). The work goes on; its outcome is dropped. */
function refuseLate(edge: Edge): void {
  const seconds = edge.limits.requestSeconds
  const latest = edge.ticks() - seconds * 1000
  for (const exchange of edge.running) {
    // In order of arrival, so the first that is in time ends the search.
    if (exchange.startedAt > latest) return
    // A stream may go on for as long as its reader wants it.
    if (exchange.answered) continue
    fail(exchange, edge, edgeErrors.refuse.GatewayTimeout({ seconds }))
  }
}
