/** One attempt of a probe, by a command inside a container or by HTTP to its group. */

import http from 'node:http'
import https from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { requireFinalAnswer } from '#outbound/request.ts'
import { tlsOutward, wordsOf } from '#outbound/tls.ts'
import { EngineError, type Probe, type ProbeOutcome, type Session } from './engine.ts'

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

/** A status from 200 to 399 is healthy. Certificates are not checked: the question is whether it answers. */
export async function probeByHttp(
  address: string,
  probe: Extract<Probe, { kind: 'http' }>,
  timeoutSeconds: number,
): Promise<ProbeOutcome> {
  const { promise, resolve } = Promise.withResolvers<ProbeOutcome>()
  const transport = probe.scheme === 'https' ? https : http
  const path = probe.path.startsWith('/') ? probe.path : `/${probe.path}`
  try {
    const request = transport.request(
      {
        host: address,
        port: probe.port,
        path,
        headers: Object.fromEntries(probe.headers.map(({ name, value }) => [name, value])),
        agent: false,
        ...tlsOutward,
        rejectUnauthorized: false,
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
