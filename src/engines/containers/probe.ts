/** One attempt of a probe, by a command inside a container or by HTTP to its group. */

import http from 'node:http'
import https from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { plainConnection } from '#outbound/agents.ts'
import { requireFinalAnswer } from '#outbound/request.ts'
import { wordsOf } from '#outbound/tls.ts'
import type { SecureTarget } from '#outbound/tls-thread/messages.ts'
import { SecureConnections } from '#outbound/tls-thread/secure-connection.ts'
import { EngineError, type Probe, type ProbeOutcome, type Session } from './engine.ts'

type HttpProbe = Extract<Probe, { kind: 'http' }>

export async function probeByExec(
  run: () => Promise<Session>,
  timeoutSeconds: number,
): Promise<ProbeOutcome> {
  const cancel = new AbortController()
  try {
    const late = sleep(timeoutSeconds * 1000, 'late' as const, { signal: cancel.signal })
    late.catch(() => {})
    const session = await run()
    await using _ = session
    const code = await Promise.race([drained(session), late])
    return code === 'late'
      ? { healthy: false, message: `the command did not end within ${timeoutSeconds} s` }
      : { healthy: code === 0, message: `the command ended with code ${code}` }
  } catch (error) {
    // A command that cannot run, or a container that ended meanwhile, is unhealthy.
    if (!(error instanceof EngineError) || error.kind === 'unavailable') throw error
    return { healthy: false, message: error.message }
  } finally {
    cancel.abort()
  }
}

async function drained(session: Session): Promise<number | undefined> {
  for await (const _ of session.output);
  return await session.exitCode()
}

/** Not those of other calls: what containers do to a thread of TLS is done to probes alone. */
const connections = new SecureConnections()

function targetOf(address: string, { port, headers }: HttpProbe): SecureTarget {
  const named = headers.find(({ name }) => name.toLowerCase() === 'host')?.value
  const name = URL.parse(`https://${named}`)?.hostname ?? address
  // Whoever writes a probe chooses the name.
  return { host: address, port, addresses: [address], name, isChecked: false, owner: address }
}

/** A status from 200 to 399 is healthy. Certificates are not checked: the question is whether it answers. */
export async function probeByHttp(
  address: string,
  probe: HttpProbe,
  timeoutSeconds: number,
): Promise<ProbeOutcome> {
  const { promise, resolve } = Promise.withResolvers<ProbeOutcome>()
  const isSecure = probe.scheme === 'https'
  const transport = isSecure ? https : http
  const path = probe.path.startsWith('/') ? probe.path : `/${probe.path}`
  try {
    const request = transport.request(
      {
        host: address,
        port: probe.port,
        path,
        headers: Object.fromEntries(probe.headers.map(({ name, value }) => [name, value])),
        createConnection: () =>
          isSecure
            ? connections.open(targetOf(address, probe))
            : plainConnection({ host: address, port: probe.port }, address),
        signal: AbortSignal.timeout(timeoutSeconds * 1000),
      },
      (response) => {
        const status = response.statusCode ?? 0
        response.destroy()
        const healthy = status >= 200 && status < 400
        resolve({ healthy, message: `HTTP probe answered with status ${status}` })
      },
    )
    request.on('error', (error) => {
      resolve({ healthy: false, message: `HTTP probe failed: ${wordsOf(error)}` })
    })
    // A probe that never ended would keep its place from the probes of others.
    request.on('close', () => {
      resolve({ healthy: false, message: 'HTTP probe failed: the connection ended' })
    })
    requireFinalAnswer(request)
    request.end()
  } catch (error) {
    // The client refuses headers or a path that HTTP cannot carry before it connects.
    return { healthy: false, message: `HTTP probe failed: ${String(error)}` }
  }
  return await promise
}
