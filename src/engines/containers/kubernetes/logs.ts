/** Streams a container's log, and follows it as a session, without holding more than one read. */

import { failureOfConnection } from '../answer.ts'
import { EngineError, type LogOptions, type Session } from '../engine.ts'
import type { KubernetesClient } from './client.ts'
import { ApiFailure } from './failure.ts'

const doing = 'read the log'

/** Empty for a container that never started. */
export async function* readLogs(
  client: KubernetesClient,
  pod: string,
  container: string,
  options: LogOptions,
): AsyncIterable<Uint8Array> {
  const follow = options.follow === true
  try {
    const response = await client.stream({
      method: 'GET',
      path: client.path('pods', pod, 'log'),
      query: {
        container,
        ...(options.tail === undefined ? {} : { tailLines: String(options.tail) }),
        ...(options.timestamps === true ? { timestamps: 'true' } : {}),
        ...(options.sinceMs === undefined
          ? {}
          : { sinceTime: new Date(options.sinceMs).toISOString() }),
        ...(follow ? { follow: 'true' } : {}),
      },
      doing,
      // A followed part may be silent for days.
      ...(follow ? { silentSeconds: 0 } : {}),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    })
    try {
      // An `IncomingMessage` without an encoding yields buffers.
      for await (const chunk of response) yield chunk as Buffer
    } finally {
      response.destroy()
    }
  } catch (cause) {
    if (options.signal?.aborted === true) return
    // "container … is waiting to start" means that nothing was written yet.
    const nothingYet = cause instanceof ApiFailure && cause.reason === 'BadRequest'
    if (nothingYet && /waiting to start|PodInitializing/.test(cause.message)) return
    throw failureOfConnection(cause, doing)
  }
}

/** The output of a container from now on. The API merges both streams. */
export function attachByLog(
  client: KubernetesClient,
  pod: string,
  container: string,
  exitCode: () => Promise<number | undefined>,
): Session {
  const closed = new AbortController()
  const options = { follow: true, tail: 0, signal: closed.signal }
  return {
    output: (async function* () {
      for await (const bytes of readLogs(client, pod, container, options)) {
        yield { stream: 'out' as const, bytes }
      }
    })(),
    async write() {
      throw new EngineError('refused', 'this session takes no input')
    },
    end() {},
    async resize() {},
    exitCode,
    async [Symbol.asyncDispose]() {
      closed.abort()
    },
  }
}
