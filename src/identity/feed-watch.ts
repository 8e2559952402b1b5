/**
 * Keeps caches of the directory true: before anything is taken from memory, the feed is asked whether it
 * moved. Reads only the feed; what a change means is the listeners' affair.
 */

import type { Feed } from '#stores/store.ts'

/** The feed all changes of principals, memberships and keys are written to. */
export const directoryFeed = 'directory'

/** The key under which a change of the signing keys appears in the feed. */
export const signingKeysKey = 'signing-keys'

export interface FeedWatch {
  /** Counts the times something changed; a fact read at one version holds while it is the same. */
  readonly version: number
  /** Undefined when nothing moved (the usual case in one process: no cost); else resolves once caught up. */
  refresh(): Promise<void> | undefined
  /** Called with the changed keys, before `refresh` resolves. */
  onChange(listener: (keys: readonly string[]) => void): void
}

const batch = 500

export function watchFeed(feed: Feed): FeedWatch {
  const listeners: ((keys: readonly string[]) => void)[] = []
  // Undefined until the first look: caches are empty then, so there is nothing to catch up with.
  let seen: number | undefined
  let version = 0
  let running: Promise<void> | undefined

  async function step(from: number): Promise<void> {
    const { position, keys } = await feed.since(from, batch)
    if (keys.length > 0) {
      version += 1
      for (const listener of listeners) listener(keys)
    }
    // Without this a broken feed would hold every request in an endless loop.
    if (position <= from) throw new Error('the feed moved, but lists no change')
    seen = position
  }

  async function catchUp(target: number): Promise<void> {
    while (seen !== undefined && seen < target) {
      running ??= step(seen).finally(() => {
        running = undefined
      })
      await running
    }
  }

  function arrived(position: number): Promise<void> | undefined {
    if (position === seen) return undefined
    if (seen === undefined) {
      seen = position
      return undefined
    }
    return position < seen ? undefined : catchUp(position)
  }

  return {
    get version() {
      return version
    },
    refresh() {
      const position = feed.position()
      return typeof position === 'number' ? arrived(position) : position.then(arrived)
    },
    onChange(listener) {
      listeners.push(listener)
    },
  }
}
