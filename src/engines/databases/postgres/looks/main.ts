/**
 * A process that looks at servers that callers name: the driver, the TLS handshakes and the comparison of structures run in
 * its loop, and in no other. It asks its parent where it may connect to, keeps nothing, and ends with its parent.
 */

import { flushCompileCache } from 'node:module'
import * as tls from 'node:tls'
import { restAfterSteps } from '#outbound/bounded-handshake.ts'
import type { Destination } from '#outbound/outbound.ts'
import { type Decision, wayOfParent } from '#outbound/way-of-parent.ts'
import { DatabaseEngineError } from '../../engine.ts'
import { LookRoom } from '../guarded-connection.ts'
import { beatMilliseconds, type FromLooks, type LookOutcome, type ToLooks } from './messages.ts'
import { perform } from './perform.ts'

/** Of what servers send, in MiB; with what is made of it, it is a multiple of this. */
const [roomMegabytes = 0, residentMegabytes = 0] = process.argv.slice(2).map(Number)
const room = new LookRoom(roomMegabytes * 2 ** 20)

/** Handshakes leave two thirds of the time to what else is looked at. */
restAfterSteps(2)

const underWay = new Map<number, AbortController>()
const deciding = new Map<number, (decision: Decision) => void>()
let decisions = 0
let beats: NodeJS.Timeout | undefined

function say(message: FromLooks): void {
  // A parent that is gone receives nothing; the disconnect event ends this process.
  process.send?.(message, undefined, undefined, () => undefined)
}

const outbound = wayOfParent({
  decide: (destination: Destination) =>
    new Promise((resolve) => {
      const id = ++decisions
      deciding.set(id, resolve)
      say({ kind: 'decide', id, destination })
    }),
  failed: (destination, reason) => say({ kind: 'failed', destination, reason }),
})

function beat(): void {
  // What sockets hold is outside of the heap, which has a bound of its own. The parent sees that this process is lost.
  if (process.memoryUsage.rss() > residentMegabytes * 2 ** 20) end()
  say({ kind: 'beat' })
}

async function look({ id, now, call }: Extract<ToLooks, { kind: 'call' }>): Promise<void> {
  const cancel = new AbortController()
  const ahead = now - Date.now()
  underWay.set(id, cancel)
  beats ??= setInterval(beat, beatMilliseconds)
  const { signal } = cancel
  const clock = { now: () => Date.now() + ahead }
  const outcome = await perform(call, { outbound, room, clock, signal }).then(
    (value): LookOutcome => ({ kind: 'done', value }),
    (error: unknown) => outcomeOf(error, signal),
  )
  underWay.delete(id)
  if (underWay.size === 0) {
    clearInterval(beats)
    beats = undefined
  }
  say({ kind: 'ended', id, outcome })
}

function outcomeOf(error: unknown, signal: AbortSignal): LookOutcome {
  if (signal.aborted) return { kind: 'canceled' }
  if (error instanceof DatabaseEngineError) {
    const { kind: failure, message, number } = error
    return { kind: 'failed', failure, message, number }
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { kind: 'fault', message: text }
}

/**
 * With the programs that it started: they are of its process group. Not by `process.exit`, which waits for compiler threads
 * that may be waiting for this one (nodejs/node#54918).
 */
function end(): void {
  process.kill(-process.pid, 'SIGKILL')
}

process.on('message', (message: ToLooks) => {
  switch (message.kind) {
    case 'call':
      void look(message)
      return
    case 'cancel':
      underWay.get(message.id)?.abort()
      return
    case 'decision':
      deciding.get(message.id)?.(message.decision)
      deciding.delete(message.id)
      return
    case 'trust':
      // Versions of Node before 22.19 cannot: they trust those they came with.
      tls.setDefaultCACertificates?.(message.authorities)
      return
  }
})
// A service manager signals every process of a service. The parent ends this one when its own work is done.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
process.on('disconnect', () => {
  // The next one starts from what this one has compiled, where the installation keeps that.
  flushCompileCache()
  end()
})
say({ kind: 'beat' })
