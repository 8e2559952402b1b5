/**
 * Tells what changed, as server-sent events, so that nobody has to ask for what stays as it is. Once a second, and only
 * while somebody listens, it reads the records that the audit trail has more, from the store that all replicas share; each
 * listener is told the ids of those that it may read at that moment, and nothing else of them. A hint: whoever misses one
 * asks again. Work in the background that leaves no record is not told.
 */

import { Readable } from 'node:stream'
import type { TrailTail } from '#activity/tail.ts'
import { refuse } from '#kernel/error.ts'
import type { Log } from '#kernel/ports.ts'
import type { Principal } from '#kernel/principal.ts'
import { nextTurn } from '#plane/next-turn.ts'
import type { DirectoryRoute } from './directory.ts'

interface ChangeStreamDependencies {
  readonly tail: TrailTail
  /** May the principal read what has this key, now? */
  mayRead(principal: Principal, key: string): boolean | Promise<boolean>
  readonly log: Log
  readonly everyMilliseconds?: number
}

interface ChangeStream {
  readonly route: DirectoryRoute
  /** The server is about to close: streams end, and no new ones begin. */
  end(): void
}

const defaultEveryMilliseconds = 1_000
/** Looks between two signs of life. */
const aliveEvery = 15
const perPrincipalMax = 10
const streamsMax = 500
/** Records of one look; behind more, listeners are told that they do not know everything. */
const recordsMax = 500
/** Numbers below the newest that are looked at again, for transactions that committed late. */
const lateNumbers = 200
/** Ids that one listener is told at once. */
const idsMax = 50
/** Bytes that wait for a reader, past which it is told nothing until it has read. */
const unreadBytesMax = 64 * 1024

interface Listener {
  readonly principal: Principal
  readonly out: Readable
  /** It was not told of something. */
  missed: boolean
}

export function createChangeStream(deps: ChangeStreamDependencies): ChangeStream {
  const { tail, mayRead, log, everyMilliseconds = defaultEveryMilliseconds } = deps
  const listeners = new Set<Listener>()
  let ended = false
  let timer: NodeJS.Timeout | undefined
  let looking = false
  let looks = 0
  /** Where the next look goes on, and the numbers above it that were seen. */
  let from: number | undefined
  let seen = new Set<number>()
  /** The last number that was there. */
  let last = 0
  /** Counted up when nobody listens any more: a look that is under way then leaves nothing behind. */
  let rounds = 0

  function open(principal: Principal): Readable {
    const own = [...listeners].filter((one) => one.principal.id === principal.id).length
    if (ended || own >= perPrincipalMax || listeners.size >= streamsMax) {
      throw refuse.ServiceUnavailable({ reason: 'too many streams of changes are open' })
    }
    const out = new Readable({ read() {} })
    const listener = { principal, out, missed: false }
    listeners.add(listener)
    out.once('close', () => listeners.delete(listener))
    if (timer === undefined) {
      timer = setInterval(tick, everyMilliseconds)
      timer.unref()
      tick()
    } else if (from !== undefined) out.push(ready)
    return out
  }

  function stop(): void {
    clearInterval(timer)
    timer = undefined
    from = undefined
    seen = new Set()
    rounds += 1
  }

  function tick(): void {
    if (listeners.size === 0) {
      stop()
      return
    }
    looks += 1
    if (looks % aliveEvery === 0) for (const { out } of listeners) out.push(': alive\n\n')
    if (looking) return
    looking = true
    look()
      .catch((error: unknown) => {
        log.warn({ err: error }, 'the audit trail cannot be looked at for changes')
        for (const one of listeners) one.missed = true
      })
      .finally(() => {
        looking = false
      })
  }

  async function look(): Promise<void> {
    const round = rounds
    if (from === undefined) {
      const newest = await tail.newest()
      if (round !== rounds) return
      from = last = newest
      for (const { out } of listeners) out.push(ready)
      return
    }
    const rows = await tail.after(from, recordsMax)
    const newest = rows.length === recordsMax || rows.length === 0 ? await tail.newest() : undefined
    if (round !== rounds) return
    const end = newest ?? rows.at(-1)?.number ?? 0
    if (end < last) {
      // A state was brought back whose trail ends earlier: nothing that was told of is as it was.
      from = last = end
      seen = new Set()
      for (const one of listeners) one.missed = true
      await tellAll(listeners, mayRead, [], false)
      return
    }
    last = end
    const fresh = rows.filter(({ number }) => !seen.has(number))
    if (rows.length === recordsMax) {
      from = end
      seen = new Set()
    } else if (fresh.length > 0) {
      const least = Math.max(from, (rows.at(-1)?.number ?? 0) - lateNumbers)
      seen = new Set(rows.map(({ number }) => number).filter((number) => number > least))
      from = least
    }
    const keys = [...new Set(fresh.map(({ key }) => key))]
    const isPart = rows.length === recordsMax
    await tellAll(listeners, mayRead, keys, isPart)
  }

  return {
    route: {
      method: 'GET',
      path: '/_armature/changes',
      action: undefined,
      status: 200,
      // Proxies that gather answers are told not to.
      headers: { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' },
      run: async (_params, _body, _query, { principal }) => open(principal),
    },
    end() {
      ended = true
      for (const { out } of listeners) out.push(null)
    },
  }
}

/** Each right is asked for once, however many streams a principal has, and one principal's in each turn of the loop. */
async function tellAll(
  listeners: ReadonlySet<Listener>,
  mayRead: ChangeStreamDependencies['mayRead'],
  keys: readonly string[],
  isPart: boolean,
): Promise<void> {
  const missed = isPart || keys.length > idsMax
  const candidates = keys.slice(0, idsMax)
  for (const group of Map.groupBy(listeners, ({ principal }) => sameRights(principal)).values()) {
    await nextTurn()
    const [first] = group
    if (first === undefined) continue
    const answers = await Promise.all(candidates.map((key) => mayRead(first.principal, key)))
    const ids = candidates.filter((_, index) => answers[index])
    for (const one of group) tell(one, ids, missed)
  }
}

/** Equal for principals that no decision tells apart. */
function sameRights({ id, issuer, tenantId, clientId, generation, groups }: Principal): string {
  return JSON.stringify([id, issuer, tenantId, clientId, generation, groups])
}

function tell(one: Listener, ids: readonly string[], missed: boolean): void {
  if (missed) one.missed = true
  if (ids.length === 0 && !one.missed) return
  if (one.out.destroyed) return
  if (one.out.readableLength > unreadBytesMax) {
    one.missed = true
    return
  }
  one.out.push(`event: changed\ndata: ${JSON.stringify({ ids, all: one.missed })}\n\n`)
  one.missed = false
}

/** What the listener asks for from here on is not older than what it is told. */
const ready = 'event: ready\ndata: {}\n\n'
