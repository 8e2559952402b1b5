/**
 * Notices, before work begins, that the store was replaced by another state, perhaps by another process or database
 * server: what reconcilers remember of a resource is then of one that is gone, or that was not as far.
 */

import { restoredFeed } from '#stores/restored.ts'
import type { PlaneDependencies } from '../dependencies.ts'

export interface ReplacedState {
  /** Asked after work was claimed, so that what is remembered is of the state in which it was claimed. */
  look(): Promise<void>
  forget(key: string): void
}

export function watchReplacedState({
  store,
  registry,
}: Pick<PlaneDependencies, 'store' | 'registry'>): ReplacedState {
  const feed = store.feed(restoredFeed)
  let seen: string | undefined
  const forget = (key?: string): void => {
    for (const { reconcile } of registry.types) reconcile?.forget?.(key)
  }
  return {
    async look() {
      const found = `${await feed.position()} ${feed.server}`
      if (seen !== undefined && found !== seen) forget()
      seen = found
    },
    forget,
  }
}
