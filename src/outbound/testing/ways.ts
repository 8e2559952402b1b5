/** Outbound policies for tests: the real policy, real sockets, and names that resolve as the test says. */

import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Log, silentLog } from '#kernel/ports.ts'
import { type Outbound, openOutbound, type Resolve } from '../outbound.ts'
import { type OutboundSettings, openSettings } from '../policy.ts'

export const openWay: Outbound = openOutbound({ settings: openSettings, log: silentLog })

export interface WatchedWay {
  readonly outbound: Outbound
  /** What was logged for the operator. */
  readonly told: string[]
  /** The names that were resolved, in order. */
  readonly asked: string[]
}

/** `names`: the addresses of each name, one list per lookup; the last list repeats. */
export function watchedWay(
  settings: Partial<OutboundSettings>,
  names: Readonly<Record<string, readonly (readonly string[])[]>> = {},
): WatchedWay {
  const told: string[] = []
  const asked: string[] = []
  const resolve: Resolve = async (name) => {
    const answers = names[name]
    if (answers === undefined) {
      throw Object.assign(new Error(`ENOTFOUND ${name}`), { code: 'ENOTFOUND' })
    }
    const times = asked.filter((one) => one === name).length
    asked.push(name)
    return answers[Math.min(times, answers.length - 1)] ?? []
  }
  const warn: Log['warn'] = (fields, message) => told.push(`${message} ${JSON.stringify(fields)}`)
  const outbound = openOutbound({
    settings: { mode: 'guarded', allow: [], deny: [], ...settings },
    log: { ...silentLog, warn },
    resolve,
  })
  return { outbound, told, asked }
}

export interface LocalServer extends AsyncDisposable {
  readonly port: number
  /** `Host` and path of every request. */
  readonly requests: string[]
}

export async function localServer(answer: RequestListener): Promise<LocalServer> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.headers.host}${request.url}`)
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // The address of a server that listens on a port has this shape.
  const { port } = server.address() as AddressInfo
  return {
    port,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A port that nothing listens on. */
export async function closedPort(): Promise<number> {
  await using server = await localServer(() => undefined)
  return server.port
}
