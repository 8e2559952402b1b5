/**
 * Answers that wait for a client to read them. Each has a deadline that depends on its size, and the waiting bytes
 * are bounded, per address and in sum; past a bound the connection is cut. An answer that the system accepted
 * completely costs one comparison.
 */

import type { ServerResponse } from 'node:http'

interface SlowReaderLimits {
  /** The time without any progress, and the minimum time for every answer. */
  readonly writeSeconds: number
  /** The rate in bytes per second below which a large answer counts as late. */
  readonly writeBytesPerSecondMin: number
  readonly unreadBytesMax: number
  readonly unreadBytesPerAddressMax: number
}

export interface SlowReaders {
  /** Called when the whole of an answer was written. */
  note(response: ServerResponse, addressOf: () => string): void
  /** Follows an answer that is built while it is read; returns a function that stops watching. */
  follow(response: ServerResponse): () => void
  /** Cuts late answers. */
  sweep(): void
  /** The answers and bytes that wait. */
  waiting(): { readonly answers: number; readonly bytes: number }
}

interface Waiting {
  readonly address: string
  readonly lateAt: number
  bytes: number
}

interface Progress {
  /** Bytes sent on the connection at the last progress. */
  bytes: number
  at: number
}

export function createSlowReaders(
  limits: SlowReaderLimits,
  now: () => number,
  cut: (reason: string) => void,
): SlowReaders {
  const all = new Map<ServerResponse, Waiting>()
  const followed = new Map<ServerResponse, Progress>()

  function end(response: ServerResponse, reason: string): void {
    all.delete(response)
    // Before its turn, a pipelined answer has no connection; its request has.
    const { socket } = response.req
    if (socket.destroyed) return
    cut(reason)
    socket.destroy()
  }

  /** An upper bound of the bytes in `all`: bytes read meanwhile are counted until each answer is checked again. */
  let total = 0
  let byAddress = new Map<string, number>()

  function add(address: string, bytes: number): number {
    total += bytes
    const sum = (byAddress.get(address) ?? 0) + bytes
    byAddress.set(address, sum)
    return sum
  }

  /** Counts what is really left by checking each answer. */
  function recount(): void {
    total = 0
    byAddress = new Map()
    for (const [response, waiting] of all) {
      waiting.bytes = response.req.socket.destroyed ? 0 : response.writableLength
      if (waiting.bytes === 0) all.delete(response)
      else add(waiting.address, waiting.bytes)
    }
  }

  function largest(): ServerResponse | undefined {
    let found: ServerResponse | undefined
    let most = -1
    for (const [response, { bytes }] of all) {
      if (bytes <= most) continue
      most = bytes
      found = response
    }
    return found
  }

  return {
    note(response, addressOf) {
      const bytes = response.writableLength
      if (bytes === 0) return
      const { socket } = response.req
      const seconds = limits.writeSeconds + bytes / limits.writeBytesPerSecondMin
      const address = addressOf()
      all.set(response, { address, bytes, lateAt: now() + seconds * 1000 })
      // Node cuts the connection when nothing is sent for that long, and restores the timeout after the answer.
      socket.setTimeout(limits.writeSeconds * 1000)
      const { unreadBytesPerAddressMax, unreadBytesMax } = limits
      if (add(address, bytes) <= unreadBytesPerAddressMax && total <= unreadBytesMax) return
      recount()
      if ((byAddress.get(address) ?? 0) > unreadBytesPerAddressMax) {
        end(response, 'too much waits to be read by one address')
        recount()
      }
      for (let over = largest(); over !== undefined && total > unreadBytesMax; over = largest()) {
        end(over, 'too much waits to be read')
        recount()
      }
    },
    follow(response) {
      followed.set(response, { bytes: 0, at: now() })
      return () => followed.delete(response)
    },
    sweep() {
      const time = now()
      for (const [response, progress] of followed) {
        const { bytesWritten } = response.req.socket
        // Time counts only while the client has no room for more output.
        if (!response.writableNeedDrain || bytesWritten !== progress.bytes) {
          progress.bytes = bytesWritten
          progress.at = time
        } else if (time - progress.at >= limits.writeSeconds * 1000) {
          followed.delete(response)
          end(response, 'a stream was not read')
        }
      }
      if (all.size === 0) return
      recount()
      for (const [response, { lateAt }] of all) {
        if (time >= lateAt) end(response, 'an answer was read too slowly')
      }
    },
    waiting: () => ({ answers: all.size, bytes: total }),
  }
}
