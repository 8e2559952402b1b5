/** Streams a container's log, both streams in the order written, without holding more than one read. */

import { failureOfConnection } from '../answer.ts'
import type { LogOptions } from '../engine.ts'
import type { DockerClient } from './client.ts'
import { splitFrames } from './frames.ts'

export async function* readLogs(
  client: DockerClient,
  container: string,
  options: LogOptions,
): AsyncIterable<Uint8Array> {
  const doing = 'read the log'
  const response = await client.stream({
    kind: 'stream',
    method: 'GET',
    path: `/containers/${container}/logs`,
    query: {
      stdout: '1',
      stderr: '1',
      ...(options.tail === undefined ? {} : { tail: String(options.tail) }),
      ...(options.timestamps === true ? { timestamps: '1' } : {}),
      ...(options.sinceMs === undefined ? {} : { since: String(options.sinceMs / 1000) }),
      ...(options.follow === true ? { follow: '1' } : {}),
    },
    doing,
    // A followed part may be silent for days.
    ...(options.follow === true ? { silentSeconds: 0 } : {}),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  })
  try {
    for await (const chunk of splitFrames(response)) yield chunk.bytes
  } catch (cause) {
    if (options.signal?.aborted === true) return
    throw failureOfConnection(cause, doing)
  } finally {
    response.destroy()
  }
}
