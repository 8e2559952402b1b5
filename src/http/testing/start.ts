/** The edge over the plane's own test plane: a real store, a real server on a free port, two callers. */

import { randomBytes, randomUUID } from 'node:crypto'
import { refuse } from '#kernel/error.ts'
import { defaultLimits, type Limits } from '#kernel/limits.ts'
import type { Log } from '#kernel/ports.ts'
import { contractWords, type VendorWords } from '#kernel/vendor.ts'
import { nobody, owner, startPlane, type TestPlane } from '#plane/testing/start.ts'
import { createAddressOf } from '../client-address.ts'
import type { DirectoryRoute } from '../directory.ts'
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../server.ts'
import { defaultThrottle, type ThrottleSettings } from '../throttle.ts'
import { constantPermissions } from './permissions.ts'

interface LogLine {
  readonly level: keyof Log
  readonly fields: object
  readonly message: string
}

export interface TestEdge extends AsyncDisposable {
  readonly server: HttpServer
  readonly plane: TestPlane
  readonly url: string
  readonly port: number
  readonly logged: LogLine[]
  /** The origin that links are made with, until changed. */
  publicUrl: string
  /** With the owner's token unless told otherwise; `api-version` is the caller's business. */
  fetch(path: string, init?: RequestInit & { readonly as?: string | undefined }): Promise<Response>
}

export interface StartOptions {
  readonly limits?: Partial<Limits>
  readonly throttle?: Partial<ThrottleSettings>
  readonly directoryRoutes?: readonly DirectoryRoute[]
  readonly words?: VendorWords
  readonly ticks?: () => number
  readonly options?: Partial<HttpServerOptions>
}

export async function startEdge(start: StartOptions = {}): Promise<TestEdge> {
  const plane = await startPlane({ reconcile: false, limits: start.limits ?? {} })
  const logged: LogLine[] = []
  const note =
    (level: keyof Log) =>
    (fields: object, message: string): void => {
      logged.push({ level, fields, message })
    }
  const server = createHttpServer({
    addressOf: createAddressOf([]),
    isProxy: () => false,
    publishesMetrics: true,
    callerOf: (header) => header,
    expiryOf: () => Number.POSITIVE_INFINITY,
    permissions: constantPermissions(),
    activity: { note: () => undefined },
    plane: plane.plane,
    authenticate: (header) => {
      if (header === undefined) throw refuse.AuthenticationFailed()
      if (header === 'Bearer owner') return owner
      if (header === 'Bearer nobody') return Promise.resolve(nobody)
      throw refuse.InvalidAuthenticationToken({ reason: 'it is neither of the two' })
    },
    authorizeAction: (action, principal) => {
      if (principal.id === owner.id) return
      throw refuse.AuthorizationFailed({
        client: principal.displayName,
        principalId: principal.id,
        action,
        scope: '/',
      })
    },
    oauth: (request, response) => {
      response.setHeader('Content-Type', 'text/plain')
      request.pipe(response)
    },
    directoryRoutes: start.directoryRoutes ?? [],
    clock: plane.clock,
    ids: { uuid: randomUUID, secret: (bytes) => randomBytes(bytes).toString('base64url') },
    ticks: start.ticks ?? (() => performance.now()),
    log: { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') },
    logRequests: 'debug',
    limits: { ...defaultLimits, ...start.limits },
    throttle: { ...defaultThrottle, ownerId: owner.id, ...start.throttle },
    words: start.words ?? contractWords,
    region: 'LOCAL',
    publicUrlOf: () => edge.publicUrl,
    corsOrigins: [],
    strictTransport: start.options?.strictTransport ?? false,
    readiness: async () => [{ name: 'store', ok: true }],
    ...start.options,
  })
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${port}`
  const edge: TestEdge = {
    server,
    plane,
    url,
    port,
    logged,
    publicUrl: url,
    fetch(path, { as = 'owner', ...init } = {}) {
      const headers = new Headers(init.headers)
      if (as !== '') headers.set('Authorization', `Bearer ${as}`)
      return fetch(url + path, { ...init, headers })
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await plane[Symbol.asyncDispose]()
    },
  }
  return edge
}
