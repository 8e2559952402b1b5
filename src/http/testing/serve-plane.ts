/** The edge over any plane, on a free port, with its owner as every caller: for tests that are about what is behind. */

import { randomBytes, randomUUID } from 'node:crypto'
import { refuse } from '#kernel/error.ts'
import { defaultLimits } from '#kernel/limits.ts'
import { silentLog } from '#kernel/ports.ts'
import { contractWords } from '#kernel/vendor.ts'
import { owner } from '#plane/testing/start.ts'
import { createAddressOf } from '../client-address.ts'
import { createHttpServer, type HttpServerOptions } from '../server.ts'
import { constantPermissions } from './permissions.ts'

interface ServedPlane extends AsyncDisposable {
  readonly url: string
}

export async function servePlane(
  plane: HttpServerOptions['plane'],
  given: Partial<HttpServerOptions> = {},
): Promise<ServedPlane> {
  let url = ''
  const server = createHttpServer({
    addressOf: createAddressOf([]),
    isProxy: () => false,
    publishesMetrics: true,
    callerOf: (header) => header,
    expiryOf: () => Number.POSITIVE_INFINITY,
    permissions: constantPermissions(),
    activity: { note: () => undefined },
    plane,
    authenticate: () => owner,
    authorizeAction: () => {},
    oauth: () => {
      throw refuse.NotFound({ path: '/' })
    },
    directoryRoutes: [],
    clock: { now: () => Date.now() },
    ids: { uuid: randomUUID, secret: (bytes) => randomBytes(bytes).toString('base64url') },
    ticks: () => performance.now(),
    log: silentLog,
    logRequests: 'off',
    limits: defaultLimits,
    throttle: false,
    words: contractWords,
    region: 'LOCAL',
    publicUrlOf: () => url,
    corsOrigins: [],
    strictTransport: false,
    readiness: async () => [],
    ...given,
  })
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
  url = `http://127.0.0.1:${port}`
  return {
    url,
    [Symbol.asyncDispose]: () => server.close({ drainSeconds: 1 }),
  }
}
