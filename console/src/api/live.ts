/**
 * The server tells what changed, over one stream while the page is visible. Only the affected queries are fetched
 * again. A tab in the background closes the stream, since a browser allows few connections to a host.
 */

import type { Query, QueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { openStream } from './client.ts'

interface LiveState {
  /** The stream is open. */
  readonly live: boolean
  /** When `live` changed last; undefined at the beginning. */
  readonly since: Date | undefined
}

interface Changed {
  /** In lower case. */
  readonly ids: readonly string[]
  /** Changes may have been missed: every query that is shown is fetched again. */
  readonly all: boolean
}

const firstDelay = 1_000
const longestDelay = 30_000
/** How long a changed row is highlighted, in milliseconds. */
const glowFor = 3_000
/** A list with more pages than this is not fetched again automatically. */
const pagesMax = 5

let state: LiveState = { live: false, since: undefined }
const listeners = new Set<() => void>()
const changedAt = new Map<string, number>()

function setLive(live: boolean): void {
  if (state.live === live && state.since !== undefined) return
  state = { live, since: new Date() }
  for (const listener of listeners) listener()
}

export function useLive(): LiveState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => state,
  )
}

export function changedJustNow(id: string): boolean {
  return performance.now() - (changedAt.get(id.toLowerCase()) ?? Number.NEGATIVE_INFINITY) < glowFor
}

export function followChanges(cache: QueryClient): void {
  let controller: AbortController | undefined
  let delay = firstDelay

  async function follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const opened = await openStream('/_armature/changes', signal)
      if (opened !== undefined) {
        delay = firstDelay
        await read(opened).catch(() => undefined)
      } else if (!signal.aborted) setLive(false)
      if (signal.aborted) break
      await new Promise((resolve) => setTimeout(resolve, delay))
      delay = Math.min(delay * 2, longestDelay)
    }
  }

  async function read(body: ReadableStream<Uint8Array>): Promise<void> {
    let rest = ''
    for await (const text of body.pipeThrough(
      new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>,
    )) {
      const events = (rest + text).split('\n\n')
      rest = events.pop() ?? ''
      for (const event of events) heed(event)
    }
  }

  function heed(event: string): void {
    const name = /^event: (\w+)$/m.exec(event)?.[1]
    if (name === 'ready') {
      setLive(true)
      // Changes that were sent while the stream was closed are unknown.
      void cache.invalidateQueries({ predicate: isLive })
    }
    if (name !== 'changed') return
    // Our own server wrote this JSON.
    const changed = JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? '{}') as Changed
    const now = performance.now()
    for (const [id, at] of changedAt) if (now - at > glowFor) changedAt.delete(id)
    for (const id of changed.ids) changedAt.set(id, now)
    const isConcerned = (query: Query): boolean =>
      isLive(query) && (changed.all || changed.ids.some((id) => concerns(query, id)))
    void cache.invalidateQueries({ predicate: isConcerned })
  }

  function look(): void {
    const isSeen = document.visibilityState === 'visible'
    if (isSeen === (controller !== undefined)) return
    controller?.abort()
    controller = isSeen ? new AbortController() : undefined
    if (controller !== undefined) void follow(controller.signal)
  }
  document.addEventListener('visibilitychange', look)
  look()
}

/** A long list that somebody has scrolled through is not fetched again automatically: they can ask for it. */
function isLive({ meta, state: { data } }: Query): boolean {
  const { pages } = Object(data) as { readonly pages?: readonly unknown[] }
  return meta?.['live'] !== false && (pages?.length ?? 0) <= pagesMax
}

/**
 * Whether a change of this id concerns the query. It does not if both name subscriptions or groups, and none of the
 * names is the same.
 */
function concerns({ queryKey }: Pick<Query, 'queryKey'>, id: string): boolean {
  const text = JSON.stringify(queryKey).toLowerCase()
  const others = (own: string | undefined, pattern: RegExp): boolean => {
    const named = [...text.matchAll(pattern)].map(([, name]) => name)
    return own !== undefined && named.length > 0 && !named.includes(own)
  }
  const [, subscription, group] =
    /^\/subscriptions\/([^/]+)(?:\/resourcegroups\/([^/]+))?/.exec(id) ?? []
  return !(
    others(subscription, /(?:\/subscriptions\/|"subscriptionid":")([^/"]+)/g) ||
    others(group, /(?:\/resourcegroups\/|"resourcegroupname":")([^/"]+)/g)
  )
}
