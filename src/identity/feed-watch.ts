/**
 * Keeps caches of the directory current. Before anything is taken from memory, the feed is asked whether it moved.
 * Listeners decide what a change means.
 */

import type { Feed } from '#stores/store.ts'

/** The feed that records all changes of principals, memberships and keys. */
export const directoryFeed = 'directory'

/** The key under which a change of the signing keys appears in the feed. */
export const signingKeysKey = 'signing-keys'

export interface FeedWatch {
  /** Counts the changes. A fact that was read at one version holds as long as the version is the same. */
  readonly version: number
  /**
   * Undefined when nothing changed, which is the usual case and costs nothing. Otherwise a promise that resolves
   * once the caches are current.
   */
  refresh(): Promise<void> | undefined
  /** Registers a listener, which gets the changed keys before `refresh` resolves; `all` where any may have changed. */
  onChange(listener: (keys: readonly string[] | 'all') => void): void
}

const batch = 500

export function watchFeed(feed: Feed): FeedWatch {
  const listeners: Parameters<FeedWatch['onChange']>[0][] = []
  // Undefined until the first look. The caches are empty then, so nothing is out of date.
  let seen: number | undefined
  let server = feed.server
  let version = 0
  let running: Promise<void> | undefined

  function tell(keys: readonly string[] | 'all'): void {
    version += 1
    for (const listener of listeners) listener(keys)
  }

  async function step(from: number): Promise<void> {
    const of = server
    const { position, keys } = await feed.since(from, batch)
    if (of !== server) return
    if (keys.length > 0) tell(keys)
    if (position > from) {
      seen = position
      return
    }
    // Another server may have answered, which lost the changes.
    notice(await feed.position())
    // Without this check a broken feed would hold every request in an endless loop.
    if (of === server) throw new Error('the feed moved, but lists no change')
  }

  /** Where another server gave the position, anything may have changed. */
  function notice(position: number): void {
    if (server === feed.server) return
    server = feed.server
    if (seen !== undefined) tell('all')
    seen = position
  }

  async function catchUp(target: number): Promise<void> {
    const of = server
    while (of === server && seen !== undefined && seen < target) {
      running ??= step(seen).finally(() => {
        running = undefined
      })
      await running
    }
  }

  function arrived(position: number): Promise<void> | undefined {
    notice(position)
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
