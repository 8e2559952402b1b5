/**
 * Reports changes as server-sent events, so that clients need not poll. Once a second, and only while somebody
 * listens, it reads new records of the audit trail from the store that all replicas share. Each listener gets the ids
 * of those resources that it may read at that moment, and nothing else. An event may be missed: a client that misses
 * one asks again. Background work without a record is not reported.
 */

import { Readable } from 'node:stream'
import type { TrailTail } from '#activity/tail.ts'
import { refuse } from '#kernel/error.ts'
import type { Log } from '#kernel/ports.ts'
import type { Principal } from '#kernel/principal.ts'
import { forEverybody } from '#plane/behalf-of.ts'
import { freeTurn, nextTurn } from '#plane/next-turn.ts'
import type { DirectoryRoute } from './directory.ts'

interface ChangeStreamDependencies {
  readonly tail: TrailTail
  /** Brings up to date what `mayRead` answers by. */
  refresh(): Promise<unknown> | undefined
  /** Whether the principal may read the resource with this key, by what is known: called for many keys after `refresh`. */
  mayRead(principal: Principal, key: string): boolean | Promise<boolean>
  readonly log: Log
  readonly everyMilliseconds?: number
}

interface ChangeStream {
  readonly route: DirectoryRoute
  /** Called when the server is about to close: streams end, and no new ones begin. */
  end(): void
}

const defaultEveryMilliseconds = 1_000
/** Looks between two keep-alive comments. */
const aliveEvery = 15
const perPrincipalMax = 10
const streamsMax = 500
/** Records read in one look. If there are more, listeners are told that they missed some. */
const recordsMax = 500
/** How far below the newest number the next look begins, for transactions that committed late. */
const lateNumbers = 200
/** Ids in one event. */
const idsMax = 50
/** Unread bytes above which a listener gets no more events until it has read. */
const unreadBytesMax = 64 * 1024

interface Listener {
  readonly principal: Principal
  readonly out: Readable
  /** True when events were left out for it. */
  missed: boolean
}

export function createChangeStream(deps: ChangeStreamDependencies): ChangeStream {
  const { tail, log, everyMilliseconds = defaultEveryMilliseconds } = deps
  const listeners = new Set<Listener>()
  let ended = false
  let timer: NodeJS.Timeout | undefined
  let looking = false
  let looks = 0
  /** Where the next look begins, and the later numbers that were already seen. */
  let from: number | undefined
  let seen = new Set<number>()
  /** The highest number at the last look. */
  let last = 0
  /** Increased when nobody listens any more, so that a running look changes nothing. */
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
      // It looks for all that listen, in nobody's name.
      forEverybody(() => {
        timer = setInterval(tick, everyMilliseconds).unref()
        tick()
      })
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
      // A restored state has a shorter trail: nothing reported before is certain any more.
      from = last = end
      seen = new Set()
      for (const one of listeners) one.missed = true
      await tellAll(listeners, deps, [], false)
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
    await tellAll(listeners, deps, keys, isPart)
  }

  return {
    route: {
      method: 'GET',
      path: '/_armature/changes',
      action: undefined,
      status: 200,
      // Tells proxies not to buffer the answer.
      headers: { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' },
      run: async (_params, _body, _query, { principal }) => open(principal),
    },
    end() {
      ended = true
      for (const { out } of listeners) out.push(null)
    },
  }
}

/** Each right is checked once per principal, however many streams it has, and one principal per turn of the loop. */
async function tellAll(
  listeners: ReadonlySet<Listener>,
  { refresh, mayRead }: Pick<ChangeStreamDependencies, 'refresh' | 'mayRead'>,
  keys: readonly string[],
  isPart: boolean,
): Promise<void> {
  const missed = isPart || keys.length > idsMax
  const candidates = keys.slice(0, idsMax)
  for (const group of Map.groupBy(listeners, ({ principal }) => sameRights(principal)).values()) {
    await nextTurn()
    const [first] = group
    if (first === undefined) continue
    const ids: string[] = []
    if (candidates.length > 0) await refresh()
    for (const key of candidates) {
      // One decision may take milliseconds.
      await freeTurn(first.principal.id)
      if (await mayRead(first.principal, key)) ids.push(key)
    }
    for (const one of group) tell(one, ids, missed)
  }
}

/** Equal for principals whose rights are always the same. */
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

/** After this event, whatever the listener reads is at least as new as the events it gets. */
const ready = 'event: ready\ndata: {}\n\n'
